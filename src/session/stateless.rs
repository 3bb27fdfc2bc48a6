//! The modern era, 2026-07-28: no handshake, every request carries its metadata.
//!
//! Owns: [`Stateless`] and the `server/discover` request. May use: `rpc`, `json`. Must not: wait or send.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use super::call::Call;
use super::declares::ClientDeclares;
use super::dialect::{
    Dialect, Headers, Reading, Reply, Stop, VERSION_HEADER, Wire, assemble, bare, cancelled, header, may_ask, named_by,
    read_object,
};
use super::findings::{Finding, MRTR_METHOD, MRTR_PAYLOAD, RESULT_TYPE_KNOWN, RESULT_TYPE_PRESENT, preview};
use super::headers::{encode, mirrored};
use super::version::Revision;
use super::views::{questions, text};
use crate::json::Raw;
use crate::rpc::{Envelope, Id, push_quoted};
use crate::transport::{Outgoing, OutgoingKind};

/// A server that is asked without a handshake.
#[derive(Debug)]
pub(super) struct Stateless {
    revision: Revision,
    wire: Wire,
    /// `_meta` up to the progress token's value, without and with the tasks extension.
    plain: String,
    with_tasks: String,
    /// `,"io.modelcontextprotocol/logLevel":"…"` or nothing.
    log_level: Mutex<String>,
}

impl Stateless {
    /// Speaks `revision`; `client` is the client's `Implementation` object.
    pub fn new(revision: Revision, wire: Wire, declares: &ClientDeclares, client: &str) -> Self {
        let meta = |tasks| {
            format!(
                "{{\"io.modelcontextprotocol/protocolVersion\":\"{revision}\",\"io.modelcontextprotocol/clientCapabilities\":{},\
                 \"io.modelcontextprotocol/clientInfo\":{client},\"progressToken\":",
                declares.capabilities(revision, tasks)
            )
        };
        Self { revision, wire, plain: meta(false), with_tasks: meta(true), log_level: Mutex::default() }
    }

    /// The `server/discover` request.
    pub fn discover(&self, id: Id) -> Outgoing {
        self.dress(id, &Call::new("server/discover"))
    }

    fn meta(&self, id: &Id, tasks: bool) -> String {
        let head = if tasks { &self.with_tasks } else { &self.plain };
        let level = self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
        let mut meta = String::with_capacity(head.len() + level.len() + 24);
        meta.push_str(head);
        // Writing into a String cannot fail.
        _ = write!(meta, "{id}");
        meta.push_str(&level);
        meta.push('}');
        meta
    }

    fn worn(&self, call: &Call) -> Headers {
        let mut headers = self.headers();
        headers.push((("Mcp-Method").into(), crate::sensitive::Sensitive::new(call.method.clone().into_owned())));
        let tool = call.tool.as_ref().filter(|tool| !tool.header_params.is_empty());
        let wanted = named_by(&call.method);
        let params = match (&call.name, wanted, tool) {
            (_, None, None) | (Some(_), _, None) => None,
            _ => call.params.as_deref().and_then(read_object),
        };
        let read = || wanted.and_then(|member| text(params.as_ref()?, member));
        if wanted.is_some()
            && let Some(name) = call.name.clone().or_else(read)
        {
            headers.push(header("Mcp-Name", encode(&name)));
        }
        if let Some(tool) = tool
            && let Some(arguments) = params.as_ref().and_then(|params| params.get("arguments"))
        {
            let mirrored = mirrored(&tool.header_params, &arguments);
            headers.extend(mirrored.into_iter().map(|(name, value)| header(name, value)));
        }
        headers
    }
}

impl Dialect for Stateless {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn dress(&self, id: Id, call: &Call) -> Outgoing {
        let meta = self.meta(&id, call.tasks);
        let headers = if self.wire == Wire::Http { self.worn(call) } else { Vec::new() };
        assemble(id, call, Some(&meta), headers)
    }

    fn mirror(&self, written: &Envelope) -> Headers {
        match &written.method {
            Some(method) if self.wire == Wire::Http => {
                let params = written.params.as_ref().map(Raw::to_string);
                self.worn(&Call { params, ..Call::new(method.clone()) })
            }
            _ => self.headers(),
        }
    }

