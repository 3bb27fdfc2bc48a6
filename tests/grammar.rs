//! Keeps `grammar/mcp.ebnf` and the parser together: same productions, same language.

#[path = "support/ebnf.rs"]
mod ebnf;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ebnf::{Derivation, Grammar, normalized};
use mcp_script::source::Source;
use mcp_script::syntax::ast::Quote;
use mcp_script::syntax::{Parsed, parse};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_assert, proptest};

const GRAMMAR: &str = include_str!("../grammar/mcp.ebnf");

fn read(text: &str) -> Parsed {
    parse(&Source::new("t.mcp", text))
}

fn codes(parsed: &Parsed) -> Vec<&'static str> {
    parsed.errors.iter().map(|error| error.code).collect()
}

/// The Rust files below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    files.into_iter().filter(is_rust).chain(folders.iter().flat_map(|folder| self::files(folder))).collect()
}

/// The productions that start a documentation comment in `src/syntax`.
fn documented() -> Vec<String> {
    let mut found = Vec::new();
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/syntax")) {
        let text = fs::read_to_string(&path).unwrap();
        let mut open: Option<String> = None;
        let mut is_first = true;
        for line in text.lines().map(str::trim_start) {
            let Some(doc) = line.strip_prefix("///").map(str::trim) else {
                assert_eq!(open, None, "{}: a production is not closed", path.display());
                is_first = true;
                continue;
            };
            if is_first && doc.starts_with('`') && doc.contains(" = ") {
                open = Some(String::new());
            }
            is_first = false;
            if let Some(production) = &mut open {
                production.push_str(doc);
                production.push(' ');
            }
            if doc.ends_with(" ;`")
                && let Some(production) = open.take()
            {
                found.push(normalized(production.trim().trim_matches('`')));
            }
        }
    }
    found
}

#[test]
fn every_production_stands_at_the_code_that_reads_it() {
    let grammar = Grammar::read(GRAMMAR);
    let in_file: BTreeSet<String> = grammar.productions().map(normalized).collect();
    let documented = documented();
    let in_code: BTreeSet<String> = documented.iter().cloned().collect();
    assert_eq!(in_code.len(), documented.len(), "a production is documented twice");
    assert_eq!(in_file, in_code);
}

#[test]
fn every_name_is_defined_and_used() {
    let grammar = Grammar::read(GRAMMAR);
    let (defined, used) = grammar.names();
    assert_eq!(used.difference(&defined).collect::<Vec<_>>(), Vec::<&String>::new(), "used but not defined");
    let unused: Vec<_> = defined.difference(&used).map(String::as_str).collect();
    assert_eq!(unused, ["script"], "defined but not used");
}

#[test]
fn the_reader_knows_the_languages_of_small_grammars() {
    let grammar = Grammar::read(r#"a = [ "x" ], { b - "z" }, ( 'q"' | "\" ) ; b = ? digit ? | "z" ;"#);
    for text in ["\\", "q\"", "x12\\", "12q\""] {
        assert!(grammar.matches("a", text), "{text}");
    }
    for text in ["", "x", "z\\", "xx\\", "\\\\"] {
        assert!(!grammar.matches("a", text), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_parser_accepts_what_the_grammar_derives(seed in any::<u64>()) {
        static READ: LazyLock<Grammar> = LazyLock::new(|| Grammar::read(GRAMMAR));
        let grammar = &*READ;
        let text = Derivation::new(grammar, seed).of("script");
        let parsed = read(&text);
        prop_assert!(parsed.errors.is_empty(), "{text:?}: {:?}", codes(&parsed));
        prop_assert!(parsed.script.to_string() == text);
    }
}

/// The grammar of scripts without heredocs: it cannot say that bodies are there only where the line has openers.
fn without_bodies() -> String {
    let grammar = GRAMMAR.replace(", [ newline, bodies ] ]", " ]");
    assert_ne!(grammar, GRAMMAR);
    grammar
}

/// Lines of pieces that matter to the syntax.
fn line() -> impl Strategy<Value = String> {
    let pieces = [
        " ", "\t", "a", "b c", "é", "1", ":", ":", "\"", "\"", "'", "'", "\\", "\\\"", "$", "$x", "#", "/", "//", "<",
        "<<", "{", "[", "]", "}", ",", "\r", "\u{A0}", "\u{201C}", "\u{200B}", "\u{7}", "\u{85}", "-", "_", ".", "\n",
        "\r\n", "a:\"b\"",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_parser_refuses_what_the_grammar_does_not_know(text in line()) {
        let parsed = read(&text);
        // Where a body ends depends on its opener, which no grammar of this kind can say.
        let is_heredoc = |part: &mcp_script::syntax::ast::Part| matches!(part.quote, Quote::Heredoc | Quote::Verbatim);
        if parsed.script.parts.iter().any(is_heredoc) {
            return Ok(());
        }
        static READ: LazyLock<Grammar> = LazyLock::new(|| Grammar::read(&without_bodies()));
        let grammar = &*READ;
        prop_assert!(
            grammar.matches("script", &text) == parsed.errors.is_empty(),
            "{text:?}: the parser says {:?}",
            codes(&parsed)
        );
    }
}
