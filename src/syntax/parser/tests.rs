use super::{Completeness, Parsed, parse};
use crate::source::Source;
use crate::syntax::ast::{PartKind, Quote, Script, Word};

fn read(text: &str) -> Parsed {
    parse(&Source::new("t.mcp", text))
}

fn good(text: &str) -> Script {
    let parsed = read(text);
    assert!(parsed.errors.is_empty(), "{text}: {:?}", parsed.errors);
    parsed.script
}

fn codes(text: &str) -> Vec<&'static str> {
    read(text).errors.iter().map(|error| error.code.trim_start_matches("mcp::syntax::")).collect()
}

/// A word as text: `name=` and then each part with a letter for its quoting, `$` before variables.
fn shape(script: &Script, word: &Word) -> String {
    let mut out = script.name(word).map_or_else(String::new, |name| format!("{name}="));
    for part in script.value_parts(word) {
        let quote = match part.quote {
            Quote::Bare => 'b',
            Quote::Double => 'd',
            Quote::Single => 's',
            Quote::Heredoc => 'h',
            Quote::Verbatim => 'v',
        };
        let owned = if part.kind == PartKind::Owned { "!" } else { "" };
        out.push_str(&format!("{quote}{owned}({})", script.text(part)));
    }
    out
}

fn shapes(text: &str) -> Vec<Vec<String>> {
    let script = good(text);
    let lines = script.statements.iter();
    lines.map(|line| script.words(line).iter().map(|word| shape(&script, word)).collect()).collect()
}

fn line(text: &str) -> Vec<String> {
    shapes(text).into_iter().next().unwrap_or_default()
}

#[test]
fn words_are_runs_of_segments() {
    assert_eq!(line("echo a\"b\"c 'd e'  \"\" ''"), ["b(echo)", "b(a)d(b)b(c)", "s(d e)", "d()", "s()"]);
    assert_eq!(line("\techo\ta#b http://x a<b \\ ="), ["b(echo)", "b(a#b)", "b(http://x)", "b(a<b)", "b(\\)", "b(=)"]);
    assert_eq!(shapes("#!/usr/bin/env mcp-tester\n\n  \r\na // x\n#\nb"), [["b(a)"], ["b(b)"]]);
    assert_eq!(line("\u{FEFF}a 1"), ["b(a)", "b(1)"]);
}

