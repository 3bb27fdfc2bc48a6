//! How long a request waits, what makes it wait longer, and how it is given up.

use std::time::Duration;

use mcp_script::session::{Call, CallError, ErrorKind, Revision};
use tokio::time::{Instant, sleep};

use crate::peer::{DONE, ERAS, call, id, method, open, result, serve, settle, speaking};

#[tokio::test(start_paused = true)]
async fn silence_ends_a_request_and_the_server_is_told() {
    for revision in ERAS {
        let (session, seen) = open(&speaking(revision, |_| Vec::new())).await.expect("opens");
        let began = Instant::now();
        let error = session.call(call()).await.expect_err("silence");
        assert_eq!(began.elapsed(), Duration::from_secs(30), "{revision}");
        assert_eq!(error.to_string(), "no answer to tools/call within 30 s");
        assert_eq!(error.kind(), ErrorKind::Timeout);
        settle().await;
        let last = seen.sent().pop().expect("messages");
        assert_eq!(method(&last), "notifications/cancelled");
        assert!(last.contains(&format!(r#""requestId":{}"#, id(&seen.sent()[seen.sent().len() - 2]))), "{last}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_may_bring_its_own_limit_and_others_keep_theirs() {
    let (session, _) = open(&speaking(ERAS[0], |_| Vec::new())).await.expect("opens");
    let began = Instant::now();
    let short = Call { timeout: Some(Duration::from_millis(200)), ..call() };
    let (short, long) = tokio::join!(session.call(short), async {
        let error = session.call(call()).await;
        (error, began.elapsed())
    });
    assert_eq!(short.expect_err("silence").to_string(), "no answer to tools/call within 200 ms");
    assert_eq!((long.0.is_err(), long.1), (true, Duration::from_secs(30)));
    // The watch sleeps now; a new request wakes it.
    let began = Instant::now();
    let again = Call { timeout: Some(Duration::from_millis(100)), ..call() };
    session.call(again).await.expect_err("silence");
    assert_eq!(began.elapsed(), Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn progress_starts_the_time_anew() {
    for revision in ERAS {
        let mut target = serve(move |mut peer| async move {
            while let Some(text) = peer.receive().await {
                match method(&text).as_str() {
                    "initialize" => peer.send(result(&text, &crate::peer::hello(revision.as_str()))),
                    "server/discover" => peer.send(result(&text, crate::peer::DISCOVERED)),
                    "tools/call" => {
                        for step in 1..=3 {
                            sleep(Duration::from_secs(20)).await;
                            peer.send(format!(
                                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{step},"total":3,"message":"step {step}"}}}}"#,
                                id(&text)
                            ));
                        }
                    }
                    _ => {}
                }
            }
        });
        target.protocol = mcp_script::session::ProtocolChoice::Exact(revision);
        let (session, seen) = open(&target).await.expect("opens");
        let began = Instant::now();
        let error = session.call(call()).await.expect_err("silence in the end");
        assert_eq!(began.elapsed(), Duration::from_secs(90));
        assert_eq!(
            error.to_string(),
            "no answer to tools/call within 30 s after 3 progress notifications (the last: step 3)"
        );
        assert_eq!(seen.progress().len(), 3);
        assert_eq!(seen.progress()[0], "Some(\"step 1\") Some(1.0) Some(3.0)");
        assert!(seen.findings().is_empty(), "{:?}", seen.findings());
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_end_is_a_finding_and_disturbs_nobody() {
    let target = speaking(ERAS[0], |_| Vec::new());
    let late = serve(move |mut peer| async move {
        while let Some(text) = peer.receive().await {
            match method(&text).as_str() {
                "initialize" => peer.send(result(&text, &crate::peer::hello("2025-11-25"))),
                "tools/call" => {
                    sleep(Duration::from_secs(3)).await;
                    peer.send(result(&text, DONE));
                }
                "ping" => peer.send(result(&text, "{}")),
                _ => {}
            }
        }
    });
    let target = mcp_script::session::Target { endpoint: late.endpoint, ..target };
    let (session, seen) = open(&target).await.expect("opens");
    session.call(Call { timeout: Some(Duration::from_secs(1)), ..call() }).await.expect_err("too slow");
    let answer = session.call(Call::new("ping")).await.expect("an answer");
    assert_eq!(answer.outcome.expect("a result").as_str(), "{}");
    assert_eq!(seen.findings(), ["rpc-late-response"]);
    assert_eq!(seen.finding("rpc-late-response"), "the answer to request 2 came after it was given up");
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_gives_it_up() {
    let (session, seen) = open(&speaking(ERAS[0], |_| Vec::new())).await.expect("opens");
    let dropped = tokio::time::timeout(Duration::from_secs(1), session.call(call())).await;
    assert!(dropped.is_err());
    settle().await;
    assert_eq!(seen.methods().last().map(String::as_str), Some("notifications/cancelled"));
}

#[tokio::test(start_paused = true)]
async fn a_wrong_id_is_named_in_the_timeout() {
    for (wrong, words) in [
        ("0", "reply with unknown id 0 while request 2 waits"),
        ("null", "reply with unknown id null while request 2 waits"),
        ("\"2\"", "reply with unknown id \"2\" while request 2 waits (the request's id is 2, of another type)"),
    ] {
        let target = speaking(ERAS[0], move |text| match method(text).as_str() {
            "tools/call" => vec![format!(r#"{{"jsonrpc":"2.0","id":{wrong},"result":{{}}}}"#)],
            _ => Vec::new(),
        });
        let (session, seen) = open(&target).await.expect("opens");
        let error = session.call(call()).await.expect_err("no answer of its own");
        assert_eq!(error.to_string(), format!("no answer to tools/call within 30 s; {words}"));
        assert_eq!(seen.findings(), ["rpc-response-id-echo"]);
    }
}

#[tokio::test]
async fn the_end_of_the_connection_fails_all_that_waits() {
    let mut target = serve(|mut peer| async move {
        let greeting = peer.receive().await.expect("initialize");
        peer.send(result(&greeting, &crate::peer::hello("2025-11-25")));
        for _ in 0..3 {
            peer.receive().await;
        }
        peer.close("signal 9 (KILL)");
    });
    target.protocol = mcp_script::session::ProtocolChoice::Exact(Revision::V2025_11_25);
    let (session, seen) = open(&target).await.expect("opens");
    let (one, two) = tokio::join!(session.call(call()), session.call(Call::new("ping")));
    for (error, method) in [(one, "tools/call"), (two, "ping")] {
        let error = error.expect_err("gone");
        assert_eq!(error.to_string(), format!("the connection closed while {method} waited: signal 9 (KILL)"));
    }
    let sent = seen.sent().len();
    assert!(matches!(session.call(call()).await, Err(CallError::Closed { .. })));
    assert!(matches!(session.notify("x", None).await, Err(CallError::Closed { .. })));
    assert_eq!(seen.sent().len(), sent, "nothing is sent any more");
}
