//! Change notifications: `resources/subscribe` of the handshake era and `subscriptions/listen` of the stateless one.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::wire::{Wire, tool_error};

#[tokio::test]
async fn a_handshake_connection_hears_of_its_subscriptions() {
    let mut wire = Wire::handshake("2025-11-25", json!({})).await;
    wire.call("touch", json!({"uri": "demo://config"})).await;
    let done = wire.ask("resources/subscribe", json!({"uri": "demo://greeting"})).await;
    assert!(done.get("error").is_none(), "{done}");
    wire.call("touch", json!({"uri": "demo://greeting"})).await;
    let told = wire.notification("notifications/resources/updated").await;
    assert_eq!(told["params"]["uri"], "demo://greeting");

    wire.ask("resources/unsubscribe", json!({"uri": "demo://greeting"})).await;
    wire.call("touch", json!({"uri": "demo://greeting"})).await;
    for list in ["tools", "prompts", "resources"] {
        wire.call("announce", json!({"list": list})).await;
        wire.notification(&format!("notifications/{list}/list_changed")).await;
    }
    assert!(wire.inbox.is_empty(), "{:?}", wire.inbox);

    let answer = wire.ask("resources/subscribe", json!({"uri": "demo://none"})).await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    tool_error(&wire.call("touch", json!({"uri": "demo://none"})).await);
    wire.close().await;
}

#[tokio::test]
async fn a_listener_hears_of_what_it_asked_for() {
    let mut wire = Wire::modern(json!({}));
    let filter = json!({"promptsListChanged": true, "resourceSubscriptions": ["demo://greeting", "demo://none"]});
    let id = wire.start("subscriptions/listen", json!({"notifications": filter})).await;
    let ack = wire.notification("notifications/subscriptions/acknowledged").await;
    assert_eq!(ack["params"]["notifications"]["resourceSubscriptions"], json!(["demo://greeting"]), "{ack}");

    wire.call("touch", json!({"uri": "demo://config"})).await;
    wire.call("announce", json!({"list": "tools"})).await;
    wire.call("touch", json!({"uri": "demo://greeting"})).await;
    let told = wire.notification("notifications/resources/updated").await;
    assert_eq!(told["params"]["uri"], "demo://greeting");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{told}");
    wire.call("announce", json!({"list": "prompts"})).await;
    wire.notification("notifications/prompts/list_changed").await;
    assert!(wire.inbox.is_empty(), "{:?}", wire.inbox);

    let start = Instant::now();
    wire.close().await;
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn the_clock_ticks_for_subscribers() {
    let mut wire = Wire::handshake("2025-11-25", json!({})).await;
    wire.ask("resources/subscribe", json!({"uri": "mcp://time"})).await;
    wire.notification("notifications/tools/list_changed").await;
    for _ in 0..2 {
        let tick = wire.notification("notifications/resources/updated").await;
        assert_eq!(tick["params"]["uri"], "mcp://time");
    }
    wire.close().await;

    let mut wire = Wire::modern(json!({}));
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["mcp://time"]});
    wire.start("subscriptions/listen", json!({"notifications": filter})).await;
    wire.notification("notifications/tools/list_changed").await;
    wire.notification("notifications/resources/updated").await;
    wire.close().await;
}
