//! Variables from outside: `--var`, `--vars-file`, `--secret` and the environment.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::json::Json;
use crate::source::{Source, Span};

/// Environment variables that set a variable start with this.
pub const VAR_PREFIX: &str = "MCP_TESTER_VAR_";

/// Environment variables that set a secret start with this.
pub const SECRET_PREFIX: &str = "MCP_TESTER_SECRET_";

/// True for a name that `$name` can mean.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Parts of a name that say its value is a credential.
const SECRET_WORDS: [&str; 8] = ["auth", "cookie", "token", "key", "secret", "password", "passwd", "credential"];

/// True for names such as `Authorization` or `API_KEY`, whose values are masked unasked.
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Reads a `--vars-file`: a JSON object where it starts with `{`, else dotenv lines.
///
/// # Errors
/// The place and what is wrong there.
pub fn read_file(source: &Arc<Source>) -> Result<Vec<(String, Json)>, Box<Diagnostic>> {
    let text = source.text().trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') { json(source, text) } else { dotenv(source) }
}

fn json(source: &Arc<Source>, text: &str) -> Result<Vec<(String, Json)>, Box<Diagnostic>> {
    let skipped = (source.text().len() - text.len()) as u32;
    let read = Json::parse(text).map_err(|error| {
        let at = skipped + u32::try_from(error.offset).unwrap_or(u32::MAX).min(text.len() as u32);
        refuse(source, Span::new(at, at), error.message)
    })?;
    let members = read.as_object().map(|object| object.iter()).into_iter().flatten();
    let named = |(name, value): (&str, &Json)| match is_name(name) {
        true => Ok((name.to_owned(), value.clone())),
        false => Err(refuse(source, Span::default(), format!("`{name}` cannot be the name of a variable"))),
    };
    members.map(named).collect()
}

/// `NAME=value` lines as dotenv files have them: `export` and comments allowed; a value may stand in `"…"` with the
/// escapes `\n`, `\t`, `\"`, `\\`, or in `'…'` without any, over several lines too.
fn dotenv(source: &Arc<Source>) -> Result<Vec<(String, Json)>, Box<Diagnostic>> {
    let text = source.text();
    let (mut vars, mut at) = (Vec::new(), text.len() - text.trim_start_matches('\u{feff}').len());
    while at < text.len() {
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
        let line = text[at..end].trim();
        let span = Span::new(at as u32, end as u32);
        if line.is_empty() || line.starts_with('#') {
            at = end + 1;
            continue;
        }
        let Some(equals) = text[at..end].find('=').map(|length| at + length) else {
            return Err(refuse(source, span, "a line of this file is NAME=value"));
        };
        let name = text[at..equals].trim();
        let name = name.strip_prefix("export ").map_or(name, str::trim);
        if !is_name(name) {
            return Err(refuse(source, span, format!("`{name}` cannot be the name of a variable")));
        }
        let (value, next) = value(text, equals + 1).ok_or_else(|| refuse(source, span, "the quote is never closed"))?;
        vars.push((name.to_owned(), Json::from(value)));
        at = text[next..].find('\n').map_or(text.len(), |length| next + length + 1);
    }
    Ok(vars)
}

/// The value that starts at `at`, and where it ends.
fn value(text: &str, at: usize) -> Option<(String, usize)> {
    let rest = &text[at..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let quoted = rest[blank..].chars().next().filter(|first| matches!(first, '"' | '\''));
    let Some(quote) = quoted else {
        let line = rest.lines().next().unwrap_or_default();
        let comment = line.find(" #").unwrap_or(line.len());
        return Some((line[..comment].trim().to_owned(), at + line.len()));
    };
    let mut value = String::new();
    let mut chars = rest[blank + 1..].char_indices();
    while let Some((offset, c)) = chars.next() {
        match c {
            _ if c == quote => return Some((value, at + blank + 1 + offset + 1)),
            '\\' if quote == '"' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                escaped @ ('"' | '\\' | '$') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            _ => value.push(c),
        }
    }
    None
}

fn refuse(source: &Arc<Source>, span: Span, title: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("mcp::config::vars_file", title).at(source, span, ""))
}

#[cfg(test)]
mod tests {
    use super::{is_name, looks_secret, read_file};
    use crate::source::Source;

    fn read(text: &str) -> Result<String, String> {
        let shown = |(name, value): (String, crate::json::Json)| format!("{name}={}", value.compact());
        read_file(&Source::new("v", text))
            .map(|vars| vars.into_iter().map(shown).collect::<Vec<_>>().join(" "))
            .map_err(|error| format!("{}: {}", error.place().map_or(0, |(_, at)| at.line), error.title))
    }

    #[test]
    fn dotenv_files() {
        let text =
            "\u{feff}# c\nA=1\r\n export B = two words # c\nC=\"a\\n\\\"b\\\" $x\" # c\nD='a\\n\n#b'\nE=\nF=a#b\n";
        assert_eq!(read(text).as_deref(), Ok(r##"A="1" B="two words" C="a\n\"b\" $x" D="a\\n\n#b" E="" F="a#b""##));
        for (text, error) in [
            ("A=1\nB", "2: a line of this file is NAME=value"),
            ("a-b=1", "1: `a-b` cannot be the name of a variable"),
            ("A=\"x\nB=1", "1: the quote is never closed"),
        ] {
            assert_eq!(read(text), Err(error.to_owned()));
        }
    }

    #[test]
    fn json_files_keep_types() {
        assert_eq!(read(" {\"a\": 1.10, \"b\": [true]}").as_deref(), Ok("a=1.10 b=[true]"));
        assert_eq!(read("{\"a b\": 1}"), Err("1: `a b` cannot be the name of a variable".into()));
        assert!(read("{\"a\": 1,\n}").is_err_and(|error| error.starts_with("2: ")));
    }

    #[test]
    fn names() {
        assert!(["a", "_", "A_1"].into_iter().all(is_name));
        assert!(looks_secret("X-Api-Key") && looks_secret("Authorization") && !looks_secret("LOG_LEVEL"));
        assert!(!["", "1a", "a-b", "ä", "a b"].into_iter().any(is_name));
    }
}
