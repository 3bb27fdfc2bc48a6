//! A scripted server over the memory transport, and an observer that keeps what it sees.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_script::json::Raw;
use mcp_script::session::{
    Call, ClientDeclares, Direction, Endpoint, Finding, Memory, Observer, OpenError, ProtocolChoice, Revision, Session,
    Target,
};
use mcp_script::transport::memory::{MemoryPeer, pair};

/// Keeps what a session shows.
#[derive(Default)]
pub struct Seen(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    sent: Vec<String>,
    findings: Vec<Finding>,
    progress: Vec<String>,
}

impl Seen {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The messages sent so far.
    pub fn sent(&self) -> Vec<String> {
        self.kept().sent.clone()
    }

    /// The methods sent so far; `answer` for answers of ours.
    pub fn methods(&self) -> Vec<String> {
        self.sent().iter().map(|text| method(text)).collect()
    }

    /// The ids of the findings so far.
    pub fn findings(&self) -> Vec<&'static str> {
        self.kept().findings.iter().map(|finding| finding.id).collect()
    }

    /// The message of the first finding with this id.
    pub fn finding(&self, id: &str) -> String {
        let kept = self.kept();
        let found = kept.findings.iter().find(|finding| finding.id == id);
        found.map(|finding| finding.message.clone()).unwrap_or_else(|| panic!("no finding {id}: {:?}", kept.findings))
    }

    /// What progress was told.
    pub fn progress(&self) -> Vec<String> {
        self.kept().progress.clone()
    }
}

impl Observer for Seen {
    fn frame(&self, direction: Direction, text: &str) {
        if direction == Direction::Sent {
            self.kept().sent.push(text.to_owned());
        }
    }

    fn finding(&self, finding: Finding) {
        self.kept().findings.push(finding);
    }

    fn progress(&self, message: Option<&str>, progress: Option<f64>, total: Option<f64>) {
        self.kept().progress.push(format!("{message:?} {progress:?} {total:?}"));
    }
}

/// The method of a message, `answer` where it has none.
pub fn method(text: &str) -> String {
    member(text, "method").unwrap_or_else(|| "answer".to_owned())
}

/// The id of a message as JSON.
pub fn id(text: &str) -> String {
    Raw::parse(text).ok().and_then(|raw| raw.get("id")).map(|id| id.to_string()).unwrap_or_default()
}

/// A member of a message that is a string.
pub fn member(text: &str, name: &str) -> Option<String> {
    Raw::parse(text).ok()?.get(name)?.string().map(|text| text.into_owned())
}

/// A result for the request `text`.
pub fn result(text: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(text))
}

/// An error for the request `text`.
pub fn error(text: &str, code: i64, data: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":"no","data":{data}}}}}"#, id(text))
}

/// The result of `initialize` at `version`.
pub fn hello(version: &str) -> String {
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":true}},"logging":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
    )
}

/// The result of `server/discover`.
pub const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"2"}}}"#;

/// A server that answers each message by `answer`; an empty list is silence.
pub fn scripted<F>(answer: F) -> Target
where
    F: Fn(&str) -> Vec<String> + Send + Sync + 'static,
{
    let answer = Arc::new(answer);
    serve(move |mut peer| {
        let answer = Arc::clone(&answer);
        async move {
            while let Some(text) = peer.receive().await {
                for frame in answer(&text) {
                    peer.send(frame);
                }
            }
        }
    })
}

/// A server that is a task.
pub fn serve<F, T>(server: F) -> Target
where
    F: Fn(MemoryPeer) -> T + Send + Sync + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    Target::new(Endpoint::Memory(Memory::new(move |inbox| {
        let (transport, peer) = pair(inbox);
        tokio::spawn(server(peer));
        transport
    })))
}

/// Answers the opening of `revision`; the rest goes to `answer`.
pub fn speaking<F>(revision: Revision, answer: F) -> Target
where
    F: Fn(&str) -> Vec<String> + Send + Sync + 'static,
{
    let mut target = scripted(move |text| match method(text).as_str() {
        "initialize" => vec![result(text, &hello(revision.as_str()))],
        "server/discover" => vec![result(text, DISCOVERED)],
        "notifications/initialized" => Vec::new(),
        _ => answer(text),
    });
    target.protocol = ProtocolChoice::Exact(revision);
    target
}

/// The newest revision of each era.
pub const ERAS: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

/// Opens a session with default capabilities.
pub async fn open(target: &Target) -> Result<(Session, Arc<Seen>), OpenError> {
    let seen = Arc::new(Seen::default());
    Ok((Session::open(target, ClientDeclares::default(), seen.clone()).await?, seen))
}

/// A call of the tool `t`.
pub fn call() -> Call {
    Call { params: Some(r#"{"name":"t","arguments":{}}"#.to_owned()), ..Call::new("tools/call") }
}

/// A complete, empty tool result of either era.
pub const DONE: &str = r#"{"resultType":"complete","content":[]}"#;

/// Lets the tasks of a paused runtime do what they can.
pub async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}
