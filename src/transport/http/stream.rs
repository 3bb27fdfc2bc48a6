//! Event streams: the answer to a POST, its resumption, and the standing GET stream.
//!
//! Owns: reading streams, waiting before a reconnection. May use: `rpc`, `sse`. Must not: look into an event's data.
//! Resumption: 2025-03-26 to 2025-11-25, "Transports", "Resumability and Redelivery". 2026-07-28 has none.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use reqwest::{Method, Response};
use tokio::time::{Instant, sleep, timeout_at};

use super::answer::{Content, Head};
use super::open::Entry;
use super::{Shared, words};
use crate::rpc::Id;
use crate::transport::sse::{SseItem, SseReader};
use crate::transport::{Incoming, Via};

/// How long to wait before a reconnection where the server named no time.
const RETRY: Duration = Duration::from_secs(1);
/// The shortest wait, whatever the server names: `retry: 0` must not make us spin.
const SHORTEST: Duration = Duration::from_millis(20);
/// The longest wait between attempts at the standing stream that brought nothing.
const LONGEST: Duration = Duration::from_secs(30);
/// Attempts in a row that brought nothing before a stream is given up.
const FRUITLESS: u32 = 5;
/// How long a stream may stay open after the answer it was for.
const LINGER: Duration = Duration::from_secs(5);

/// How a stream ended.
enum End {
    /// The answer came.
    Settled,
    /// The server ended it.
    Closed,
    /// The connection broke.
    Broken(String),
    /// An event was over the limit.
    TooLarge,
}

/// Reads the event stream that answers a POST, and goes on with it by GET where it breaks and can be resumed.
pub(super) async fn answer(
    shared: &Shared,
    entry: &Entry,
    id: Option<Id>,
    response: Response,
    resume_with: Option<HeaderMap>,
) {
    let mut reader = SseReader::new(shared.max_message);
    let mut response = response;
    let mut fruitless = 0;
    let mut resumed = false;
    loop {
        let via = Via::Answer { id: id.clone(), status: response.status().as_u16(), sse: true };
        let before = reader.last_event_id().cloned();
        let mut delivered = false;
        let end = read(shared, &mut reader, response, &via, Some(entry), &mut delivered).await;
        let mut cause = match end {
            End::Settled => return,
            End::TooLarge => {
                let cause = format!("an event is larger than {} bytes", shared.max_message);
                return shared.deliver(Incoming::Failed { id, cause });
            }
            End::Closed if reader.is_inside_event() => {
                "the stream ended in the middle of an event, without the answer".to_owned()
            }
            End::Closed => "the stream ended without the answer".to_owned(),
            End::Broken(words) => format!("the stream broke without the answer: {words}"),
        };
        let Some(id_) = &id else { return };
        fruitless = if delivered || reader.last_event_id() != before.as_ref() { 0 } else { fruitless + 1 };
        let next = match (&resume_with, reader.last_event_id()) {
            (Some(headers), Some(_)) if fruitless < FRUITLESS => {
                if !std::mem::replace(&mut resumed, true) {
                    shared.deliver(Incoming::Remark {
                        id: "sse-resumed",
                        message: format!("request {id_}: {cause}; it is resumed with Last-Event-ID"),
                    });
                }
                resume(shared, &mut reader, headers, &mut fruitless, &mut cause).await
            }
            _ => None,
        };
        match next {
            Some(next) => response = next,
            None => return shared.deliver(Incoming::StreamEnded { id: id_.clone(), cause }),
        }
    }
}

/// Asks for the rest of a stream until it is given or refused; then `cause` says why.
async fn resume(
    shared: &Shared,
    reader: &mut SseReader,
    headers: &HeaderMap,
    fruitless: &mut u32,
    cause: &mut String,
) -> Option<Response> {
    loop {
        sleep(reader.retry().unwrap_or(RETRY).max(SHORTEST)).await;
        match get(shared, reader, headers).await {
            Ok(response) => {
                let head = Head::of(&response);
                if head.is_success() && head.content == Content::Events {
                    reader.reconnect();
                    return Some(response);
                }
                cause.push_str(&format!("; resuming it was answered with HTTP {}", head.status));
                return None;
            }
            Err(words) => {
                *fruitless += 1;
                if *fruitless >= FRUITLESS {
                    cause.push_str(&format!("; resuming it failed: {words}"));
                    return None;
                }
            }
        }
    }
}

