//! Assertions on errors: tool errors and JSON-RPC errors are never mixed.

use std::sync::Arc;

use super::look;
use super::show::cut;
use crate::engine::args::Args;
use crate::engine::cx::Cx;
use crate::engine::last::{Last, Reply};
use crate::engine::outcome::{Failure, Fault, Outcome};
use crate::engine::request::code_meaning;
use crate::engine::spec::{CommandSpec, Form, Group, Kind, Param, Role};
use crate::json::Number;
use crate::source::Span;

const CODE: Param<Number> = Param::number("code", "a JSON-RPC error code, such as -32602");
const TOOL: Param<Arc<str>> =
    Param::word(Kind::Choice(&["tool"]), "tool", "the word tool: the same as assert_tool_error");

fn tool_error(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let span = args.span(&TOOL);
    let last = look::last(cx)?;
    if last.is_tool_error() {
        return Ok(Outcome::Passed);
    }
    let mut failure = Failure::assertion(
        "mcp::assert::tool_error",
        format!("line {} gave no tool error: {}", last.line, what_came(last)),
    )
    .at(span, "");
    failure = match (&last.reply, &cx.failed) {
        (Reply::Error(_), _) => failure.help("this is a JSON-RPC error: `assert_error_code` checks its code"),
        (Reply::Result(_), Some(failed)) => {
            failure.help(format!("the last request that failed stands on line {}: {}", failed.line, failed.what))
        }
        _ => failure,
    };
    Ok(failure.into())
}

fn what_came(last: &Last) -> String {
    match &last.reply {
        Reply::Result(_) => "it succeeded".into(),
        Reply::Error(error) => format!(
            "it failed with the JSON-RPC error {}: {}",
            error.code.map_or_else(|| "without a code".to_owned(), |code| code.to_string()),
            error.message
        ),
        Reply::Nothing(words) => words.clone(),
    }
}

fn error_code(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    if args.get(&TOOL).is_some() {
        return tool_error(cx, args);
    }
    let code = args.need(&CODE)?;
    let span = args.span(&CODE);
    let Some(wanted) = code.as_i64() else {
        return Err(Fault::script("mcp::script::bad_code", format!("`{}` is no error code", code.as_str()))
            .at(span, "codes are whole numbers")
            .into());
    };
    Ok(check_code(cx, wanted, span).map_or(Outcome::Passed, Outcome::from))
}

fn check_code(cx: &Cx, wanted: i64, span: Option<Span>) -> Option<Failure> {
    let meaning = |code: i64| code_meaning(code).map(|meaning| format!(" ({meaning})")).unwrap_or_default();
    let wanted_words = format!("{wanted}{}", meaning(wanted));
    if let Some(last) = cx.last.as_ref().filter(|last| last.is_tool_error()) {
        return Some(
            Failure::assertion(
                "mcp::assert::error_code",
                format!("line {} gave a tool error (isError: true), not the JSON-RPC error {wanted_words}", last.line),
            )
            .at(span, "a tool error has no code")
            .detail(format!("the tool said: {}", cut(last.text())))
            .help("`assert_tool_error` checks for a tool error"),
        );
    }
    let Some(failed) = &cx.failed else {
        return Some(
            Failure::assertion(
                "mcp::assert::error_code",
                "no request has failed with a JSON-RPC error in this session",
            )
            .at(span, "nothing to compare with")
            .help("put `expect_error` in front of the request that should fail"),
        );
    };
    match failed.code {
        Some(code) if code == wanted => None,
        Some(code) => Some(
            Failure::assertion(
                "mcp::assert::error_code",
                format!(
                    "the request on line {} failed with {code}{}, not with {wanted_words}",
                    failed.line,
                    meaning(code)
                ),
            )
            .at(span, format!("was {code}"))
            .detail(failed.what.clone()),
        ),
        None => Some(
            Failure::assertion(
                "mcp::assert::error_code",
                format!("the request on line {} failed without a JSON-RPC error code", failed.line),
            )
            .at(span, "there was no code")
            .detail(failed.what.clone()),
        ),
    }
}

/// Assertions on errors.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "assert_tool_error",
        group: Group::Assertions,
        summary: "Checks that the last response is a tool error: a result with isError: true.",
        details: "",
        forms: &[Form::new(&[])],
        example: "expect_error call_tool fail message:\"no\"\nassert_tool_error",
        role: Role::Assert(tool_error),
    },
    CommandSpec {
        name: "assert_error_code",
        group: Group::Assertions,
        summary: "Checks the JSON-RPC error code of the last request that failed.",
        details: "Standard codes: -32700 parse error, -32600 invalid request, -32601 method not found, -32602 invalid params or unknown tool, -32603 internal error. With the word tool it is assert_tool_error.",
        forms: &[Form::new(&[CODE.required()]), Form::new(&[TOOL.required()])],
        example: "expect_error call_tool non_existent_tool\nassert_error_code -32602",
        role: Role::Assert(error_code),
    },
];
