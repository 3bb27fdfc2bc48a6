//! What is wrong with a server's messages, and what becomes of the request that waits.

use mcp_script::session::{Call, CallError, Revision};

use crate::peer::{DONE, ERAS, call, id, method, open, result, settle, speaking};

/// Answers a tool call with these frames; `ID` stands for its id.
fn answering(revision: Revision, frames: &'static [&'static str]) -> mcp_script::session::Target {
    speaking(revision, move |text| match method(text).as_str() {
        "tools/call" => frames.iter().map(|frame| frame.replace("ID", &id(text))).collect(),
        "ping" => vec![result(text, "{}")],
        _ => Vec::new(),
    })
}

#[tokio::test]
async fn what_cannot_be_read_fails_the_call_that_it_names() {
    for (frame, why, finding) in [
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}"#,
            "both result and error",
            "rpc-result-xor-error",
        ),
        (r#"{"jsonrpc":"2.0","id":ID}"#, "neither result nor error", "rpc-result-xor-error"),
    ] {
        let (session, seen) = open(&answering(ERAS[0], Box::leak(Box::new([frame])))).await.expect("opens");
        let error = session.call(call()).await.expect_err("unreadable");
        assert!(matches!(&error, CallError::BadReply { .. }) && error.to_string().contains(why), "{error}");
        assert_eq!(seen.findings(), [finding]);
    }
}

