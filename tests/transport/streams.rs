//! Event streams against servers that misbehave: answers, resumption, the standing stream, HTTP+SSE.

use std::time::{Duration, Instant};

use mcp_script::rpc::Id;
use mcp_script::transport::Transport;
use mcp_script::transport::http::{HttpOptions, OldSse};
use serde_json::{Value, json};
use url::Url;

use crate::recorder::{Arrival, Recorder, echo, notification, request};
use crate::server::{Server, close, connect, ended, line, open};
use crate::within;

#[test]
fn event_streams_are_read_to_the_answer_whatever_their_form() {
    within(async {
        for mode in ["sane-sse", "sse-comments", "sse-types", "sse-cr", "sse-crlf-bom"] {
            let (_server, http, inbox) = connect(&[mode]);
            open(&http, &inbox).await;
            http.send(echo(2, "hello")).await.unwrap();
            assert_eq!(inbox.response(2).await["result"]["content"][0]["text"], "hello", "{mode}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert_eq!(inbox.frames().len(), 3, "{mode}: initialize, the notification, the answer");
            let remarks = if mode == "sse-types" { vec!["sse-event-type"] } else { Vec::new() };
            assert_eq!(inbox.remarks(), remarks, "{mode}");
            assert!(!inbox.all().iter().any(|arrival| matches!(arrival, Arrival::Ended(..))), "{mode}");
        }
    });
}

#[test]
fn a_stream_without_the_answer_ends_the_request_at_once() {
    within(async {
        for (mode, cause) in [
            ("sse-no-answer", "the stream ended without the answer"),
            ("sse-half-event", "the stream ended in the middle of an event, without the answer"),
        ] {
            let (_server, http, inbox) = connect(&[mode]);
            open(&http, &inbox).await;
            http.send(echo(2, "x")).await.unwrap();
            assert_eq!(ended(&inbox).await, (Id::Number(2), cause.to_owned()));
            assert!(inbox.remarks().is_empty());
        }
    });
}

#[test]
fn a_request_of_the_server_is_answered_while_its_stream_is_open() {
    within(async {
        let (_server, http, inbox) = connect(&["sse-asks-ping"]);
        open(&http, &inbox).await;
        http.send(echo(2, "x")).await.unwrap();
        inbox.request_id("ping").await;
        let mut answer = notification("");
        answer.body = r#"{"jsonrpc":"2.0","id":"fault-1","result":{}}"#.to_owned();
        http.send(answer).await.unwrap();
        let text = inbox.response(2).await["result"]["content"][0]["text"].to_string();
        assert!(text.contains("fault-1"), "{text}");
    });
}

#[test]
fn an_abandoned_request_closes_its_stream() {
    within(async {
        let (_server, http, inbox) = connect(&["sse-never"]);
        open(&http, &inbox).await;
        http.send(echo(2, "x")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(150)).await;
        http.abandon(&Id::Number(2));
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(inbox.all().len(), 1, "nothing but the handshake: {:?}", inbox.all());
        close(&http).await;
    });
}

#[test]
fn a_stream_that_stays_open_after_the_answer_is_closed_and_said() {
    within(async {
        let (_server, http, inbox) = connect(&["sse-stays-open"]);
        open(&http, &inbox).await;
        http.send(echo(2, "x")).await.unwrap();
        inbox.response(2).await;
        let remark = |arrival: &Arrival| match arrival {
            Arrival::Remark("http-sse-ends-after-response", message) => Some(message.clone()),
            _ => None,
        };
        assert!(inbox.wait(remark).await.contains("stayed open for 5 s"));
    });
}

#[test]
fn broken_streams_are_resumed_only_where_the_revision_knows_it() {
    within(async {
        for (mode, gets) in [("resume+log", 1), ("resume-poll+log", 2)] {
            let (mut server, http, inbox) = connect(&[mode]);
            open(&http, &inbox).await;
            http.listen(vec![line("MCP-Protocol-Version", "2025-11-25")]);
            http.send(echo(2, "hello")).await.unwrap();
            assert_eq!(inbox.response(2).await["result"]["content"][0]["text"], "hello", "{mode}");
            assert_eq!(inbox.remarks(), ["sse-resumed"]);
            let mut resumed = Vec::new();
            while resumed.len() < gets {
                let seen = server.seen();
                if seen["method"] == "GET" && seen["headers"]["last-event-id"] != Value::Null {
                    assert_eq!(seen["headers"]["mcp-protocol-version"], "2025-11-25");
                    assert_eq!(seen["headers"]["accept"], "text/event-stream");
                    resumed.push(seen["headers"]["last-event-id"].to_string());
                }
            }
            assert_eq!(resumed.last().map(String::as_str), Some(if gets == 1 { "\"e2\"" } else { "\"e3\"" }));
        }
        let (_server, http, inbox) = connect(&["resume"]);
        open(&http, &inbox).await;
        http.send(echo(2, "hello")).await.unwrap();
        assert_eq!(ended(&inbox).await.0, Id::Number(2));
        let (_server, http, inbox) = connect(&["resume-refused"]);
        open(&http, &inbox).await;
        http.listen(Vec::new());
        http.send(echo(2, "hello")).await.unwrap();
        let (_, cause) = ended(&inbox).await;
        assert!(cause.ends_with("; resuming it was answered with HTTP 405"), "{cause}");
    });
}

#[test]
fn the_standing_stream_is_read_and_opened_again() {
    within(async {
        let (_server, http, inbox) = connect(&["listen"]);
        open(&http, &inbox).await;
        http.listen(Vec::new());
        let second = |arrival: &Arrival| match arrival {
            Arrival::Frame(text, via) if text.contains("\"after\":\"s1\"") => Some(via.clone()),
            _ => None,
        };
        assert_eq!(inbox.wait(second).await, "Standing");
        assert_eq!(inbox.remarks(), ["http-get-stream-dropped"]);
        close(&http).await;
    });
}

#[test]
fn a_refused_standing_stream_is_no_error() {
    within(async {
        for (mode, remarks) in [("sane", vec![]), ("listen-500", vec!["http-get-sse-or-405"])] {
            let (_server, http, inbox) = connect(&[mode]);
            open(&http, &inbox).await;
            http.listen(Vec::new());
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert_eq!(inbox.remarks(), remarks, "{mode}");
            close(&http).await;
        }
    });
}

#[test]
fn a_server_that_asks_on_the_standing_stream_is_served() {
    within(async {
        let (_server, http, inbox) = connect(&["listen-roots"]);
        open(&http, &inbox).await;
        http.listen(Vec::new());
        http.send(echo(2, "x")).await.unwrap();
        inbox.request_id("roots/list").await;
        let mut answer = notification("");
        answer.body = r#"{"jsonrpc":"2.0","id":"fault-1","result":{"roots":[]}}"#.to_owned();
        http.send(answer).await.unwrap();
        assert!(inbox.response(2).await["result"]["content"][0]["text"].to_string().contains("roots"));
        let started = Instant::now();
        close(&http).await;
        assert!(started.elapsed() < Duration::from_secs(1));
    });
}

async fn old_sse(mode: &str) -> (Server, std::sync::Arc<OldSse>, std::sync::Arc<Recorder>) {
    let server = Server::start(&[mode]);
    let url = Url::parse(&format!("http://127.0.0.1:{}/sse", server.port)).expect("a URL");
    let inbox = Recorder::new();
    let transport = OldSse::new(&HttpOptions::new(url), inbox.clone()).expect("the options are right");
    (server, transport, inbox)
}

#[test]
fn http_with_sse_is_one_stream_and_a_post_for_each_message() {
    within(async {
        let (_server, transport, inbox) = old_sse("old-sse").await;
        transport.send(request(1, "initialize", &json!({ "protocolVersion": "2024-11-05" }))).await.unwrap();
        inbox.response(1).await;
        transport.send(notification("notifications/initialized")).await.unwrap();
        transport.send(echo(2, "hello")).await.unwrap();
        assert_eq!(inbox.response(2).await["result"]["content"][0]["text"], "hello");
        assert_eq!(inbox.vias(), ["Pipe", "Pipe"]);
        assert_eq!(inbox.sent().len(), 3);
        assert_eq!(transport.close(Duration::ZERO, Vec::new()).await.how, "closed");
        assert_eq!(inbox.closed().await.cause, "closed by us");
    });
}

#[test]
fn http_with_sse_says_why_there_is_no_connection() {
    within(async {
        for (mode, cause) in [
            ("sane", "GET was answered with HTTP 405 (text/plain), not with an event stream"),
            ("html", "GET was answered with HTTP 404 (text/html), not with an event stream"),
            ("listen", "the event stream does not start with the event `endpoint`"),
            ("listen-closes", "the event stream ended"),
            (
                "old-sse-foreign",
                "the endpoint `http://127.0.0.2:9/messages` is on another origin than the event stream",
            ),
        ] {
            let (_server, transport, inbox) = old_sse(mode).await;
            let error = transport.send(request(1, "initialize", &json!({}))).await.unwrap_err();
            assert_eq!(error.to_string(), cause, "{mode}");
            assert_eq!(inbox.closed().await.cause, cause, "{mode}");
            assert!(inbox.sent().is_empty(), "{mode}");
        }
        let (_server, transport, inbox) = old_sse("old-sse-closes").await;
        transport.send(request(1, "initialize", &json!({}))).await.unwrap();
        inbox.response(1).await;
        transport.send(echo(2, "x")).await.unwrap();
        assert_eq!(inbox.closed().await.cause, "the event stream ended");
    });
}
