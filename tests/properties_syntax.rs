//! What holds for every script, good or bad.

use mcp_script::diagnostic::{Style, render};
use mcp_script::source::{Source, Span};
use mcp_script::syntax::ast::{Part, PartKind, Quote, Script, Word};
use mcp_script::syntax::lexer::Lexer;
use mcp_script::syntax::paint::paint;
use mcp_script::syntax::{Parsed, decode, parse};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

/// Every script and snippet of the language's description.
const SEED: &[&str] = &[
    r###"assert_equals $body ""
echo "missing: [\"code\"]"
call_tool x '["a.png", "b.png"]' '{"key": "value"}'
echo "## Heading"
"###,
    r#"echo "--- Testing user creation workflow ---"
echo "Current ID: $user_id"
"#,
    r#"call_tool upload paths:'["a.png", "b.png"]' http://example.com/x
call_tool_raw upload '{"paths": []}'
"#,
    r#"call_tool execute_script <<EOF
console.log("Hello from Heredoc!");
console.log(1 + 2);
EOF
"#,
    r#"expect_error call_tool add a:"not_a_number"
assert_tool_error
assert_contains "type"

expect_error call_tool unknown_tool
assert_error_code -32602
"#,
    r#"# Tool execution error
expect_error call_tool validate_script script:"invalid"
assert_tool_error

# Protocol error (-32602 = Invalid params / unknown tool)
expect_error call_tool non_existent_tool
assert_error_code -32602
"#,
    r#"set_var name rawResponse
set_var name structuredContent.a.b
set_var name $.a.b
input_var name "Interactive Prompt"
assert_contains "Execution finished"
assert_contains $var "expected"
assert_equals "Result: 30"
assert_equals $var "123"
assert_number $variable
assert_gt $value1 $value2
assert_string_length $variable 1 5
"#,
    r#"complete prompt:persona_developer language g
assert_contains "golang"
set_var first values.0
"#,
    r#"elicit_response accept '{"confirm": true}'   # also: decline, cancel
sample_response "The model's reply"          # answer to sampling/createMessage
add_root file:///home/user/project project   # offered via roots/list
"#,
    r#"elicit_response accept '{"confirm": true}'
call_tool confirm_delete item:"report.pdf"
assert_elicited "report.pdf"
"#,
    r#"subscribe mcp://time                             # resource updates for this URI
wait_notification tools/list_changed             # waits up to 5s (default)
wait_notification resources/updated mcp://time 2s
"#,
    r#"call_task long_job seconds:2          # start, poll to the end, result as with call_tool
assert_task_status completed

start_task long_job seconds:30        # only the handle
set_var id taskId
get_task $id                          # one tasks/get
cancel_task $id
wait_task $id 5s                      # poll until completed, failed or cancelled
assert_task_status cancelled
"#,
    r#"list_skills                 # stored as {skills: [...], count}; text: one name per line
assert_contains "image-prompting"
set_var n count

verify_skills               # all checks incl. reading every file; fails on any violation
"#,
    r#"verify_apps                 # ui:// resources, MIME type, HTML, visibility, CSP; fails on any violation
assert_contains "ui://clock"
set_var n count
"#,
    r#"echo "--- Starting user workflow ---"

# 1. Call tool and store ID
call_tool create_user "John Doe"
set_var user_id $.id

# 2. Use variable in next call
call_tool get_user $user_id
assert_contains "Doe"

# 3. Pass array argument
call_tool assign_roles user_id:$user_id roles:'["admin", "tester"]'
assert_contains "Roles assigned"

# 4. Mathematical check
set_var score $.profile.score
assert_gt $score 0
"#,
];

fn read(text: &str) -> Parsed {
    parse(&Source::new("t.mcp", text))
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or_else(|| panic!("{span:?} cuts a character of {text:?}"))
}

fn is_heredoc(part: &Part) -> bool {
    matches!(part.quote, Quote::Heredoc | Quote::Verbatim)
}

