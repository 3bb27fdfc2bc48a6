//! Resources, prompts, completion, progress, cancellation, logging.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::wire::{HANDSHAKE, Wire, text, tool_error};

async fn walk(wire: &mut Wire, method: &str, list: &str) -> (usize, Vec<Value>) {
    let (mut pages, mut all, mut cursor) = (0, Vec::new(), None::<Value>);
    loop {
        let params = cursor.take().map_or(json!({}), |cursor| json!({"cursor": cursor}));
        let result = wire.ask(method, params).await["result"].clone();
        pages += 1;
        all.extend(result[list].as_array().unwrap_or_else(|| panic!("{method}: {result}")).clone());
        match result.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => return (pages, all),
        }
    }
}

#[tokio::test]
async fn lists_come_in_pages() {
    for mut wire in Wire::both().await {
        let (pages, resources) = walk(&mut wire, "resources/list", "resources").await;
        assert_eq!((pages, resources.len()), (3, 7));
        let (pages, prompts) = walk(&mut wire, "prompts/list", "prompts").await;
        assert_eq!((pages, prompts.len()), (2, 4));
        let (pages, templates) = walk(&mut wire, "resources/templates/list", "resourceTemplates").await;
        assert_eq!((pages, templates.len()), (1, 3));

        for method in ["resources/list", "resources/templates/list", "prompts/list", "tools/list"] {
            for cursor in ["", "page-0", "page-01", "page-99", "nonsense", "page-99999999999999999999"] {
                let answer = wire.ask(method, json!({"cursor": cursor})).await;
                assert_eq!(answer["error"]["code"], -32602, "{method} {cursor:?}: {answer}");
            }
        }
        for resource in resources {
            let read = wire.ask("resources/read", json!({"uri": resource["uri"]})).await;
            let content = &read["result"]["contents"][0];
            assert!(content["text"].is_string() || content["blob"].is_string(), "{read}");
        }
        wire.close().await;
    }
}

#[tokio::test]
async fn templates_are_read_and_unknown_resources_refused() {
    for mut wire in Wire::both().await {
        for (uri, part) in [
            ("demo://item/7", "Item 7"),
            ("users://1/profile", "Ada Lovelace"),
            ("demo://docs/guide/install", "# install"),
        ] {
            let read = wire.ask("resources/read", json!({"uri": uri})).await;
            assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains(part), "{read}");
            assert_eq!(read["result"]["contents"][0]["uri"], uri);
        }
        let code = if wire.modern { -32602 } else { -32002 };
        for uri in
            ["demo://item/0", "demo://item/251", "demo://item/07", "users://999/profile", "demo://docs/x/y", "x:"]
        {
            let read = wire.ask("resources/read", json!({"uri": uri})).await;
            assert_eq!(read["error"]["code"], code, "{uri}: {read}");
        }
        wire.close().await;
    }
}

