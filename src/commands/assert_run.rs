//! Assertions on how a call went: its duration, log messages, the server's stdout, files.

use std::sync::Arc;
use std::time::Duration;

use super::look;
use super::show::{brief, cut};
use crate::duration::show;
use crate::engine::args::Args;
use crate::engine::cx::Cx;
use crate::engine::outcome::{Failure, Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Kind, Param, Role};
use crate::json::Raw;

const MOST: Param<Duration> = Param::duration("max", "longest time from sending to the whole answer");
const TEXT: Param<Arc<str>> = Param::text("text", "the text to find");
const FILE: Param<Arc<str>> = Param::word(Kind::File, "file", "path, from the script's folder");

fn duration(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let most = args.need(&MOST)?;
    let last = look::last(cx)?;
    if last.duration <= most {
        return Ok(Outcome::Passed);
    }
    Ok(Failure::assertion(
        "mcp::assert::duration",
        format!("the answer to line {} took {}, longer than {}", last.line, show(last.duration), show(most)),
    )
    .at(args.span(&MOST), format!("took {}", show(last.duration)))
    .into())
}

fn log(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let expected = args.need(&TEXT)?;
    let messages = cx.session_if_open().map(|session| session.log_messages()).unwrap_or_default();
    let texts: Vec<String> = messages.iter().map(log_text).collect();
    if texts.iter().any(|text| text.contains(&*expected)) {
        return Ok(Outcome::Passed);
    }
    let mut failure =
        Failure::assertion("mcp::assert::log", format!("no log message contains \"{}\"", brief(&expected)))
            .at(args.span(&TEXT), "not logged");
    failure = if texts.is_empty() {
        failure.help("the server sent no log message; `logging debug` before the call asks for them")
    } else {
        let from = texts.len().saturating_sub(10);
        failure.detail(format!(
            "messages so far ({}):\n{}",
            texts.len(),
            texts[from..].iter().map(|text| cut(text)).collect::<Vec<_>>().join("\n")
        ))
    };
    Ok(failure.into())
}

/// A log message as one line: level, logger, data.
fn log_text(params: &Raw) -> String {
    let part = |name: &str| params.get(name).map(|value| value.to_json().render().into_owned());
    let level = part("level").unwrap_or_default();
    let logger = part("logger").map(|logger| format!(" {logger}:")).unwrap_or_default();
    format!("[{level}]{logger} {}", part("data").unwrap_or_default())
}

fn stdout_clean(cx: &mut Cx, _args: &Args<'_>) -> Result<Outcome, Fault> {
    let noise = cx.session_if_open().map(|session| session.noise()).unwrap_or_default();
    if noise.is_empty() {
        return Ok(Outcome::Passed);
    }
    let shown: Vec<String> = noise.iter().take(10).map(|line| cut(line)).collect();
    let (count, verb) = (noise.len(), if noise.len() == 1 { "line that is" } else { "lines that are" });
    Ok(Failure::assertion(
        "mcp::assert::stdout_clean",
        format!("the server wrote {count} {verb} no MCP message to stdout"),
    )
    .detail(shown.join("\n"))
    .help("stdout belongs to the protocol: the server must log to stderr")
    .into())
}

fn file(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let name = args.need(&FILE)?;
    let path = cx.folder.join(&*name);
    let files = cx.settings.files.clone();
    if !files.exists(&path) {
        return Ok(Failure::assertion("mcp::assert::no_file", format!("there is no file `{}`", path.display()))
            .at(args.span(&FILE), "not there")
            .into());
    }
    let Some(expected) = args.get(&TEXT) else { return Ok(Outcome::Passed) };
    Ok(match files.read_text(&path) {
        Ok(text) if text.contains(&*expected) => Outcome::Passed,
        Ok(text) => Failure::assertion(
            "mcp::assert::file",
            format!("`{}` does not contain \"{}\"", path.display(), brief(&expected)),
        )
        .at(args.span(&TEXT), "not found")
        .detail(format!("actual: {}", cut(&text)))
        .into(),
        Err(why) => Failure::assertion("mcp::assert::file", format!("cannot read `{}`: {why}", path.display()))
            .at(args.span(&FILE), "unreadable")
            .into(),
    })
}

/// Assertions on how a call went.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "assert_duration",
        group: Group::Assertions,
        summary: "Checks that the last answer came within a time.",
        details: "",
        forms: &[Form::on_last(&[MOST.required()])],
        example: "call_tool echo text:quick\nassert_duration 5s",
        role: Role::Assert(duration),
    },
    CommandSpec {
        name: "assert_log",
        group: Group::Assertions,
        summary: "Checks that a log message of the server contains a text.",
        details: "All notifications/message of the session count. Each is seen as `[level] logger: data`.",
        forms: &[Form::new(&[TEXT.required()])],
        example: "logging info\ncall_tool log level:info text:\"something happened\"\nretry 10 100ms assert_log \"something happened\"",
        role: Role::Assert(log),
    },
    CommandSpec {
        name: "assert_stdout_clean",
        group: Group::Assertions,
        summary: "Checks that the server wrote nothing but MCP messages to stdout.",
        details: "Over HTTP it always holds.",
        forms: &[Form::new(&[])],
        example: "ping\nassert_stdout_clean",
        role: Role::Assert(stdout_clean),
    },
    CommandSpec {
        name: "assert_file",
        group: Group::Assertions,
        summary: "Checks that a file exists, and that it contains a text.",
        details: "The path starts from the script's folder.",
        forms: &[Form::new(&[FILE.required()]), Form::new(&[FILE.required(), TEXT.required()])],
        example: "not assert_file no-such-file.txt",
        role: Role::Assert(file),
    },
];
