//! The tool list itself, and the zoo of input schemas.

use serde_json::{Value, json};

use crate::tools::schemas_of;
use crate::wire::{Wire, text, tool_error};

#[tokio::test]
async fn the_list_is_well_formed() {
    for mut wire in Wire::both().await {
        let tools = wire.ask("tools/list", json!({})).await["result"]["tools"].clone();
        let tools = tools.as_array().unwrap();
        assert!(tools.len() >= 40, "{}", tools.len());
        let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), tools.len());
        for tool in tools {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert!(!tool["description"].as_str().unwrap().is_empty(), "{tool}");
            for schema in ["inputSchema", "outputSchema"] {
                if let Some(schema) = tool.get(schema) {
                    jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{tool}: {error}"));
                }
            }
        }
        let hints = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap()["annotations"].clone();
        assert_eq!(hints("get_user")["readOnlyHint"], true);
        assert_eq!(hints("execute_script")["destructiveHint"], true);
        wire.close().await;
    }
}

#[tokio::test]
async fn arguments_that_fit_come_back_and_others_do_not() {
    let cases: [(&str, Value, Value); 14] = [
        ("schema_zoo", json!({"nullable_string": null, "nullable_array": ["x"]}), json!({"nullable_string": 1})),
        ("schema_zoo", json!({"enum_mixed": 1, "enum_integers": 2}), json!({"enum_integers": 4})),
        ("schema_zoo", json!({"constant": "fixed", "any": [1, {"a": null}]}), json!({"constant": "other"})),
        (
            "schema_zoo",
            json!({"nested": {"owner": {"name": "A", "age": 3}, "matrix": [[1, 2.5], []]}}),
            json!({"nested": {"tags": []}}),
        ),
        ("schema_zoo", json!({"list_of_objects": [{"id": 1}]}), json!({"list_of_objects": [{"label": "x"}]})),
        ("zoo_union", json!({"any_of": "x", "one_of": 1.5, "all_of": 7}), json!({"all_of": 101})),
        ("zoo_union", json!({"shape": {"kind": "square", "side": 2}}), json!({"shape": {"kind": "circle", "side": 2}})),
        ("zoo_refs", json!({"tree": {"value": 1, "children": [{"value": 2}]}}), json!({"tree": {"children": []}})),
        ("zoo_refs", json!({"again": {"color": "red"}, "escaped": true, "like_count": 3}), json!({"count": 11})),
        ("zoo_maps", json!({"x_any": "s", "pairs": {"i_a": 1, "s_b": "t"}}), json!({"pairs": {"other": 1}})),
        ("zoo_arrays", json!({"tuple": ["a", 1], "containing": [1, "needle"]}), json!({"tuple": ["a", 1, 2]})),
        ("zoo_strings", json!({"code": "ABC-123", "short": "äöü"}), json!({"short": "x"})),
        ("zoo_required", json!({"name": "n", "count": 1}), json!({"name": "n", "count": 1, "dry_run": false})),
        ("zoo_draft7", json!({"pair": ["a", 1], "level": 5}), json!({"card": "1"})),
    ];
    let mut wire = Wire::modern(json!({}));
    for (tool, good, bad) in cases {
        let result = wire.call(tool, good.clone()).await;
        assert_eq!(result["structuredContent"], good, "{tool}");
        assert_eq!(text(&result), good.to_string());
        let result = wire.call(tool, bad.clone()).await;
        assert!(tool_error(&result).starts_with(&format!("Invalid arguments for {tool}:\n")), "{bad}: {result}");
    }
    wire.close().await;
}

#[tokio::test]
async fn odd_names_are_names_like_others() {
    let mut wire = Wire::handshake("2025-06-18", json!({})).await;
    let schema = schemas_of(&mut wire, "inputSchema").await.remove("zoo_names").unwrap();
    let mut args = json!({});
    for (name, property) in schema["properties"].as_object().unwrap() {
        args[name] = if property["type"] == "string" { json!("x") } else { json!(1) };
    }
    assert_eq!(wire.call("zoo_names", args.clone()).await["structuredContent"], args);
    wire.close().await;
}

#[tokio::test]
async fn large_numbers_meet_their_limits() {
    let mut wire = Wire::modern(json!({}));
    let number = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let exact = wire.call("zoo_numbers", json!({"beyond_double": number("9007199254740993")})).await;
    assert_eq!(exact["structuredContent"]["beyond_double"], number("9007199254740993"));
    tool_error(&wire.call("zoo_numbers", json!({"beyond_double": number("9007199254740992")})).await);
    wire.call("zoo_numbers", json!({"huge": number("123456789012345678901234567890")})).await;
    tool_error(&wire.call("zoo_numbers", json!({"step": 7})).await);
    wire.close().await;
}
