//! A request to make and what came of it.
//!
//! Owns: [`Call`], [`Exchange`]. May use: `rpc`, `json`, `sensitive`. Must not: send anything.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::inventory::Tool;
use crate::json::Raw;
use crate::rpc::RpcError;
use crate::sensitive::Sensitive;

/// A request to make.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The method.
    pub method: Cow<'static, str>,
    /// The params as JSON text. Sent byte for byte but for line ends, which become spaces; where an object has no `_meta`,
    /// the era's is added.
    pub params: Option<String>,
    /// The longest silence; the session's where none.
    pub timeout: Option<Duration>,
    /// Headers for this request (HTTP). They replace ours of the same name; an empty value takes ours away.
    pub headers: Vec<(String, Sensitive<String>)>,
    /// The tool called, for the headers that mirror its arguments.
    pub tool: Option<Arc<Tool>>,
    /// The name or URI that `Mcp-Name` mirrors; read from the params where none.
    pub name: Option<String>,
    /// Declare the tasks extension on this request (2026-07-28).
    pub tasks: bool,
}

impl Call {
    /// A call of `method` without params.
    pub fn new(method: impl Into<Cow<'static, str>>) -> Self {
        Self { method: method.into(), ..Self::default() }
    }
}

/// A request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The method.
    pub method: Cow<'static, str>,
    /// The request as sent.
    pub request: Arc<str>,
    /// The `result`, or the `error`.
    pub outcome: Result<Raw, RpcError>,
    /// From just before sending until the answer had arrived.
    pub duration: Duration,
    /// Notifications that arrived meanwhile, whole messages, oldest first; bounded.
    pub notices: Vec<Raw>,
}
