//! Lists, resources and prompts.

use std::sync::Arc;

use crate::engine::args::{Args, Argument, ArgumentValue};
use crate::engine::cx::Cx;
use crate::engine::last::Shape;
use crate::engine::operand::quote;
use crate::engine::outcome::{Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Kind, Param, Role, Running};
use crate::session::{Call, ListKind};

const URI: Param<Arc<str>> = Param::word(Kind::Uri, "uri", "the resource");
const PROMPT: Param<Arc<str>> = Param::word(Kind::Prompt, "name", "the prompt");
const ARGUMENTS: Param<Argument> =
    Param::arguments("arguments", "the prompt's arguments, as name:value; values are text");

fn list<'a>(cx: &'a mut Cx, kind: ListKind, command: &'static str) -> Running<'a> {
    Box::pin(async move {
        let session = match cx.session().await {
            Ok(session) => session,
            Err(outcome) => return Ok(outcome),
        };
        let result = session.list(kind, cx.call.timeout).await;
        let outcome = cx.conclude(result, command, Shape::List(kind.member()));
        if let (ListKind::Tools, Outcome::Passed, Some(last)) = (kind, &outcome, &cx.last) {
            let names = last.text().lines().map(str::to_owned).collect();
            cx.tools_known(names);
        }
        Ok(outcome)
    })
}

fn list_tools<'a>(cx: &'a mut Cx, _args: &'a Args<'a>) -> Running<'a> {
    list(cx, ListKind::Tools, "list_tools")
}

fn list_resources<'a>(cx: &'a mut Cx, _args: &'a Args<'a>) -> Running<'a> {
    list(cx, ListKind::Resources, "list_resources")
}

fn list_templates<'a>(cx: &'a mut Cx, _args: &'a Args<'a>) -> Running<'a> {
    list(cx, ListKind::Templates, "list_templates")
}

fn list_prompts<'a>(cx: &'a mut Cx, _args: &'a Args<'a>) -> Running<'a> {
    list(cx, ListKind::Prompts, "list_prompts")
}

fn read_resource<'a>(cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let uri = args.need(&URI)?;
        let mut call = Call::new("resources/read");
        call.params = Some(format!("{{\"uri\":{}}}", quote(&uri)));
        call.name = Some(uri.to_string());
        cx.request(call, "read_resource", Shape::Resource).await
    })
}

fn get_prompt<'a>(cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let name = args.need(&PROMPT)?;
        let mut params = format!("{{\"name\":{}", quote(&name));
        let arguments = args.all(&ARGUMENTS);
        for (at, argument) in arguments.iter().enumerate() {
            let Some(key) = &argument.name else {
                return Err(Fault::script("mcp::call::unnamed", "a prompt's arguments are given by name")
                    .at(Some(argument.span), "no name")
                    .help("write it as name:value")
                    .into());
            };
            let text = match &argument.value {
                ArgumentValue::Bare(text) | ArgumentValue::Quoted(text) => text.to_string(),
                ArgumentValue::Value(value) => value.render().into_owned(),
            };
            params.push_str(if at == 0 { ",\"arguments\":{" } else { "," });
            params.push_str(&format!("{}:{}", quote(key), quote(&text)));
        }
        params.push_str(if arguments.is_empty() { "}" } else { "}}" });
        let mut call = Call::new("prompts/get");
        call.params = Some(params);
        call.name = Some(name.to_string());
        cx.request(call, "get_prompt", Shape::Prompt).await
    })
}

/// Lists, resources and prompts.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "list_tools",
        group: Group::Lists,
        summary: "Lists the tools, all pages.",
        details: "The text is one name per line; the result is the server's, `tools` holding the tools of all pages.",
        forms: &[Form::new(&[])],
        example: "list_tools\nassert_contains \"add\"",
        role: Role::Request(list_tools),
    },
    CommandSpec {
        name: "list_resources",
        group: Group::Lists,
        summary: "Lists the resources, all pages.",
        details: "",
        forms: &[Form::new(&[])],
        example: "list_resources",
        role: Role::Request(list_resources),
    },
    CommandSpec {
        name: "list_templates",
        group: Group::Lists,
        summary: "Lists the resource templates, all pages.",
        details: "",
        forms: &[Form::new(&[])],
        example: "list_templates",
        role: Role::Request(list_templates),
    },
    CommandSpec {
        name: "list_prompts",
        group: Group::Lists,
        summary: "Lists the prompts, all pages.",
        details: "",
        forms: &[Form::new(&[])],
        example: "list_prompts\nassert_contains \"greet\"",
        role: Role::Request(list_prompts),
    },
    CommandSpec {
        name: "read_resource",
        group: Group::Lists,
        summary: "Reads a resource.",
        details: "The text is that of its text contents.",
        forms: &[Form::new(&[URI.required()])],
        example: "read_resource demo://greeting",
        role: Role::Request(read_resource),
    },
    CommandSpec {
        name: "get_prompt",
        group: Group::Lists,
        summary: "Gets a prompt.",
        details: "The text is that of its messages.",
        forms: &[Form::new(&[PROMPT.required(), ARGUMENTS.rest()])],
        example: "get_prompt greet name:Ada\nassert_contains \"Ada\"",
        role: Role::Request(get_prompt),
    },
];
