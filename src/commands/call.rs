//! Calling tools.

use std::sync::Arc;

use crate::diagnostic::suggest;
use crate::engine::args::{Args, Argument, ArgumentValue};
use crate::engine::cx::Cx;
use crate::engine::last::Shape;
use crate::engine::operand::{escape_into, quote};
use crate::engine::outcome::{Failure, FailureKind, Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Kind, Param, Role, Running};
use crate::json::coerce::{ToolSchema, Word};
use crate::json::{Json, JsonKind, Raw};
use crate::session::{Call, CallError, Session, Tool};

const TOOL: Param<Arc<str>> = Param::word(Kind::Tool, "tool", "the tool's name");
const ARGUMENTS: Param<Argument> = Param::arguments(
    "arguments",
    "name:value, or values alone: these fill the properties not named, in alphabetical order; each is converted by the tool's schema",
);
const OBJECT: Param<Raw> = Param::json("json", "the arguments as a JSON object, sent exactly as written");

fn call_tool<'a>(cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let name = args.need(&TOOL)?;
        let session = match cx.session().await {
            Ok(session) => session,
            Err(outcome) => return Ok(outcome),
        };
        let tool = match find(cx, &session, &name).await {
            Ok(tool) => tool,
            Err(error) => return Ok(cx.conclude(Err(error), "call_tool", Shape::Tool)),
        };
        let arguments = args.all(&ARGUMENTS);
        let object = match &tool {
            Some(tool) => by_schema(tool, &arguments)?,
            None => without_schema(&name, &arguments)?,
        };
        send(cx, &name, tool, &object, "call_tool").await
    })
}

fn call_tool_raw<'a>(cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let name = args.need(&TOOL)?;
        let object = args.need(&OBJECT)?;
        if object.kind() != JsonKind::Object {
            return Err(Fault::script("mcp::call::not_object", "a tool's arguments are a JSON object")
                .at(args.span(&OBJECT), format!("this is of type {}", object.kind()))
                .help("write it as '{\"name\": value}'; `request tools/call '…'` sends any params")
                .into());
        }
        let session = match cx.session().await {
            Ok(session) => session,
            Err(outcome) => return Ok(outcome),
        };
        let tool = match find(cx, &session, &name).await {
            Ok(tool) => tool,
            Err(error) => return Ok(cx.conclude(Err(error), "call_tool_raw", Shape::Tool)),
        };
        send(cx, &name, tool, object.as_str(), "call_tool_raw").await
    })
}

/// The tool as the server lists it; none where it does not, or where it lists nothing at all.
async fn find(cx: &mut Cx, session: &Session, name: &str) -> Result<Option<Arc<Tool>>, CallError> {
    let tools = session.tools().await?;
    if !cx.tools_are_known() {
        cx.tools_known(tools.list.iter().map(|tool| tool.name.clone()).collect());
    }
    Ok(tools.get(name).cloned())
}

async fn send(
    cx: &mut Cx,
    name: &str,
    tool: Option<Arc<Tool>>,
    object: &str,
    command: &'static str,
) -> Result<Outcome, Fault> {
    let mut call = Call::new("tools/call");
    let mut params = String::with_capacity(32 + name.len() + object.len());
    params.push_str("{\"name\":\"");
    escape_into(&mut params, name);
    params.push_str("\",\"arguments\":");
    params.push_str(object);
    params.push('}');
    call.params = Some(params);
    call.name = Some(name.to_owned());
    call.tool.clone_from(&tool);
    let outcome = cx.request(call, command, Shape::Tool).await?;
    Ok(match (outcome, tool) {
        (Outcome::Passed, Some(tool)) => check_output(cx, &tool).map_or(Outcome::Passed, Outcome::from),
        (outcome, _) => outcome,
    })
}

/// The result of a tool with an `outputSchema` must carry structuredContent that satisfies it (MCP 2025-06-18, "Tools",
/// "Output Schema").
fn check_output(cx: &mut Cx, tool: &Tool) -> Option<Failure> {
    let validator = match tool.output()? {
        Ok(validator) => validator,
        Err(error) => {
            return Some(output_failure(
                format!("the outputSchema of `{}` cannot be used: {error}", tool.name),
                Vec::new(),
            ));
        }
    };
    let last = cx.last.as_ref()?;
    let Some(structured) = last.structured() else {
        return Some(output_failure(
            format!("`{}` declares an outputSchema, but the result has no structuredContent", tool.name),
            vec![format!("result: {}", super::show::cut(last.compact()))],
        ));
    };
    let violations = validator.validate(&structured);
    if violations.is_empty() {
        return None;
    }
    let title = format!("the result of `{}` breaks its outputSchema", tool.name);
    Some(output_failure(title, violations.iter().map(ToString::to_string).collect()))
}