/// Checks that spans lie in order within `outer`.
fn in_order(spans: impl IntoIterator<Item = Span>, outer: Span, what: &str) {
    let mut at = outer.start;
    for span in spans {
        assert!(span.start >= at && span.end >= span.start, "{what}: {span:?} overlaps what ends at {at}");
        at = span.end;
    }
    assert!(at <= outer.end, "{what}: {at} is past {outer:?}");
}

fn check_spans(text: &str, script: &Script) {
    assert!(script.owned.is_sorted_by(|left, right| left.0 < right.0), "owned texts can be searched");
    let whole = Span::new(0, text.len() as u32);
    in_order(script.statements.iter().map(|statement| statement.span), whole, "statements");
    in_order(script.comments.iter().copied(), whole, "comments");
    for (at, statement) in script.statements.iter().enumerate() {
        slice(text, statement.span);
        let words = script.words(statement);
        assert!(!words.is_empty());
        in_order(words.iter().map(|word| word.span), statement.span, "words");
        let next = script.statements.get(at + 1).map_or(whole.end, |next| next.span.start);
        for word in words {
            check_word(text, script, word, Span::new(statement.span.end, next));
        }
        for comment in &script.comments {
            assert!(comment.end <= statement.span.start || comment.start >= statement.span.end);
        }
    }
    // Each word's parts are its own.
    let mut ranges: Vec<_> = script.words.iter().map(|word| word.parts.clone()).collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
}

