//! Small tools with plain results: sums, echoes, errors of both kinds, counters.

use std::sync::atomic::Ordering;

use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ErrorData, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::tool::{Call, Entry, Reply, failure, structured, text};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    /// Comes back as it is.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fail {
    /// Text of the error.
    message: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RpcError {
    /// JSON-RPC error code.
    code: i32,
    /// Message of the error.
    #[serde(default = "default_message")]
    message: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Script {
    /// Lines of the script.
    script: String,
}

fn default_message() -> String {
    "requested error".to_owned()
}

pub(super) fn tools() -> Vec<Entry> {
    let sum = json!({"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]});
    let operand = |about| json!({"type": "number", "description": about});
    let add = json!({"type": "object", "additionalProperties": false, "required": ["a", "b"],
        "properties": {"a": operand("First summand."), "b": operand("Second summand.")}});
    let counter = json!({"type": "object", "additionalProperties": false, "properties":
        {"by": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "default": 1, "description": "How much to add."}}});
    let value = json!({"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]});
    let flaky = json!({"type": "object", "additionalProperties": false, "required": ["name", "failures"], "properties": {
        "name": {"type": "string", "maxLength": 200, "description": "Calls are counted for each name."},
        "failures": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "description": "So many calls fail first."}}});
    vec![
        Entry::now("add", "Adds two numbers; whole numbers exactly.", add, run_add)
            .titled("Add")
            .read_only()
            .returns_raw(sum),
        Entry::typed::<Echo>("echo", "Returns its text.", |call| Ok(text(call.typed::<Echo>()?.text))).read_only(),
        Entry::now(
            "echo_json",
            "Returns its arguments, whatever they are: as JSON text and as structured content.",
            json!({"type": "object", "properties": {"value": {"description": "Any JSON value."}}}),
            echo_arguments,
        )
        .read_only(),
        Entry::now("no_arguments", "Takes nothing and answers \"ok\".", json!({"type": "object"}), |_| Ok(text("ok")))
            .read_only(),
        Entry::typed::<Fail>("fail", "Always answers with a tool error (isError).", |call| {
            Ok(failure(call.typed::<Fail>()?.message))
        })
        .read_only(),
        Entry::typed::<RpcError>("rpc_error", "Always answers with a JSON-RPC error.", |call| {
            let args: RpcError = call.typed()?;
            Err(ErrorData::new(ErrorCode(args.code), args.message, Some(json!({"tool": "rpc_error"}))))
        })
        .read_only(),
        Entry::typed::<Script>("execute_script", "Pretends to run a script and shows what it was given.", execute)
            .titled("Execute script")
            .hints(ToolAnnotations::new().read_only(false).destructive(true).open_world(true)),
        Entry::typed::<Script>("validate_script", "Finds a script good unless it says \"invalid\".", validate)
            .read_only(),
        Entry::now("counter", "Adds to a number kept by the server and returns it.", counter, run_counter)
            .hints(ToolAnnotations::new().read_only(false).destructive(false).idempotent(false))
            .returns_raw(value),
        Entry::now("flaky", "Fails the first calls under a name, then succeeds.", flaky, run_flaky),
    ]
}

/// Answers with the arguments as JSON text and as structured content.
pub(super) fn echo_arguments(call: Call) -> Reply {
    let value = Value::Object(call.args);
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    Ok(result.into())
}

fn run_add(call: Call) -> Reply {
    let (Some(Value::Number(a)), Some(Value::Number(b))) = (call.args.get("a"), call.args.get("b")) else {
        return Ok(failure("a and b must be of type number"));
    };
    match sum(a, b) {
        Some(sum) => structured(format!("Result: {sum}"), &json!({"sum": sum})),
        None => Ok(failure("The sum is out of range")),
    }
}

/// Whole numbers are added exactly up to 38 digits, everything else in floating point.
fn sum(a: &Number, b: &Number) -> Option<Number> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Number::from_i128(a.checked_add(b)?),
        _ => Number::from_f64(a.as_f64()? + b.as_f64()?),
    }
}

fn execute(call: Call) -> Reply {
    let args: Script = call.typed()?;
    let lines = args.script.lines().count();
    Ok(text(format!("Execution finished ({lines} lines)\n{}", args.script)))
}

fn validate(call: Call) -> Reply {
    let args: Script = call.typed()?;
    if args.script.contains("invalid") {
        return Ok(failure("The script is not valid: it says \"invalid\""));
    }
    Ok(text("The script is valid"))
}

fn run_counter(call: Call) -> Reply {
    let by = call.whole("by", 1);
    let value = call.demo.shared.counter.fetch_add(by, Ordering::Relaxed).wrapping_add(by);
    structured(format!("Counter: {value}"), &json!({"value": value}))
}

fn run_flaky(call: Call) -> Reply {
    let failures = call.whole("failures", 0);
    let count = call.demo.shared.count_call(call.text("name"));
    if count <= failures {
        return Ok(failure(format!("Call {count} fails, as do the first {failures}")));
    }
    Ok(text(format!("Call {count} succeeds")))
}

#[cfg(test)]
mod tests {
    use serde_json::Number;

    use super::sum;

    fn add(a: &str, b: &str) -> Option<String> {
        let number = |text: &str| serde_json::from_str::<Number>(text).unwrap();
        sum(&number(a), &number(b)).map(|sum| sum.to_string())
    }

    #[test]
    fn whole_numbers_are_added_exactly() {
        assert_eq!(add("10", "20").as_deref(), Some("30"));
        assert_eq!(add("9007199254740993", "0").as_deref(), Some("9007199254740993"));
        assert_eq!(add("123456789012345678901234567890", "1").as_deref(), Some("123456789012345678901234567891"));
    }

    #[test]
    fn other_numbers_are_added_in_floating_point() {
        assert_eq!(add("1.5", "2").as_deref(), Some("3.5"));
        assert_eq!(add("1e400", "1"), None);
    }
}
