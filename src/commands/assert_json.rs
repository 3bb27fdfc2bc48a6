//! Assertions on JSON values.

use std::sync::Arc;

use super::look::{self, follow, whole};
use super::show::{brief, cut};
use crate::engine::args::Args;
use crate::engine::cx::Cx;
use crate::engine::datum::{JsonOrFile, Place};
use crate::engine::outcome::{Failure, FailureKind, Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Kind, Param, Role};
use crate::json::compare::{self, Arrays, Difference};
use crate::json::schema::Validator;
use crate::json::{Json, JsonKind, Raw};
use crate::source::Span;

const PATH: Param<Place> = look::place("path", "where to look; structuredContent, or the whole result, when left out");
const JSON: Param<Raw> =
    Param::json("json", "the value it must equal; numbers are compared by value, members in any order");
const PART: Param<Raw> =
    Param::json("json", "what must be in it: objects by some of their members, arrays element by element");
const UNORDERED: Param<Arc<str>> =
    Param::word(Kind::Choice(&["true", "false"]), "unordered", "true: arrays may hold more, in any order");
const SCHEMA: Param<JsonOrFile> = Param::json_or_file("schema", "a JSON Schema, or the path of a file that holds one");
const TYPES: &[&str] = &["null", "boolean", "number", "integer", "string", "array", "object"];
const TYPE: Param<Arc<str>> =
    Param::word(Kind::Choice(TYPES), "type", "null, boolean, number, integer, string, array or object");
const COUNT: Param<u64> = Param::count("n", "how many elements or members");

fn target(cx: &mut Cx, args: &Args<'_>) -> Result<Json, Failure> {
    match args.get(&PATH) {
        Some(place) => follow(cx, &place, args.span(&PATH)),
        None => whole(cx),
    }
}

fn json(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let expected = args.need(&JSON)?.to_json();
    let actual = match target(cx, args) {
        Ok(actual) => actual,
        Err(failure) => return Ok(failure.into()),
    };
    Ok(match compare::equal(&expected, &actual) {
        Ok(()) => Outcome::Passed,
        Err(difference) => differs("mcp::assert::json", "the JSON differs", &difference, cx, args.span(&JSON)),
    })
}

fn includes(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let expected = args.need(&PART)?.to_json();
    let arrays = if args.get(&UNORDERED).as_deref() == Some("true") { Arrays::Unordered } else { Arrays::Ordered };
    let actual = match target(cx, args) {
        Ok(actual) => actual,
        Err(failure) => return Ok(failure.into()),
    };
    Ok(match compare::includes(&expected, &actual, arrays) {
        Ok(()) => Outcome::Passed,
        Err(difference) => {
            differs("mcp::assert::includes", "the JSON does not include this", &difference, cx, args.span(&PART))
        }
    })
}

fn differs(code: &'static str, title: &str, difference: &Difference, cx: &Cx, span: Option<Span>) -> Outcome {
    let pointer = difference.pointer.to_string();
    let side =
        |value: &Option<Json>| value.as_ref().map_or_else(|| "nothing".to_owned(), |value| cut(&value.compact()));
    let mut failure = Failure::assertion(code, format!("{title}: {}", brief(&difference.to_string())))
        .at(span, "expected this")
        .detail(format!("expected: {}\n  actual: {}", side(&difference.expected), side(&difference.actual)));
    failure.path = Some(format!("{}{pointer}", cx.path.clone().unwrap_or_default()));
    failure.into()
}

fn schema(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let span = args.span(&SCHEMA);
    let wrong = |title: String| {
        Fault::script("mcp::assert::bad_schema", title).at(span, "this schema").help("it takes a JSON Schema (2020-12 unless $schema says otherwise), or the path of a file from the script's folder")
    };
    let schema = match args.need(&SCHEMA)? {
        JsonOrFile::Json(raw) => raw,
        JsonOrFile::File(name) => {
            let path = cx.folder.join(&*name);
            let text = cx
                .settings
                .files
                .read_text(&path)
                .map_err(|why| wrong(format!("cannot read `{}`: {why}", path.display())))?;
            Raw::parse(&text).map_err(|error| wrong(format!("`{}` is not JSON: {error}", path.display())))?
        }
    };
    let validator =
        Validator::compile(&schema).map_err(|error| wrong(format!("the schema cannot be used: {error}")))?;
    let actual = match target(cx, args) {
        Ok(actual) => actual,
        Err(failure) => return Ok(failure.into()),
    };
    let violations = validator.validate(&Raw::from(actual));
    if violations.is_empty() {
        return Ok(Outcome::Passed);
    }
    let lines: Vec<String> = violations.iter().map(|violation| violation.to_string()).collect();
    Ok(Failure::assertion(
        "mcp::assert::schema",
        format!("the value breaks the schema in {} place{}", lines.len(), if lines.len() == 1 { "" } else { "s" }),
    )
    .at(span, "does not hold")
    .detail(lines.join("\n"))
    .into())
}

