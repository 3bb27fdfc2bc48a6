//! Opening: the probe, its fallbacks, forced revisions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_script::session::{ErrorKind, OpenError, ProtocolChoice, Revision};
use tokio::time::{Instant, sleep};

use crate::peer::{DISCOVERED, ERAS, call, error, hello, method, open, result, scripted, serve, speaking};

fn old(text: &str) -> Vec<String> {
    match method(text).as_str() {
        "server/discover" => vec![error(text, -32602, "null")],
        "initialize" => vec![result(text, &hello("2025-03-26"))],
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn a_modern_server_needs_no_handshake() {
    let target = scripted(|text| match method(text).as_str() {
        "server/discover" => vec![result(text, DISCOVERED)],
        _ => vec![result(text, r#"{"resultType":"complete","content":[]}"#)],
    });
    let (session, seen) = open(&target).await.expect("opens");
    assert_eq!(session.facts().revision, Revision::V2026_07_28);
    assert_eq!(session.facts().server_name.as_deref(), Some("m"));
    assert_eq!(session.facts().why, "the server answered server/discover");
    session.call(call()).await.expect("an answer");
    assert_eq!(seen.methods(), ["server/discover", "tools/call"]);
    assert!(seen.sent()[0].contains(r#""id":"probe-1""#) && seen.sent()[1].contains(r#""id":1,"#), "{:?}", seen.sent());
    assert!(seen.findings().is_empty(), "{:?}", seen.findings());
}

#[tokio::test]
async fn a_refused_probe_falls_back_on_the_same_connection() {
    let (session, seen) = open(&scripted(old)).await.expect("opens");
    assert_eq!(session.facts().revision, Revision::V2025_03_26);
    assert_eq!(session.facts().why, "server/discover was refused: no (code -32602); so it was opened with initialize");
    assert_eq!(seen.methods(), ["server/discover", "initialize", "notifications/initialized"]);
}

#[tokio::test]
async fn an_error_without_an_id_answers_the_probe() {
    let target = scripted(|text| match method(text).as_str() {
        "server/discover" => vec![r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what"}}"#.to_owned()],
        _ => old(text),
    });
    let (session, seen) = open(&target).await.expect("opens");
    assert!(
        session.facts().why.starts_with("server/discover was refused: what (code -32600)"),
        "{}",
        session.facts().why
    );
    assert!(seen.findings().is_empty(), "an old server may not know what to make of a probe");
}

#[tokio::test(start_paused = true)]
async fn silence_falls_back_after_half_the_time_to_connect() {
    let target = scripted(|text| if method(text) == "server/discover" { Vec::new() } else { old(text) });
    let began = Instant::now();
    let (session, seen) = open(&target).await.expect("opens");
    assert_eq!(began.elapsed(), Duration::from_secs(30));
    assert!(session.facts().why.starts_with("server/discover was not answered within 30 s"), "{}", session.facts().why);
    assert_eq!(
        seen.methods(),
        ["server/discover", "initialize", "notifications/initialized"],
        "the probe is not cancelled"
    );
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_to_the_probe_decides_for_modern() {
    let target = serve(|mut peer| async move {
        let probe = peer.receive().await.expect("the probe");
        let greeting = peer.receive().await.expect("initialize");
        assert_eq!(method(&greeting), "initialize");
        peer.send(result(&probe, DISCOVERED));
        sleep(Duration::from_secs(1)).await;
        peer.send(error(&greeting, -32601, "null"));
        while let Some(text) = peer.receive().await {
            peer.send(result(&text, r#"{"resultType":"complete","content":[]}"#));
        }
    });
    let (session, seen) = open(&target).await.expect("opens");
    assert_eq!(session.facts().revision, Revision::V2026_07_28);
    session.call(call()).await.expect("an answer");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(seen.methods(), ["server/discover", "initialize", "tools/call"]);
    assert_eq!(seen.findings(), ["rpc-late-response"]);
}

#[tokio::test(start_paused = true)]
async fn initialize_refused_with_a_modern_error_decides_for_modern() {
    let probes = Arc::new(AtomicUsize::new(0));
    let target = scripted(move |text| match method(text).as_str() {
        // Slow the first time, as a server that is still loading.
        "server/discover" if probes.fetch_add(1, Ordering::Relaxed) == 0 => Vec::new(),
        "server/discover" => vec![result(text, DISCOVERED)],
        "initialize" => vec![error(text, -32022, r#"{"supported":["2026-07-28"],"requested":"2025-11-25"}"#)],
        _ => Vec::new(),
    });
    let (session, seen) = open(&target).await.expect("opens");
    assert_eq!(session.facts().revision, Revision::V2026_07_28);
    let ids: Vec<String> = seen.sent().iter().map(|text| crate::peer::id(text)).collect();
    assert_eq!(ids, ["\"probe-1\"", "1", "\"probe-3\""]);
}

#[tokio::test]
async fn a_server_that_ends_on_the_probe_is_started_again() {
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = starts.clone();
    let target = serve(move |mut peer| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move {
            while let Some(text) = peer.receive().await {
                if method(&text) == "server/discover" {
                    return peer.close("exit code 1");
                }
                old(&text).into_iter().for_each(|frame| peer.send(frame));
            }
        }
    });
    let (session, seen) = open(&target).await.expect("opens");
    assert!(session.facts().why.contains("ended on server/discover: exit code 1"), "{}", session.facts().why);
    assert_eq!((starts.load(Ordering::Relaxed), seen.methods().len()), (2, 3));
}

#[tokio::test]
async fn a_target_may_ask_for_a_fresh_server_after_the_probe() {
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = starts.clone();
    let mut target = serve(move |mut peer| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move {
            while let Some(text) = peer.receive().await {
                old(&text).into_iter().for_each(|frame| peer.send(frame));
            }
        }
    });
    target.respawn = true;
    open(&target).await.expect("opens");
    assert_eq!(starts.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_version_from_the_list_is_chosen() {
    let offers = |probe: &'static str, supported: &'static str| {
        scripted(move |text| match method(text).as_str() {
            "server/discover" if probe == "result" => {
                vec![result(text, &format!(r#"{{"supportedVersions":{supported},"capabilities":{{}}}}"#))]
            }
            "server/discover" => vec![error(text, -32022, &format!(r#"{{"supported":{supported}}}"#))],
            "initialize" => {
                let asked =
                    Revision::ALL.into_iter().find(|revision| text.contains(revision.as_str())).expect("a version");
                vec![result(text, &hello(asked.as_str()))]
            }
            _ => Vec::new(),
        })
    };
    let (session, seen) = open(&offers("result", r#"["2024-11-05","2025-06-18"]"#)).await.expect("opens");
    assert_eq!(session.facts().revision, Revision::V2025_06_18);
    assert!(seen.sent()[1].contains(r#""protocolVersion":"2025-06-18""#));
    let (session, _) = open(&offers("error", r#"["2025-03-26"]"#)).await.expect("opens");
    assert_eq!(session.facts().revision, Revision::V2025_03_26);
    let refused = open(&offers("error", r#"["2099-01-01"]"#)).await.map(|_| ()).expect_err("nothing in common");
    assert!(refused.to_string().contains("2099-01-01"), "{refused}");
    // It lists what it refuses: asked once more, and no further.
    let contradiction = open(&offers("error", r#"["2026-07-28"]"#)).await.map(|_| ()).expect_err("refused twice");
    assert_eq!(contradiction.kind(), ErrorKind::Protocol);
}

#[tokio::test]
async fn recognised_errors_never_lead_to_initialize() {
    for code in [-32020, -32021] {
        let target = scripted(move |text| vec![error(text, code, "{}")]);
        let refused = open(&target).await.map(|_| ()).expect_err("no era");
        assert!(matches!(&refused, OpenError::Rpc { method: "server/discover", .. }), "{refused:?}");
    }
}

#[tokio::test]
async fn both_causes_are_kept() {
    let refused =
        open(&scripted(|text| vec![error(text, -32603, "null")])).await.map(|_| ()).expect_err("refused twice");
    let words = refused.to_string();
    assert_eq!(
        words,
        "the server refused initialize: no (code -32603); before that: server/discover was refused: no (code -32603)"
    );
}

#[tokio::test]
async fn a_counter_offer_as_an_error_is_taken_once() {
    let target = scripted(|text| match method(text).as_str() {
        "server/discover" => vec![error(text, -32601, "null")],
        "initialize" if text.contains("2025-11-25") => vec![error(text, -32602, r#"{"supported":["2024-11-05"]}"#)],
        "initialize" => vec![result(text, &hello("2024-11-05"))],
        _ => Vec::new(),
    });
    let (session, seen) = open(&target).await.expect("opens");
    assert_eq!(session.facts().revision, Revision::V2024_11_05);
    assert_eq!(seen.findings(), ["init-version-counter"]);
}

#[tokio::test]
async fn forced_revisions_are_spoken_without_a_probe() {
    for revision in Revision::ALL {
        let (session, seen) = open(&speaking(revision, |_| Vec::new())).await.expect("opens");
        assert_eq!((session.facts().revision, session.facts().why.as_str()), (revision, "it was asked for"));
        let opening: &[&str] =
            if revision.is_modern() { &["server/discover"] } else { &["initialize", "notifications/initialized"] };
        assert_eq!(seen.methods(), opening, "{revision}");
        assert!(seen.sent()[0].contains(revision.as_str()));
    }
}

#[tokio::test]
async fn a_forced_revision_that_is_not_spoken_says_what_is() {
    let mut target = scripted(|text| vec![result(text, &hello("2025-06-18"))]);
    target.protocol = ProtocolChoice::Exact(Revision::V2025_11_25);
    let refused = open(&target).await.map(|_| ()).expect_err("another version");
    assert_eq!(refused.to_string(), "the server does not speak 2025-11-25; it offers 2025-06-18");
    assert!(refused.hint().unwrap_or_default().contains("--protocol 2025-06-18"));

    let mut target = scripted(|text| vec![error(text, -32022, r#"{"supported":["2025-11-25"]}"#)]);
    target.protocol = ProtocolChoice::Exact(Revision::V2026_07_28);
    let refused = open(&target).await.map(|_| ()).expect_err("not modern");
    assert!(refused.hint().unwrap_or_default().contains("--protocol 2025-11-25"));
}

#[tokio::test]
async fn a_forced_modern_server_may_lack_discover() {
    let mut target = scripted(|text| match method(text).as_str() {
        "server/discover" => vec![error(text, -32601, "null")],
        _ => vec![result(text, r#"{"resultType":"complete","content":[]}"#)],
    });
    target.protocol = ProtocolChoice::Exact(Revision::V2026_07_28);
    let (session, seen) = open(&target).await.expect("opens");
    session.call(call()).await.expect("other requests work");
    assert_eq!(seen.findings(), ["discover-implemented"]);
    assert_eq!((session.facts().capabilities.as_str(), session.facts().opening.is_none()), ("{}", true));
}

#[tokio::test]
async fn an_unknown_version_in_the_answer_is_refused() {
    for version in ["2099-01-01", "2026-07-28"] {
        let target = scripted(move |text| match method(text).as_str() {
            "server/discover" => vec![error(text, -32601, "null")],
            _ => vec![result(text, &hello(version))],
        });
        let refused = open(&target).await.map(|_| ()).expect_err(version);
        assert!(refused.to_string().contains(version), "{refused}");
    }
    let target = scripted(|text| match method(text).as_str() {
        "server/discover" => vec![error(text, -32601, "null")],
        _ => vec![result(text, "{}")],
    });
    let refused = open(&target).await.map(|_| ()).expect_err("no version");
    assert!(refused.to_string().contains("has no protocolVersion"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_ends_the_opening_in_time() {
    for protocol in [ProtocolChoice::Auto, ProtocolChoice::Exact(ERAS[0]), ProtocolChoice::Exact(ERAS[1])] {
        let mut target = scripted(|_| Vec::new());
        target.protocol = protocol;
        let began = Instant::now();
        let refused = open(&target).await.map(|_| ()).expect_err("silence");
        assert_eq!((refused.kind(), began.elapsed()), (ErrorKind::Timeout, Duration::from_secs(60)), "{refused}");
        assert!(refused.hint().unwrap_or_default().contains("--connect-timeout"));
    }
}

#[tokio::test]
async fn the_end_of_the_server_while_it_opens_is_the_cause() {
    let mut target = serve(|mut peer| async move {
        peer.receive().await;
        peer.close("exit code 3");
    });
    target.protocol = ProtocolChoice::Exact(Revision::V2025_11_25);
    let refused = open(&target).await.map(|_| ()).expect_err("gone");
    assert_eq!(refused.to_string(), "the connection closed while initialize waited: exit code 3");
    assert_eq!(refused.kind(), ErrorKind::Closed);
}