#[tokio::test]
async fn what_can_be_read_is_a_finding_only() {
    for (frames, finding) in [
        (&[r#"{"id":ID,"result":{}}"#] as &[&str], "rpc-version-tag"),
        (&[r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#], "rpc-version-tag"),
        (&[r#"{"jsonrpc":"2.0","id":ID,"result":[]}"#], "rpc-result-object"),
        (&[r#"{"jsonrpc":"2.0","id":ID,"error":"boom"}"#], "rpc-error-shape"),
        (&[r#"{"jsonrpc":"2.0","id":ID,"error":{"code":"E1","message":"m"}}"#], "rpc-error-shape"),
        (&[r#"{"jsonrpc":"2.0","id":ID,"result":{"a":1,"a":2}}"#], "rpc-duplicate-keys"),
        (&[r#"{"jsonrpc":"2.0","id":ID,"result":{"a":"\ud800"}}"#], "rpc-utf8"),
        (&["starting up", r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#], "stdio-stdout-clean"),
        (&["42", r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#], "stdio-stdout-clean"),
        (&[r#"{"hello":"world"}"#, r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#], "stdio-stdout-clean"),
        (&[r#"[{"jsonrpc":"2.0","id":ID,"result":{}}]"#], "rpc-batch-received"),
        (
            &[
                r#"{"jsonrpc":"2.0","id":"x","method":"notifications/message","params":{}}"#,
                r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#,
            ],
            "rpc-notification-no-id",
        ),
        (
            &[r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#],
            "rpc-server-id-valid",
        ),
        (
            &[
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"z","progress":1}}"#,
                r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#,
            ],
            "progress-token-known",
        ),
        (
            &[
                r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#,
                r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#,
            ],
            "list-changed-declared",
        ),
    ] {
        let (session, seen) = open(&answering(ERAS[0], frames)).await.expect("opens");
        session.call(call()).await.expect("an answer");
        assert_eq!(seen.findings(), [finding], "{frames:?}");
    }
}

#[tokio::test]
async fn what_comes_after_the_answer_is_seen_too() {
    for (after, finding) in [
        (r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#, "rpc-single-response"),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":1}}"#,
            "progress-stops",
        ),
        (r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, "rpc-response-id-echo"),
        (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"what"}}"#, "rpc-error-without-id"),
    ] {
        let frames: &'static [&'static str] = Box::leak(Box::new([r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#, after]));
        let (session, seen) = open(&answering(ERAS[0], frames)).await.expect("opens");
        session.call(call()).await.expect("an answer");
        settle().await;
        assert_eq!(seen.findings(), [finding]);
        session.call(Call::new("ping")).await.expect("the session goes on");
    }
}

#[tokio::test]
async fn progress_that_does_not_grow_is_a_finding() {
    let step = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":0.5}}"#;
    let frames: &'static [&'static str] = Box::leak(Box::new([step, step, r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#]));
    let (session, seen) = open(&answering(ERAS[0], frames)).await.expect("opens");
    let exchange = session.call(call()).await.expect("an answer");
    assert_eq!((seen.findings(), exchange.notices.len()), (vec!["progress-monotonic"], 2));
}

#[tokio::test]
async fn batches_belong_to_2025_03_26() {
    let batch = r#"[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":ID,"result":{}}]"#;
    let (session, seen) = open(&answering(Revision::V2025_03_26, Box::leak(Box::new([batch])))).await.expect("opens");
    let exchange = session.call(call()).await.expect("an answer");
    settle().await;
    assert_eq!((exchange.notices.len(), seen.findings().len()), (1, 0));
    assert!(seen.sent().pop().expect("an answer").contains(r#""id":5,"result":{}"#));
    let (session, seen) = open(&answering(Revision::V2025_03_26, &["[]", r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#]))
        .await
        .expect("opens");
    session.call(call()).await.expect("an answer");
    assert_eq!(seen.findings(), ["rpc-invalid-message"]);
}

#[tokio::test]
async fn one_wrong_byte_does_not_cost_the_message() {
    let mut target = crate::peer::serve(|mut peer| async move {
        let text = peer.receive().await.expect("initialize");
        peer.send(result(&text, &crate::peer::hello("2025-11-25")));
        while let Some(text) = peer.receive().await {
            let mut frame = result(&text, r#"{"content":[],"x":"Z?rich"}"#).into_bytes();
            let at = frame.iter().position(|byte| *byte == b'?').expect("a mark");
            frame[at] = 0xfc;
            peer.send(frame);
        }
    });
    target.protocol = mcp_script::session::ProtocolChoice::Exact(Revision::V2025_11_25);
    let (session, seen) = open(&target).await.expect("opens");
    let exchange = session.call(call()).await.expect("an answer");
    assert!(exchange.outcome.expect("a result").as_str().contains("Z\u{fffd}rich"));
    assert!(seen.finding("rpc-utf8").contains("invalid UTF-8"));
}

#[tokio::test]
async fn floods_are_bounded() {
    let target = crate::peer::serve(|mut peer| async move {
        let text = peer.receive().await.expect("initialize");
        peer.send(result(&text, &crate::peer::hello("2025-11-25")));
        peer.receive().await;
        let text = peer.receive().await.expect("a call");
        for n in 0..12_000 {
            peer.send(format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"n":{n}}}}}"#));
            peer.send(format!("noise {n}"));
        }
        for n in 0..3_000 {
            peer.send(format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"ping"}}"#));
        }
        peer.send(result(&text, DONE));
        while peer.receive().await.is_some() {}
    });
    let target =
        mcp_script::session::Target { protocol: mcp_script::session::ProtocolChoice::Exact(ERAS[0]), ..target };
    let (session, seen) = open(&target).await.expect("opens");
    let exchange = session.call(call()).await.expect("an answer");
    assert_eq!(exchange.notices.len(), 10_000);
    assert_eq!(exchange.notices[0].get("params").map(|params| params.to_string()).as_deref(), Some(r#"{"n":2000}"#));
    assert_eq!((session.noise().len(), session.noise_count()), (1_000, 12_000));
    let count = |id| seen.findings().iter().filter(|found| **found == id).count();
    assert_eq!(count("stdio-stdout-clean"), 100);
    assert!(count("session-kept-limit") <= 100);
    assert!(seen.sent().len() < 1_500, "{}", seen.sent().len());
}

#[tokio::test]
async fn hostile_nesting_and_size_are_noise() {
    let deep = "[".repeat(100_000);
    let mut target = speaking(ERAS[0], move |text| vec![deep.clone(), result(text, DONE)]);
    target.limits.max_message = 1 << 20;
    let (session, seen) = open(&target).await.expect("opens");
    session.call(call()).await.expect("an answer");
    assert_eq!(seen.findings(), ["stdio-stdout-clean"]);
    assert!(session.noise()[0].len() < 5_000);
}

#[tokio::test]
async fn a_byte_order_mark_does_not_cost_the_message() {
    let target = speaking(ERAS[0], |text| vec![format!("\u{feff}{}", result(text, DONE))]);
    let (session, seen) = open(&target).await.expect("opens");
    session.call(call()).await.expect("an answer").outcome.expect("a result");
    assert!(seen.finding("rpc-utf8").contains("byte order mark"));
}

#[tokio::test]
async fn a_session_can_be_shared_and_opened_on_any_task() {
    const fn shared<T: Send + Sync + 'static>(_: &T) {}
    let target = speaking(ERAS[0], |text| vec![result(text, DONE)]);
    let (session, _) = tokio::spawn(async move { open(&target).await }).await.expect("a task").expect("opens");
    shared(&session);
    let session = std::sync::Arc::new(session);
    let calls = (0..4).map(|_| {
        let session = session.clone();
        tokio::spawn(async move { session.call(call()).await.map(|_| ()) })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("a task").expect("an answer");
    }
}
