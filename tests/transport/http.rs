//! Streamable HTTP against servers that misbehave byte by byte: requests, answers, refusals.

use std::time::{Duration, Instant};

use mcp_script::rpc::Id;
use mcp_script::sensitive::Sensitive;
use mcp_script::transport::Transport;
use mcp_script::transport::http::{Http, HttpOptions};
use serde_json::{Value, json};
use url::Url;

use crate::recorder::{Arrival, Recorder, echo, notification, raw, request};
use crate::server::{Server, close, connect, connect_with, failure, line, open, problem, with};
use crate::within;

#[test]
fn a_sane_server_is_asked_and_its_answers_say_where_they_came_from() {
    within(async {
        let (_server, http, inbox) = connect(&["sane"]);
        open(&http, &inbox).await;
        http.send(echo(2, "hello")).await.unwrap();
        assert_eq!(inbox.response(2).await["result"]["content"][0]["text"], "hello");
        assert_eq!(
            inbox.vias(),
            [
                "Answer { id: Some(Number(1)), status: 200, sse: false }",
                "Answer { id: Some(Number(2)), status: 200, sse: false }"
            ]
        );
        assert_eq!(close(&http).await.how, "closed; there was no session to end");
        inbox.closed().await;
        assert!(inbox.remarks().is_empty());
        assert_eq!(http.send(echo(3, "late")).await.unwrap_err().to_string(), "the connection was closed by us");
    });
}

#[test]
fn headers_are_as_the_protocol_wants_them() {
    within(async {
        let (mut server, http, inbox) = connect_with(&["session+log"], |options| {
            options.headers = vec![("X-Key".to_owned(), Sensitive::new("k1".to_owned()))];
        });
        open(&http, &inbox).await;
        http.send(with(echo(2, "x"), "Mcp-Method", "tools/call")).await.unwrap();
        inbox.response(2).await;
        http.send(with(echo(3, "x"), "Accept", "application/json")).await.unwrap();
        inbox.response(3).await;
        assert_eq!(
            http.close(Duration::from_secs(2), vec![line("MCP-Protocol-Version", "2025-11-25")]).await.how,
            "closed; the session was ended (HTTP 200)"
        );
        let first = server.seen();
        assert_eq!(first["headers"]["accept"], "application/json, text/event-stream");
        assert_eq!(first["headers"]["content-type"], "application/json");
        assert_eq!(first["headers"]["x-key"], "k1");
        assert_eq!(first["headers"]["mcp-session-id"], Value::Null);
        assert_eq!(server.seen()["headers"]["mcp-session-id"], "fault-session-1");
        let call = server.seen();
        assert_eq!(call["headers"]["mcp-method"], "tools/call");
        assert_eq!(call["body"], inbox.sent()[2]);
        assert_eq!(server.seen()["headers"]["accept"], "application/json");
        let bye = server.seen();
        assert_eq!((&bye["method"], &bye["headers"]["mcp-session-id"]), (&json!("DELETE"), &json!("fault-session-1")));
        assert_eq!(bye["headers"]["mcp-protocol-version"], "2025-11-25");
        assert_eq!(bye["headers"]["content-type"], Value::Null);
    });
}

#[test]
fn a_new_session_starts_without_the_old_ones_id() {
    within(async {
        let (mut server, http, inbox) = connect(&["session-no-delete+log"]);
        open(&http, &inbox).await;
        http.send(request(2, "initialize", &json!({}))).await.unwrap();
        inbox.response(2).await;
        server.seen();
        server.seen();
        assert_eq!(server.seen()["headers"]["mcp-session-id"], Value::Null);
        assert_eq!(close(&http).await.how, "closed; the server does not let sessions be ended (HTTP 405)");
    });
}

#[test]
fn answers_that_are_no_message_are_shown_for_what_they_are() {
    within(async {
        for (mode, status, parts) in [
            ("html", 404, "text/html||<!DOCTYPE html>"),
            ("html-200", 200, "text/html; charset=utf-8||<!DOCTYPE"),
            ("unauthorized", 401, "application/json|Bearer resource_metadata="),
            ("forbidden", 403, "text/plain||go away"),
            ("not-found", 404, "text/plain||"),
            ("error-500", 500, "text/plain||Internal Server Error"),
            ("redirect", 307, "text/plain|/mcp/|"),
        ] {
            let (_server, http, inbox) = connect(&[mode]);
            http.send(request(1, "initialize", &json!({}))).await.unwrap();
            let (id, got, text) = problem(&inbox).await;
            assert_eq!((id, got), (Some(Id::Number(1)), status), "{mode}");
            assert!(text.starts_with(parts), "{mode}: {text}");
            assert_eq!(inbox.all().len(), 1, "{mode}");
        }
        for (mode, status, parts) in [
            ("wrong-content-type", 200, "text/plain||{\"jsonrpc\""),
            ("no-content-type", 200, "||{\"jsonrpc\""),
            ("empty-200", 200, "application/json||"),
            ("accepted", 202, "text/plain||"),
        ] {
            let (_server, http, inbox) = connect(&[mode]);
            open(&http, &inbox).await;
            http.send(echo(2, "x")).await.unwrap();
            let (id, got, text) = problem(&inbox).await;
            assert_eq!((id, got), (Some(Id::Number(2)), status), "{mode}");
            assert!(text.starts_with(parts), "{mode}: {text}");
        }
    });
}