    fn one_way(&self, method: Option<&str>, body: String) -> Outgoing {
        let mut headers = self.headers();
        headers.extend(method.filter(|_| self.wire == Wire::Http).map(|method| header("Mcp-Method", method)));
        Outgoing { headers, ..bare(body, OutgoingKind::OneWay) }
    }

    fn read(&self, method: &str, tasks: bool, result: &Raw) -> Reading {
        let mut findings = Vec::new();
        let kind = result.get("resultType");
        let reply = match kind.as_ref().map(|kind| (kind.string(), kind)) {
            None => {
                let message = format!("the result of {method} has no resultType; it counts as complete");
                findings.push(Finding::new(RESULT_TYPE_PRESENT, message));
                Ok(Reply::Done)
            }
            Some((Some(kind), _)) if kind == "complete" || (kind == "task" && tasks && method == "tools/call") => {
                Ok(Reply::Done)
            }
            Some((Some(kind), _)) if kind == "input_required" => {
                if !may_ask(method) {
                    findings.push(Finding::new(MRTR_METHOD, format!("{method} was answered with a request for input")));
                }
                let asked = questions(result);
                if result.get("inputRequests").is_none() && result.get("requestState").is_none() {
                    let message =
                        format!("{method} was answered with input_required and neither inputRequests nor requestState");
                    findings.push(Finding::new(MRTR_PAYLOAD, message));
                }
                Ok(Reply::NeedsInput(asked))
            }
            Some((_, kind)) => {
                let kind = preview(kind.as_str(), 100);
                findings
                    .push(Finding::new(RESULT_TYPE_KNOWN, format!("the result of {method} has the resultType {kind}")));
                let why = if kind == "\"task\"" {
                    format!("{method} was answered with a task, which the request had not opted in to")
                } else {
                    format!("the result of {method} has the unknown resultType {kind}")
                };
                Err(why)
            }
        };
        Reading { reply, findings }
    }

    fn stop(&self, id: &Id, reason: &str) -> Stop {
        match self.wire {
            Wire::Pipe => Stop::Notify(self.one_way(None, cancelled(id, reason))),
            Wire::Http => Stop::Abandon,
        }
    }

    fn headers(&self) -> Headers {
        match self.wire {
            Wire::Pipe => Vec::new(),
            Wire::Http => vec![header(VERSION_HEADER, self.revision.as_str())],
        }
    }

