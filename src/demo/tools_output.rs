//! Tools with an output schema: one that keeps it and one that breaks it on request.

use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tool::{Call, Entry, Reply, failure, structured};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct City {
    /// Name of the city.
    #[schemars(length(min = 1, max = 200))]
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    /// The city asked for.
    city: String,
    /// In degrees Celsius.
    temperature: f64,
    /// In percent.
    #[schemars(range(min = 0, max = 100))]
    humidity: u32,
    /// What the sky looks like.
    sky: Sky,
    /// A warning, when there is one.
    warning: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Sky {
    Clear,
    Cloudy,
    Rain,
    Snow,
}

pub(super) fn tools() -> Vec<Entry> {
    let kinds = json!({"type": "object", "additionalProperties": false, "required": ["kind"], "properties": {"kind": {
        "type": "string",
        "enum": ["right", "missing", "wrong_type", "missing_member", "extra_member", "null", "tool_error"],
        "description": "What is wrong with the structured content."}}});
    let answer = json!({"type": "object", "additionalProperties": false, "required": ["answer"],
        "properties": {"answer": {"type": "integer"}}});
    vec![
        Entry::typed::<City>("weather", "Makes up the weather of a city; always the same for one name.", weather)
            .titled("Weather")
            .read_only()
            .returns::<Weather>(),
        Entry::now("bad_output", "Breaks its own output schema in the way asked for.", kinds, bad_output)
            .read_only()
            .returns_raw(answer),
    ]
}

fn weather(call: Call) -> Reply {
    let City { city } = call.typed()?;
    // FNV-1a: any hash will do, but the answer must be the same on every machine.
    let hash = city.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let tenths = hash % 500;
    let temperature = f64::from(tenths) / 10.0 - 10.0;
    let sky = match (hash >> 9) % 3 {
        0 => Sky::Clear,
        1 => Sky::Cloudy,
        _ if temperature < 0.0 => Sky::Snow,
        _ => Sky::Rain,
    };
    let warning = (temperature > 35.0).then(|| "heat".to_owned());
    let weather = Weather { city, temperature, humidity: (hash >> 16) % 101, sky, warning };
    structured(format!("{}: {temperature:.1} degrees", weather.city), &weather)
}

fn bad_output(call: Call) -> Reply {
    let kind = call.text("kind");
    let content: Option<Value> = match kind {
        "right" => Some(json!({"answer": 42})),
        "wrong_type" => Some(json!({"answer": "42"})),
        "missing_member" => Some(json!({})),
        "extra_member" => Some(json!({"answer": 42, "more": true})),
        "null" => Some(Value::Null),
        "tool_error" => return Ok(failure("A tool error needs no structured content")),
        _ => None,
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(format!("The output is {kind}"))]);
    result.structured_content = content;
    Ok(result.into())
}
