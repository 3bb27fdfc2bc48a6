//! The last response: what assertions and `set_var` look at.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use crate::json::Raw;
use crate::rpc::RpcError;

/// How the text of a response is drawn out of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A tool result: its text blocks.
    Tool,
    /// A prompt: the texts of its messages.
    Prompt,
    /// A resource: its text contents.
    Resource,
    /// A list: the names under this member, one per line.
    List(&'static str),
    /// Anything else: the compact JSON.
    Plain,
}

/// What came back.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A result, as sent.
    Result(Raw),
    /// A JSON-RPC error, as sent.
    Error(RpcError),
    /// Nothing that could be read; in words.
    Nothing(String),
}

/// The last response with all that can be asked about it.
#[derive(Debug)]
pub struct Last {
    /// The line that asked.
    pub line: u32,
    /// The command that asked.
    pub command: &'static str,
    /// What came back.
    pub reply: Reply,
    /// What paths start from, where the command stores a value of its own.
    pub stored: Option<Raw>,
    /// How its text is drawn.
    pub shape: Shape,
    /// From sending to the whole answer.
    pub duration: Duration,
    /// Notifications that arrived meanwhile: whole messages.
    pub notices: Vec<Raw>,
    /// The request as sent.
    pub request: Arc<str>,
    /// The request failed and no prefix expected it: what looks at it is skipped.
    pub unexpected: bool,
    text: OnceCell<String>,
    pretty: OnceCell<String>,
    compact: OnceCell<String>,
}

impl Last {
    /// A response to the command on `line`.
    pub fn new(line: u32, command: &'static str, reply: Reply, shape: Shape) -> Self {
        Self {
            line,
            command,
            reply,
            stored: None,
            shape,
            duration: Duration::ZERO,
            notices: Vec::new(),
            request: "".into(),
            unexpected: false,
            text: OnceCell::new(),
            pretty: OnceCell::new(),
            compact: OnceCell::new(),
        }
    }

    /// The root that paths start from: the result as sent, or the error object.
    pub fn root(&self) -> Option<&Raw> {
        match &self.reply {
            Reply::Result(raw) => Some(raw),
            Reply::Error(error) => Some(&error.raw),
            Reply::Nothing(_) => None,
        }
    }

    /// True for a tool result with `isError: true`.
    pub fn is_tool_error(&self) -> bool {
        match &self.reply {
            Reply::Result(raw) if self.shape == Shape::Tool => {
                raw.get("isError").and_then(|flag| flag.bool()) == Some(true)
            }
            _ => false,
        }
    }

    /// `structuredContent`, where a tool result has it.
    pub fn structured(&self) -> Option<Raw> {
        match &self.reply {
            Reply::Result(raw) => raw.get("structuredContent"),
            _ => None,
        }
    }

    /// The text, as `assert_contains` sees it first.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| match &self.reply {
            Reply::Result(raw) => text_of(self.shape, raw),
            Reply::Error(error) => error.message.clone(),
            Reply::Nothing(words) => words.clone(),
        })
    }

    /// The compact JSON of the result or error.
    pub fn compact(&self) -> &str {
        self.compact.get_or_init(|| self.root().map(|raw| raw.to_json().compact()).unwrap_or_default())
    }

    /// The JSON of the result or error on many lines.
    pub fn pretty(&self) -> &str {
        self.pretty.get_or_init(|| self.root().map(|raw| raw.to_json().pretty()).unwrap_or_default())
    }
}

/// Draws the text out of a result.
pub fn text_of(shape: Shape, result: &Raw) -> String {
    match shape {
        Shape::Tool => {
            join(result.get("content").iter().flat_map(Raw::elements).filter_map(|block| block_text(&block)))
        }
        Shape::Prompt => join(
            result
                .get("messages")
                .iter()
                .flat_map(Raw::elements)
                .filter_map(|message| message.get("content").and_then(|block| block_text(&block))),
        ),
        Shape::Resource => {
            join(result.get("contents").iter().flat_map(Raw::elements).filter_map(|content| string(&content, "text")))
        }
        Shape::List(member) => {
            join(result.get(member).iter().flat_map(Raw::elements).filter_map(|entry| string(&entry, "name")))
        }
        Shape::Plain => result.to_json().compact(),
    }
}

fn block_text(block: &Raw) -> Option<String> {
    string(block, "text").or_else(|| block.get("resource").and_then(|resource| string(&resource, "text")))
}

fn string(raw: &Raw, member: &str) -> Option<String> {
    raw.get(member)?.string().map(std::borrow::Cow::into_owned)
}

fn join(texts: impl Iterator<Item = String>) -> String {
    let mut all = String::new();
    for (at, text) in texts.enumerate() {
        if at > 0 {
            all.push('\n');
        }
        all.push_str(&text);
    }
    all
}
