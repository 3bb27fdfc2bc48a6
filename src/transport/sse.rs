//! Server-sent events: bytes in, messages out.
//!
//! Owns: a thin wrapper around the decoder crate. May use: nothing of ours. Must not: read, wait, or look into data.
//! Parsing follows WHATWG HTML, "Server-sent events"; what carries no data is no event (2026-07-28, "Transports").

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use sse_core::{SseDecoder, SseEvent};

/// What a piece of an event stream meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SseItem {
    /// An event of type `message` with data.
    Message(String),
    /// An event of another type, which MCP over Streamable HTTP does not know.
    Other {
        /// Its type, such as `endpoint`.
        event: String,
        /// Its data.
        data: String,
    },
    /// An event over the size limit, dropped.
    TooLarge,
}

/// The state of one stream, over reconnections.
#[derive(Clone)]
pub struct SseReader {
    decoder: SseDecoder,
    retry: Option<Duration>,
    /// The last bytes fed, to know whether the stream ended between two events.
    last: [u8; 4],
}

impl SseReader {
    /// Events with more than `limit` bytes of data are dropped.
    pub fn new(limit: usize) -> Self {
        let limit = NonZeroUsize::new(limit).unwrap_or(NonZeroUsize::MIN);
        Self { decoder: SseDecoder::with_limit(limit), retry: None, last: *b"\n\n\n\n" }
    }

    /// Takes a chunk as it was received and emits what it completes.
    pub fn feed(&mut self, mut chunk: Bytes, emit: &mut impl FnMut(SseItem)) {
        self.remember(&chunk);
        while chunk.has_remaining() {
            match self.decoder.next(&mut chunk) {
                Some(Ok(SseEvent::Message(message))) if message.data.is_empty() => {}
                Some(Ok(SseEvent::Message(message))) if message.event == "message" => {
                    emit(SseItem::Message(message.data));
                }
                Some(Ok(SseEvent::Message(message))) => {
                    emit(SseItem::Other { event: message.event.into_owned(), data: message.data });
                }
                Some(Ok(SseEvent::Retry(millis))) => self.retry = Some(Duration::from_millis(millis.into())),
                Some(Err(_)) => emit(SseItem::TooLarge),
                None => {}
            }
        }
    }

    /// The id of the last event that was complete, with or without data.
    pub fn last_event_id(&self) -> Option<&Arc<str>> {
        self.decoder.last_event_id().filter(|id| !id.is_empty())
    }

    /// How long the server wants us to wait before we connect again.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// True where the bytes so far end in the middle of an event.
    pub fn is_inside_event(&self) -> bool {
        let last = self.last;
        !(last.ends_with(b"\n\n") || last.ends_with(b"\r\r") || last == *b"\r\n\r\n")
    }

    /// Starts over for a new connection; the last event id and the waiting time are kept.
    pub fn reconnect(&mut self) {
        self.decoder.reconnect();
        self.last = *b"\n\n\n\n";
    }

    fn remember(&mut self, chunk: &[u8]) {
        let tail = &chunk[chunk.len().saturating_sub(4)..];
        self.last.rotate_left(tail.len());
        let start = 4 - tail.len();
        self.last[start..].copy_from_slice(tail);
    }
}

impl std::fmt::Debug for SseReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SseReader").field("last_event_id", &self.last_event_id()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{SseItem, SseReader};
    use bytes::Bytes;
    use proptest::prelude::{any, prop};
    use proptest::{prop_assert_eq, proptest};
    use std::time::Duration;

    fn feed(reader: &mut SseReader, text: &[u8], step: usize) -> Vec<SseItem> {
        let mut items = Vec::new();
        for chunk in text.chunks(step) {
            reader.feed(Bytes::copy_from_slice(chunk), &mut |item| items.push(item));
        }
        items
    }

    fn messages(text: &str) -> Vec<String> {
        let whole = collect(text, text.len().max(1));
        for step in 1..text.len() {
            assert_eq!(collect(text, step), whole, "chunks of {step} in {text:?}");
        }
        whole
    }

    fn collect(text: &str, step: usize) -> Vec<String> {
        let items = feed(&mut SseReader::new(1000), text.as_bytes(), step);
        items
            .into_iter()
            .map(|item| match item {
                SseItem::Message(data) => data,
                SseItem::Other { event, data } => format!("{event}:{data}"),
                SseItem::TooLarge => "too large".to_owned(),
            })
            .collect()
    }

    #[test]
    fn every_line_end_and_every_cut_reads_the_same() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "data: {\"a\":1}|event: message|||data: [|data: ]||:comment||data:x||".replace('|', end);
            assert_eq!(messages(&text), ["{\"a\":1}", "[\n]", "x"], "{end:?}");
        }
    }

    #[test]
    fn what_has_no_data_is_no_event() {
        assert_eq!(
            messages(": ping\n\nid: 1\n\nretry: 5\n\ndata:\n\nid: 2\ndata: \n\nevent: x\n\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(messages("\u{FEFF}data: x\n\n"), ["x"]);
    }

    #[test]
    fn other_types_are_told_apart() {
        assert_eq!(messages("event: endpoint\ndata: /messages\n\ndata: x\n\n"), ["endpoint:/messages", "x"]);
    }

    #[test]
    fn half_an_event_at_the_end_is_dropped_and_noticed() {
        let mut reader = SseReader::new(100);
        assert_eq!(feed(&mut reader, b"data: x\n", 3), []);
        assert!(reader.is_inside_event());
        assert_eq!(feed(&mut reader, b"\n", 1), [SseItem::Message("x".to_owned())]);
        assert!(!reader.is_inside_event());
        assert!(!SseReader::new(100).is_inside_event());
    }

    #[test]
    fn ids_and_retry_are_kept_over_a_reconnection() {
        let mut reader = SseReader::new(100);
        feed(&mut reader, b"id: e1\nretry: 1500\ndata:\n\nid: e2\ndata: half", 5);
        assert_eq!(reader.last_event_id().map(|id| &**id), Some("e1"));
        assert_eq!(reader.retry(), Some(Duration::from_millis(1500)));
        reader.reconnect();
        assert_eq!(feed(&mut reader, b"data: y\n\n", 100), [SseItem::Message("y".to_owned())]);
        assert_eq!(reader.last_event_id().map(|id| &**id), Some("e1"));
    }

    #[test]
    fn an_event_over_the_limit_is_dropped_and_the_next_is_read() {
        let text = format!("data: {}\n\ndata: y\n\n", "x".repeat(101));
        let items = feed(&mut SseReader::new(100), text.as_bytes(), 7);
        assert_eq!(items, [SseItem::TooLarge, SseItem::Message("y".to_owned())]);
        let many = format!("{}\n", "data: xxxxxxxxx\n".repeat(20));
        assert_eq!(feed(&mut SseReader::new(100), many.as_bytes(), 64), [SseItem::TooLarge]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived_and_cuts_do_not_matter(
            bytes in prop::collection::vec(prop::sample::select(b"data: \n\rid:eventx\xEF\xBB\xBF\0\xFF".to_vec()), 0..200),
            step in 1usize..20, limit in 1usize..50, once in any::<bool>()
        ) {
            let step = if once { 1 } else { step };
            let whole = feed(&mut SseReader::new(limit), &bytes, 1000);
            prop_assert_eq!(feed(&mut SseReader::new(limit), &bytes, step), whole);
        }
    }
}