#[tokio::test]
async fn prompts_answer_or_say_what_is_missing() {
    for mut wire in Wire::both().await {
        let mut get =
            async |name: &str, args: Value| wire.ask("prompts/get", json!({"name": name, "arguments": args})).await;
        let greet = get("greet", json!({"name": "Ada"})).await;
        assert_eq!(greet["result"]["messages"][0]["content"]["text"], "Please greet Ada.");
        let persona = get("persona_developer", json!({"language": "golang", "framework": "gin"})).await;
        assert!(persona.to_string().contains("golang developer with gin"), "{persona}");
        let review = get("review", json!({"code": "1+1"})).await;
        let kinds: Vec<&Value> =
            review["result"]["messages"].as_array().unwrap().iter().map(|m| &m["content"]["type"]).collect();
        assert_eq!(kinds, ["text", "resource", "image", "text"]);
        assert!(get("plain", json!({})).await["result"]["messages"].is_array());

        for (name, args) in [
            ("greet", json!({})),
            ("greet", json!({"name": 1})),
            ("greet", json!({"name": "a", "nmae": "b"})),
            ("none", json!({})),
        ] {
            let answer = get(name, args).await;
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
        wire.close().await;
    }
}

#[tokio::test]
async fn completion_looks_at_the_context() {
    for mut wire in Wire::both().await {
        let mut complete = async |reference: Value, name: &str, value: &str, context: Value| {
            let mut params = json!({"ref": reference, "argument": {"name": name, "value": value}});
            if !context.is_null() {
                params["context"] = json!({"arguments": context});
            }
            wire.ask("completion/complete", params).await
        };
        let prompt = json!({"type": "ref/prompt", "name": "persona_developer"});
        let found = complete(prompt.clone(), "language", "g", Value::Null).await;
        assert_eq!(found["result"]["completion"]["values"], json!(["golang", "groovy"]), "{found}");
        let found = complete(prompt.clone(), "framework", "", json!({"language": "rust"})).await;
        assert_eq!(found["result"]["completion"]["values"], json!(["actix", "axum", "tokio"]));

        let item = json!({"type": "ref/resource", "uri": "demo://item/{id}"});
        let found = complete(item, "id", "", Value::Null).await["result"]["completion"].clone();
        assert_eq!(found["values"].as_array().unwrap().len(), 100);
        assert_eq!((&found["total"], &found["hasMore"]), (&json!(250), &json!(true)));

        let users = json!({"type": "ref/resource", "uri": "users://{id}/profile"});
        assert_eq!(complete(users, "id", "", Value::Null).await["result"]["completion"]["total"], 3);

        for (reference, name) in [(prompt, "colour"), (json!({"type": "ref/prompt", "name": "none"}), "x")] {
            assert_eq!(complete(reference, name, "", Value::Null).await["error"]["code"], -32602);
        }
        wire.close().await;
    }
}

#[tokio::test]
async fn progress_only_for_those_who_ask() {
    for mut wire in Wire::both().await {
        let result = wire.call("slow", json!({"steps": 3, "delay_ms": 1})).await;
        assert_eq!(text(&result), "Done after 3 steps");
        assert!(wire.inbox.is_empty(), "{:?}", wire.inbox);

        wire.meta = json!({"progressToken": "t-1"});
        wire.call("slow", json!({"steps": 3, "delay_ms": 1})).await;
        let steps: Vec<f64> = wire
            .inbox
            .iter()
            .map(|message| {
                assert_eq!(message["method"], "notifications/progress", "{message}");
                assert_eq!(message["params"]["progressToken"], "t-1");
                message["params"]["progress"].as_f64().unwrap()
            })
            .collect();
        assert_eq!(steps, [1.0, 2.0, 3.0]);
        wire.close().await;
    }
}

#[tokio::test]
async fn cancelled_calls_stop_without_an_answer() {
    for mut wire in Wire::both().await {
        wire.call("echo", json!({"text": "warm up"})).await;
        let id =
            wire.start("tools/call", json!({"name": "slow", "arguments": {"steps": 1, "delay_ms": 600_000}})).await;
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        wire.send(&cancel).await;
        wire.call("echo", json!({"text": "after"})).await;
        assert!(wire.inbox.is_empty(), "{:?}", wire.inbox);
        // With the work still going on, the server would wait for it.
        let start = Instant::now();
        wire.close().await;
        assert!(start.elapsed() < Duration::from_secs(3));
    }
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_server_at_once() {
    for mut wire in Wire::both().await {
        wire.call("echo", json!({"text": "warm up"})).await;
        wire.start("tools/call", json!({"name": "slow", "arguments": {"steps": 1, "delay_ms": 600_000}})).await;
        let start = Instant::now();
        wire.close().await;
        assert!(start.elapsed() < Duration::from_secs(3));
    }
    Wire::raw().close().await;
}

#[tokio::test]
async fn log_levels_of_a_connection() {
    for revision in HANDSHAKE {
        let mut wire = Wire::handshake(revision, json!({})).await;
        assert_eq!(text(&wire.call("log", json!({"level": "debug", "text": "all"})).await), "Sent");
        let sent = wire.notification("notifications/message").await;
        assert_eq!(sent["params"], json!({"level": "debug", "logger": "demo", "data": "all"}));

        assert!(wire.ask("logging/setLevel", json!({"level": "warning"})).await.get("error").is_none());
        assert_ne!(text(&wire.call("log", json!({"level": "notice", "text": "no"})).await), "Sent");
        assert!(wire.inbox.is_empty());
        wire.call("log", json!({"level": "error", "text": "yes"})).await;
        assert_eq!(wire.notification("notifications/message").await["params"]["data"], "yes");
        wire.close().await;
    }
}

#[tokio::test]
async fn log_levels_of_a_stateless_request() {
    let mut wire = Wire::modern(json!({}));
    assert_ne!(text(&wire.call("log", json!({"level": "emergency", "text": "no"})).await), "Sent");
    assert!(wire.inbox.is_empty());
    wire.meta = json!({"io.modelcontextprotocol/logLevel": "info"});
    assert_eq!(text(&wire.call("log", json!({"level": "info", "text": "yes"})).await), "Sent");
    assert_eq!(wire.notification("notifications/message").await["params"]["data"], "yes");
    wire.call("log", json!({"level": "debug", "text": "no"})).await;
    assert!(wire.inbox.is_empty());

    for method in ["logging/setLevel", "ping", "resources/subscribe"] {
        let answer = wire.ask(method, json!({"level": "info", "uri": "demo://greeting"})).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    wire.close().await;
}

#[tokio::test]
async fn a_tool_error_names_the_tool_and_the_place() {
    let mut wire = Wire::modern(json!({}));
    let result = wire.call("slow", json!({"steps": -1, "delay_ms": "x"})).await;
    let said = tool_error(&result);
    assert!(said.starts_with("Invalid arguments for slow:"), "{said}");
    assert!(said.contains("/steps: ") && said.contains("/delay_ms: "), "{said}");
    wire.close().await;
}