fn check_word(text: &str, script: &Script, word: &Word, behind: Span) {
    slice(text, word.span);
    let parts = script.parts(word);
    let (bodies, inside): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(|part| is_heredoc(part));
    in_order(inside.iter().map(|part| part.span), word.span, "parts");
    in_order(bodies.iter().map(|part| part.span), behind, "bodies");
    assert_eq!(script.name(word).is_some(), word.is_named);
    if let Some(name) = script.name(word) {
        assert_eq!(format!("{name}:"), script.text(parts.first().expect("the name is a part")));
        assert!(slice(text, parts[0].span).ends_with(':'));
    }
    for part in parts.iter().filter(|part| part.kind == PartKind::Owned) {
        assert!(script.owned.iter().any(|(start, _)| *start == part.span.start), "the text of {part:?} is lost");
    }
    for part in parts {
        let written = slice(text, part.span);
        if part.kind == PartKind::Var {
            let name = written.strip_prefix('$').expect("a variable starts with $");
            assert!(name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
            assert!(part.quote != Quote::Verbatim);
        }
    }
}

/// Everything that must hold whatever the text is.
fn check(text: &str) {
    let lexemes: String = Lexer::new(text).map(|token| slice(text, token.span)).collect();
    assert_eq!(lexemes, text, "lexemes rebuild the source");
    let parsed = read(text);
    check_spans(text, &parsed.script);
    for error in &parsed.errors {
        let label = error.label.as_ref().expect("an error has a place");
        slice(text, label.span);
        assert!(!label.span.is_empty(), "{}: nothing is underlined", error.code);
        assert!(error.help.is_some(), "{}: no help", error.code);
    }
    assert!(parsed.broken.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(parsed.broken.last().is_none_or(|last| (*last as usize) < parsed.script.statements.len()));
    assert!(!parsed.incomplete() || !parsed.errors.is_empty());
    let drawn = render(&parsed.errors, &Style { color: false, width: 100 });
    assert!(!drawn.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
    in_order(paint(text).iter().map(|piece| piece.span), Span::new(0, text.len() as u32), "paint");
    // Print, then parse, is identity.
    let printed = parsed.script.to_string();
    assert_eq!(printed, text);
    assert_eq!(shape(&read(&printed).script), shape(&parsed.script));
}

fn shape(script: &Script) -> String {
    format!("{:?} {:?} {:?} {:?}", script.statements, script.words, script.parts, (&script.owned, &script.comments))
}

/// The text of a word's value; variables as written.
fn value(script: &Script, word: &Word) -> String {
    script.value_parts(word).iter().map(|part| script.text(part)).collect()
}

/// Text made of what the syntax cares about.
fn pieces() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        " ",
        "\t",
        "\n",
        "\r\n",
        "\n",
        "a",
        "echo",
        "x:",
        "1",
        "é",
        "\"",
        "\"",
        "'",
        "'",
        "\\",
        "\\\"",
        "$",
        "$x",
        "#",
        "//",
        "/",
        "<",
        "<<",
        "<<A",
        "<<-A",
        "<<'A'",
        "<<\"B\"",
        "A\n",
        "\nA\n",
        "\n B \n",
        "a\n",
        "B;\n",
        "  x\n",
        "{",
        "[",
        "}",
        "]",
        "\r",
        "\u{A0}",
        "\u{2019}",
        "\u{201C}",
        "\u{200B}",
        "\u{202E}",
        "\u{7}",
        "\u{9B}",
        "\u{FEFF}",
        "\u{2028}",
        "\u{0}",
        "# mcp-tester: 2",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn every_script_of_the_seed_parses() {
    for text in SEED {
        let parsed = read(text);
        assert!(parsed.errors.is_empty(), "{text}\n{}", render(&parsed.errors, &Style { color: false, width: 100 }));
        let lines = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase())).count();
        let heredoc_lines = text.lines().filter(|line| line.starts_with("console.log")).count();
        assert_eq!(parsed.script.statements.len(), lines - heredoc_lines, "{text}");
        check(text);
    }
}

#[test]
fn a_seed_script_with_any_part_missing_is_handled() {
    let text = SEED.concat();
    for (at, _) in text.char_indices().step_by(7) {
        check(&text[..at]);
        check(&text[at..]);
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn everything_holds_for_texts_of_pieces(text in pieces()) {
        check(&text);
    }

    #[test]
    fn everything_holds_for_any_text(text in prop_oneof!["\\PC*", any::<String>(), "[ -~\n]{0,200}"]) {
        check(&text);
    }

    #[test]
    fn any_bytes_are_text_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        match decode(bytes.clone()) {
            Ok(text) => prop_assert_eq!(text.as_bytes(), &bytes[..]),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn quoting_keeps_any_text(text in "[^\n]{0,40}") {
        let double = text.replace('\\', "\\\\").replace('"', "\\\"");
        let parsed = read(&format!("c \"{double}\" x:\"{double}\"\n"));
        prop_assert!(parsed.errors.is_empty());
        let words = parsed.script.words(&parsed.script.statements[0]);
        prop_assert_eq!(words.len(), 3);
        prop_assert_eq!(&value(&parsed.script, &words[1]), &text);
        prop_assert_eq!(&value(&parsed.script, &words[2]), &text);
        if !text.contains('\'') {
            let parsed = read(&format!("c '{text}'"));
            let words = parsed.script.words(&parsed.script.statements[0]);
            prop_assert_eq!(value(&parsed.script, &words[1]), text);
        }
    }

    #[test]
    fn heredocs_keep_any_text(text in "([^\r]|\r\n){0,60}", dedent in any::<bool>()) {
        let text = if text.is_empty() { text } else { format!("{text}\n") };
        let opener = if dedent { "<<-'MARK_1'" } else { "<<'MARK_1'" };
        let parsed = read(&format!("c {opener} last\n{text}MARK_1\nnext\n"));
        prop_assert!(parsed.errors.is_empty());
        prop_assert_eq!(parsed.script.statements.len(), 2);
        let words = parsed.script.words(&parsed.script.statements[0]);
        let body = text.replace("\r\n", "\n");
        let body = body.strip_suffix('\n').unwrap_or(&body);
        let found = value(&parsed.script, &words[1]);
        if dedent {
            let trimmed = |text: &str| -> Vec<String> {
                text.split('\n').map(|line| line.trim_start_matches([' ', '\t']).to_owned()).collect()
            };
            prop_assert_eq!(trimmed(&found), trimmed(body));
        } else {
            prop_assert_eq!(found, body);
        }
    }
}