#[test]
fn a_json_rpc_error_under_any_status_and_type_is_a_frame() {
    within(async {
        let (_server, http, inbox) = connect(&["error-json-rpc"]);
        http.send(request(1, "initialize", &json!({}))).await.unwrap();
        assert_eq!(inbox.response(1).await["error"]["code"], -32000);
        assert_eq!(inbox.vias(), ["Answer { id: Some(Number(1)), status: 400, sse: false }"]);
        let (_server, http, inbox) = connect(&["modern-only"]);
        http.send(request(1, "initialize", &json!({ "protocolVersion": "2025-11-25" }))).await.unwrap();
        assert_eq!(inbox.response(1).await["error"]["code"], -32022);
    });
}

#[test]
fn connections_that_fail_say_why() {
    within(async {
        for (mode, expected) in [
            ("refuses", "cannot connect to 127.0.0.1:"),
            ("closes-early", "the server closed the connection without an answer"),
            ("closes-at-once", "the request failed: the server"),
            ("no-http", "the request failed: "),
            ("bad-status-line", "the request failed: "),
            ("header-flood", "the request failed: "),
        ] {
            let (_server, http, inbox) = connect(&[mode]);
            http.send(request(1, "initialize", &json!({}))).await.unwrap();
            let (id, cause) = failure(&inbox).await;
            assert_eq!(id, Some(Id::Number(1)), "{mode}");
            assert!(cause.contains(expected), "{mode}: {cause}");
            println!("{mode}: {cause}");
            let error = http.send(notification("notifications/initialized")).await.unwrap_err();
            assert!(!error.to_string().is_empty());
        }
    });
}

#[test]
fn bodies_that_break_off_say_so() {
    within(async {
        for mode in ["length-lie", "chunked-cut", "chunked-broken"] {
            let (_server, http, inbox) = connect(&[mode]);
            open(&http, &inbox).await;
            http.send(echo(2, "x")).await.unwrap();
            let (id, cause) = failure(&inbox).await;
            println!("{mode}: {cause}");
            assert_eq!(id, Some(Id::Number(2)), "{mode}");
            assert!(cause.starts_with("the answer broke off: "), "{mode}: {cause}");
        }
    });
}

#[test]
fn odd_but_legal_bodies_are_read() {
    within(async {
        for mode in ["chunked", "charset", "gzip", "not-acceptable"] {
            let (_server, http, inbox) = connect(&[mode]);
            open(&http, &inbox).await;
            http.send(echo(2, "hello")).await.unwrap();
            assert_eq!(inbox.response(2).await["result"]["content"][0]["text"], "hello", "{mode}");
            assert!(inbox.remarks().is_empty(), "{mode}");
        }
        for mode in ["invalid-json", "length-short"] {
            let (_server, http, inbox) = connect(&[mode]);
            open(&http, &inbox).await;
            http.send(echo(2, "hello")).await.unwrap();
            inbox.wait(|_| (inbox.frames().len() == 2).then_some(())).await;
            let frame = inbox.frames().remove(1);
            assert!(serde_json::from_str::<Value>(&frame).is_err(), "{mode}: delivered as it came");
        }
    });
}

#[test]
fn bodies_and_events_over_the_limit_are_refused() {
    within(async {
        for mode in ["huge-body", "sse-huge"] {
            let (_server, http, inbox) = connect_with(&[mode, "300000"], |options| options.max_message = 200_000);
            open(&http, &inbox).await;
            http.send(echo(2, "x")).await.unwrap();
            let (id, cause) = failure(&inbox).await;
            assert_eq!(id, Some(Id::Number(2)));
            assert!(cause.ends_with("is larger than 200000 bytes"), "{mode}: {cause}");
            let (_server, http, inbox) = connect(&[mode, "3000000"]);
            open(&http, &inbox).await;
            http.send(echo(2, "x")).await.unwrap();
            assert_eq!(inbox.response(2).await["result"]["content"][0]["text"].as_str().map(str::len), Some(3_000_000));
        }
    });
}