fn exists(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let place = args.need(&PATH)?;
    Ok(match follow(cx, &place, args.span(&PATH)) {
        Ok(_) => Outcome::Passed,
        Err(mut failure) => {
            if failure.code == "mcp::path::missing" {
                failure.kind = FailureKind::Assertion;
            }
            failure.into()
        }
    })
}

fn kind(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let place = args.need(&PATH)?;
    let wanted = args.need(&TYPE)?;
    let actual = match follow(cx, &place, args.span(&PATH)) {
        Ok(actual) => actual,
        Err(failure) => return Ok(failure.into()),
    };
    let is_integer = matches!(&actual, Json::Number(number) if number.is_integer());
    let name = actual.kind().to_string();
    if name == *wanted || (&*wanted == "integer" && is_integer) {
        return Ok(Outcome::Passed);
    }
    Ok(Failure::assertion("mcp::assert::type", format!("the value is of type {name}, not {wanted}"))
        .at(args.span(&PATH), format!("is {name}"))
        .detail(format!("actual: {}", cut(&actual.compact())))
        .into())
}

fn count(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    let place = args.need(&PATH)?;
    let wanted = args.need(&COUNT)?;
    let actual = match follow(cx, &place, args.span(&PATH)) {
        Ok(actual) => actual,
        Err(failure) => return Ok(failure.into()),
    };
    let size = match &actual {
        Json::Array(elements) => Some(elements.len()),
        Json::Object(members) => Some(members.len()),
        _ => None,
    };
    let Some(found) = size else {
        let name: JsonKind = actual.kind();
        return Ok(Failure::new(
            FailureKind::Missing,
            "mcp::assert::no_count",
            format!("a value of type {name} has nothing to count"),
        )
        .at(args.span(&PATH), format!("is {name}"))
        .help("it counts elements of an array or members of an object")
        .into());
    };
    if found as u64 == wanted {
        return Ok(Outcome::Passed);
    }
    Ok(Failure::assertion("mcp::assert::count", format!("there are {found}, not {wanted}"))
        .at(args.span(&COUNT), format!("{found} found"))
        .detail(format!("actual: {}", cut(&actual.compact())))
        .into())
}

/// Assertions on JSON values.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "assert_json",
        group: Group::Assertions,
        summary: "Checks that a value equals this JSON.",
        details: "Deep equality: numbers by value, members in any order. Known $names inside strings are inserted escaped, outside as JSON.",
        forms: &[Form::on_last(&[JSON.required()]), Form::on_last(&[PATH.required(), JSON.required()])],
        example: "call_tool add a:1 b:2\nassert_json '{\"sum\": 3}'\nassert_json $.sum 3",
        role: Role::Assert(json),
    },
    CommandSpec {
        name: "assert_includes",
        group: Group::Assertions,
        summary: "Checks that a value includes this JSON.",
        details: "Objects may hold more members than those given; arrays must match element by element. With unordered:true arrays may hold more, in any order.",
        forms: &[
            Form::on_last(&[PART.required(), UNORDERED.named()]),
            Form::on_last(&[PATH.required(), PART.required(), UNORDERED.named()]),
        ],
        example: "call_tool create_user name:\"John Doe\"\nassert_includes '{\"name\": \"John Doe\"}'",
        role: Role::Assert(includes),
    },
    CommandSpec {
        name: "assert_schema",
        group: Group::Assertions,
        summary: "Checks that a value satisfies a JSON Schema.",
        details: "The schema stands in the line or in a file. Remote references are refused, formats are checked.",
        forms: &[Form::on_last(&[SCHEMA.required()]), Form::on_last(&[PATH.required(), SCHEMA.required()])],
        example: "call_tool add a:1 b:2\nassert_schema $.sum '{\"type\": \"integer\", \"minimum\": 3}'",
        role: Role::Assert(schema),
    },
    CommandSpec {
        name: "assert_exists",
        group: Group::Assertions,
        summary: "Checks that a path leads somewhere; null and false exist.",
        details: "",
        forms: &[Form::on_last(&[PATH.required()])],
        example: "call_tool add a:1 b:2\nassert_exists $.sum\nnot assert_exists $.product",
        role: Role::Assert(exists),
    },
    CommandSpec {
        name: "assert_type",
        group: Group::Assertions,
        summary: "Checks the JSON type of a value.",
        details: "integer is a number without a fraction: 1.0 and 1e2 are integers.",
        forms: &[Form::on_last(&[PATH.required(), TYPE.required()])],
        example: "call_tool add a:1 b:2\nassert_type $.sum integer",
        role: Role::Assert(kind),
    },
    CommandSpec {
        name: "assert_count",
        group: Group::Assertions,
        summary: "Checks how many elements an array, or members an object has.",
        details: "",
        forms: &[Form::on_last(&[PATH.required(), COUNT.required()])],
        example: "call_tool echo text:hello\nassert_count content 1",
        role: Role::Assert(count),
    },
];
