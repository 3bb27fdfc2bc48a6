//! Diagnostics as text for people.

use std::fmt::{self, Write};

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, ThemeCharacters, ThemeStyles};

use super::escape::{escape, escape_lines};
use super::window::Windows;
use super::{Diagnostic, Label, Severity};

/// More diagnostics than this are counted, not drawn.
pub const MAX_DRAWN: usize = 50;

/// Bytes of a title, label or help that are shown.
const MAX_TEXT: usize = 4_000;

/// Bytes of a detail that are shown.
const MAX_DETAIL: usize = 64 * 1024;

/// Columns left of a source line: its number and a border.
const GUTTER: usize = 10;

/// How text is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour by ANSI escapes.
    pub color: bool,
    /// Columns of the terminal: text is wrapped there, source lines are cut with the word in view.
    pub width: usize,
}

/// Draws diagnostics: title, the source lines with the exact word underlined, what to do. At most [`MAX_DRAWN`] are
/// drawn, the others counted. Whatever the sources and messages hold, only `style` brings escapes into the text.
pub fn render(diagnostics: &[Diagnostic], style: &Style) -> String {
    let handler = handler(style);
    let mut out = String::new();
    for (at, diagnostic) in diagnostics.iter().take(MAX_DRAWN).enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let mut picture = String::new();
        if handler.render_report(&mut picture, &Drawn::new(diagnostic, style)).is_err() {
            // Never lose the words for want of a picture.
            picture = plain(diagnostic);
        }
        for line in picture.lines() {
            out.push_str(line.trim_end_matches(' '));
            out.push('\n');
        }
        if let Some(detail) = &diagnostic.detail {
            push_detail(&mut out, detail);
        }
    }
    if let Some(rest) = diagnostics.get(MAX_DRAWN..).filter(|rest| !rest.is_empty()) {
        let errors = rest.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
        let _ = writeln!(out, "\n… and {}", counted(errors, rest.len() - errors));
    }
    out
}

/// One line without a picture: place, severity, title and code; escaped.
pub fn plain(diagnostic: &Diagnostic) -> String {
    let mut out = String::new();
    if let Some((file, at)) = diagnostic.place() {
        let _ = write!(out, "{}:{}:{}: ", escape(file), at.line, at.column);
    }
    let title = escape(cut(&diagnostic.title, MAX_TEXT));
    let _ = write!(out, "{}: {title} [{}]", diagnostic.severity.name(), diagnostic.code);
    out
}

fn handler(style: &Style) -> GraphicalReportHandler {
    let theme = GraphicalTheme {
        characters: ThemeCharacters::unicode(),
        styles: if style.color { ThemeStyles::ansi() } else { ThemeStyles::none() },
    };
    GraphicalReportHandler::new_themed(theme)
        .with_width(style.width.max(20))
        .with_links(false)
        .with_context_lines(1)
        .without_syntax_highlighting()
}

fn counted(errors: usize, warnings: usize) -> String {
    let count = |number: usize, one: &str| format!("{number} more {one}{}", if number == 1 { "" } else { "s" });
    match (errors, warnings) {
        (_, 0) => count(errors, "error"),
        (0, _) => count(warnings, "warning"),
        _ => format!("{} and {}", count(errors, "error"), count(warnings, "warning")),
    }
}

fn push_detail(out: &mut String, detail: &str) {
    let shown = cut(detail, MAX_DETAIL);
    out.push('\n');
    for line in escape_lines(shown).lines() {
        let _ = writeln!(out, "{}{line}", if line.is_empty() { "" } else { "  " });
    }
    if shown.len() < detail.len() {
        let _ = writeln!(out, "  … {} more bytes", detail.len() - shown.len());
    }
}

/// At most `limit` bytes of a text.
fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// A diagnostic as miette wants it, all texts escaped.
#[derive(Debug)]
struct Drawn<'a> {
    diagnostic: &'a Diagnostic,
    title: String,
    windows: Windows,
}

impl<'a> Drawn<'a> {
    fn new(diagnostic: &'a Diagnostic, style: &Style) -> Self {
        let title = escape(cut(&diagnostic.title, MAX_TEXT)).into_owned();
        let columns = style.width.saturating_sub(GUTTER);
        Self { diagnostic, title, windows: Windows::new(labels(diagnostic), columns) }
    }
}

fn labels(diagnostic: &Diagnostic) -> impl Iterator<Item = &Label> {
    diagnostic.label.iter().chain(diagnostic.second.as_ref())
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        let help = self.diagnostic.help.as_deref()?;
        Some(Box::new(escape_lines(cut(help, MAX_TEXT))))
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.windows)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = labels(self.diagnostic).zip(self.windows.spans()).enumerate().map(|(at, (label, span))| {
            let text = (!label.text.is_empty()).then(|| escape(cut(&label.text, MAX_TEXT)).into_owned());
            if at == 0 {
                LabeledSpan::new_primary_with_span(text, span)
            } else {
                LabeledSpan::new_with_span(text, span)
            }
        });
        Some(Box::new(labels))
    }
}

#[cfg(test)]
mod tests;
