//! Requests of ours and of the server: params, answers, input, the allowlist.

use mcp_script::json::Raw;
use mcp_script::session::{Call, CallError, ClientDeclares, ErrorKind, Revision, Root, Session};
use std::sync::Arc;

use crate::peer::{DONE, ERAS, Seen, call, id, member, method, open, result, settle, speaking};

/// A legacy server that asks `asks` when the tool is called, and answers the call once it has its answer.
fn asking(revision: Revision, asks: &'static str) -> mcp_script::session::Target {
    let waiting = Arc::new(std::sync::Mutex::new(String::new()));
    speaking(revision, move |text| match method(text).as_str() {
        "tools/call" => {
            *waiting.lock().expect("a lock") = text.to_owned();
            vec![asks.to_owned()]
        }
        "answer" => vec![result(&waiting.lock().expect("a lock"), DONE)],
        "ping" => vec![result(text, "{}")],
        _ => Vec::new(),
    })
}

#[tokio::test]
async fn params_arrive_byte_for_byte() {
    let (session, seen) = open(&speaking(ERAS[0], |text| vec![result(text, DONE)])).await.expect("opens");
    let params = r#"{"name":"t","arguments":{"n":1E5,"n": 9007199254740993,"ä":"\u00e4"}}"#;
    let exchange =
        session.call(Call { params: Some(params.to_owned()), ..Call::new("tools/call") }).await.expect("an answer");
    let sent = seen.sent().pop().expect("messages");
    assert!(sent.contains(params.strip_suffix('}').expect("an object")), "{sent}");
    assert_eq!(*exchange.request, *sent);
    assert!(exchange.notices.is_empty());
}

