//! Assertions on text.

use std::sync::Arc;

use regex::Regex;

use super::look;
use super::show::{brief, cut, difference};
use crate::engine::args::Args;
use crate::engine::cx::Cx;
use crate::engine::outcome::{Failure, Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Param, Role};

const EXPECTED: Param<Arc<str>> = Param::text("text", "the text to find");
const VALUE: Param<Arc<str>> =
    Param::text("value", "the value to look at, usually a variable; the last response when left out");
const LEFT: Param<Arc<str>> = Param::text("left", "one value; the last response when left out");
const RIGHT: Param<Arc<str>> = Param::text("expected", "the value it must be, character by character");
const MIN: Param<u64> = Param::count("min", "fewest Unicode characters, included");
const MAX: Param<u64> = Param::count("max", "most Unicode characters, included");
const REGEX: Param<Arc<Regex>> =
    Param::regex("regex", "a regular expression that must match somewhere; single quotes keep its backslashes");

fn contains(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let expected = args.need(&EXPECTED)?;
    let span = args.span(&EXPECTED);
    if let Some(value) = args.get(&VALUE) {
        return Ok(if value.contains(&*expected) {
            Outcome::Passed
        } else {
            not_found(&expected, &value, "the value", span)
        });
    }
    let negated = cx.negated;
    let last = look::last(cx)?;
    let found = last.text().contains(&*expected)
        || if negated {
            last.structured().is_some_and(|structured| structured.to_json().compact().contains(&*expected))
        } else {
            last.compact().contains(&*expected) || last.pretty().contains(&*expected)
        };
    Ok(if found {
        Outcome::Passed
    } else {
        let shown = if last.text().is_empty() { last.compact() } else { last.text() };
        not_found(&expected, shown, &format!("the response of line {}", last.line), span)
    })
}

fn not_found(expected: &str, actual: &str, what: &str, span: Option<crate::source::Span>) -> Outcome {
    let mut failure =
        Failure::assertion("mcp::assert::contains", format!("{what} does not contain \"{}\"", brief(expected)))
            .at(span, "not found")
            .detail(format!("expected: … {} …\n  actual: {}", cut(expected), cut(actual)));
    if !expected.is_empty() && actual.to_lowercase().contains(&expected.to_lowercase()) {
        failure = failure.help("it is there in other upper and lower case letters");
    }
    failure.into()
}

fn equals(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let expected = args.need(&RIGHT)?;
    let span = args.span(&RIGHT);
    if let Some(left) = args.get(&LEFT) {
        return Ok(if left == expected {
            Outcome::Passed
        } else {
            differs(&expected, &left, "the values differ", span)
        });
    }
    let last = look::last(cx)?;
    if last.text() == &*expected || last.compact() == &*expected || last.pretty() == &*expected {
        return Ok(Outcome::Passed);
    }
    let shown = if last.text().is_empty() { last.compact() } else { last.text() };
    Ok(differs(&expected, shown, &format!("the response of line {} differs", last.line), span))
}

fn differs(expected: &str, actual: &str, title: &str, span: Option<crate::source::Span>) -> Outcome {
    let mut failure =
        Failure::assertion("mcp::assert::equals", title).at(span, "expected this").detail(difference(expected, actual));
    if expected.trim() == actual.trim() {
        failure = failure.help("they differ in white space at an end only");
    } else if actual.contains(expected) && !expected.is_empty() {
        failure = failure.help("the text is part of it: `assert_contains` would hold");
    }
    failure.into()
}

fn string_length(_cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let (value, min, max) = (args.need(&VALUE)?, args.need(&MIN)?, args.need(&MAX)?);
    let length = value.chars().count() as u64;
    if (min..=max).contains(&length) {
        return Ok(Outcome::Passed);
    }
    Ok(Failure::assertion(
        "mcp::assert::string_length",
        format!("the text has {length} characters, not {min} to {max}"),
    )
    .at(args.span(&VALUE), format!("{length} characters"))
    .detail(format!("actual: {}", cut(&value)))
    .into())
}

fn matches(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let regex = args.need(&REGEX)?;
    let given = args.get(&VALUE);
    let text = match &given {
        Some(value) => &**value,
        None => look::last(cx)?.text(),
    };
    if regex.is_match(text) {
        return Ok(Outcome::Passed);
    }
    Ok(Failure::assertion("mcp::assert::matches", "the regular expression matches nowhere")
        .at(args.span(&REGEX), "no match")
        .detail(format!("expected: /{}/\n  actual: {}", regex.as_str(), cut(text)))
        .into())
}

/// Assertions on text.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "assert_contains",
        group: Group::Assertions,
        summary: "Checks that the last response, or a value, contains a text.",
        details: "Looks at the response's text, then at its compact and its indented JSON. After `not` only the text and structuredContent count.",
        forms: &[Form::on_last(&[EXPECTED.required()]), Form::new(&[VALUE.required(), EXPECTED.required()])],
        example: "call_tool echo text:\"hello world\"\nassert_contains \"world\"",
        role: Role::Assert(contains),
    },
    CommandSpec {
        name: "assert_equals",
        group: Group::Assertions,
        summary: "Checks that the last response, or a value, is exactly this text.",
        details: "Values are compared as the text they are shown as: 1 is not 1.0. assert_json compares JSON by value.",
        forms: &[Form::on_last(&[RIGHT.required()]), Form::new(&[LEFT.required(), RIGHT.required()])],
        example: "call_tool echo text:hello\nassert_equals \"hello\"",
        role: Role::Assert(equals),
    },
    CommandSpec {
        name: "assert_string_length",
        group: Group::Assertions,
        summary: "Checks that a text has between min and max Unicode characters.",
        details: "",
        forms: &[Form::new(&[VALUE.required(), MIN.required(), MAX.required()])],
        example: "call_tool echo text:hello\nset_var said content.0.text\nassert_string_length $said 1 10",
        role: Role::Assert(string_length),
    },
    CommandSpec {
        name: "assert_matches",
        group: Group::Assertions,
        summary: "Checks that a regular expression matches somewhere in the last response, or in a value.",
        details: "Look-around is not supported.",
        forms: &[Form::on_last(&[REGEX.required()]), Form::new(&[VALUE.required(), REGEX.required()])],
        example: "call_tool echo text:\"id 4711\"\nassert_matches 'id \\d+'",
        role: Role::Assert(matches),
    },
];