#[test]
fn escapes_stay_within_double_quotes() {
    assert_eq!(
        line(r#"e "missing: [\"code\"]" "\\" "\n\d" '\"'"#)[1..],
        [r#"d!(missing: ["code"])"#, r"d!(\)", r"d(\n\d)", r#"s(\")"#]
    );
    assert_eq!(line(r#"e "a\"$x\\$y" "\$x""#)[1..], [r#"d!(a")d($x)d!(\)d($y)"#, r"d(\)d($x)"]);
}

#[test]
fn variables_are_split_once_and_per_segment() {
    assert_eq!(
        line("e $a x$b.c \"$d e\" '$f' $1 $ $$g a$"),
        ["b(e)", "b($a)", "b(x)b($b)b(.c)", "d($d)d( e)", "s($f)", "b($1)", "b($)", "b($)b($g)", "b(a$)"]
    );
    assert_eq!(line("e '$'id \"$\"id $\"a\"")[1..], ["s($)b(id)", "d($)b(id)", "b($)d(a)"]);
}

#[test]
fn names_are_decided_on_the_source() {
    assert_eq!(
        line("c a:1 b:\"x y\" c:$v d:'[\"x\"]' e: f:\"\" urn:a:b")[1..],
        ["a=b(1)", "b=d(x y)", "c=b($v)", "d=s([\"x\"])", "e=", "f=d()", "urn=b(a:b)"]
    );
    assert_eq!(
        line("c \"Note: hello\" http://x C:\\x c:/x $v:x 1:2 :x a\"b\":c")[1..],
        ["d(Note: hello)", "b(http://x)", "b(C:\\x)", "b(c:/x)", "b($v)b(:x)", "b(1:2)", "b(:x)", "b(a)d(b)b(:c)"]
    );
    assert_eq!(
        line("c \"any name\":v 'x y':\"z\" \"a\\\"b\": \"$v\":x '$id':1 'a$id b':2 \"\":0")[1..],
        ["any name=b(v)", "x y=d(z)", "a\"b=", "d($v)b(:x)", "$id=b(1)", "a$id b=b(2)", "=b(0)"]
    );
}

#[test]
fn a_word_with_a_name_still_has_its_whole_text() {
    let script = good("echo a:b \"c d\":$e");
    let words = script.words(&script.statements[0]);
    let whole = |word: &Word| script.parts(word).iter().map(|part| script.text(part)).collect::<String>();
    assert_eq!(whole(&words[1]), "a:b");
    assert_eq!(whole(&words[2]), "c d:$e");
    assert_eq!(script.name(&words[2]), Some("c d"));
    assert_eq!(script.source.slice(script.parts(&words[2])[0].span), "\"c d\":");
    assert_eq!(script.source.slice(words[2].span), "\"c d\":$e");
    assert_eq!(script.source.slice(script.statements[0].span), "echo a:b \"c d\":$e");
}

#[test]
fn heredocs_become_the_value_of_their_word() {
    assert_eq!(line("call x <<EOF\nconsole.log(\"a\");\n  b $v\nEOF\n")[2], "h(console.log(\"a\");\n  b )h($v)");
    assert_eq!(
        shapes("c <<A b:<<'B' last # note\n1\nA\n$2 $x\n  B\t\nd"),
        [vec!["b(c)", "h(1)", "b=v($2 $x)", "b(last)"], vec!["b(d)"]]
    );
    assert_eq!(line("c <<A\nA")[1], "h()");
    assert_eq!(line("c <<A\n\nA")[1], "h()");
    assert_eq!(line("c <<A\n\n\nA")[1], "h(\n)");
    assert_eq!(line("c <<\"A\"\r\n$x\r\ny\r\nA\r\n")[1], "h($x)h!(\ny)");
    assert_eq!(line("c \"n m\":<<A\nx\nA")[1], "n m=h(x)");
    assert_eq!(line("<<A b\nx\nA"), ["h(x)", "b(b)"]);
}

#[test]
fn dedent_removes_what_all_lines_share() {
    assert_eq!(line("c <<-A\n    a\n\n      $b\n  \t\n    A")[1], "h!(a\n\n  )h($b)h!(\n\t)");
    assert_eq!(line("c <<-A\na\n b\nA")[1], "h(a\n b)");
    assert_eq!(line("c <<-'A'\r\n\ta\r\n\t$b\r\nA\r\n")[1], "v!(a\n$b)");
}

#[test]
fn spans_show_what_was_written() {
    let script = good("c x <<A y\nbody $v\nA\n");
    let statement = &script.statements[0];
    assert_eq!(script.source.slice(statement.span), "c x <<A y");
    let words = script.words(statement);
    assert_eq!(script.source.slice(words[2].span), "<<A");
    let parts = script.parts(&words[2]);
    assert_eq!(parts.iter().map(|part| script.source.slice(part.span)).collect::<Vec<_>>(), ["body ", "$v"]);
    assert_eq!(parts[1].kind, PartKind::Var);
}

#[test]
fn comments_are_kept_for_the_formatter() {
    let script = good("# a\nx # b\n\n// c");
    let texts: Vec<_> = script.comments.iter().map(|span| script.source.slice(*span)).collect();
    assert_eq!(texts, ["# a", "# b", "// c"]);
    assert_eq!(script.to_string(), "# a\nx # b\n\n// c");
}

#[test]
fn every_error_is_found_at_once() {
    let text =
        "a 'x\nb {\"k\": 1}\nc \u{A0}d\ne <<1\nf \u{201C}g\u{201D}\nh \u{7}\ni \u{200B}j\nk\rl\nm <<EOF\nn\neof\no \"";
    assert_eq!(
        codes(text),
        [
            "open_quote",
            "bare_json",
            "wide_space",
            "heredoc_mark",
            "typographic_quote",
            "control_character",
            "invisible_character",
            "lone_cr",
            "open_heredoc",
            "open_quote"
        ]
    );
    let parsed = read(text);
    assert_eq!(parsed.script.statements.len(), 10);
    assert_eq!(parsed.broken, (0..10).collect::<Vec<_>>());
    assert!(!read("a\n# \u{7}\n").errors.is_empty());
    assert!(read("a\n# \u{7}\n").broken.is_empty());
}

#[test]
fn json_without_quotes_is_read_as_it_was_meant() {
    let parsed = read("c {\"a\": [1, \"x]\"]} b:[\"y\",1] last\n");
    assert_eq!(parsed.errors.len(), 2);
    let words = parsed.script.words(&parsed.script.statements[0]);
    let shapes: Vec<_> = words.iter().map(|word| shape(&parsed.script, word)).collect();
    assert_eq!(shapes, ["b(c)", "s({\"a\": [1, \"x]\"]})", "b=s([\"y\",1])", "b(last)"]);
    assert_eq!(line("c [1,2] {x} a[\"b\"]")[1..], ["b([1,2])", "b({x})", "b(a[)d(b)b(])"]);
    // A heredoc that opens inside still has its body.
    assert_eq!(codes("c {\"a\": <<A }\nx\nA\n"), ["bare_json"]);
    assert_eq!(codes("c {\"a\": \"b\n"), ["bare_json", "open_quote"]);
}

#[test]
fn open_ends_are_incomplete_and_other_errors_are_not() {
    for (text, expected) in [
        ("c <<A", Completeness::OpenHeredoc),
        ("c <<A\n", Completeness::OpenHeredoc),
        ("c <<A <<B\nx\nA", Completeness::OpenHeredoc),
        ("c <<A\nx\na\n'y", Completeness::OpenHeredoc),
        ("c \"a", Completeness::OpenQuote),
        ("c 'a", Completeness::OpenQuote),
        ("c 'a\n", Completeness::Complete),
        ("c 'a\nb <<A\n", Completeness::Complete),
        ("c <<A 'b", Completeness::Complete),
        ("c {\"a\":1}", Completeness::Complete),
        ("c <<A\nx\nA", Completeness::Complete),
        ("", Completeness::Complete),
    ] {
        let parsed = read(text);
        assert_eq!(parsed.completeness(), expected, "{text}");
        assert_eq!(parsed.incomplete(), expected != Completeness::Complete, "{text}");
    }
    // Only the first heredoc without an end is reported: it took the lines of the others.
    assert_eq!(codes("c <<A <<B\nx\nB\n"), ["open_heredoc"]);
}

#[test]
fn the_version_line_stands_before_the_first_command() {
    assert_eq!(good("#!/usr/bin/env mcp-tester\n# mcp-tester: 1\necho a").version, 1);
    assert_eq!(good("echo a\n# mcp-tester: 2\n").version, 1);
    assert_eq!(codes("# mcp-tester: 2\necho a"), ["unknown_version"]);
    assert_eq!(codes("# mcp-tester: 99999999999"), ["unknown_version"]);
    assert_eq!(codes("# mcp-tester: 1\n# mcp-tester: 1\n"), ["version_twice"]);
}

#[test]
fn errors_are_counted_past_a_thousand() {
    let parsed = read(&"a '\n".repeat(1_500));
    assert_eq!(parsed.errors.len(), 1_001);
    assert!(parsed.errors[1_000].title.contains("500 more errors"));
}

#[test]
fn strays_are_reported_once_for_each_kind_and_line() {
    assert_eq!(codes("a\u{A0}b\u{A0}c\u{7}d\u{7}\ne\u{A0}f"), ["wide_space", "control_character", "wide_space"]);
}
