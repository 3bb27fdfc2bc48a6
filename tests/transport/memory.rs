//! The pair in memory.

use std::time::Duration;

use mcp_script::transport::memory::pair;
use serde_json::json;

use crate::recorder::{Recorder, echo, request};
use crate::within;

#[test]
fn messages_pass_in_both_directions_until_one_side_ends_it() {
    within(async {
        let inbox = Recorder::new();
        let (transport, mut peer) = pair(inbox.clone());
        transport.send(request(1, "ping", &json!({}))).await.unwrap();
        assert!(peer.receive().await.is_some_and(|text| text.contains("\"ping\"")));
        peer.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        inbox.response(1).await;
        assert_eq!(inbox.vias(), ["Pipe"]);
        assert_eq!(transport.close(Duration::ZERO, Vec::new()).await.how, "closed");
        assert_eq!(peer.receive().await, None);
        peer.send("{}");
        assert_eq!(inbox.frames().len(), 1);
        assert_eq!(inbox.closed().await.cause, "closed by us");
        assert!(transport.send(echo(2, "late")).await.is_err());
    });
}

#[test]
fn a_peer_that_goes_ends_the_connection() {
    within(async {
        let inbox = Recorder::new();
        let (transport, peer) = pair(inbox.clone());
        drop(peer);
        assert_eq!(inbox.closed().await.cause, "the peer is gone");
        assert_eq!(transport.send(echo(1, "x")).await.unwrap_err().to_string(), "the peer is gone");
        assert_eq!(inbox.sent(), Vec::<String>::new());
    });
}
