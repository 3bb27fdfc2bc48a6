use std::sync::Arc;

use super::{Style, plain, render};
use crate::diagnostic::Diagnostic;
use crate::source::{Origin, Source, Span};

const STYLE: Style = Style { color: false, width: 100 };

fn draw(diagnostic: Diagnostic) -> String {
    render(&[diagnostic], &STYLE)
}

fn on(text: &str, word: &str) -> Diagnostic {
    let source = Source::new("a.mcp", text);
    let start = text.find(word).unwrap() as u32;
    Diagnostic::error("mcp::test::one", "it is wrong").at(&source, Span::new(start, start + word.len() as u32), "here")
}

#[test]
fn the_word_is_underlined_between_its_neighbours() {
    insta::assert_snapshot!(draw(on("one\ntwo\nhé word x\nfour\nfive\n", "word").help("write another")));
}

#[test]
fn a_second_place_may_be_on_the_line_or_in_another_file() {
    let text = "a b c\nd\ne\nf\ng h\n";
    let source = Source::new("a.mcp", text);
    let base = Diagnostic::warning("mcp::test::two", "said twice").at(&source, Span::new(4, 5), "again");
    insta::assert_snapshot!(draw(base.clone().and(&source, Span::new(0, 1), "first")));
    insta::assert_snapshot!(draw(base.clone().and(&source, Span::new(14, 15), "first")));
    let other = Source::new("lib/b.mcp", "\n\n  include x\n");
    let origin = Origin {
        source: source.clone(),
        span: Span::new(12, 13),
        included_from: Some(Arc::new(Origin::new(other, Span::new(4, 13)))),
    };
    insta::assert_snapshot!(draw(Diagnostic::error("mcp::test::three", "no").at_origin(&origin, "")));
}

#[test]
fn long_lines_are_cut_with_the_label_in_view() {
    let text = format!("short\n{}WORD{}\nnext\n", "x".repeat(100_000), "y".repeat(100_000));
    let drawn = draw(on(&text, "WORD"));
    insta::assert_snapshot!(drawn);
    let whole = format!("{}\n", "z".repeat(300));
    insta::assert_snapshot!(draw(on(&whole, &whole[..300])));
}

#[test]
fn nothing_reaches_the_terminal_but_text() {
    let source = Source::new("a\u{1b}.mcp", "x \u{1b}[31m\u{202E}y\tz\r w\n");
    let diagnostic = Diagnostic::error("mcp::test::four", "bad \u{1b}]0;t\u{7} title\nline")
        .at(&source, Span::new(10, 11), "\u{9b}here\n")
        .help("no \u{1b}c help")
        .detail("one \u{1b}\n\n\ttwo \u{200B}\n");
    let drawn = draw(diagnostic.clone());
    insta::assert_snapshot!(drawn);
    assert!(!drawn.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
    insta::assert_snapshot!(plain(&diagnostic));
}

#[test]
fn spans_past_the_end_and_over_lines_are_clamped() {
    let source = Source::new("a", "one\ntwo é\n");
    for (start, end) in [(0, 900), (900, 901), (4, 7), (8, 9), (9, 9), (u32::MAX, u32::MAX), (5, 2)] {
        let drawn = draw(Diagnostic::error("mcp::test::five", "t").at(&source, Span::new(start, end), "l"));
        assert!(drawn.contains("─ l"), "{start}..{end}: {drawn}");
    }
    let empty = Source::new("a", "");
    assert!(draw(Diagnostic::error("c", "t").at(&empty, Span::default(), "l")).contains("[a:1:1]"));
}

#[test]
fn a_diagnostic_without_a_place_has_no_picture() {
    insta::assert_snapshot!(draw(Diagnostic::warning("mcp::test::six", "no place").help("do\nthis")));
}

#[test]
fn more_than_fifty_are_counted() {
    let mut many = vec![Diagnostic::error("mcp::test::many", "t"); 60];
    many.extend(vec![Diagnostic::warning("mcp::test::many", "t"); 1]);
    let drawn = render(&many, &STYLE);
    assert_eq!(drawn.matches("× t").count(), 50);
    assert!(drawn.ends_with("\n… and 10 more errors and 1 more warning\n"), "{drawn}");
}

#[test]
fn colour_comes_only_when_asked_for() {
    let diagnostic = on("a b", "b");
    assert!(render(std::slice::from_ref(&diagnostic), &Style { color: true, width: 80 }).contains("\u{1b}[3"));
    assert!(!draw(diagnostic).contains('\u{1b}'));
}

#[test]
fn narrow_and_wide_terminals_both_work() {
    let diagnostic = on("a b", "b").help("word ".repeat(50));
    for width in [0, 1, 19, 80, 100_000] {
        assert!(!render(std::slice::from_ref(&diagnostic), &Style { color: false, width }).is_empty());
    }
}

#[test]
fn facts_are_ready_for_json() {
    let json = serde_json::to_string(&on("é b\n", "b").help("h").facts()).unwrap();
    insta::assert_snapshot!(json);
}