#[tokio::test]
async fn twenty_calls_at_once_have_ids_of_their_own() {
    // Answers come in reverse, five at a time.
    let held = std::sync::Mutex::new(Vec::new());
    let target = speaking(ERAS[0], move |text| {
        let mut held = held.lock().expect("a lock");
        held.push(result(text, &format!(r#"{{"content":[],"asked":{}}}"#, id(text))));
        if held.len() == 5 { held.drain(..).rev().collect() } else { Vec::new() }
    });
    let (session, seen) = open(&target).await.expect("opens");
    let calls = (0..20).map(|_| session.call(call()));
    for exchange in futures_util::future::join_all(calls).await {
        let exchange = exchange.expect("an answer");
        let asked = exchange.outcome.expect("a result").get("asked").expect("asked");
        assert_eq!(asked.as_str(), id(&exchange.request));
    }
    let ids: std::collections::HashSet<String> =
        seen.sent().iter().map(|text| id(text)).filter(|id| !id.is_empty()).collect();
    assert_eq!(ids.len(), 21);
}

#[tokio::test]
async fn a_json_rpc_error_is_an_answer() {
    let (session, _) =
        open(&speaking(ERAS[0], |text| vec![crate::peer::error(text, -32002, r#"{"uri":"x"}"#)])).await.expect("opens");
    let exchange = session.call(Call::new("resources/read")).await.expect("an answer");
    let error = exchange.outcome.expect_err("an error");
    assert_eq!((error.code, error.message.as_str()), (Some(-32002), "no"));
    assert_eq!(error.data().map(|data| data.to_string()).as_deref(), Some(r#"{"uri":"x"}"#));
}

#[tokio::test]
async fn a_ping_is_answered_while_a_call_waits() {
    let (session, seen) =
        open(&asking(ERAS[0], r#"{"jsonrpc":"2.0","id":"p1","method":"ping"}"#)).await.expect("opens");
    session.call(call()).await.expect("no deadlock");
    assert_eq!(seen.sent().pop().as_deref(), Some(r#"{"jsonrpc":"2.0","id":"p1","result":{}}"#));
}

#[tokio::test]
async fn roots_are_listed_where_they_are_declared() {
    let asks = r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#;
    let seen = Arc::new(Seen::default());
    let roots = vec![Root { uri: "file:///demo".to_owned(), name: None }];
    let declares = ClientDeclares { roots: Some(roots), ..ClientDeclares::default() };
    let session = Session::open(&asking(ERAS[0], asks), declares, seen.clone()).await.expect("opens");
    session.call(call()).await.expect("an answer");
    assert_eq!(
        seen.sent().pop().as_deref(),
        Some(r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[{"uri":"file:///demo"}]}}"#)
    );
    session.set_roots(Vec::new()).await.expect("sent");
    assert_eq!(seen.methods().pop().as_deref(), Some("notifications/roots/list_changed"));
    let (session, seen) = open(&asking(ERAS[0], asks)).await.expect("opens");
    session.call(call()).await.expect("an answer");
    assert!(seen.sent().pop().expect("an answer").contains("-32601"));
    assert_eq!(seen.findings(), ["roots-declared"]);
}

#[tokio::test]
async fn methods_that_no_client_has_are_refused() {
    let (session, seen) =
        open(&asking(ERAS[0], r#"{"jsonrpc":"2.0","id":7,"method":"client/delete"}"#)).await.expect("opens");
    session.call(call()).await.expect("an answer");
    assert!(seen.sent().pop().expect("an answer").contains(r#""error":{"code":-32601"#));
}

#[tokio::test]
async fn an_unanswered_question_fails_the_call_and_is_told_to_the_server() {
    let table = [
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Which nick?"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"action":"cancel"}}"#,
            "elicitation/create \"Which nick?\"",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":5}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no answer was prepared"}}"#,
            "sampling/createMessage \"Hi\"",
        ),
    ];
    for (asks, told, words) in table {
        let (session, seen) = open(&asking(ERAS[0], asks)).await.expect("opens");
        let error = session.call(call()).await.expect_err("a question");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert_eq!(error.to_string(), format!("the server asked for input and no answer was prepared: {words}"));
        assert_eq!(seen.sent().pop().as_deref(), Some(told));
        // The server ended the call itself: nothing is left over.
        session.call(Call::new("ping")).await.expect("the session goes on");
        assert!(seen.findings().is_empty(), "{:?}", seen.findings());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_the_refusal_holds_the_call_only_for_the_grace() {
    let asks = r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?"}}"#;
    let target =
        speaking(ERAS[0], move |text| if method(text) == "tools/call" { vec![asks.to_owned()] } else { Vec::new() });
    let (session, seen) = open(&target).await.expect("opens");
    let began = tokio::time::Instant::now();
    let error = session.call(call()).await.expect_err("a question");
    assert!(matches!(error, CallError::InputRequired { .. }), "{error:?}");
    assert_eq!(began.elapsed(), target.limits.grace);
    settle().await;
    assert_eq!(seen.methods().pop().as_deref(), Some("notifications/cancelled"));
}

#[tokio::test]
async fn what_was_not_declared_is_refused_and_harms_no_call() {
    let asks = r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?"}}"#;
    // 2025-03-26 has no elicitation, whatever the client can do.
    let (session, seen) = open(&asking(Revision::V2025_03_26, asks)).await.expect("opens");
    session.call(call()).await.expect("an answer");
    assert_eq!(seen.findings(), ["init-only-negotiated-caps"]);
    let url = r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"mode":"url","message":"?","url":"https://x"}}"#;
    let (session, seen) = open(&asking(Revision::V2025_06_18, url)).await.expect("opens");
    session.call(call()).await.expect("an answer");
    assert!(seen.sent().pop().expect("an answer").contains("-32602"));
    assert_eq!(seen.findings(), ["init-only-negotiated-caps"]);
}

#[tokio::test]
async fn a_modern_request_for_input_fails_the_call() {
    let asked = r#"{"resultType":"input_required","requestState":"s","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Which nick?"}}}}"#;
    let (session, seen) = open(&speaking(ERAS[1], move |text| vec![result(text, asked)])).await.expect("opens");
    let error = session.call(call()).await.expect_err("a question");
    let CallError::InputRequired { questions, raw } = &error else { panic!("{error:?}") };
    assert_eq!(
        (questions.as_slice(), raw.as_str()),
        (["who: elicitation/create \"Which nick?\"".to_owned()].as_slice(), asked)
    );
    assert!(seen.findings().is_empty());
}

#[tokio::test]
async fn modern_results_are_read_by_their_type() {
    let of = |kind: &'static str| speaking(ERAS[1], move |text| vec![result(text, kind)]);
    let (session, seen) = open(&of(r#"{"content":[]}"#)).await.expect("opens");
    session.call(call()).await.expect("it counts as complete");
    assert_eq!(seen.findings(), ["result-type-present"]);
    for (kind, why) in [
        (r#"{"resultType":"later"}"#, "unknown resultType \"later\""),
        (r#"{"resultType":"task","taskId":"1"}"#, "with a task"),
    ] {
        let (session, seen) = open(&of(kind)).await.expect("opens");
        let error = session.call(call()).await.expect_err("no result");
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!((error.kind(), seen.findings()), (ErrorKind::Protocol, vec!["result-type-known"]));
    }
    let (session, _) = open(&of(r#"{"resultType":"task","taskId":"1"}"#)).await.expect("opens");
    session.call(Call { tasks: true, ..call() }).await.expect("it was asked for");
}

#[tokio::test]
async fn a_modern_server_may_not_send_requests() {
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let target = speaking(ERAS[1], move |text| vec![ask.to_owned(), result(text, DONE)]);
    let (session, seen) = open(&target).await.expect("opens");
    session.call(call()).await.expect("an answer");
    settle().await;
    assert_eq!(seen.findings(), ["no-server-requests"]);
    assert!(!seen.methods().contains(&"answer".to_owned()), "nothing is answered");
}

#[tokio::test]
async fn only_allowed_tools_are_sent_whatever_sends_them() {
    let mut target = speaking(ERAS[0], |text| vec![result(text, DONE)]);
    target.allow_tools = Some(vec!["t".to_owned()]);
    let (session, seen) = open(&target).await.expect("opens");
    session.call(call()).await.expect("allowed");
    let sent = seen.sent().len();
    for params in [
        r#"{"name":"rm"}"#,
        r#"{"name":"t","name":"rm"}"#,
        r#"{"name":"rm","name":"t"}"#,
        r#"{"n\u0061me":"rm"}"#,
        r#"{"name":["t"]}"#,
        "{}",
        "[\"t\"]",
        "{\"name\":",
    ] {
        let call = Call { params: Some(params.to_owned()), name: Some("t".to_owned()), ..Call::new("tools/call") };
        let error = session.call(call).await.expect_err(params);
        assert_eq!(error.kind(), ErrorKind::Refused, "{params}");
        session.notify("tools/call", Some(params.to_owned())).await.expect_err(params);
    }
    session.call(Call::new("tools/call")).await.expect_err("no name at all");
    assert_eq!(seen.sent().len(), sent, "nothing was sent");
    session.call(Call::new("ping")).await.expect("other methods are free");
}

#[tokio::test]
async fn log_levels_travel_with_modern_requests() {
    let message = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}}"#;
    let target = speaking(ERAS[1], move |text| vec![message.to_owned(), result(text, DONE)]);
    let (session, seen) = open(&target).await.expect("opens");
    session.set_log_level("debug");
    let exchange = session.call(call()).await.expect("an answer");
    assert!(seen.sent()[1].contains(r#""io.modelcontextprotocol/logLevel":"debug""#), "{}", seen.sent()[1]);
    assert_eq!(exchange.notices.iter().map(Raw::to_string).collect::<Vec<_>>(), [message]);
    assert_eq!(
        session.log_messages().iter().map(Raw::to_string).collect::<Vec<_>>(),
        [r#"{"level":"info","data":"hi"}"#]
    );
    // It asked, but the server declares no logging.
    assert_eq!(seen.findings(), ["log-declared"]);
    let (session, seen) =
        open(&speaking(ERAS[1], move |text| vec![message.to_owned(), result(text, DONE)])).await.expect("opens");
    session.call(call()).await.expect("an answer");
    assert_eq!(seen.findings(), ["log-declared", "log-silent-without-optin"]);
}

#[tokio::test]
async fn notifications_are_sent_on_one_line() {
    let (session, seen) = open(&speaking(ERAS[0], |_| Vec::new())).await.expect("opens");
    session.notify("notifications/x", Some("{\n\"a\":1}".to_owned())).await.expect("sent");
    assert_eq!(seen.sent().pop().as_deref(), Some(r#"{"jsonrpc":"2.0","method":"notifications/x","params":{ "a":1}}"#));
    assert_eq!(member(&seen.sent()[0], "method").as_deref(), Some("initialize"));
}

/// Answers as a careful server does: parse errors without an id, everything else by its id.
fn careful() -> mcp_script::session::Target {
    speaking(ERAS[0], |text| match Raw::parse(text) {
        Err(_) => vec![r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#.to_owned()],
        Ok(_) if id(text).is_empty() => Vec::new(),
        Ok(_) => vec![result(text, "{}")],
    })
}

#[tokio::test(start_paused = true)]
async fn frames_go_out_as_they_were_written() {
    let (session, seen) = open(&careful()).await.expect("opens");
    let exchange = session.send_raw(r#"{"jsonrpc":"#, None, &[]).await.expect("refused by the server");
    assert_eq!(exchange.outcome.expect("an answer").expect_err("an error").code, Some(-32700));
    assert_eq!(seen.sent().pop().as_deref(), Some(r#"{"jsonrpc":"#));
    // An id is awaited, whatever it is; silence is an answer.
    for frame in [r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#, r#"{"id":null,"method":"ping"}"#, r#"{"id":1.5}"#] {
        let exchange = session.send_raw(frame, None, &[]).await.expect("an answer");
        assert_eq!(exchange.outcome.expect("an answer").expect("a result").as_str(), "{}");
    }
    let began = tokio::time::Instant::now();
    let silent = session.send_raw(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, None, &[]).await.expect("silence");
    assert!(silent.outcome.is_none());
    assert_eq!(began.elapsed(), std::time::Duration::from_millis(500));
    // A broken line and a good one: the good one's answer counts, and nothing is left over.
    let both = session.send_raw("{\"jsonrpc\":\n{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\"}", None, &[]).await;
    assert_eq!(both.expect("answers").outcome.expect("an answer").expect("a result").as_str(), "{}");
    let ids: Vec<String> = seen.sent().iter().map(|text| id(text)).collect();
    session.call(Call::new("ping")).await.expect("the session goes on");
    assert_eq!((ids.last().map(String::as_str), id(&seen.sent().pop().expect("a ping")).as_str()), (Some("77"), "2"));
    assert!(seen.findings().is_empty(), "{:?}", seen.findings());
}

#[tokio::test(start_paused = true)]
async fn a_frame_with_an_id_that_stays_unanswered_times_out() {
    let (session, seen) = open(&speaking(ERAS[0], |_| Vec::new())).await.expect("opens");
    let error = session.send_raw(r#"{"jsonrpc":"2.0","id":9,"method":"x"}"#, None, &[]).await.expect_err("silence");
    assert_eq!(error.to_string(), "no answer to send_raw within 30 s");
    settle().await;
    assert_eq!(seen.methods().pop().as_deref(), Some("x"), "what was written by hand is not cancelled");
}

#[tokio::test]
async fn frames_are_refused_where_only_some_tools_are_allowed() {
    let mut target = careful();
    target.allow_tools = Some(vec!["t".to_owned()]);
    let (session, seen) = open(&target).await.expect("opens");
    let sent = seen.sent().len();
    let error = session.send_raw(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#, None, &[]).await.expect_err("refused");
    assert_eq!((error.kind(), seen.sent().len()), (ErrorKind::Refused, sent));
}

#[tokio::test]
async fn headers_that_are_none_are_refused_before_anything_is_sent() {
    let (session, seen) = open(&careful()).await.expect("opens");
    let sent = seen.sent().len();
    let value = mcp_script::sensitive::Sensitive::new("secret\r\nX: y".to_owned());
    let error = session
        .call(Call { headers: vec![("X-A".to_owned(), value)], ..Call::new("ping") })
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("X-A") && !error.to_string().contains("secret"), "{error}");
    assert_eq!((error.kind(), seen.sent().len()), (ErrorKind::Refused, sent));
}
