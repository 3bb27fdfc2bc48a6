//! Every tool that needs no help from the client, in both eras.

use serde_json::{Value, json};

use crate::wire::{HANDSHAKE, MODERN, Wire, text, tool_error};

#[tokio::test]
async fn every_handshake_revision_opens_and_calls() {
    for revision in HANDSHAKE {
        let mut wire = Wire::handshake(revision, json!({})).await;
        let result = wire.call("add", json!({"a": 10, "b": 20})).await;
        assert_eq!(text(&result), "Result: 30", "{revision}");
        assert!(result.get("resultType").is_none(), "{revision}: {result}");
        wire.close().await;
    }
}

#[tokio::test]
async fn a_stateless_call_needs_no_opening() {
    let mut wire = Wire::modern(json!({}));
    let result = wire.call("add", json!({"a": 10, "b": 20})).await;
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["structuredContent"], json!({"sum": 30}));
    wire.close().await;
}

#[tokio::test]
async fn discovery_names_all_revisions() {
    let mut wire = Wire::modern(json!({}));
    let result = wire.ask("server/discover", json!({})).await["result"].clone();
    let versions: Vec<&str> =
        result["supportedVersions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for revision in HANDSHAKE.iter().chain([&MODERN]) {
        assert!(versions.contains(revision), "{versions:?}");
    }
    for capability in ["tools", "resources", "prompts", "completions", "logging"] {
        assert!(result["capabilities"][capability].is_object(), "{result}");
    }
    wire.close().await;
}