/// Keeps the standing GET stream open until the server refuses it.
pub(super) async fn standing(shared: Arc<Shared>, headers: HeaderMap) {
    let mut reader = SseReader::new(shared.max_message);
    let mut fruitless = 0;
    let mut opened = false;
    while fruitless < FRUITLESS {
        let mut delivered = false;
        let started = Instant::now();
        match get(&shared, &reader, &headers).await {
            Err(_) => {}
            Ok(response) => {
                let head = Head::of(&response);
                if !(head.is_success() && head.content == Content::Events) {
                    return refused(&shared, &head, opened);
                }
                opened = true;
                reader.reconnect();
                let end = read(&shared, &mut reader, response, &Via::Standing, None, &mut delivered).await;
                let cause = match end {
                    End::Broken(words) => format!("broke ({words})"),
                    _ => "was closed by the server".to_owned(),
                };
                let message = format!("the standing GET stream {cause}; it is opened again");
                shared.remark_once("http-get-stream-dropped", message);
            }
        }
        // Proxies cut idle streams after a while; that is no reason to give up.
        fruitless = if delivered || started.elapsed() > RETRY { 0 } else { fruitless + 1 };
        let wait = reader.retry().unwrap_or(RETRY * 2_u32.pow(fruitless.min(FRUITLESS))).clamp(SHORTEST, LONGEST);
        sleep(wait).await;
    }
}

/// A refused GET is the usual way to say that there is no standing stream.
fn refused(shared: &Shared, head: &Head, opened: bool) {
    if opened || matches!(head.status, 400 | 404 | 405) {
        return;
    }
    let content_type = head.content_type.as_deref().unwrap_or("no content type");
    shared.deliver(Incoming::Remark {
        id: "http-get-sse-or-405",
        message: format!(
            "GET was answered with HTTP {} ({content_type}); an event stream or 405 is expected",
            head.status
        ),
    });
}

async fn get(shared: &Shared, reader: &SseReader, headers: &HeaderMap) -> Result<Response, String> {
    let mut lines = headers.clone();
    lines.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if let Some(id) = reader.last_event_id() {
        let value = HeaderValue::from_bytes(id.as_bytes()).map_err(|_| "its event id is no header value".to_owned())?;
        lines.insert("last-event-id", value);
    }
    let request = shared.request(Method::GET, lines);
    shared.client()?.execute(request).await.map_err(|error| words::describe(&error, &shared.url))
}

/// Reads one response to its end. The stream of a settled request may linger for a while, so that its connection can
/// be used again.
async fn read(
    shared: &Shared,
    reader: &mut SseReader,
    mut response: Response,
    via: &Via,
    entry: Option<&Entry>,
    delivered: &mut bool,
) -> End {
    let mut until: Option<Instant> = None;
    loop {
        let chunk = match until {
            None => response.chunk().await,
            Some(until) => match timeout_at(until, response.chunk()).await {
                Ok(chunk) => chunk,
                Err(_) => {
                    let message = "a stream stayed open for 5 s after its answer; it was closed".to_owned();
                    shared.remark_once("http-sse-ends-after-response", message);
                    return End::Settled;
                }
            },
        };
        let chunk = match chunk {
            Ok(Some(chunk)) => chunk,
            _ if until.is_some() => return End::Settled,
            Ok(None) => return End::Closed,
            Err(error) => return End::Broken(words::describe(&error, &shared.url)),
        };
        let mut too_large = false;
        reader.feed(chunk, &mut |item| match item {
            SseItem::Message(data) => {
                *delivered = true;
                shared.deliver(Incoming::Frame { bytes: data.into_bytes(), via: via.clone() });
            }
            SseItem::Other { event, .. } => shared.skipped(&event),
            SseItem::TooLarge => too_large = true,
        });
        if too_large {
            if entry.is_some() {
                return End::TooLarge;
            }
            let cause =
                format!("an event on the standing stream is larger than {} bytes and was dropped", shared.max_message);
            shared.deliver(Incoming::Failed { id: None, cause });
        }
        if until.is_none() && entry.is_some_and(Entry::is_settled) {
            until = Some(Instant::now() + LINGER);
        }
    }
}
