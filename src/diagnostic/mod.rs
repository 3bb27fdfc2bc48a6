//! The one shape of every error, warning and hint.
//!
//! Owns: [`Diagnostic`], its labels, its pictures ([`render`], [`plain`], [`Facts`]), [`suggest`] and [`escape`].
//! May use: `source`, `sensitive`. Must not: know who produces or prints a diagnostic.

mod escape;
mod facts;
mod render;
mod window;

use std::sync::Arc;

pub use crate::near::{closest_first, suggest};
pub use escape::{escape, escape_lines};
pub use facts::{Facts, Place};
pub use render::{MAX_DRAWN, Style, plain, render};

use crate::source::{Origin, Position, Source, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something failed or cannot run.
    Error,
    /// Something is doubtful; it fails only under `--strict`.
    Warning,
}

/// A place with a few words about it.
#[derive(Clone, Debug)]
pub struct Label {
    /// The text the span points into.
    pub source: Arc<Source>,
    /// The exact word meant.
    pub span: Span,
    /// What is said under the underline; may be empty.
    pub text: String,
}

/// One error or warning: a stable code, a title, the exact word, perhaps a second place, and what to do next.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Stable, such as `mcp::syntax::open_quote`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What happened, one line.
    pub title: String,
    /// The word it is about.
    pub label: Option<Label>,
    /// A second place that matters, such as the including line.
    pub second: Option<Label>,
    /// What to do next.
    pub help: Option<String>,
    /// Longer text below the picture, such as expected and actual values; may hold several lines.
    pub detail: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(code: &'static str, title: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            title: title.into(),
            label: None,
            second: None,
            help: None,
            detail: None,
        }
    }

    /// A warning without a place.
    pub fn warning(code: &'static str, title: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, title) }
    }

    /// Sets the place and the words under it.
    #[must_use]
    pub fn at(mut self, source: &Arc<Source>, span: Span, text: impl Into<String>) -> Self {
        self.label = Some(Label { source: source.clone(), span, text: text.into() });
        self
    }

    /// Sets the place from an origin, and the including line as the second place.
    #[must_use]
    pub fn at_origin(mut self, origin: &Origin, text: impl Into<String>) -> Self {
        if let Some(from) = &origin.included_from {
            self.second = Some(Label { source: from.source.clone(), span: from.span, text: "included here".into() });
        }
        self.at(&origin.source, origin.span, text)
    }

    /// Sets the second place.
    #[must_use]
    pub fn and(mut self, source: &Arc<Source>, span: Span, text: impl Into<String>) -> Self {
        self.second = Some(Label { source: source.clone(), span, text: text.into() });
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds longer text.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// File name, line and column of the label, if there is one.
    pub fn place(&self) -> Option<(&str, Position)> {
        self.label.as_ref().map(|label| (label.source.name(), label.source.position(label.span.start)))
    }
}
