use std::collections::BTreeSet;

use crate::diagnostic::{Style, render};
use crate::source::Source;
use crate::syntax::parse;

/// Scripts that are wrong, each with a name for its snapshot.
const CASES: &[(&str, &str)] = &[
    ("open_quote_double", "echo \"ok\"\nset_var id $.id\nassert_equals \"Result: 30\nping\n"),
    ("open_quote_single", "call_tool x a:'{\"b\": 1}\n"),
    ("open_quote_apostrophe", "echo a:x don't stop\n"),
    ("open_quote_escaped", "call_tool open path:\"C:\\dir\\\"\n"),
    ("open_heredoc", "# one\ncall_tool run script:<<EOF\nprint(1)\nprint(2)\n"),
    ("open_heredoc_near", "call_tool run <<EOF\nprint(1)\nEOF;\necho done\n"),
    ("open_heredoc_case", "call_tool run <<'Eof' x\n1\n2\n3\neof\n"),
    ("heredoc_mark_spaced", "call_tool run << EOF\n"),
    ("heredoc_mark_bad", "call_tool run code:<<EOF; x\n"),
    ("bare_json_object", "call_tool x {\"a\": [1, 2], \"b\": \"c d\"} other\n"),
    ("bare_json_named", "call_tool assign_roles roles:[\"admin\",\"tester\"]\n"),
    ("bare_json_quote", "assert_json {\"a\": \"it's\"}\n"),
    ("control_character", "echo a\u{1b}[31mb\n"),
    ("control_in_comment", "# a \u{8} b\n"),
    ("lone_cr", "echo a\rping\n"),
    ("lone_cr_in_comment", "# all\recho a\recho b"),
    ("wide_space", "call_tool add a:1\u{A0}b:2\n"),
    ("typographic_quote", "echo \u{201C}hello world\u{201D} x\n"),
    ("typographic_apostrophe", "echo don\u{2019}t\n"),
    ("invisible_character", "echo a\u{200B}b \u{202E}c\n"),
    ("unknown_version", "#!/usr/bin/env mcp-tester\n# mcp-tester: 2\necho a\n"),
    ("version_twice", "# mcp-tester: 1\n# more\n# mcp-tester: 1\n"),
];

#[test]
fn every_error_shows_the_word_and_what_to_do() {
    for (name, text) in CASES {
        let parsed = parse(&Source::new("demo.mcp", *text));
        assert!(!parsed.errors.is_empty(), "{name}");
        for error in &parsed.errors {
            let found = text.get(error.label.as_ref().unwrap().span.start as usize..);
            assert!(found.is_some_and(|rest| !rest.is_empty()), "{name}: points at nothing");
            assert!(error.help.is_some(), "{name}: says nothing about what to do");
        }
        let drawn = render(&parsed.errors, &Style { color: false, width: 100 });
        insta::with_settings!({ description => *text, omit_expression => true }, {
            insta::assert_snapshot!(*name, drawn);
        });
    }
}

#[test]
fn every_code_of_this_module_has_a_case() {
    let declared: BTreeSet<&str> = include_str!("../error.rs")
        .split('"')
        .filter_map(|text| text.strip_prefix("mcp::syntax::"))
        // These two need more text than a snapshot should hold.
        .filter(|code| !matches!(*code, "too_many_errors" | "too_large"))
        .collect();
    let shown: BTreeSet<&str> = CASES
        .iter()
        .flat_map(|(_, text)| parse(&Source::new("t", *text)).errors)
        .map(|error| error.code.trim_start_matches("mcp::syntax::"))
        .collect();
    assert_eq!(declared, shown);
}
