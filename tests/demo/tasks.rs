//! The tasks extension of 2026-07-28, and the same work for clients without it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::wire::{Wire, text};

fn with_tasks() -> Wire {
    Wire::modern(json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}))
}

async fn get(wire: &mut Wire, id: &Value) -> Value {
    wire.ask("tasks/get", json!({"taskId": id})).await["result"].clone()
}

/// Polls until the task has this status.
async fn until(wire: &mut Wire, id: &Value, status: &str) -> Value {
    for _ in 0..500 {
        let task = get(wire, id).await;
        if task["status"] == status {
            return task;
        }
        assert!(["working", "input_required"].contains(&task["status"].as_str().unwrap()), "{task}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never {status}");
}

#[tokio::test]
async fn a_task_runs_to_its_end() {
    let mut wire = with_tasks();
    let task = wire.call("long_job", json!({"seconds": 0.1})).await;
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    assert_eq!(get(&mut wire, &task["taskId"]).await["resultType"], "complete");
    let done = until(&mut wire, &task["taskId"], "completed").await;
    assert_eq!(text(&done["result"]), "Done after 0.1 seconds");

    let task = wire.call("long_failure", json!({"seconds": 0})).await;
    let failed = until(&mut wire, &task["taskId"], "failed").await;
    assert_eq!(failed["error"]["code"], -32603, "{failed}");
    wire.close().await;
}

#[tokio::test]
async fn a_task_is_cancelled() {
    let mut wire = with_tasks();
    let task = wire.call("long_job", json!({"seconds": 200})).await;
    let answer = wire.ask("tasks/cancel", json!({"taskId": task["taskId"]})).await;
    assert!(answer.get("error").is_none(), "{answer}");
    until(&mut wire, &task["taskId"], "cancelled").await;

    for method in ["tasks/get", "tasks/cancel"] {
        assert_eq!(wire.ask(method, json!({"taskId": "none"})).await["error"]["code"], -32602);
    }
    wire.close().await;
}

#[tokio::test]
async fn a_task_asks() {
    let mut wire = with_tasks();
    let task = wire.call("long_question", json!({"seconds": 0})).await;
    let waiting = until(&mut wire, &task["taskId"], "input_required").await;
    assert_eq!(waiting["inputRequests"]["question"]["method"], "elicitation/create", "{waiting}");
    let answer = json!({"question": {"action": "accept", "content": {"goOn": true}}});
    wire.ask("tasks/update", json!({"taskId": task["taskId"], "inputResponses": answer})).await;
    let done = until(&mut wire, &task["taskId"], "completed").await;
    assert_eq!(text(&done["result"]), "Went on and finished");
    wire.close().await;
}

#[tokio::test]
async fn without_the_extension_the_call_waits() {
    for mut wire in Wire::both().await {
        let result = wire.call("long_job", json!({"seconds": 0.05})).await;
        assert_eq!(text(&result), "Done after 0.05 seconds");
        let failed = wire.ask("tools/call", json!({"name": "long_failure", "arguments": {"seconds": 0}})).await;
        assert_eq!(failed["error"]["code"], -32603);
        if wire.modern {
            let answer = wire.ask("tasks/get", json!({"taskId": "none"})).await;
            assert_eq!(answer["error"]["code"], -32021, "{answer}");
        }
        wire.close().await;
    }
    let mut wire = Wire::modern(json!({"elicitation": {}}));
    let first = wire.call("long_question", json!({"seconds": 0.05})).await;
    assert_eq!(first["resultType"], "input_required");
    let again = json!({"name": "long_question", "arguments": {"seconds": 100}, "requestState": first["requestState"],
        "inputResponses": {"question": {"action": "decline"}}});
    let done = wire.ask("tools/call", again).await;
    assert_eq!(text(&done["result"]), "Stopped half-way (decline)");
    wire.close().await;
}