#[tokio::test]
async fn unknown_tools_are_invalid_params() {
    for mut wire in Wire::both().await {
        let answer = wire.ask("tools/call", json!({"name": "unknown_tool", "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        wire.close().await;
    }
}

#[tokio::test]
async fn the_user_workflow_runs() {
    for mut wire in Wire::both().await {
        let user = wire.call("create_user", json!({"name": "John Doe"})).await;
        let id = user["structuredContent"]["id"].clone();
        assert!(id.is_u64(), "{user}");

        let found = wire.call("get_user", json!({"id": id})).await;
        assert!(text(&found).contains("Doe"), "{found}");
        assert!(found["structuredContent"]["profile"]["score"].as_u64().unwrap() > 0, "{found}");

        let after = wire.call("assign_roles", json!({"user_id": id, "roles": ["admin", "tester"]})).await;
        assert!(text(&after).starts_with("Roles assigned"), "{after}");
        assert_eq!(after["structuredContent"]["roles"], json!(["admin", "tester"]));
        assert!(after["structuredContent"]["profile"]["score"].as_u64().unwrap() > 0, "{after}");

        let missing = wire.call("get_user", json!({"id": 999_999})).await;
        assert!(tool_error(&missing).contains("999999"), "{missing}");
        wire.close().await;
    }
}

#[tokio::test]
async fn wrong_arguments_are_tool_errors_that_say_why() {
    for mut wire in Wire::both().await {
        for (tool, args, expected) in [
            ("add", json!({"a": "not_a_number", "b": 1}), "type"),
            ("add", json!({"a": 1}), "\"b\""),
            ("create_user", json!({"name": "x", "nmae": "y"}), "nmae"),
            ("get_user", json!({"id": -1}), "/id"),
            ("log", json!({"level": "loud", "text": "x"}), "/level"),
            ("schema_zoo", json!({"enum_strings": "none"}), "/enum_strings"),
            ("no_arguments", json!(null), "ok"),
        ] {
            let result = wire.call(tool, args.clone()).await;
            if expected == "ok" {
                assert_eq!(text(&result), "ok");
            } else {
                let said = tool_error(&result);
                assert!(said.contains(expected), "{tool} {args}: {said}");
            }
        }
        wire.close().await;
    }
}

#[tokio::test]
async fn errors_of_both_kinds() {
    for mut wire in Wire::both().await {
        assert_eq!(tool_error(&wire.call("fail", json!({"message": "as you wish"})).await), "as you wish");
        tool_error(&wire.call("validate_script", json!({"script": "invalid"})).await);
        text(&wire.call("validate_script", json!({"script": "valid"})).await);

        let params = json!({"name": "rpc_error", "arguments": {"code": -32050, "message": "own code"}});
        let answer = wire.ask("tools/call", params).await;
        assert_eq!(answer["error"]["code"], -32050, "{answer}");
        assert_eq!(answer["error"]["message"], "own code");
        wire.close().await;
    }
}

#[tokio::test]
async fn scripts_echo_and_state() {
    for mut wire in Wire::both().await {
        let script = "console.log(\"Hello from Heredoc!\");\nconsole.log(1 + 2);";
        let ran = wire.call("execute_script", json!({"script": script})).await;
        assert_eq!(text(&ran), format!("Execution finished (2 lines)\n{script}"));
        assert_eq!(text(&wire.call("echo", json!({"text": "same"})).await), "same");

        assert_eq!(wire.call("counter", json!({})).await["structuredContent"]["value"], 1);
        assert_eq!(wire.call("counter", json!({"by": 4.0})).await["structuredContent"]["value"], 5);

        tool_error(&wire.call("flaky", json!({"name": "n", "failures": 1})).await);
        text(&wire.call("flaky", json!({"name": "n", "failures": 1})).await);
        wire.close().await;
    }
}

#[tokio::test]
async fn numbers_survive_whatever_their_size() {
    let exact =
        r#"{"value":{"a":9007199254740993,"b":123456789012345678901234567890,"c":0.1000000000000000055,"d":-0.0}}"#;
    for mut wire in Wire::both().await {
        let params = wire.dress(json!({"name": "echo_json"}));
        let params = params.to_string();
        let open = params.strip_suffix('}').unwrap();
        wire.send_text(&format!(
            r#"{{"jsonrpc":"2.0","id":"exact","method":"tools/call","params":{open},"arguments":{exact}}}}}"#
        ))
        .await;
        let answer = wire.receive().await;
        assert_eq!(answer["id"], "exact");
        assert_eq!(text(&answer["result"]), exact);
        assert_eq!(answer["result"]["structuredContent"].to_string(), exact);
        wire.close().await;
    }
}

#[tokio::test]
async fn sums_are_exact() {
    let mut wire = Wire::modern(json!({}));
    let a: Value = serde_json::from_str("9007199254740993").unwrap();
    assert_eq!(text(&wire.call("add", json!({"a": a, "b": 0})).await), "Result: 9007199254740993");
    assert_eq!(text(&wire.call("add", json!({"a": 1.5, "b": 2})).await), "Result: 3.5");
    wire.close().await;
}

#[tokio::test]
async fn content_of_every_kind() {
    let kinds = |result: &Value| -> Vec<String> {
        result["content"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    for mut wire in Wire::both().await {
        for (tool, expected) in [
            ("image", &["image"][..]),
            ("audio", &["audio"]),
            ("resource_link", &["resource_link"]),
            ("embedded", &["resource", "resource"]),
            ("mixed", &["text", "image", "audio", "resource_link", "resource", "resource"]),
            ("annotated", &["text", "text"]),
            ("empty", &[]),
            ("unicode", &["text"]),
        ] {
            assert_eq!(kinds(&wire.call(tool, json!({})).await), expected, "{tool}");
        }
        let awkward = wire.call("unicode", json!({})).await;
        for part in ["\u{1b}[31m", "\u{202e}", "\u{1f469}\u{200d}", "\u{7}"] {
            assert!(text(&awkward).contains(part), "{part:?}");
        }
        assert!(!text(&awkward).contains('\0'));
        assert_eq!(text(&wire.call("big", json!({"kb": 300})).await).len(), 300 * 1024);
        assert_eq!(kinds(&wire.call("many", json!({"count": 50})).await).len(), 50);
        wire.close().await;
    }
    let mut old = Wire::handshake("2024-11-05", json!({})).await;
    assert_eq!(kinds(&old.call("mixed", json!({})).await), ["text", "image", "resource", "resource"]);
    assert!(tool_error(&old.call("audio", json!({})).await).contains("2025-03-26"));
}

#[tokio::test]
async fn output_schemas_hold_or_break_as_told() {
    for mut wire in Wire::both().await {
        let modern = wire.modern;
        let schemas = schemas_of(&mut wire, "outputSchema").await;
        let check = |tool: &str, result: &Value| -> bool {
            let validator = jsonschema::validator_for(&schemas[tool]).unwrap();
            result.get("structuredContent").is_some_and(|content| validator.is_valid(content))
        };

        for (tool, args) in [
            ("weather", json!({"city": "Oslo"})),
            ("create_user", json!({"name": "A"})),
            ("get_user", json!({"id": 1})),
            ("assign_roles", json!({"user_id": 1, "roles": ["r"]})),
            ("add", json!({"a": 1, "b": 2})),
            ("counter", json!({})),
            ("header_echo", json!({"region": "eu"})),
            ("bad_output", json!({"kind": "right"})),
        ] {
            let result = wire.call(tool, args).await;
            assert!(check(tool, &result), "{tool}: {result}");
        }
        for kind in ["missing", "wrong_type", "missing_member", "extra_member", "null"] {
            let result = wire.call("bad_output", json!({"kind": kind})).await;
            assert!(!check("bad_output", &result), "{kind}: {result}");
            assert_eq!(result["isError"], false);
            let absent = kind == "missing" || (kind == "null" && !modern);
            assert_eq!(result.get("structuredContent").is_none(), absent, "{kind}: {result}");
        }
        tool_error(&wire.call("bad_output", json!({"kind": "tool_error"})).await);
        wire.close().await;
    }
}

/// Schemas of all tools that have one, by tool name.
pub async fn schemas_of(wire: &mut Wire, which: &str) -> serde_json::Map<String, Value> {
    let tools = wire.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let with = |tool: &Value| Some((tool["name"].as_str()?.to_owned(), tool.get(which)?.clone()));
    tools.as_array().unwrap().iter().filter_map(with).collect()
}
