//! Over HTTP: the opening against servers that misbehave, and the demo server in every revision.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcp_script::sensitive::Sensitive;
use mcp_script::session::{
    Call, CallError, ClientDeclares, Endpoint, ErrorKind, HttpFlavor, OpenError, ProtocolChoice, Revision, Root,
    Session, Target,
};
use serde_json::Value;
use url::Url;

use crate::fault::fault_server;
use crate::peer::{Seen, open};

/// The fault server as a process, ended with the test.
struct Server {
    child: Child,
    lines: BufReader<ChildStdout>,
    target: Target,
}

impl Server {
    fn start(mode: &str) -> Self {
        let mut child = Command::new(fault_server())
            .args(["http", mode])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fault server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a stdout"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("its first line");
        let port = line.trim().strip_prefix("listening on ").expect("a port").to_owned();
        Self { child, lines, target: at(&format!("http://127.0.0.1:{port}/mcp")) }
    }

    fn speaking(mode: &str, revision: Revision) -> Self {
        let mut server = Self::start(mode);
        server.target.protocol = ProtocolChoice::Exact(revision);
        server
    }

    /// The next request that a `+log` server saw.
    fn seen(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("a request")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn at(url: &str) -> Target {
    let url = Url::parse(url).expect(url);
    let endpoint = Endpoint::Http {
        url,
        headers: Vec::new(),
        flavor: HttpFlavor::Streamable,
        insecure: false,
        cacert: None,
        proxy: None,
    };
    let mut target = Target::new(endpoint);
    target.limits.timeout = Duration::from_secs(10);
    target.limits.connect_timeout = Duration::from_secs(10);
    target
}

fn echo(text: &str) -> Call {
    let params = format!(r#"{{"name":"echo","arguments":{{"text":"{text}"}}}}"#);
    Call { params: Some(params), ..Call::new("tools/call") }
}

async fn refused(target: &Target) -> OpenError {
    open(target).await.map(|_| ()).expect_err("no session")
}

#[tokio::test]
async fn a_modern_server_is_recognised_and_sees_the_mirroring_headers() {
    let mut server = Server::start("modern-only+log");
    let (session, seen) = open(&server.target).await.expect("opens");
    assert_eq!((session.facts().transport, session.facts().revision), ("http", Revision::V2026_07_28));
    let call = Call { headers: vec![("X-Trace".to_owned(), Sensitive::new("7".to_owned()))], ..echo("hi") };
    session.call(call).await.expect("an answer").outcome.expect("a result");
    let discover = server.seen();
    assert_eq!(discover["headers"]["mcp-method"], "server/discover");
    let call = server.seen();
    let headers = &call["headers"];
    assert_eq!(
        (&headers["mcp-protocol-version"], &headers["mcp-method"], &headers["mcp-name"], &headers["x-trace"]),
        (&"2026-07-28".into(), &"tools/call".into(), &"echo".into(), &"7".into())
    );
    // An unknown method is 404 with a JSON-RPC error, which is an answer.
    let missing = session.call(Call::new("no/such")).await.expect("an answer").outcome.expect_err("an error");
    assert_eq!(missing.code, Some(-32601));
    assert!(seen.findings().is_empty(), "{:?}", seen.findings());
    assert!(session.close().await.how.contains("no session"));
}

#[tokio::test]
async fn a_legacy_server_is_opened_after_the_refused_probe() {
    let mut server = Server::start("session+log");
    let (session, _) = open(&server.target).await.expect("opens");
    assert_eq!(session.facts().revision, Revision::V2025_11_25);
    assert!(session.facts().why.contains("server/discover was answered with HTTP 400"), "{}", session.facts().why);
    session.call(echo("hi")).await.expect("an answer").outcome.expect("a result");
    let mut seen: Vec<Value> = (0..4).map(|_| server.seen()).collect();
    let greeting = seen.remove(1);
    assert!(greeting["headers"]["mcp-protocol-version"].is_null() && greeting["headers"]["mcp-session-id"].is_null());
    for later in &seen[1..] {
        assert_eq!(later["headers"]["mcp-protocol-version"], "2025-11-25", "{later}");
        assert_eq!(later["headers"]["mcp-session-id"], "fault-session-1", "{later}");
    }
    assert!(session.close().await.how.contains("HTTP 200"));
}

#[tokio::test]
async fn what_proves_nothing_ends_the_opening() {
    for (mode, status, words) in [
        ("unauthorized", 401, "HTTP 401"),
        ("forbidden", 403, "HTTP 403"),
        ("error-500", 500, "HTTP 500"),
        ("redirect", 307, "HTTP 307"),
    ] {
        let server = Server::start(mode);
        let error = refused(&server.target).await;
        assert_eq!((error.http_status(), error.kind()), (Some(status), ErrorKind::Http), "{mode}: {error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let server = Server::start("unauthorized");
    assert!(refused(&server.target).await.hint().unwrap_or_default().contains("resource_metadata"));
    let server = Server::start("redirect");
    assert!(refused(&server.target).await.hint().unwrap_or_default().contains("/mcp/"));
    for mode in ["refuses", "closes-at-once", "no-http"] {
        let server = Server::start(mode);
        let error = refused(&server.target).await;
        assert_eq!(error.kind(), ErrorKind::Closed, "{mode}: {error}");
    }
}

#[tokio::test]
async fn where_nothing_is_spoken_both_causes_are_kept() {
    for (mode, probe, cause) in [
        ("html", "server/discover was answered with HTTP 404", "HTTP 404 (text/html)"),
        ("not-found", "server/discover was answered with HTTP 404", "HTTP 404 (text/plain) without a body"),
        ("html-200", "server/discover was answered with HTTP 200", "HTTP 200 (text/html"),
        (
            "error-json-rpc",
            "server/discover was refused under HTTP 400",
            "the server refused initialize: no (code -32000)",
        ),
    ] {
        let server = Server::start(mode);
        let words = refused(&server.target).await.to_string();
        assert!(words.contains(probe) && words.contains(cause), "{mode}: {words}");
    }
}

#[tokio::test]
async fn answers_that_are_none_fail_their_call() {
    let table: [(&str, ErrorKind, &str); 11] = [
        ("invalid-json", ErrorKind::Protocol, "the answer to tools/call is no message"),
        ("wrong-content-type", ErrorKind::Http, "HTTP 200 (text/plain)"),
        ("no-content-type", ErrorKind::Http, "HTTP 200"),
        ("accepted", ErrorKind::Http, "HTTP 202"),
        ("empty-200", ErrorKind::Http, "HTTP 200 (application/json) without a body"),
        ("length-lie", ErrorKind::Closed, "tools/call (request 2) failed"),
        ("chunked-broken", ErrorKind::Closed, "tools/call (request 2) failed"),
        ("sse-no-answer", ErrorKind::Closed, "the stream ended without an answer to tools/call (request 2)"),
        ("sse-half-event", ErrorKind::Closed, "the stream ended without an answer to tools/call (request 2)"),
        ("session-lost", ErrorKind::Http, "HTTP 404"),
        ("sse-never", ErrorKind::Timeout, "no answer to tools/call within 300 ms"),
    ];
    for (mode, kind, words) in table {
        let server = Server::speaking(mode, Revision::V2025_11_25);
        let (session, _) = open(&server.target).await.expect(mode);
        let call = || Call { timeout: (mode == "sse-never").then_some(Duration::from_millis(300)), ..echo("hi") };
        let mut result = session.call(call()).await;
        if mode == "session-lost" && result.is_ok() {
            result = session.call(call()).await;
        }
        let error = result.expect_err(mode);
        assert_eq!(error.kind(), kind, "{mode}: {error}");
        assert!(error.to_string().contains(words), "{mode}: {error}");
        if mode == "session-lost" {
            assert!(error.hint().unwrap_or_default().contains("the session is lost"));
        }
    }
}

#[tokio::test]
async fn streams_bring_notifications_and_questions_before_the_answer() {
    for mode in ["sane-sse", "sse-comments", "sse-types", "sse-cr", "sse-crlf-bom"] {
        let server = Server::speaking(mode, Revision::V2025_06_18);
        let (session, _) = open(&server.target).await.expect(mode);
        let exchange = session.call(echo("hi")).await.unwrap_or_else(|error| panic!("{mode}: {error}"));
        assert_eq!(exchange.notices.len(), 1, "{mode}");
        exchange.outcome.expect(mode);
    }
    let server = Server::speaking("sse-asks-ping", Revision::V2025_06_18);
    let (session, _) = open(&server.target).await.expect("opens");
    let told = session.call(echo("hi")).await.expect("no deadlock").outcome.expect("a result");
    assert!(told.as_str().contains(r#"\"id\":\"fault-1\""#), "{told}");
}

#[tokio::test]
async fn roots_are_answered_on_the_standing_stream() {
    let server = Server::speaking("listen-roots", Revision::V2025_11_25);
    let roots = Some(vec![Root { uri: "file:///demo".to_owned(), name: None }]);
    let declares = ClientDeclares { roots, ..ClientDeclares::default() };
    let session = Session::open(&server.target, declares, Arc::new(Seen::default())).await.expect("opens");
    let told = session.call(echo("hi")).await.expect("the server got its answer").outcome.expect("a result");
    assert!(told.as_str().contains("file:///demo"), "{told}");
}

#[tokio::test]
async fn the_end_of_a_call_closes_its_stream_in_the_modern_era_and_is_told_before() {
    let mut server = Server::start("modern-only+log");
    let (session, _) = open(&server.target).await.expect("opens");
    server.seen();
    let slow = Call {
        params: Some(r#"{"name":"slow","arguments":{"delay_ms":3000}}"#.to_owned()),
        timeout: Some(Duration::from_millis(100)),
        ..Call::new("tools/call")
    };
    assert!(matches!(session.call(slow).await, Err(CallError::Timeout { .. })));
    session.call(echo("hi")).await.expect("an answer");
    assert!(server.seen()["body"].as_str().expect("a body").contains("slow"));
    assert!(server.seen()["body"].as_str().expect("a body").contains("echo"), "nothing was sent in between");

    let mut server = Server::speaking("sse-never+log", Revision::V2025_11_25);
    let (session, _) = open(&server.target).await.expect("opens");
    session.call(Call { timeout: Some(Duration::from_millis(100)), ..echo("hi") }).await.expect_err("never");
    let told = (0..6)
        .map(|_| server.seen())
        .find(|seen| seen["body"].as_str().is_some_and(|body| body.contains("notifications/cancelled")));
    assert_eq!(told.expect("a cancellation")["headers"]["mcp-protocol-version"], "2025-11-25");
}

#[tokio::test]
async fn headers_of_a_call_may_break_the_rules_on_purpose() {
    let mut server = Server::start("modern-only+log");
    let (session, _) = open(&server.target).await.expect("opens");
    server.seen();
    let given = |name: &str, value: &str| (name.to_owned(), Sensitive::new(value.to_owned()));
    let call =
        Call { headers: vec![given("Accept", ""), given("mcp-name", "other"), given("Mcp-Method", "")], ..echo("hi") };
    session.call(call).await.expect("an answer");
    let headers = server.seen()["headers"].clone();
    assert!(
        headers["mcp-method"].is_null() && headers["accept"].as_str().is_none_or(|accept| accept == "*/*"),
        "{headers}"
    );
    assert_eq!((&headers["mcp-name"], &headers["mcp-protocol-version"]), (&"other".into(), &"2026-07-28".into()));
    // A frame written by hand mirrors what can be read of it.
    session
        .send_raw(r#"{"jsonrpc":"2.0","id":"r","method":"tools/call","params":{"name":"echo"}}"#, None, &[])
        .await
        .expect("an answer");
    let headers = server.seen()["headers"].clone();
    assert_eq!((&headers["mcp-method"], &headers["mcp-name"]), (&"tools/call".into(), &"echo".into()));
    let broken = session.send_raw("{\"jsonrpc\":", None, &[]).await.expect("an answer");
    assert_eq!(broken.outcome.expect("an answer").expect_err("an error").code, Some(-32700));
}

#[tokio::test]
async fn the_old_transport_is_found_behind_the_same_url() {
    let mut server = Server::start("old-sse");
    if let Endpoint::Http { flavor, .. } = &mut server.target.endpoint {
        *flavor = HttpFlavor::Auto;
    }
    let (session, seen) = open(&server.target).await.expect("opens");
    assert_eq!(session.facts().transport, "sse");
    assert!(session.facts().why.ends_with("so it was opened over HTTP+SSE"), "{}", session.facts().why);
    session.call(echo("hi")).await.expect("an answer").outcome.expect("a result");
    assert!(seen.findings().is_empty(), "{:?}", seen.findings());
    // Where the flavor says so, nothing else is tried.
    if let Endpoint::Http { flavor, .. } = &mut server.target.endpoint {
        *flavor = HttpFlavor::Streamable;
    }
    refused(&server.target).await;
}

#[cfg(feature = "demo")]
#[tokio::test]
async fn the_demo_server_is_spoken_to_in_every_revision_over_http() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let mut target = at(&format!("http://{}/mcp", listener.local_addr().expect("an address")));
    let server = tokio::spawn(async move { mcp_script::demo::serve_http(listener, "/mcp").await });
    for protocol in Revision::ALL.map(ProtocolChoice::Exact).into_iter().chain([ProtocolChoice::Auto]) {
        target.protocol = protocol;
        let (session, seen) = open(&target).await.unwrap_or_else(|error| panic!("{protocol:?}: {error}"));
        if let ProtocolChoice::Exact(revision) = protocol {
            assert_eq!(session.facts().revision, revision);
        } else {
            assert!(session.facts().revision.is_modern());
        }
        assert!(session.facts().server_name.is_some());
        let tools = session.tools().await.expect("tools");
        let tool = tools.get("add").or_else(|| tools.list.first()).expect("a tool");
        let params = format!(r#"{{"name":"{}","arguments":{{"a":2,"b":3}}}}"#, tool.name);
        let call = Call { params: Some(params), tool: Some(Arc::clone(tool)), ..Call::new("tools/call") };
        session.call(call).await.expect("an answer").outcome.expect("a result");
        assert!(seen.findings().is_empty(), "{protocol:?}: {:?}", seen.findings());
        session.close().await;
    }
    server.abort();
}