    fn set_log_level(&self, level: &str) {
        let mut text = String::from(",\"io.modelcontextprotocol/logLevel\":");
        push_quoted(level, &mut text);
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn wants_logs(&self) -> bool {
        !self.log_level.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Stateless;
    use crate::json::Raw;
    use crate::rpc::Id;
    use crate::sensitive::Sensitive;
    use crate::session::call::Call;
    use crate::session::declares::ClientDeclares;
    use crate::session::dialect::{Dialect, Reply, Stop, Wire};
    use crate::session::inventory::{HeaderParam, Tool};
    use crate::session::version::Revision;

    const NOTHING: ClientDeclares = ClientDeclares { roots: None, elicitation: false, sampling: false, ui: false };

    fn dialect(wire: Wire) -> Stateless {
        Stateless::new(Revision::V2026_07_28, wire, &NOTHING, r#"{"name":"n","version":"v"}"#)
    }

    fn worn(call: &Call) -> Vec<(String, String)> {
        let headers = dialect(Wire::Http).dress(Id::Number(7), call).headers;
        headers.into_iter().map(|(name, value)| (name.into_owned(), value.into_inner())).collect()
    }

    #[test]
    fn every_request_carries_its_metadata() {
        let dialect = dialect(Wire::Pipe);
        dialect.set_log_level("debug");
        let sent = dialect.discover(Id::Text("probe-1".into()));
        assert_eq!(
            sent.body,
            concat!(
                r#"{"jsonrpc":"2.0","id":"probe-1","method":"server/discover","params":{"_meta":{"#,
                r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"#,
                r#""io.modelcontextprotocol/clientInfo":{"name":"n","version":"v"},"progressToken":"probe-1","#,
                r#""io.modelcontextprotocol/logLevel":"debug"}}}"#
            )
        );
        assert!(sent.headers.is_empty());
        let tasks = dialect.dress(Id::Number(1), &Call { tasks: true, ..Call::new("tools/call") });
        assert!(tasks.body.contains("io.modelcontextprotocol/tasks"));
    }

    #[test]
    fn headers_mirror_method_name_and_annotated_arguments() {
        let tool = Raw::parse(r#"{"name":"wetter"}"#).expect("a tool");
        let ort = HeaderParam { path: vec!["ort".to_owned()], header: "Mcp-Param-Ort".to_owned() };
        let tool = Tool::new(tool, vec![ort], None);
        let call = Call {
            params: Some(r#"{"name":"wetter","arguments":{"ort":"Zürich"}}"#.to_owned()),
            tool: Some(Arc::new(tool)),
            ..Call::new("tools/call")
        };
        let pairs = worn(&call);
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(
            pairs,
            [
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", "wetter"),
                ("Mcp-Param-Ort", "=?base64?WsO8cmljaA==?="),
            ]
        );
        let read = Call { params: Some(r#"{"uri":"demo:///a"}"#.to_owned()), ..Call::new("resources/read") };
        assert_eq!(worn(&read)[2], ("Mcp-Name".to_owned(), "demo:///a".to_owned()));
        let given = Call { name: Some("ä".to_owned()), ..Call::new("prompts/get") };
        assert_eq!(worn(&given)[2].1, "=?base64?w6Q=?=");
        assert_eq!(worn(&Call::new("tools/list")).len(), 2);
    }

    #[test]
    fn headers_given_for_the_call_replace_ours() {
        let call = Call {
            headers: vec![("mcp-method".to_owned(), Sensitive::new("x".to_owned()))],
            ..Call::new("tools/list")
        };
        assert_eq!(worn(&call)[1..], [("mcp-method".to_owned(), "x".to_owned())]);
        let nothing = Sensitive::new(String::new());
        let call = Call { headers: vec![("MCP-METHOD".to_owned(), nothing)], ..Call::new("tools/list") };
        let message = dialect(Wire::Http).dress(Id::Number(7), &call);
        assert_eq!((message.headers.len(), message.without), (1, vec!["MCP-METHOD".to_owned()]));
    }

    #[test]
    fn results_say_what_they_are() {
        let table = [
            ("tools/call", r#"{"resultType":"complete"}"#, Ok(Reply::Done), None),
            ("tools/call", "{}", Ok(Reply::Done), Some("result-type-present")),
            (
                "tools/call",
                r#"{"resultType":"input_required","requestState":"s"}"#,
                Ok(Reply::NeedsInput(vec![])),
                None,
            ),
            (
                "tools/list",
                r#"{"resultType":"input_required","requestState":"s"}"#,
                Ok(Reply::NeedsInput(vec![])),
                Some("mrtr-method-allowed"),
            ),
            (
                "tools/call",
                r#"{"resultType":"input_required"}"#,
                Ok(Reply::NeedsInput(vec![])),
                Some("mrtr-has-payload"),
            ),
            ("tools/call", r#"{"resultType":"later"}"#, Err("unknown resultType"), Some("result-type-known")),
            ("tools/call", r#"{"resultType":5}"#, Err("unknown resultType 5"), Some("result-type-known")),
            ("tools/call", r#"{"resultType":"task"}"#, Err("opted in"), Some("result-type-known")),
        ];
        for (method, result, reply, finding) in table {
            let reading = dialect(Wire::Pipe).read(method, false, &Raw::parse(result).expect(result));
            match (reading.reply, reply) {
                (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{result}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
                (read, _) => panic!("{result}: {read:?}"),
            }
            assert_eq!(reading.findings.first().map(|finding| finding.id), finding, "{result}");
        }
        let task = Raw::parse(r#"{"resultType":"task"}"#).expect("json");
        assert_eq!(dialect(Wire::Pipe).read("tools/call", true, &task).reply, Ok(Reply::Done));
    }

    #[test]
    fn giving_up_closes_the_stream_or_tells_over_a_pipe() {
        assert!(matches!(dialect(Wire::Http).stop(&Id::Number(1), "x"), Stop::Abandon));
        assert!(matches!(dialect(Wire::Pipe).stop(&Id::Number(1), "x"), Stop::Notify(_)));
    }
}
