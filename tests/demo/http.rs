//! The HTTP side: sessions for the handshake era, single requests for the stateless one.

use std::time::Duration;

use mcp_script::demo::{self, DemoError};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::wire::{MODERN, text};

struct Http {
    url: String,
    client: Client,
    server: JoinHandle<Result<(), DemoError>>,
}

impl Http {
    async fn start(path: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}{path}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move { demo::serve_http(listener, path).await });
        let client = Client::builder().tls_certs_only([]).no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
        Self { url, client, server }
    }

    async fn post(&self, headers: &[(&str, &str)], message: &Value) -> Response {
        let mut map = HeaderMap::new();
        map.insert("content-type", HeaderValue::from_static("application/json"));
        map.insert("accept", HeaderValue::from_static("application/json, text/event-stream"));
        for (name, value) in headers {
            map.insert(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        self.client.post(&self.url).headers(map).body(message.to_string()).send().await.unwrap()
    }

    /// A stateless request with correct headers.
    async fn modern(&self, method: &str, mut params: Value, more: &[(&str, &str)]) -> Response {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![("mcp-protocol-version", MODERN), ("mcp-method", method)];
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
        headers.extend(more);
        self.post(&headers, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await
    }
}

/// The messages of an answer, whichever content type it has.
async fn messages(response: Response) -> Vec<Value> {
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    let body = response.text().await.unwrap();
    if kind.starts_with("application/json") {
        return vec![serde_json::from_str(&body).unwrap()];
    }
    assert!(kind.starts_with("text/event-stream"), "{kind}: {body}");
    let data =
        |line: &str| line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty()).map(str::to_owned);
    body.lines().filter_map(data).map(|data| serde_json::from_str(&data).unwrap()).collect()
}

async fn answer(response: Response) -> Value {
    messages(response).await.pop().expect("an answer")
}

fn initialize(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}})
}

#[tokio::test]
async fn the_handshake_era_has_sessions() {
    let http = Http::start("/mcp").await;
    let opened = http.post(&[], &initialize(1)).await;
    assert_eq!(opened.status(), StatusCode::OK);
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    assert_eq!(answer(opened).await["result"]["serverInfo"]["name"], "mcp-tester-demo");

    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-06-18")];
    let noted = http.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    assert_eq!(noted.status(), StatusCode::ACCEPTED);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
        {"name": "slow", "arguments": {"steps": 2, "delay_ms": 1}, "_meta": {"progressToken": 5}}});
    let all = messages(http.post(&headers, &call).await).await;
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(text(&all[2]["result"]), "Done after 2 steps");

    let ended = http.client.delete(&http.url).header("mcp-session-id", &session).send().await.unwrap();
    assert!(ended.status().is_success(), "{ended:?}");
    assert_eq!(http.post(&headers, &call).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_stateless_era_is_one_request() {
    let http = Http::start("/mcp").await;
    let found = http.modern("server/discover", json!({}), &[]).await;
    assert!(found.headers().get("mcp-session-id").is_none());
    assert!(answer(found).await["result"]["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)));

    let call = json!({"name": "add", "arguments": {"a": 10, "b": 20}});
    let response = http.modern("tools/call", call.clone(), &[]).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(text(&answer(response).await["result"]), "Result: 30");

    let slow = json!({"name": "slow", "arguments": {"steps": 2, "delay_ms": 1}, "_meta": {"progressToken": "p"}});
    assert_eq!(messages(http.modern("tools/call", slow, &[]).await).await.len(), 3);

    let unknown = answer(http.modern("tools/call", json!({"name": "unknown", "arguments": {}}), &[]).await).await;
    assert_eq!(unknown["error"]["code"], -32602);

    let wrong = http.modern("tools/call", call, &[("mcp-name", "other")]).await;
    assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
    assert_eq!(answer(wrong).await["error"]["code"], -32020);
}

#[tokio::test]
async fn state_outlives_a_stateless_request() {
    let http = Http::start("/mcp").await;
    for expected in 1..=3 {
        let counted = http.modern("tools/call", json!({"name": "counter", "arguments": {}}), &[]).await;
        assert_eq!(answer(counted).await["result"]["structuredContent"]["value"], expected);
    }
}

#[tokio::test]
async fn annotated_arguments_travel_as_headers() {
    let http = Http::start("/mcp").await;
    let call = json!({"name": "header_echo", "arguments": {"region": "eu-north"}});
    let right = http.modern("tools/call", call.clone(), &[("mcp-param-region", "eu-north")]).await;
    assert_eq!(answer(right).await["result"]["structuredContent"], json!({"region": "eu-north", "header": "eu-north"}));
    for more in [&[("mcp-param-region", "us")][..], &[]] {
        let wrong = http.modern("tools/call", call.clone(), more).await;
        assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
        assert_eq!(answer(wrong).await["error"]["code"], -32020);
    }
}

#[tokio::test]
async fn foreign_origins_and_hosts_are_refused() {
    let http = Http::start("/mcp").await;
    let foreign = http.post(&[("origin", "https://evil.example")], &initialize(1)).await;
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let foreign = http.post(&[("host", "evil.example")], &initialize(1)).await;
    assert!(foreign.status().is_client_error(), "{foreign:?}");
    let own = http.post(&[("origin", "http://localhost:8000")], &initialize(1)).await;
    assert_eq!(own.status(), StatusCode::OK);
}

#[tokio::test]
async fn paths_are_checked_and_used() {
    let http = Http::start("/a/b-c").await;
    assert_eq!(http.post(&[], &initialize(1)).await.status(), StatusCode::OK);
    let root = Http::start("/").await;
    assert_eq!(root.post(&[], &initialize(1)).await.status(), StatusCode::OK);
    for path in ["", "mcp", "/{x}", "/*all", "/m cp", "/mcp?x"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        assert!(matches!(demo::serve_http(listener, path).await, Err(DemoError::Path(_))), "{path:?}");
    }
}

#[tokio::test]
async fn dropping_the_server_ends_its_streams() {
    let http = Http::start("/mcp").await;
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = http.modern("subscriptions/listen", listen, &[]).await;
    assert!(stream.chunk().await.unwrap().is_some());
    http.server.abort();
    let drained =
        tokio::time::timeout(Duration::from_secs(10), async { while let Ok(Some(_)) = stream.chunk().await {} });
    drained.await.expect("the stream ends with the server");
}