#[test]
fn notifications_not_answered_with_202_are_remarked() {
    within(async {
        let (_server, http, inbox) = connect(&["notification-200"]);
        open(&http, &inbox).await;
        http.send(notification("notifications/cancelled")).await.unwrap();
        assert_eq!(inbox.remarks(), ["http-notification-202"]);
        let (_server, http, inbox) = connect(&["notification-500"]);
        open(&http, &inbox).await;
        assert_eq!(problem(&inbox).await, (None, 500, "text/plain||oops".to_owned()));
    });
}

#[test]
fn a_lost_session_is_shown() {
    within(async {
        let (_server, http, inbox) = connect(&["session-lost"]);
        open(&http, &inbox).await;
        http.send(echo(2, "x")).await.unwrap();
        assert_eq!(problem(&inbox).await, (Some(Id::Number(2)), 404, "text/plain||Session not found".to_owned()));
    });
}

#[test]
fn raw_text_is_sent_as_it_is_and_everything_that_comes_back_is_delivered() {
    within(async {
        let (mut server, http, inbox) = connect(&["sane+log"]);
        http.send(raw("{\"jsonrpc\":")).await.unwrap();
        inbox
            .wait(
                |arrival| {
                    if let Arrival::Frame(text, _) = arrival { text.contains("-32700").then_some(()) } else { None }
                },
            )
            .await;
        assert_eq!(inbox.vias(), ["Answer { id: None, status: 400, sse: false }"]);
        assert_eq!(server.seen()["body"], "{\"jsonrpc\":");
        http.send(raw("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}")).await.unwrap();
        assert_eq!(problem(&inbox).await.1, 202);
    });
}

#[test]
fn many_requests_at_once_all_get_their_answers() {
    within(async {
        let (_server, http, inbox) = connect(&["slow", "100"]);
        open(&http, &inbox).await;
        let started = Instant::now();
        for id in 2..18 {
            http.send(echo(id, &format!("text {id}"))).await.unwrap();
        }
        for id in 2..18 {
            assert_eq!(inbox.response(id).await["result"]["content"][0]["text"], format!("text {id}"));
        }
        assert!(started.elapsed() < Duration::from_millis(1200), "they did not run at once: {:?}", started.elapsed());
    });
}

#[test]
fn wrong_options_are_refused_before_anything_is_sent() {
    let refuse = |url: &str, headers: &[(&str, &str)]| {
        let mut options = HttpOptions::new(Url::parse(url).expect("a URL"));
        options.headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), Sensitive::new((*value).to_owned()))).collect();
        Http::new(&options, Recorder::new()).map(drop).unwrap_err().to_string()
    };
    let error = refuse("https://me:secret@example.com/mcp", &[]);
    assert_eq!(error, "the URL https://example.com/mcp holds a user or password");
    assert!(refuse("ftp://example.com/", &[]).contains("no http or https URL"));
    assert!(refuse("https://example.com/", &[("Mcp-Session-Id", "x")]).contains("set by the protocol"));
    assert!(refuse("https://example.com/", &[("X A", "x")]).contains("no header name"));
}

#[test]
fn tls_failures_name_the_check() {
    within(async {
        let server = Server::start(&["sane"]);
        let url = Url::parse(&format!("https://127.0.0.1:{}/mcp", server.port)).expect("a URL");
        let inbox = Recorder::new();
        let http = Http::new(&HttpOptions::new(url), inbox.clone()).expect("the options are right");
        http.send(request(1, "initialize", &json!({}))).await.unwrap();
        let (_, cause) = failure(&inbox).await;
        assert!(cause.contains("is it an http:// URL?"), "{cause}");
    });
}

#[test]
fn proxies_are_used_and_never_for_this_machine() {
    within(async {
        let mut proxy = Server::start(&["sane+log"]);
        let proxy_url = Url::parse(&format!("http://127.0.0.1:{}/", proxy.port)).expect("a URL");
        let mut options = HttpOptions::new(Url::parse("http://mcp.invalid/mcp").expect("a URL"));
        options.client.proxy = Some(proxy_url.clone());
        let inbox = Recorder::new();
        let http = Http::new(&options, inbox.clone()).expect("the options are right");
        open(&http, &inbox).await;
        assert_eq!(proxy.seen()["path"], "http://mcp.invalid/mcp");
        let (mut server, http, inbox) = connect_with(&["sane+log"], |options| options.client.proxy = Some(proxy_url));
        open(&http, &inbox).await;
        assert_eq!(server.seen()["path"], "/mcp");
    });
}
