//! The protocol itself: ping, log levels, discovery, any request or notification.

use std::sync::Arc;

use crate::engine::args::Args;
use crate::engine::cx::Cx;
use crate::engine::last::Shape;
use crate::engine::operand::quote;
use crate::engine::outcome::{Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Kind, Param, Role, Running};
use crate::json::{JsonKind, Raw};
use crate::session::Call;

const METHOD: Param<Arc<str>> = Param::word(Kind::Method, "method", "the method, such as tools/list");
const PARAMS: Param<Raw> = Param::json("json", "the params, a JSON object, sent exactly as written");
const LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const LEVEL: Param<Arc<str>> =
    Param::text("level", "debug, info, notice, warning, error, critical, alert or emergency; others are sent too");

fn ping<'a>(cx: &'a mut Cx, _args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let session = match cx.session().await {
            Ok(session) => session,
            Err(outcome) => return Ok(outcome),
        };
        let method = if session.facts().revision.is_modern() {
            cx.print("ping: this revision has no ping; server/discover was sent instead");
            "server/discover"
        } else {
            "ping"
        };
        cx.request(Call::new(method), "ping", Shape::Plain).await
    })
}

fn logging<'a>(cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let level = args.need(&LEVEL)?;
        let session = match cx.session().await {
            Ok(session) => session,
            Err(outcome) => return Ok(outcome),
        };
        if session.facts().revision.is_modern() {
            session.set_log_level(&level);
            if !LEVELS.contains(&&*level) {
                cx.print(format!(
                    "logging: `{level}` is no level of the protocol; later requests carry it all the same"
                ));
            }
            return Ok(Outcome::Passed);
        }
        let mut call = Call::new("logging/setLevel");
        call.params = Some(format!("{{\"level\":{}}}", quote(&level)));
        cx.request(call, "logging", Shape::Plain).await
    })
}

fn discover<'a>(cx: &'a mut Cx, _args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move { cx.request(Call::new("server/discover"), "discover", Shape::Plain).await })
}

fn request<'a>(cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let method = args.need(&METHOD)?;
        let shape = match &*method {
            "tools/call" => Shape::Tool,
            "prompts/get" => Shape::Prompt,
            "resources/read" => Shape::Resource,
            "tools/list" => Shape::List("tools"),
            "resources/list" => Shape::List("resources"),
            "resources/templates/list" => Shape::List("resourceTemplates"),
            "prompts/list" => Shape::List("prompts"),
            _ => Shape::Plain,
        };
        let mut call = Call::new(method.to_string());
        call.params = params(args)?;
        cx.request(call, "request", shape).await
    })
}

fn notify<'a>(cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let method = args.need(&METHOD)?;
        let params = params(args)?;
        let session = match cx.session().await {
            Ok(session) => session,
            Err(outcome) => return Ok(outcome),
        };
        match session.notify(&method, params).await {
            Ok(()) => Ok(Outcome::Passed),
            Err(error) => Ok(cx.conclude(Err(error), "notify", Shape::Plain)),
        }
    })
}

fn params(args: &Args<'_>) -> Result<Option<String>, Fault> {
    let Some(raw) = args.get(&PARAMS) else { return Ok(None) };
    if matches!(raw.kind(), JsonKind::Object | JsonKind::Array) {
        return Ok(Some(raw.as_str().to_owned()));
    }
    Err(Fault::script("mcp::call::not_object", "params are a JSON object")
        .at(args.span(&PARAMS), format!("this is of type {}", raw.kind()))
        .help("write it as '{\"name\": value}'")
        .into())
}

/// The protocol itself.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "ping",
        group: Group::Protocol,
        summary: "Checks that the server answers.",
        details: "In 2026-07-28, which has no ping, it sends server/discover and says so.",
        forms: &[Form::new(&[])],
        example: "ping",
        role: Role::Request(ping),
    },
    CommandSpec {
        name: "logging",
        group: Group::Protocol,
        summary: "Sets from which level on the server sends log messages.",
        details: "In 2026-07-28 it sets the level that later requests carry.",
        forms: &[Form::new(&[LEVEL.required()])],
        example: "logging info",
        role: Role::Request(logging),
    },
    CommandSpec {
        name: "discover",
        group: Group::Protocol,
        summary: "Sends server/discover.",
        details: "",
        forms: &[Form::new(&[])],
        example: "require protocol 2026-07-28..\ndiscover\nassert_exists supportedVersions",
        role: Role::Request(discover),
    },
    CommandSpec {
        name: "request",
        group: Group::Protocol,
        summary: "Sends any request.",
        details: "The revision's _meta and headers are added unless the JSON has a _meta.",
        forms: &[Form::new(&[METHOD.required(), PARAMS.optional()])],
        example: "request tools/list '{}'\nassert_exists tools",
        role: Role::Request(request),
    },
    CommandSpec {
        name: "notify",
        group: Group::Protocol,
        summary: "Sends any notification.",
        details: "",
        forms: &[Form::new(&[METHOD.required(), PARAMS.optional()])],
        example: "notify notifications/cancelled '{\"requestId\": 4711}'",
        role: Role::Wait(notify),
    },
];
