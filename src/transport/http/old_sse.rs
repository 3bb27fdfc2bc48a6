//! HTTP+SSE of 2024-11-05: one event stream from the server, a POST for each message to it.
//!
//! Owns: the stream, the endpoint that it names. May use: `rpc`, `sse`. Must not: know MCP methods.
//! Rules: 2024-11-05, "Transports", "HTTP with SSE". The stream is the connection: where it ends, everything does.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, Response};
use tokio::sync::{oneshot, watch};
use url::Url;

use super::answer::{self, Content, Head};
use super::open::Entry;
use super::{HttpOptions, Line, Shared, exchange, headers, words};
use crate::rpc::Id;
use crate::transport::sse::{SseItem, SseReader};
use crate::transport::{BoxFuture, Closed, Ending, Inbox, Incoming, Outgoing, OutgoingKind, SendError, Transport, Via};

/// A connection over HTTP+SSE. Dropping it closes its stream.
#[derive(Debug)]
pub struct OldSse {
    shared: Arc<Shared>,
    state: watch::Receiver<State>,
}

/// How far the stream is.
#[derive(Debug, Clone)]
enum State {
    Opening,
    /// Where messages go.
    Open(Url),
    Over(String),
}

impl OldSse {
    /// Asks for the event stream at once; messages wait until it names their endpoint. Must be called inside a tokio
    /// runtime with IO and time. Where there is no stream, [`Incoming::Closed`] says why and so does every send.
    ///
    /// # Errors
    /// As [`super::Http::new`].
    pub fn new(options: &HttpOptions, inbox: Arc<dyn Inbox>) -> Result<Arc<Self>, SendError> {
        let shared = Arc::new(Shared::new(options, inbox)?);
        let (tell, state) = watch::channel(State::Opening);
        if let Some(entry) = shared.open.enter(None) {
            let ticket = entry.ticket();
            let task = tokio::spawn(run(Arc::clone(&shared), tell, entry));
            shared.open.started(ticket, task.abort_handle());
        }
        Ok(Arc::new(Self { shared, state }))
    }

    async fn endpoint(&self) -> Result<Url, SendError> {
        let mut state = self.state.clone();
        let known = state.wait_for(|state| !matches!(state, State::Opening)).await;
        match known.as_deref() {
            Ok(State::Open(url)) => Ok(url.clone()),
            Ok(State::Over(cause)) => Err(SendError(cause.clone())),
            Ok(State::Opening) | Err(_) => Err(SendError("the connection was closed by us".to_owned())),
        }
    }

    async fn post(&self, message: Outgoing) -> Result<(), SendError> {
        let url = self.endpoint().await?;
        let Outgoing { body, kind, headers: lines, without, .. } = message;
        let mut request = Request::new(Method::POST, url);
        *request.headers_mut() = self.shared.base.clone();
        headers::set(request.headers_mut(), &lines).map_err(SendError)?;
        for name in &without {
            request.headers_mut().remove(name);
        }
        let id = match &kind {
            OutgoingKind::Request(id) => Some(id.clone()),
            OutgoingKind::OneWay | OutgoingKind::Raw => None,
        };
        let Some(entry) = self.shared.open.enter(id.as_ref()) else {
            return Err(SendError("the connection was closed by us".to_owned()));
        };
        self.shared.inbox.sent(&body);
        *request.body_mut() = Some(body.into());
        let ticket = entry.ticket();
        let (taken, answered) = oneshot::channel();
        let work = deliver_post(Arc::clone(&self.shared), request, id, entry, taken);
        self.shared.open.started(ticket, tokio::spawn(work).abort_handle());
        match kind {
            OutgoingKind::OneWay => answered.await.map_or(Ok(()), |cause| Err(SendError(cause))),
            OutgoingKind::Request(_) | OutgoingKind::Raw => Ok(()),
        }
    }
}

impl Transport for OldSse {
    fn label(&self) -> &'static str {
        "sse"
    }

    fn send<'a>(&'a self, message: Outgoing) -> BoxFuture<'a, Result<(), SendError>> {
        Box::pin(self.post(message))
    }

    fn abandon(&self, _id: &Id) {}

    fn listen(&self, _headers: Vec<Line>) {}

    fn close_stdin<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn stderr_tail(&self) -> Vec<String> {
        Vec::new()
    }

    fn close<'a>(&'a self, _grace: Duration, _headers: Vec<Line>) -> BoxFuture<'a, Ending> {
        let first = self.shared.open.end_all();
        let over = matches!(*self.state.borrow(), State::Over(_));
        if first && !over {
            self.shared.deliver(closed("closed by us"));
        }
        let how = if over { "the event stream had ended before" } else { "closed" }.to_owned();
        Box::pin(std::future::ready(Ending { how, killed: false }))
    }
}

impl Drop for OldSse {
    fn drop(&mut self) {
        self.shared.open.end_all();
    }
}

fn closed(cause: &str) -> Incoming {
    Incoming::Closed(Closed { cause: cause.to_owned(), code: None, stderr: Vec::new() })
}