fn output_failure(title: String, lines: Vec<String>) -> Failure {
    let failure = Failure::new(FailureKind::Output, "mcp::call::output_schema", title)
        .help("strict clients refuse such a result; `call_tool_raw` checks it too, `request tools/call` does not");
    if lines.is_empty() { failure } else { failure.detail(lines.join("\n")) }
}

fn by_schema(tool: &Tool, arguments: &[Argument]) -> Result<String, Fault> {
    let schema = tool.input();
    let named: Vec<&str> = arguments.iter().filter_map(|argument| argument.name.as_deref()).collect();
    for argument in arguments {
        if let Some(name) = &argument.name
            && !schema.allows(name)
        {
            return Err(unknown_name(tool, schema, name, argument));
        }
    }
    let free = schema.positional_names_excluding(&named);
    let mut free = free.iter();
    let mut object = String::from("{");
    for (at, argument) in arguments.iter().enumerate() {
        let name: &str = match &argument.name {
            Some(name) => name,
            None => free.next().ok_or_else(|| too_many(tool, schema, argument))?,
        };
        if at > 0 {
            object.push(',');
        }
        object.push('"');
        escape_into(&mut object, name);
        object.push_str("\":");
        schema.coerce(name, word(argument)).write_compact(&mut object);
    }
    object.push('}');
    Ok(object)
}

fn word(argument: &Argument) -> Word<'_> {
    match &argument.value {
        ArgumentValue::Bare(text) => Word::Bare(text),
        ArgumentValue::Quoted(text) => Word::Quoted(text),
        ArgumentValue::Value(value) => Word::Value(value),
    }
}

fn unknown_name(tool: &Tool, schema: &ToolSchema, name: &str, argument: &Argument) -> Fault {
    let names = schema.names();
    let near = suggest(name, names.iter().map(|known| &**known));
    let mut help = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    help.push_str(&listing(names));
    let text = match &argument.value {
        ArgumentValue::Bare(text) | ArgumentValue::Quoted(text) => text.to_string(),
        ArgumentValue::Value(value) => value.render().into_owned(),
    };
    help.push_str(&format!("; if the whole word is a value, quote it: \"{name}:{text}\""));
    Fault::script("mcp::call::unknown_argument", format!("`{}` takes no argument `{name}`", tool.name))
        .at(Some(argument.span), "unknown name")
        .help(help)
        .into()
}

fn too_many(tool: &Tool, schema: &ToolSchema, argument: &Argument) -> Fault {
    Fault::script("mcp::call::too_many", format!("`{}` takes no further value", tool.name))
        .at(Some(argument.span), "one too many")
        .help(format!("{}; values alone fill them in this order", listing(schema.names())))
        .into()
}

fn listing<S: AsRef<str>>(names: &[S]) -> String {
    match names.len() {
        0 => "it takes no arguments".into(),
        _ => format!("its arguments are {}", names.iter().map(AsRef::as_ref).take(30).collect::<Vec<_>>().join(", ")),
    }
}

/// A tool the server does not list: named arguments only, bare values as JSON where they parse.
fn without_schema(tool: &str, arguments: &[Argument]) -> Result<String, Fault> {
    let mut object = String::from("{");
    for (at, argument) in arguments.iter().enumerate() {
        let Some(name) = &argument.name else {
            return Err(Fault::script(
                "mcp::call::no_schema",
                format!("the server does not list `{tool}`, so a value alone has no name"),
            )
            .at(Some(argument.span), "which argument is this?")
            .help("write it as name:value; `list_tools` shows what there is")
            .into());
        };
        if at > 0 {
            object.push(',');
        }
        object.push_str(&quote(name));
        object.push(':');
        let value = match &argument.value {
            ArgumentValue::Bare(text) => Raw::parse(text).map_or_else(|_| Json::from(&**text), |raw| raw.to_json()),
            ArgumentValue::Quoted(text) => Json::from(&**text),
            ArgumentValue::Value(value) => value.clone(),
        };
        value.write_compact(&mut object);
    }
    object.push('}');
    Ok(object)
}

/// Commands that call tools.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "call_tool",
        group: Group::Tools,
        summary: "Calls a tool.",
        details: "A name the tool's schema does not know is an error that lists the valid ones, and so are more values than properties. If the tool declares an outputSchema, the result must satisfy it.",
        forms: &[Form::new(&[TOOL.required(), ARGUMENTS.rest()])],
        example: "call_tool add a:1 b:2\nassert_contains \"3\"",
        role: Role::Request(call_tool),
    },
    CommandSpec {
        name: "call_tool_raw",
        group: Group::Tools,
        summary: "Calls a tool with arguments sent exactly as written.",
        details: "Nothing is checked or converted, so that a test can send what the schema forbids. Known $names inside are filled in.",
        forms: &[Form::new(&[TOOL.required(), OBJECT.required()])],
        example: "call_tool_raw echo '{\"text\": \"hello\"}'",
        role: Role::Request(call_tool_raw),
    },
];
