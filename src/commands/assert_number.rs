//! Assertions on numbers: decimals of any size, compared by value.

use std::cmp::Ordering;
use std::sync::Arc;

use super::show::brief;
use crate::engine::args::Args;
use crate::engine::cx::Cx;
use crate::engine::outcome::{Failure, FailureKind, Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Param, Role};
use crate::json::Number;

const VALUE: Param<Arc<str>> = Param::text("value", "the value, usually a variable");
const LEFT: Param<Arc<str>> = Param::text("left", "a number");
const RIGHT: Param<Arc<str>> = Param::text("right", "a number");

fn number(_cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let value = args.need(&VALUE)?;
    Ok(match Number::parse(&value) {
        Some(_) => Outcome::Passed,
        None => Failure::assertion("mcp::assert::number", format!("`{}` is not a number", brief(&value)))
            .at(args.span(&VALUE), "not a number")
            .help("numbers are written as in JSON: 5, -1, 2.50, 1e6")
            .into(),
    })
}

fn compare(args: &Args<'_>, wanted: &'static [Ordering], words: &str) -> Result<Outcome, Fault> {
    let mut numbers = Vec::with_capacity(2);
    for param in [&LEFT, &RIGHT] {
        let text = args.need(param)?;
        let Some(number) = Number::parse(&text) else {
            let help = if text.starts_with("$.") || text.contains(".0.") {
                format!("it takes values: put `set_var x {text}` before it and write $x")
            } else {
                "numbers are written as in JSON: 5, -1, 2.50, 1e6".to_owned()
            };
            return Ok(Failure::new(
                FailureKind::Missing,
                "mcp::assert::not_number",
                format!("`{}` is not a number", brief(&text)),
            )
            .at(args.span(param), "not a number")
            .help(help)
            .into());
        };
        numbers.push(number);
    }
    let (left, right) = (&numbers[0], &numbers[1]);
    if wanted.contains(&left.cmp_value(right)) {
        return Ok(Outcome::Passed);
    }
    Ok(Failure::assertion("mcp::assert::compare", format!("{} is not {words} {}", left.as_str(), right.as_str()))
        .at(args.span(&LEFT), format!("is {}", left.as_str()))
        .into())
}

fn gt(_cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    compare(args, &[Ordering::Greater], "greater than")
}

fn gte(_cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    compare(args, &[Ordering::Greater, Ordering::Equal], "greater than or equal to")
}

fn lt(_cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    compare(args, &[Ordering::Less], "less than")
}

fn lte(_cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    compare(args, &[Ordering::Less, Ordering::Equal], "less than or equal to")
}

const PAIR: &[Form] = &[Form::new(&[LEFT.required(), RIGHT.required()])];

/// Assertions on numbers.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "assert_number",
        group: Group::Assertions,
        summary: "Checks that a value is a number.",
        details: "A number is what JSON calls one; a string that holds one counts.",
        forms: &[Form::new(&[VALUE.required()])],
        example: "call_tool add a:1 b:2\nset_var sum $.sum\nassert_number $sum",
        role: Role::Assert(number),
    },
    CommandSpec {
        name: "assert_gt",
        group: Group::Assertions,
        summary: "Checks that the first number is greater than the second.",
        details: "",
        forms: PAIR,
        example: "let score 12\nassert_gt $score 0",
        role: Role::Assert(gt),
    },
    CommandSpec {
        name: "assert_gte",
        group: Group::Assertions,
        summary: "Checks that the first number is greater than or equal to the second.",
        details: "",
        forms: PAIR,
        example: "let score 12\nassert_gte $score 12.0",
        role: Role::Assert(gte),
    },
    CommandSpec {
        name: "assert_lt",
        group: Group::Assertions,
        summary: "Checks that the first number is less than the second.",
        details: "",
        forms: PAIR,
        example: "let score 12\nassert_lt $score 100",
        role: Role::Assert(lt),
    },
    CommandSpec {
        name: "assert_lte",
        group: Group::Assertions,
        summary: "Checks that the first number is less than or equal to the second.",
        details: "",
        forms: PAIR,
        example: "let score 12\nassert_lte $score 12",
        role: Role::Assert(lte),
    },
];
