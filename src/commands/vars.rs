//! Variables.

use std::sync::Arc;

use super::look::{self, follow};
use crate::engine::args::Args;
use crate::engine::cx::Cx;
use crate::engine::datum::Place;
use crate::engine::outcome::{Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Kind, Param, Role, Running};
use crate::json::Json;

const NAME: Param<Arc<str>> = Param::word(Kind::NewVariable, "name", "the variable to set, without $");
const KNOWN: Param<Arc<str>> = Param::word(Kind::Variable, "name", "a variable that is set, without $");
const PATH: Param<Place> =
    look::place("path", "where the value stands: rawResponse, $.a.b, a.0.b, /a/0/b or $.items[?@.ok].id");
const VALUE: Param<Json> =
    Param::value("value", "the value; a bare word that reads as JSON is JSON, quoted text is text");
const ENV: Param<Arc<str>> = Param::word(Kind::EnvName, "ENV", "the environment variable");
const OTHERWISE: Param<Arc<str>> = Param::text("default", "the value where it is not set");
const PROMPT: Param<Arc<str>> = Param::text("prompt", "what to ask; the variable's name when left out");

fn set_var(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let name = args.need(&NAME)?;
    let place = args.need(&PATH)?;
    Ok(match follow(cx, &place, args.span(&PATH)) {
        Ok(value) => {
            cx.vars.set(&name, value);
            Outcome::Passed
        }
        Err(failure) => failure.into(),
    })
}

fn let_var(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let (name, value) = (args.need(&NAME)?, args.need(&VALUE)?);
    cx.vars.set(&name, value);
    Ok(Outcome::Passed)
}

fn default(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let (name, value) = (args.need(&NAME)?, args.need(&VALUE)?);
    if !cx.vars.is_outside(&name) {
        cx.vars.set(&name, value);
    }
    Ok(Outcome::Passed)
}

fn env_var(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let (name, env) = (args.need(&NAME)?, args.need(&ENV)?);
    let value = cx.settings.environment.var(&env).or_else(|| args.get(&OTHERWISE).map(|text| text.to_string()));
    let Some(value) = value else {
        return Err(Fault::script("mcp::script::env_not_set", format!("the environment variable `{env}` is not set"))
            .at(args.span(&ENV), "not set")
            .help(format!("set it, or give a default: env_var {name} {env} \"value\""))
            .into());
    };
    cx.vars.set(&name, Json::from(value.as_str()));
    Ok(Outcome::Passed)
}

fn input_var<'a>(cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let name = args.need(&NAME)?;
        if cx.vars.is_outside(&name) {
            return Ok(Outcome::Passed);
        }
        let question = args.get(&PROMPT).unwrap_or_else(|| name.clone());
        let prompt = cx.settings.prompt.clone();
        let variable = name.clone();
        // Reading a line blocks; the session goes on answering the server meanwhile.
        let answer = tokio::task::spawn_blocking(move || prompt.ask(&question, &variable)).await;
        match answer.unwrap_or_else(|_| Err("reading the answer failed".into())) {
            Ok(line) => {
                cx.vars.set(&name, Json::from(line.as_str()));
                Ok(Outcome::Passed)
            }
            Err(why) => Err(Fault::script("mcp::script::no_input", format!("no value for `{name}`: {why}"))
                .at(args.span(&NAME), "cannot ask for it")
                .help(format!("give it on the command line: --var {name}=value"))
                .into()),
        }
    })
}

fn secret(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let name = args.need(&KNOWN)?;
    let span = args.span(&KNOWN);
    let Some(value) = cx.vars.get(&name) else {
        if let Some(line) = cx.vars.unset_by(&name) {
            return Err(Fault::Unset { name: name.to_string(), line });
        }
        return Err(Fault::script("mcp::script::unknown_variable", format!("there is no variable `{name}`"))
            .at(span, "nothing set it")
            .help("set it before this line, such as with `env_var` or `set_var`")
            .into());
    };
    let text = value.render().into_owned();
    cx.settings.masker.add(&text).map_err(|error| {
        Fault::script("mcp::script::secret_too_short", format!("the value of `{name}` cannot be masked: {error}"))
            .at(span, "too short")
            .help("a text this short would be masked everywhere by chance")
    })?;
    Ok(Outcome::Passed)
}

const NAME_VALUE: &[Form] = &[Form::new(&[NAME.required(), VALUE.required()])];

/// Commands that set variables.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "set_var",
        group: Group::Variables,
        summary: "Stores a value of the last response in a variable.",
        details: "rawResponse is the result as sent. $.a.b looks in structuredContent first, then at the top of the result.",
        forms: &[Form::on_last(&[NAME.required(), PATH.required()])],
        example: "call_tool create_user name:\"John Doe\"\nset_var user_id $.id",
        role: Role::Store(set_var),
    },
    CommandSpec {
        name: "let",
        group: Group::Variables,
        summary: "Sets a variable to a value.",
        details: "",
        forms: NAME_VALUE,
        example: "let city \"Berlin\"\nlet limit 10\nlet filter '{\"active\": true}'",
        role: Role::Act(let_var),
    },
    CommandSpec {
        name: "default",
        group: Group::Variables,
        summary: "Sets a variable that nobody set from outside.",
        details: "--var, --vars-file and the profile's vars win. A name that is known only from outside is declared this way.",
        forms: NAME_VALUE,
        example: "default city \"Berlin\"",
        role: Role::Act(default),
    },
    CommandSpec {
        name: "env_var",
        group: Group::Variables,
        summary: "Sets a variable to the value of an environment variable.",
        details: "",
        forms: &[Form::new(&[NAME.required(), ENV.required(), OTHERWISE.optional()])],
        example: "env_var region MCP_REGION \"eu-north\"",
        role: Role::Act(env_var),
    },
    CommandSpec {
        name: "input_var",
        group: Group::Variables,
        summary: "Asks the person who runs the script for a value.",
        details: "A value given from outside is taken without asking. Where nobody can be asked it fails at once and names the --var to add.",
        forms: &[Form::new(&[NAME.required(), PROMPT.optional()])],
        example: "input_var city \"Which city?\"",
        role: Role::Wait(input_var),
    },
    CommandSpec {
        name: "secret",
        group: Group::Variables,
        summary: "Masks a variable's value as *** wherever it would be shown from now on.",
        details: "Also where the server echoes it, and in JSON-escaped, base64 and percent-encoded form.",
        forms: &[Form::new(&[KNOWN.required()])],
        example: "let token \"s3cr3t-token\"\nsecret token",
        role: Role::Act(secret),
    },
];
