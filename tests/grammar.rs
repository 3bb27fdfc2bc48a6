//! Keeps `grammar/mcp.ebnf` and the parser together: same productions, same language.

#[path = "support/ebnf.rs"]
mod ebnf;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
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

/// The productions in the documentation of `src/syntax`, with the file they stand in.
fn documented() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/syntax");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_file() {
            continue;
        }
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let mut is_inside = false;
        let mut production = String::new();
        let mut starts_comment = true;
        for line in text.lines() {
            let Some(doc) = line.trim_start().strip_prefix("/// ") else {
                assert!(!is_inside, "{file}: a production is not closed: {production}");
                starts_comment = !line.trim_start().starts_with("///");
                continue;
            };
            if starts_comment && doc.starts_with('`') && doc.contains(" = ") {
                is_inside = true;
                production.clear();
            }
            starts_comment = false;
            if is_inside {
                production.push_str(doc);
                production.push(' ');
                if doc.ends_with(" ;`") {
                    is_inside = false;
                    found.push((normalized(production.trim().trim_matches('`')), file.clone()));
                }
            }
        }
    }
    found
}

#[test]
fn every_production_stands_at_the_code_that_reads_it() {
    let grammar = Grammar::read(GRAMMAR);
    let in_file: BTreeSet<String> = grammar.productions().map(normalized).collect();
    let mut in_code = BTreeMap::new();
    for (production, file) in documented() {
        if let Some(other) = in_code.insert(production.clone(), file.clone()) {
            panic!("documented twice, in {other} and {file}: {production}");
        }
    }
    let in_code: BTreeSet<String> = in_code.into_keys().collect();
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
