//! Tools that ask the client: by a request in the handshake era, by multi round trip in the stateless one.

use serde_json::{Value, json};

use crate::wire::{Wire, text, tool_error};

/// Calls a tool of the handshake era and answers the server's requests in order.
async fn call_and_answer(wire: &mut Wire, tool: &str, arguments: Value, answers: &[Value]) -> (Vec<Value>, Value) {
    let id = wire.start("tools/call", json!({"name": tool, "arguments": arguments})).await;
    let mut asked = Vec::new();
    for answer in answers {
        let request = loop {
            let message = wire.receive().await;
            if message.get("method").is_some() && message.get("id").is_some() {
                break message;
            }
        };
        wire.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": answer})).await;
        asked.push(request);
    }
    let answer = wire.answer(id).await;
    (asked, answer["result"].clone())
}

#[tokio::test]
async fn the_server_asks_in_the_handshake_era() {
    let able = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    let mut wire = Wire::handshake("2025-11-25", able).await;
    let item = json!({"item": "report.pdf"});
    for (answer, expected) in [
        (json!({"action": "accept", "content": {"confirm": true}}), "Deleted report.pdf"),
        (json!({"action": "accept", "content": {"confirm": false}}), "Kept report.pdf: not confirmed"),
        (json!({"action": "decline"}), "Kept report.pdf: declined"),
        (json!({"action": "cancel"}), "Kept report.pdf: cancelled"),
    ] {
        let (asked, result) = call_and_answer(&mut wire, "confirm_delete", item.clone(), &[answer]).await;
        assert_eq!(asked[0]["method"], "elicitation/create");
        assert_eq!(asked[0]["params"]["message"], "Delete report.pdf?");
        assert_eq!(text(&result), expected);
    }

    let said = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Short."}});
    let (asked, result) = call_and_answer(&mut wire, "summarize", json!({"text": "Long."}), &[said]).await;
    assert_eq!(asked[0]["method"], "sampling/createMessage");
    assert_eq!(text(&result), "Summary: Short.");

    let roots = json!({"roots": [{"uri": "file:///home/user/project", "name": "project"}]});
    let (_, result) = call_and_answer(&mut wire, "show_roots", json!({}), &[roots]).await;
    assert_eq!(text(&result), "Roots: file:///home/user/project");

    let answers = ["a", "b"].map(|said| json!({"action": "accept", "content": {"answer": said}}));
    let (_, result) = call_and_answer(&mut wire, "interview", json!({"questions": 2}), &answers).await;
    assert_eq!(result["structuredContent"], json!({"answers": ["a", "b"]}));
    wire.close().await;
}

#[tokio::test]
async fn without_the_capability_nothing_is_asked() {
    let mut wire = Wire::handshake("2025-06-18", json!({})).await;
    let result = wire.call("confirm_delete", json!({"item": "x"})).await;
    assert!(tool_error(&result).contains("elicitation"), "{result}");
    wire.close().await;

    let mut wire = Wire::modern(json!({}));
    for (tool, args, needed) in [
        ("confirm_delete", json!({"item": "x"}), "elicitation"),
        ("summarize", json!({"text": "x"}), "sampling"),
        ("show_roots", json!({}), "roots"),
    ] {
        let answer = wire.ask("tools/call", json!({"name": tool, "arguments": args})).await;
        assert_eq!(answer["error"]["code"], -32021, "{answer}");
        assert!(answer["error"]["data"]["requiredCapabilities"][needed].is_object(), "{answer}");
    }
    wire.close().await;
}

#[tokio::test]
async fn the_stateless_era_goes_round() {
    let mut wire = Wire::modern(json!({"elicitation": {}, "sampling": {}, "roots": {}}));
    let first = wire.call("confirm_delete", json!({"item": "report.pdf"})).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    let question = &first["inputRequests"]["question"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("report.pdf"));

    let mut again = json!({"name": "confirm_delete", "arguments": {"item": "report.pdf"},
        "requestState": first["requestState"],
        "inputResponses": {"question": {"action": "accept", "content": {"confirm": true}}}});
    let done = wire.ask("tools/call", again.clone()).await;
    assert_eq!(text(&done["result"]), "Deleted report.pdf");
    again["requestState"] = json!("forged");
    assert_eq!(wire.ask("tools/call", again).await["error"]["code"], -32602);

    let mut params = json!({"name": "interview", "arguments": {"questions": 3}});
    for said in ["a", "b", "c"] {
        let result = wire.ask("tools/call", params.clone()).await["result"].clone();
        assert_eq!(result["resultType"], "input_required", "{result}");
        params["requestState"] = result["requestState"].clone();
        params["inputResponses"] = json!({"question": {"action": "accept", "content": {"answer": said}}});
    }
    let result = wire.ask("tools/call", params).await["result"].clone();
    assert_eq!(result["structuredContent"], json!({"answers": ["a", "b", "c"]}));

    for (tool, args, method) in
        [("summarize", json!({"text": "Long."}), "sampling/createMessage"), ("show_roots", json!({}), "roots/list")]
    {
        let result = wire.call(tool, args).await;
        assert_eq!(result["inputRequests"]["question"]["method"], method, "{result}");
    }
    wire.close().await;
}
