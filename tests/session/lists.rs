//! Paged lists and tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_script::json::Raw;
use mcp_script::session::{CallError, ErrorKind, ListKind, Target};

use crate::peer::{ERAS, call, error, method, open, result, settle, speaking};

fn cursor(text: &str) -> Option<String> {
    Raw::parse(text).ok()?.get("params")?.get("cursor")?.string().map(|text| text.into_owned())
}

/// A server with these pages, by the cursor that leads to them.
fn pages(pages: &'static [(Option<&'static str>, &'static str)]) -> Target {
    speaking(ERAS[0], move |text| {
        let asked = cursor(text);
        let page = pages.iter().find(|(cursor, _)| *cursor == asked.as_deref());
        match page {
            Some((_, page)) => vec![result(text, page)],
            None => vec![error(text, -32602, "null")],
        }
    })
}

#[tokio::test]
async fn one_page_comes_as_it_was_sent() {
    let page = r#"{ "tools" : [ {"name":"a"} ], "x":1.0 }"#;
    let (session, seen) = open(&pages(&[(None, r#"{ "tools" : [ {"name":"a"} ], "x":1.0 }"#)])).await.expect("opens");
    let exchange = session.list(ListKind::Tools, None).await.expect("a list");
    assert_eq!(exchange.outcome.expect("a result").as_str(), page);
    assert_eq!(seen.methods().pop().as_deref(), Some("tools/list"));
}

#[tokio::test]
async fn pages_are_joined_into_the_last_one_and_an_empty_cursor_is_followed() {
    let target = pages(&[
        (None, r#"{"resources":[{"uri":"a"},{"uri":"b"}],"nextCursor":""}"#),
        (Some(""), r#"{"resources":[],"nextCursor":"\"z"}"#),
        (Some("\"z"), r#"{"nextCursor":null,"resources":[{"uri":"c","n":1.10}],"_meta":{"last":true}}"#),
    ]);
    let (session, seen) = open(&target).await.expect("opens");
    let exchange = session.list(ListKind::Resources, None).await.expect("a list");
    assert_eq!(
        exchange.outcome.expect("a result").as_str(),
        r#"{"nextCursor":null,"resources":[{"uri":"a"},{"uri":"b"},{"uri":"c","n":1.10}],"_meta":{"last":true}}"#
    );
    assert_eq!(seen.methods().iter().filter(|method| *method == "resources/list").count(), 3);
}

#[tokio::test]
async fn a_list_without_an_end_is_refused() {
    let (session, _) = open(&pages(&[
        (None, r#"{"tools":[],"nextCursor":"a"}"#),
        (Some("a"), r#"{"tools":[],"nextCursor":"b"}"#),
        (Some("b"), r#"{"tools":[],"nextCursor":"a"}"#),
    ]))
    .await
    .expect("opens");
    let repeated = session.list(ListKind::Tools, None).await.expect_err("a circle");
    assert_eq!(repeated.to_string(), "tools/list does not end after 3 pages: the cursor \"a\" came a second time");
    assert_eq!(repeated.kind(), ErrorKind::Protocol);

    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let target = speaking(ERAS[0], move |text| {
        let next = counted.fetch_add(1, Ordering::Relaxed);
        vec![result(text, &format!(r#"{{"tools":[],"nextCursor":"{next}"}}"#))]
    });
    let (session, _) = open(&target).await.expect("opens");
    let endless = session.tools().await.expect_err("no end");
    assert!(matches!(endless, CallError::List { pages: 100, .. }), "{endless:?}");
    assert_eq!(count.load(Ordering::Relaxed), 100);
}

#[tokio::test]
async fn pages_that_are_too_large_together_are_refused() {
    let mut target = speaking(ERAS[0], |text| {
        let next = cursor(text).unwrap_or_default().len() + 1;
        vec![result(
            text,
            &format!(r#"{{"tools":[{{"name":"{}"}}],"nextCursor":"{}"}}"#, "x".repeat(3000), "c".repeat(next)),
        )]
    });
    target.limits.max_message = 8_000;
    let (session, _) = open(&target).await.expect("opens");
    let error = session.list(ListKind::Tools, None).await.expect_err("too large");
    assert!(error.to_string().contains("larger than 8000 bytes together"), "{error}");
}

#[tokio::test]
async fn a_refused_page_leaves_the_tools_before_it() {
    let (session, _) = open(&pages(&[(None, r#"{"tools":[{"name":"a"}],"nextCursor":"bad"}"#)])).await.expect("opens");
    let tools = session.tools().await.expect("what there is");
    assert!(tools.get("a").is_some());
    assert_eq!(tools.listing.outcome.as_ref().expect_err("refused").code, Some(-32602));
}

#[tokio::test]
async fn misshapen_lists_are_findings() {
    let (session, seen) = open(&pages(&[(None, r#"{"tools":{"name":"a"}}"#)])).await.expect("opens");
    assert!(session.tools().await.expect("none").list.is_empty());
    assert_eq!(seen.finding("list-result-shape"), "page 1 of tools/list has no array `tools`");
    let (session, seen) =
        open(&pages(&[(None, r#"{"tools":[5,{"name":"a"},{}],"nextCursor":7}"#)])).await.expect("opens");
    assert_eq!(session.tools().await.expect("some").list.len(), 3);
    assert_eq!(seen.findings(), ["list-result-shape", "list-result-shape"]);
}

#[tokio::test]
async fn tools_listed_twice_are_named_with_their_places() {
    let target = pages(&[
        (None, r#"{"tools":[{"name":"a"},{"name":"b","title":"first"}],"nextCursor":"2"}"#),
        (Some("2"), r#"{"tools":[{"name":"b","title":"second"}]}"#),
    ]);
    let (session, seen) = open(&target).await.expect("opens");
    let tools = session.tools().await.expect("tools");
    assert_eq!(
        tools.get("b").and_then(|tool| tool.raw.get("title")).map(|title| title.to_string()).as_deref(),
        Some("\"first\"")
    );
    assert_eq!(
        seen.finding("tools-name-unique"),
        "the tool `b` is listed twice: as number 2 on page 1, and as number 1 on page 2; calls use the first"
    );
}

#[tokio::test]
async fn tools_are_listed_once_until_the_server_says_that_they_changed() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let target = speaking(ERAS[0], move |text| match method(text).as_str() {
        "tools/list" => {
            let n = counted.fetch_add(1, Ordering::Relaxed);
            vec![result(text, &format!(r#"{{"tools":[{{"name":"t{n}","inputSchema":{{"type":"object"}}}}]}}"#))]
        }
        _ => vec![r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned(), result(text, "{}")],
    });
    let (session, _) = open(&target).await.expect("opens");
    for _ in 0..3 {
        assert!(session.tools().await.expect("tools").get("t0").is_some());
    }
    assert_eq!(count.load(Ordering::Relaxed), 1);
    session.call(call()).await.expect("an answer");
    settle().await;
    let tools = session.tools().await.expect("tools");
    assert!(tools.get("t1").is_some() && tools.get("t0").is_none());
}
