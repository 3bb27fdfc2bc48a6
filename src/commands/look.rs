//! What assertions and `set_var` look at: places in the last response.

use std::sync::Arc;

use crate::engine::cx::Cx;
use crate::engine::datum::Place;
use crate::engine::last::Last;
use crate::engine::outcome::{Failure, FailureKind};
use crate::engine::spec::Param;
use crate::json::path::{Path, Root};
use crate::json::{Json, Raw};
use crate::source::Span;

/// A parameter that names a place.
pub const fn place(name: &'static str, doc: &'static str) -> Param<Place> {
    Param::place(name, doc)
}

/// The value at a place, or the failure that says how far the path got.
pub fn follow(cx: &mut Cx, place: &Place, span: Option<Span>) -> Result<Json, Failure> {
    match place {
        Place::Value(value) => Ok(value.clone()),
        Place::Path(path) => at(cx, path, span),
    }
}

fn at(cx: &mut Cx, path: &Arc<Path>, span: Option<Span>) -> Result<Json, Failure> {
    cx.path = Some(path.to_string());
    let last = last(cx)?;
    let Some(root) = last.root() else {
        return Err(nothing(last));
    };
    path.resolve(&Root { stored: last.stored.as_ref(), result: root }).map_err(|missing| {
        let failure =
            Failure::new(FailureKind::Missing, "mcp::path::missing", format!("the path `{path}` leads nowhere"))
                .at(span, missing.to_string())
                .path(path.to_string());
        // A suggestion stands in the label already.
        if missing.suggestion.is_some() { failure } else { failure.help("`-v` shows the whole answer") }
    })
}

/// The last response.
///
/// # Errors
/// Where there is none.
pub fn last(cx: &Cx) -> Result<&Last, Failure> {
    cx.last.as_ref().ok_or_else(|| {
        Failure::new(FailureKind::Missing, "mcp::assert::no_response", "there is no response to look at")
            .help("a request such as `call_tool` must come before it")
    })
}

fn nothing(last: &Last) -> Failure {
    Failure::new(
        FailureKind::Missing,
        "mcp::assert::no_result",
        format!("line {} got no answer: {}", last.line, last.text()),
    )
}

/// Without a path: structuredContent if there is one, else the root.
pub fn whole(cx: &mut Cx) -> Result<Json, Failure> {
    let last = last(cx)?;
    let structured = last.structured();
    let (path, raw): (&str, Option<Raw>) = match (&last.stored, structured) {
        (Some(stored), _) => ("", Some(stored.clone())),
        (None, Some(structured)) => ("structuredContent", Some(structured)),
        (None, None) => ("rawResponse", last.root().cloned()),
    };
    let value = raw.as_ref().map(Raw::to_json).ok_or_else(|| nothing(last))?;
    cx.path = Some(path.to_owned());
    Ok(value)
}