/// Reads the stream from its opening to its end.
async fn run(shared: Arc<Shared>, tell: watch::Sender<State>, _entry: Entry) {
    let cause = match open(&shared).await {
        Ok(response) => read(&shared, response, &tell).await,
        Err(cause) => cause,
    };
    tell.send_replace(State::Over(cause.clone()));
    shared.deliver(closed(&cause));
}

async fn open(shared: &Shared) -> Result<Response, String> {
    let mut headers = shared.base.clone();
    headers.remove(CONTENT_TYPE);
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let sent = shared.client()?.execute(shared.request(Method::GET, headers)).await;
    let response = sent.map_err(|error| words::describe(&error, &shared.url))?;
    let head = Head::of(&response);
    if head.is_success() && head.content == Content::Events {
        return Ok(response);
    }
    let content_type = head.content_type.as_deref().unwrap_or("no content type");
    Err(format!("GET was answered with HTTP {} ({content_type}), not with an event stream", head.status))
}

/// Reads on; gives the cause of the end.
async fn read(shared: &Shared, mut response: Response, tell: &watch::Sender<State>) -> String {
    let mut reader = SseReader::new(shared.max_message);
    loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) if reader.is_inside_event() => {
                return "the event stream ended in the middle of an event".to_owned();
            }
            Ok(None) => return "the event stream ended".to_owned(),
            Err(error) => return words::describe(&error, &shared.url),
        };
        let mut fault = None;
        reader.feed(chunk, &mut |item| {
            let opening = matches!(*tell.borrow(), State::Opening);
            match item {
                _ if fault.is_some() => {}
                SseItem::Other { event, data } if event == "endpoint" && opening => {
                    match endpoint(&shared.url, &data) {
                        Ok(url) => _ = tell.send_replace(State::Open(url)),
                        Err(cause) => fault = Some(cause),
                    }
                }
                _ if opening => fault = Some("the event stream does not start with the event `endpoint`".to_owned()),
                SseItem::Message(data) => {
                    shared.deliver(Incoming::Frame { bytes: data.into_bytes(), via: Via::Pipe });
                }
                SseItem::Other { event, .. } => shared.skipped(&event),
                SseItem::TooLarge => {
                    let cause = format!("an event is larger than {} bytes and was dropped", shared.max_message);
                    shared.deliver(Incoming::Failed { id: None, cause });
                }
            }
        });
        if let Some(cause) = fault {
            return cause;
        }
    }
}

/// The endpoint, which may be relative; another origin would get our credentials.
fn endpoint(base: &Url, data: &str) -> Result<Url, String> {
    let shown: String = data.chars().take(200).collect();
    let url = base.join(data.trim()).map_err(|error| format!("the endpoint `{shown}` is no URL: {error}"))?;
    if url.origin() != base.origin() {
        return Err(format!("the endpoint `{shown}` is on another origin than the event stream"));
    }
    Ok(url)
}

/// Posts a message. Its answer comes on the stream; what the POST itself brings matters only where it is a refusal or a message.
async fn deliver_post(
    shared: Arc<Shared>,
    request: Request,
    id: Option<Id>,
    _entry: Entry,
    taken: oneshot::Sender<String>,
) {
    let sent = match shared.client() {
        Ok(client) => client.execute(request).await.map_err(|error| words::describe(&error, &shared.url)),
        Err(cause) => Err(cause),
    };
    let mut response = match sent {
        Ok(response) => response,
        Err(cause) => {
            if id.is_some() {
                shared.deliver(Incoming::Failed { id, cause });
            } else {
                // Nobody waits any more where the send was given up.
                let _ = taken.send(cause);
            }
            return;
        }
    };
    let head = Head::of(&response);
    if !head.is_success() {
        return exchange::refused(&shared, id, head, &mut response).await;
    }
    if head.content == Content::Json
        && let Ok(bytes) = answer::body(&mut response, shared.max_message).await
        && answer::is_json_rpc(&bytes)
    {
        let via = Via::Answer { id, status: head.status, sse: false };
        shared.deliver(Incoming::Frame { bytes, via });
    }
}

#[cfg(test)]
mod tests {
    use super::endpoint;
    use url::Url;

    #[test]
    fn an_endpoint_is_resolved_and_stays_on_its_origin() {
        let base = Url::parse("http://127.0.0.1:8000/sse").expect("a URL");
        let resolved = |data: &str| endpoint(&base, data).map(|url| url.to_string());
        assert_eq!(resolved("/messages?s=1").as_deref(), Ok("http://127.0.0.1:8000/messages?s=1"));
        assert_eq!(resolved("http://127.0.0.1:8000/m").as_deref(), Ok("http://127.0.0.1:8000/m"));
        for foreign in ["http://127.0.0.1:8001/m", "https://127.0.0.1:8000/m", "//evil.example/m", "ftp:x"] {
            assert!(resolved(foreign).is_err(), "{foreign}");
        }
    }
}
