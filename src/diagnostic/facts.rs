//! A diagnostic as plain data, for JSON reports, editors and CI annotations.

use serde::Serialize;

use super::{Diagnostic, Label, Severity};

/// A place with its line and columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place<'a> {
    /// Name of the source.
    pub file: &'a str,
    /// First line, from 1.
    pub line: u32,
    /// First column in Unicode scalar values, from 1.
    pub column: u32,
    /// Last line, from 1.
    pub end_line: u32,
    /// Column behind the last character.
    pub end_column: u32,
    /// What is said there; may be empty.
    pub text: &'a str,
}

/// What a [`Diagnostic`] says, ready to be serialised. Nothing is escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facts<'a> {
    /// The stable code.
    pub code: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What happened, one line.
    pub title: &'a str,
    /// The word it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place<'a>>,
    /// A second place that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<Place<'a>>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
    /// Longer text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<&'a str>,
}

impl Severity {
    /// `error` or `warning`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl Diagnostic {
    /// The diagnostic as plain data.
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            code: self.code,
            severity: self.severity.name(),
            title: &self.title,
            place: self.label.as_ref().map(place),
            second: self.second.as_ref().map(place),
            help: self.help.as_deref(),
            detail: self.detail.as_deref(),
        }
    }
}

fn place(label: &Label) -> Place<'_> {
    let (start, end) = (label.source.position(label.span.start), label.source.position(label.span.end));
    Place {
        file: label.source.name(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        text: &label.text,
    }
}
