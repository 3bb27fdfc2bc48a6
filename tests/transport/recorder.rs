//! An inbox that keeps everything, and waits with a limit.

use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use mcp_script::rpc::Id;
use mcp_script::transport::{Closed, Inbox, Incoming, Outgoing, OutgoingKind, Transport};
use serde_json::Value;
use tokio::sync::watch;

/// The longest that any test waits for one thing; a test that needs it has failed.
pub const LIMIT: Duration = Duration::from_secs(20);

/// Keeps what arrives, in short.
#[derive(Default)]
pub struct Recorder {
    kept: Mutex<Vec<Arrival>>,
    count: watch::Sender<usize>,
    sent: Mutex<Vec<String>>,
    /// Where an answer is reported as the session does it.
    transport: OnceLock<Weak<dyn Transport>>,
}

/// One arrival.
#[derive(Debug, Clone)]
pub enum Arrival {
    Frame(String, String),
    Http(Option<Id>, u16, String),
    Ended(Id, String),
    Failed(Option<Id>, String),
    Stderr(String),
    Remark(&'static str, String),
    Closed(Closed),
}

impl Inbox for Recorder {
    fn deliver(&self, incoming: Incoming) {
        let arrival = match incoming {
            Incoming::Frame { bytes, via } => {
                self.settle(&bytes);
                Arrival::Frame(String::from_utf8_lossy(&bytes).into_owned(), format!("{via:?}"))
            }
            Incoming::HttpProblem { id, answer } => {
                let hint = answer.hint.clone().unwrap_or_default();
                let kind = answer.content_type.clone().unwrap_or_default();
                Arrival::Http(id, answer.status, format!("{kind}|{hint}|{}", answer.body))
            }
            Incoming::StreamEnded { id, cause } => Arrival::Ended(id, cause),
            Incoming::Failed { id, cause } => Arrival::Failed(id, cause),
            Incoming::Stderr(line) => Arrival::Stderr(line),
            Incoming::Remark { id, message } => Arrival::Remark(id, message),
            Incoming::Closed(closed) => Arrival::Closed(closed),
        };
        self.kept.lock().unwrap().push(arrival);
        self.count.send_modify(|count| *count += 1);
    }

    fn sent(&self, text: &str) {
        self.sent.lock().unwrap().push(text.to_owned());
    }
}

impl Recorder {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Tells this transport of every answer.
    pub fn settle_on(&self, transport: Weak<dyn Transport>) {
        assert!(self.transport.set(transport).is_ok(), "set once");
    }

    fn settle(&self, frame: &[u8]) {
        let Some(transport) = self.transport.get().and_then(Weak::upgrade) else { return };
        let Ok(message) = serde_json::from_slice::<Value>(frame) else { return };
        if let (Some(id), None) = (message["id"].as_i64(), message.get("method")) {
            transport.settled(&Id::Number(id));
        }
    }

    /// The id of the server's request for `method`, waited for.
    pub async fn request_id(&self, method: &str) -> String {
        self.wait(|arrival| match arrival {
            Arrival::Frame(text, _) => serde_json::from_str::<Value>(text)
                .ok()
                .filter(|message| message["method"] == method && message.get("id").is_some())
                .map(|message| message["id"].to_string()),
            _ => None,
        })
        .await
    }

    /// Where the frames came from.
    pub fn vias(&self) -> Vec<String> {
        self.all()
            .iter()
            .filter_map(|arrival| if let Arrival::Frame(_, via) = arrival { Some(via.clone()) } else { None })
            .collect()
    }

    /// What has arrived.
    pub fn all(&self) -> Vec<Arrival> {
        self.kept.lock().unwrap().clone()
    }

    /// What was sent.
    pub fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }

    /// The first arrival that `pick` takes, waited for.
    pub async fn wait<T>(&self, pick: impl Fn(&Arrival) -> Option<T>) -> T {
        let mut count = self.count.subscribe();
        let found = tokio::time::timeout(LIMIT, async {
            loop {
                count.borrow_and_update();
                if let Some(found) = self.all().iter().find_map(&pick) {
                    return found;
                }
                count.changed().await.expect("the recorder lives");
            }
        });
        found.await.unwrap_or_else(|_| panic!("waited in vain; arrived: {:#?}", self.all()))
    }

    /// The response to request `id`, waited for.
    pub async fn response(&self, id: i64) -> Value {
        self.wait(|arrival| match arrival {
            Arrival::Frame(text, _) => serde_json::from_str::<Value>(text)
                .ok()
                .filter(|message| message["id"] == id && message.get("method").is_none()),
            _ => None,
        })
        .await
    }

    /// The end of the connection, waited for.
    pub async fn closed(&self) -> Closed {
        self.wait(|arrival| match arrival {
            Arrival::Closed(closed) => Some(closed.clone()),
            _ => None,
        })
        .await
    }

    /// The remarks so far, by id.
    pub fn remarks(&self) -> Vec<&'static str> {
        self.all()
            .iter()
            .filter_map(|arrival| if let Arrival::Remark(id, _) = arrival { Some(*id) } else { None })
            .collect()
    }

    /// The frames so far.
    pub fn frames(&self) -> Vec<String> {
        self.all()
            .iter()
            .filter_map(|arrival| if let Arrival::Frame(text, _) = arrival { Some(text.clone()) } else { None })
            .collect()
    }
}

/// A request.
pub fn request(id: i64, method: &str, params: &Value) -> Outgoing {
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
    outgoing(body, OutgoingKind::Request(Id::Number(id)), method == "initialize")
}

/// A notification.
pub fn notification(method: &str) -> Outgoing {
    outgoing(serde_json::json!({ "jsonrpc": "2.0", "method": method }).to_string(), OutgoingKind::OneWay, false)
}

/// Text as it is.
pub fn raw(text: &str) -> Outgoing {
    outgoing(text.to_owned(), OutgoingKind::Raw, false)
}

fn outgoing(body: String, kind: OutgoingKind, opens_session: bool) -> Outgoing {
    Outgoing { body, kind, headers: Vec::new(), without: Vec::new(), opens_session }
}

/// A call of the echo tool.
pub fn echo(id: i64, text: &str) -> Outgoing {
    request(id, "tools/call", &serde_json::json!({ "name": "echo", "arguments": { "text": text } }))
}
