//! The first word: `mcp-tester FILE` is `mcp-tester test FILE`, options may stand before the verb, and a word that
//! is no verb, file or URL gets a "did you mean".

use std::collections::HashSet;
use std::path::Path;

use clap::Command;

use crate::diagnostic::suggest;

/// The verb that files belong to.
const DEFAULT_VERB: &str = "test";

/// A first word that is neither verb nor file nor URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVerb {
    /// The word.
    pub word: String,
    /// The verb that was probably meant.
    pub near: Option<String>,
    /// All verbs.
    pub verbs: Vec<String>,
}

/// Brings the verb to the front, and puts `test` there where a file, a URL or only options are given.
///
/// # Errors
/// Where the first word that is no option is none of these.
pub fn normalise(
    mut args: Vec<String>,
    cli: &Command,
    exists: impl Fn(&Path) -> bool,
) -> Result<Vec<String>, UnknownVerb> {
    let verbs: Vec<&str> =
        cli.get_subcommands().flat_map(|verb| std::iter::once(verb.get_name()).chain(verb.get_all_aliases())).collect();
    let Some(at) = first_word(&args, &Options::of(cli)) else {
        let asks_about_itself =
            args.get(1).is_none_or(|arg| matches!(arg.as_str(), "-h" | "--help" | "-V" | "--version"));
        if !asks_about_itself {
            args.insert(1, DEFAULT_VERB.to_owned());
        }
        return Ok(args);
    };
    let word = args[at].clone();
    if verbs.contains(&word.as_str()) {
        args.remove(at);
        args.insert(1, word);
    } else if is_script(&word) || exists(Path::new(&word)) {
        args.insert(1, DEFAULT_VERB.to_owned());
    } else {
        let near = suggest(&word, verbs.iter().copied()).map(str::to_owned);
        let verbs =
            cli.get_subcommands().filter(|verb| !verb.is_hide_set()).map(|verb| verb.get_name().to_owned()).collect();
        return Err(UnknownVerb { word, near, verbs });
    }
    Ok(args)
}

/// True for a URL, `-`, a pattern, and a name that can only mean a script, there or not.
fn is_script(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(|extension| extension.to_str());
    word == "-"
        || word.starts_with("http://")
        || word.starts_with("https://")
        || word.contains(['*', '?', '[', '{'])
        || extension
            .is_some_and(|extension| extension.eq_ignore_ascii_case("mcp") || extension.eq_ignore_ascii_case("json"))
}

/// The options of all verbs that take a value.
struct Options {
    long: HashSet<String>,
    short: HashSet<char>,
}

impl Options {
    fn of(cli: &Command) -> Self {
        let mut options = Self { long: HashSet::new(), short: HashSet::new() };
        for argument in cli.get_subcommands().flat_map(Command::get_arguments) {
            let always = argument.get_num_args().is_none_or(|count| count.min_values() > 0);
            if always && argument.get_action().takes_values() && !argument.is_positional() {
                options.long.extend(argument.get_long().map(str::to_owned));
                options.short.extend(argument.get_short());
            }
        }
        options
    }

    /// True where `arg` is an option whose value is the next argument.
    fn value_follows(&self, arg: &str) -> bool {
        if let Some(long) = arg.strip_prefix("--") {
            return self.long.contains(long);
        }
        let mut letters = arg.chars().skip(1);
        letters.find(|letter| self.short.contains(letter)).is_some() && letters.next().is_none()
    }
}

fn first_word(args: &[String], options: &Options) -> Option<usize> {
    let mut at = 1;
    while let Some(arg) = args.get(at) {
        if arg == "--" {
            return None;
        }
        if !arg.starts_with('-') || arg == "-" {
            return Some(at);
        }
        at += if options.value_follows(arg) { 2 } else { 1 };
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;

    use super::super::args::Cli;
    use super::{UnknownVerb, normalise};

    fn run(line: &str) -> Result<String, UnknownVerb> {
        let args = std::iter::once("x").chain(line.split_whitespace()).map(str::to_owned).collect();
        let args = normalise(args, &Cli::command(), |path| path == Path::new("here"))?;
        Ok(args[1..].join(" "))
    }

    #[test]
    fn files_urls_and_options_mean_test() {
        for (line, meant) in [
            ("test a.mcp", "test a.mcp"),
            ("run a.mcp", "run a.mcp"),
            ("here --x", "test here --x"),
            ("a.mcp", "test a.mcp"),
            ("A.MCP", "test A.MCP"),
            ("-", "test -"),
            ("tests/**/*", "test tests/**/*"),
            ("http://localhost/mcp a.mcp", "test http://localhost/mcp a.mcp"),
            ("-p demo a.mcp", "test -p demo a.mcp"),
            ("-vp test test a.mcp", "test -vp test a.mcp"),
            ("--profile=test -v here", "test --profile=test -v here"),
            ("--format json test a.mcp", "test --format json a.mcp"),
            ("-e ping -- demo", "test -e ping -- demo"),
            ("-u http://x/ -e ping", "test -u http://x/ -e ping"),
            ("demo-server --http", "demo-server --http"),
            ("--version", "--version"),
            ("-h", "-h"),
            ("", ""),
        ] {
            assert_eq!(run(line).as_deref(), Ok(meant), "{line}");
        }
    }

    #[test]
    fn other_words_get_a_suggestion() {
        let error = run("tset a.mcp").expect_err("no verb");
        assert_eq!((error.word.as_str(), error.near.as_deref()), ("tset", Some("test")));
        assert_eq!(run("-v xyzzy").expect_err("no verb").near, None);
    }
}
