//! The legacy era, 2024-11-05 to 2025-11-25: `initialize` opens, capabilities hold for the session.
//!
//! Owns: [`Handshake`] and the `initialize` request. May use: `rpc`, `json`. Must not: wait or send.

use super::call::Call;
use super::declares::ClientDeclares;
use super::dialect::{Dialect, Headers, Reading, Reply, Stop, VERSION_HEADER, Wire, assemble, bare, cancelled, header};
use super::version::Revision;
use crate::json::Raw;
use crate::rpc::{Envelope, Id, request};
use crate::transport::{Outgoing, OutgoingKind};

/// A session that `initialize` opened.
#[derive(Debug)]
pub(super) struct Handshake {
    revision: Revision,
    wire: Wire,
}

impl Handshake {
    /// Speaks `revision`, the one the server agreed to.
    pub const fn new(revision: Revision, wire: Wire) -> Self {
        Self { revision, wire }
    }
}

/// The `initialize` request. It wears no version header: nothing is agreed yet (2025-06-18, "Transports").
pub(super) fn initialize(id: Id, revision: Revision, declares: &ClientDeclares, client: &str) -> Outgoing {
    let params = format!(
        "{{\"protocolVersion\":\"{revision}\",\"capabilities\":{},\"clientInfo\":{client}}}",
        declares.capabilities(revision, false)
    );
    let body = request(&id, "initialize", Some(&params));
    Outgoing { opens_session: true, ..bare(body, OutgoingKind::Request(id)) }
}

/// Methods whose requests are over at once: their progress is of no interest, and some servers take no params for them.
fn is_quick(method: &str) -> bool {
    method == "ping" || method.ends_with("/list") || method == "logging/setLevel"
}

impl Dialect for Handshake {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn dress(&self, id: Id, call: &Call) -> Outgoing {
        let headers = self.headers();
        if is_quick(&call.method) {
            return assemble(id, call, None, headers);
        }
        let meta = format!("{{\"progressToken\":{id}}}");
        assemble(id, call, Some(&meta), headers)
    }

    fn mirror(&self, _written: &Envelope) -> Headers {
        self.headers()
    }

    fn one_way(&self, _method: Option<&str>, body: String) -> Outgoing {
        Outgoing { headers: self.headers(), ..bare(body, OutgoingKind::OneWay) }
    }

    fn read(&self, _method: &str, _tasks: bool, _result: &Raw) -> Reading {
        Reading { reply: Ok(Reply::Done), findings: Vec::new() }
    }

    /// A dropped connection does not cancel in this era ("Cancellation"), so the notification goes out over HTTP too.
    fn stop(&self, id: &Id, reason: &str) -> Stop {
        Stop::Notify(self.one_way(None, cancelled(id, reason)))
    }

    fn headers(&self) -> Headers {
        if self.wire == Wire::Http && self.revision.features().version_header {
            vec![header(VERSION_HEADER, self.revision.as_str())]
        } else {
            Vec::new()
        }
    }

    fn set_log_level(&self, _level: &str) {}

    fn wants_logs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Handshake, initialize};
    use crate::rpc::Id;
    use crate::session::call::Call;
    use crate::session::declares::ClientDeclares;
    use crate::session::dialect::{Dialect, Stop, Wire};
    use crate::session::version::Revision;

    #[test]
    fn initialize_declares_what_the_revision_knows() {
        let declares = ClientDeclares { ui: false, ..ClientDeclares::default() };
        let message = initialize(Id::Number(1), Revision::V2025_06_18, &declares, r#"{"name":"n","version":"v"}"#);
        assert_eq!(
            message.body,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{},"elicitation":{}},"clientInfo":{"name":"n","version":"v"}}}"#
        );
        assert!(message.headers.is_empty() && message.opens_session);
    }

    #[test]
    fn the_version_header_comes_with_2025_06_18() {
        for (revision, worn) in [
            (Revision::V2024_11_05, 0),
            (Revision::V2025_03_26, 0),
            (Revision::V2025_06_18, 1),
            (Revision::V2025_11_25, 1),
        ] {
            let dialect = Handshake::new(revision, Wire::Http);
            assert_eq!(dialect.dress(Id::Number(1), &Call::new("ping")).headers.len(), worn, "{revision}");
            assert_eq!(dialect.headers().len(), worn, "{revision}");
        }
        let pipe = Handshake::new(Revision::V2025_11_25, Wire::Pipe);
        assert!(pipe.dress(Id::Number(1), &Call::new("ping")).headers.is_empty());
    }

    #[test]
    fn calls_ask_for_progress_and_lists_stay_bare() {
        let dialect = Handshake::new(Revision::V2025_11_25, Wire::Pipe);
        let body = |method: &'static str, params: Option<&str>| {
            dialect.dress(Id::Number(7), &Call { params: params.map(str::to_owned), ..Call::new(method) }).body
        };
        assert_eq!(
            body("tools/call", Some(r#"{"name":"t"}"#)),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":7}}}"#
        );
        assert_eq!(body("tools/list", None), r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#);
        assert_eq!(
            body("tools/list", Some(r#"{"cursor":""}"#)),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":""}}"#
        );
    }

    #[test]
    fn giving_up_is_told() {
        let Stop::Notify(message) = Handshake::new(Revision::V2025_11_25, Wire::Http).stop(&Id::Number(7), "late")
        else {
            panic!("a notification")
        };
        assert!(message.body.contains("notifications/cancelled") && message.headers.len() == 1);
    }
}
