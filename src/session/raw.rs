//! Frames exactly as somebody wrote them, wrong ones too.
//!
//! Owns: [`RawExchange`] and [`Session::send_raw`]. May use: `rpc`, `json`. Must not: correct anything.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::dialect::{bare, wear};
use super::error::CallError;
use super::link::{Answered, Waiting};
use super::table::WaitKind;
use super::{Session, check_headers};
use crate::json::{JsonKind, Limits as JsonLimits, Raw};
use crate::rpc::{Envelope, Id, RpcError};
use crate::sensitive::Sensitive;
use crate::transport::OutgoingKind;

/// How long a frame without an id waits for an error without one.
const NAMELESS: Duration = Duration::from_millis(500);
/// What waits, for messages.
const METHOD: &str = "send_raw";

/// Frames sent as they were written, and what came of them.
#[derive(Clone, Debug)]
pub struct RawExchange {
    /// The frames as sent, one a line.
    pub request: Arc<str>,
    /// The answer to the last of them that had an id, or the next error without an id; none where nothing came, which is an
    /// answer too.
    pub outcome: Option<Result<Raw, RpcError>>,
    /// From just before sending until the answer had arrived or was not waited for any longer.
    pub duration: Duration,
    /// Notifications that arrived meanwhile, whole messages, oldest first; bounded.
    pub notices: Vec<Raw>,
}

impl Session {
    /// Sends each line of `text` as a frame of its own, exactly as it is (over HTTP the body of a POST). Where lines have ids, all
    /// of their answers are awaited.
    ///
    /// # Errors
    /// As [`Session::call`]; refused where only some tools are allowed, for what a frame does cannot be known.
    pub async fn send_raw(
        &self,
        text: &str,
        timeout: Option<Duration>,
        headers: &[(String, Sensitive<String>)],
    ) -> Result<RawExchange, CallError> {
        if self.allow_tools.is_some() {
            let why = "frames cannot be sent as they are while only some tools are allowed; nothing was sent";
            return Err(CallError::Unsendable(why.to_owned()));
        }
        check_headers(headers)?;
        let silence = timeout.unwrap_or(self.limits.timeout);
        let from = self.link.peer.notices();
        let started = Instant::now();
        let mut waiting: Vec<Waiting<'_>> = Vec::new();
        let mut nameless = None;
        for line in text.lines() {
            let ids = self.register(line, silence, &mut waiting)?;
            if ids == 0 && nameless.is_none() {
                nameless = Some(self.nameless(timeout)?);
            }
            self.post(line, ids, headers, silence).await?;
        }
        let outcome = match (waiting.is_empty(), nameless) {
            (true, None) => None,
            (true, Some(mut nameless)) => match nameless.arrived().await {
                Ok(answered) => Some(answered.outcome),
                Err(CallError::Timeout { .. }) => None,
                Err(error) => return Err(error),
            },
            (false, _) => {
                let mut last: Option<Answered> = None;
                for waiting in waiting {
                    last = Some(waiting.answer().await?);
                }
                last.map(|answered| answered.outcome)
            }
        };
        let notices = self.link.peer.notices_since(from);
        Ok(RawExchange { request: text.into(), outcome, duration: started.elapsed(), notices })
    }

    /// Registers the ids of the requests in a frame; says how many there are.
    fn register<'s>(
        &'s self,
        line: &str,
        silence: Duration,
        waiting: &mut Vec<Waiting<'s>>,
    ) -> Result<usize, CallError> {
        let ids = ids(line);
        for id in &ids {
            // An id that is under way already has its waiter.
            if !self.link.peer.waits(id) {
                let method = Cow::Borrowed(METHOD);
                waiting.push(self.link.wait(id.clone(), method, silence, WaitKind::Written)?);
            }
        }
        Ok(ids.len())
    }

    fn nameless(&self, timeout: Option<Duration>) -> Result<Waiting<'_>, CallError> {
        let id = Id::Odd(format!("(none, {METHOD})").into());
        self.link.wait(id, Cow::Borrowed(METHOD), timeout.unwrap_or(NAMELESS), WaitKind::Nameless)
    }

    async fn post(
        &self,
        line: &str,
        ids: usize,
        headers: &[(String, Sensitive<String>)],
        silence: Duration,
    ) -> Result<(), CallError> {
        let envelope = read(line).as_ref().and_then(Envelope::read);
        let id = envelope.as_ref().and_then(|envelope| envelope.id.as_ref()).map(Id::read);
        // Over HTTP the answer's stream belongs to the request, where there is one.
        let kind = match id {
            Some(id) if ids == 1 => OutgoingKind::Request(id),
            _ => OutgoingKind::Raw,
        };
        let mut message = bare(line.to_owned(), kind);
        message.headers = match &envelope {
            Some(envelope) => self.dialect.mirror(envelope),
            None => self.dialect.headers(),
        };
        self.link.tell(METHOD, wear(message, headers), silence).await
    }
}

/// The ids of the requests in a frame; none where it cannot be read.
fn ids(line: &str) -> Vec<Id> {
    let of = |raw: &Raw| {
        let envelope = Envelope::read(raw)?;
        // An answer of ours is not answered.
        (envelope.result.is_none() && envelope.error.is_none()).then_some(envelope.id)?.map(|id| Id::read(&id))
    };
    match read(line) {
        Some(raw) if raw.kind() == JsonKind::Array => raw.elements().filter_map(|element| of(&element)).collect(),
        Some(raw) => of(&raw).into_iter().collect(),
        None => Vec::new(),
    }
}

fn read(line: &str) -> Option<Raw> {
    Raw::check(line, &JsonLimits::default()).ok().map(|(raw, _)| raw)
}

#[cfg(test)]
mod tests {
    use super::ids;
    use crate::rpc::Id;

    #[test]
    fn frames_are_searched_for_ids() {
        assert_eq!(ids(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#), [Id::Number(7)]);
        assert_eq!(ids(r#"{"id":null}"#), [Id::Odd("null".into())]);
        assert_eq!(
            ids(r#"[{"id":1,"method":"a"},{"method":"b"},{"id":"2","method":"c"}]"#),
            [Id::Number(1), Id::Text("2".into())]
        );
        for none in [r#"{"id":7,"result":{}}"#, r#"{"method":"x"}"#, r#"{"id":7"#, "", "[]"] {
            assert!(ids(none).is_empty(), "{none}");
        }
    }
}
