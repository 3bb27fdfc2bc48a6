//! Where a word reads as a named argument: the one place that decides what a name is.

use std::sync::LazyLock;

use regex::Regex;

use super::parts;

/// `plain-name = ( ? letter ? | "_" ), { ? letter ? | ? number ? | "_" | "." | "-" } ;`
///
/// Length in bytes of the name at the start of a bare text, the colon behind it left out; `None` where the text is
/// positional: no name, `x://…`, or a drive letter (`C:\`, `C:/`).
pub(super) fn bare_name(bytes: &[u8]) -> Option<usize> {
    let length = bytes.iter().position(|byte| !NAME_BYTES[*byte as usize]).unwrap_or(bytes.len());
    let length = if bytes.get(length).is_some_and(|byte| !byte.is_ascii()) { long_name(bytes)? } else { length };
    if bytes.get(length) != Some(&b':') || length == 0 {
        return None;
    }
    if bytes[0].is_ascii() && !(bytes[0].is_ascii_alphabetic() || bytes[0] == b'_') {
        return None;
    }
    let rest = &bytes[length + 1..];
    let is_drive = length == 1 && bytes[0].is_ascii_alphabetic() && matches!(rest.first(), Some(b'\\' | b'/'));
    let is_url = rest.starts_with(b"//");
    (!is_drive && !is_url).then_some(length)
}

/// The ASCII characters of names. A table, because every word is looked at.
const NAME_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        byte += 1;
    }
    table
};

/// The same for text with other letters than ASCII; the slow way.
fn long_name(text: &[u8]) -> Option<usize> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{L}_][\p{L}\p{N}_.-]*").ok());
    NAME.as_ref()?.find(str::from_utf8(text).ok()?).map(|found| found.end())
}

/// `interpolated = '"', { ? character ? }, variable, { ? character ? }, '"' ;`
///
/// False for that; true where the quoted segment `token` (with its quotes) can be a name: any text, but no `$name` that would be
/// replaced before the name is known.
pub(super) fn quoted_can_name(token: &str) -> bool {
    token.starts_with('\'') || parts::variables(token).next().is_none()
}

/// True where `prefix`, the start of a word, is a name with its colon and nothing else: a heredoc may follow.
pub(super) fn is_name_prefix(prefix: &str) -> bool {
    let Some(name) = prefix.strip_suffix(':') else {
        return false;
    };
    match name.as_bytes() {
        [quote @ (b'"' | b'\''), rest @ ..] => {
            closing(*quote, rest).is_some_and(|at| at + 1 == rest.len()) && quoted_can_name(name)
        }
        _ => bare_name(prefix.as_bytes()) == Some(name.len()),
    }
}

/// Where the segment whose opening quote stands before `rest` is closed.
fn closing(quote: u8, rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 2,
            byte if *byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::bare_name;

    #[test]
    fn names_are_letters_digits_and_three_marks() {
        for (text, length) in [
            ("a:1", Some(1)),
            ("user_id:$x", Some(7)),
            ("a.b-c:", Some(5)),
            ("größe:1", Some(7)),
            ("名前:x", Some(6)),
            ("_:1", Some(1)),
            ("C:x", Some(1)),
            ("urn:a:b", Some(3)),
            ("http://x", None),
            ("C:\\x", None),
            ("c:/x", None),
            ("1a:x", None),
            ("-a:x", None),
            (":x", None),
            ("a", None),
            ("", None),
            ("a b:", None),
            ("a$b:c", None),
            ("ab:/x", Some(2)),
        ] {
            assert_eq!(bare_name(text.as_bytes()), length, "{text}");
        }
    }
}
