//! The lines of a source that a picture shows: at most three, cut to 200 columns (or what the terminal has) with the label in view, and without
//! anything a terminal would obey. miette sees only these, never the source: it panics on far columns and on spans
//! past the end, prints control characters as they are, and counts columns in bytes.

use std::sync::Arc;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use unicode_width::UnicodeWidthChar;

use super::Label;
use super::escape::{escape, is_unsafe, push_escaped};
use crate::source::{Source, Span};

/// Columns of a line that are shown at most, however wide the terminal is.
const MAX_COLUMNS: usize = 200;

/// Columns that are shown at least: a picture in less would tell nothing.
const MIN_COLUMNS: usize = 60;

/// A label in the text of a window.
#[derive(Debug)]
struct Mark {
    /// Where it is in all windows' text.
    start: usize,
    end: usize,
    /// Line and column in the source, from 0.
    line: usize,
    column: usize,
}

/// A few lines of one source.
#[derive(Debug)]
struct Window {
    name: String,
    /// Number of the first line, from 0.
    line: usize,
    lines: usize,
    /// Where it starts in all windows' text.
    start: usize,
    text: String,
}

/// What miette is shown in place of the sources.
#[derive(Debug, Default)]
pub(super) struct Windows {
    windows: Vec<Window>,
    marks: Vec<Mark>,
    columns: usize,
}

impl Windows {
    /// The windows for one or two labels, `columns` wide where that makes sense; two labels on one line share one.
    pub(super) fn new<'a>(labels: impl IntoIterator<Item = &'a Label>, columns: usize) -> Self {
        let mut windows = Self { columns: columns.clamp(MIN_COLUMNS, MAX_COLUMNS), ..Self::default() };
        let mut first: Option<&Label> = None;
        for label in labels {
            match first {
                Some(other) if is_same_line(other, label) => windows.open(&label.source, other.span, label.span, false),
                _ => windows.open(&label.source, label.span, label.span, true),
            }
            first = first.or(Some(label));
        }
        windows
    }

    /// Where the labels are, in the order they were given.
    pub(super) fn spans(&self) -> impl Iterator<Item = SourceSpan> + '_ {
        self.marks.iter().map(|mark| SourceSpan::new(mark.start.into(), mark.end - mark.start))
    }

    /// Number of characters left out at the start of each line, so that the label is in view.
    fn shown_from(&self, source: &Source, span: Span) -> usize {
        let column = source.position(span.start).column as usize;
        let before = self.columns / 3;
        if column + before > self.columns { column - 1 - before } else { 0 }
    }

    /// Adds a mark for `span` in the window around `center`, which is added too where it `is_new`.
    fn open(&mut self, source: &Source, center: Span, span: Span, is_new: bool) {
        let position = source.position(span.start);
        let line = position.line;
        let first = line.saturating_sub(1).max(1);
        let last = (line + 1).min(source.line_count());
        // The line end at the end of a file begins no line people know of.
        let is_phantom = last > line && source.line_span(last).start as usize == source.text().len();
        let last = if is_phantom { line } else { last };
        let shown = self.shown_from(source, center);
        let start = if is_new {
            self.windows.last().map_or(0, |window| window.start + window.text.len() + 1)
        } else {
            self.windows.first().map_or(0, |window| window.start)
        };
        let mut text = String::new();
        let mut mark = (0, 0);
        for number in first..=last {
            let at = text.len();
            let line_span = source.line_span(number);
            let in_line = (number == line).then(|| clamp(span, line_span));
            let label = in_line.map(|span| (span.start - line_span.start, span.end - line_span.start));
            let (from, to) = push_line(&mut text, source.slice(line_span), shown, self.columns, label);
            if number == line {
                mark = (at + from, at + to);
            }
            text.push('\n');
        }
        self.marks.push(Mark {
            start: start + mark.0,
            end: start + mark.1,
            line: line as usize - 1,
            column: position.column as usize - 1,
        });
        if is_new {
            let lines = (last - first + 1) as usize;
            let name = escape(source.name()).into_owned();
            self.windows.push(Window { name, line: first as usize - 1, lines, start, text });
        }
    }
}

fn is_same_line(left: &Label, right: &Label) -> bool {
    let line = |label: &Label| label.source.position(label.span.start).line;
    Arc::ptr_eq(&left.source, &right.source) && line(left) == line(right)
}

/// The part of `span` on its first line.
fn clamp(span: Span, line: Span) -> Span {
    let start = span.start.clamp(line.start, line.end);
    Span::new(start, span.end.clamp(start, line.end))
}

/// Writes a line from its character `from` on; gives the label's place in what was written.
fn push_line(out: &mut String, line: &str, from: usize, columns: usize, label: Option<(u32, u32)>) -> (usize, usize) {
    let base = out.len();
    let mut width = 0;
    if from > 0 {
        out.push('…');
        width += 1;
    }
    let (start, end) = label.map_or((usize::MAX, usize::MAX), |(start, end)| (start as usize, end as usize));
    let (mut mark_start, mut mark_end) = (None, None);
    for (at, c) in line.char_indices().skip(from) {
        if at >= start && mark_start.is_none() {
            mark_start = Some(out.len() - base);
        }
        if at >= end && mark_end.is_none() {
            mark_end = Some(out.len() - base);
        }
        if width >= columns {
            out.push('…');
            break;
        }
        let before = out.len();
        if is_unsafe(c) && c != '\t' {
            push_escaped(out, c);
            width += out.len() - before;
        } else {
            out.push(c);
            width += if c == '\t' { 4 } else { c.width().unwrap_or(0) };
        }
    }
    let length = out.len() - base;
    let mark_start = mark_start.unwrap_or(length);
    (mark_start, mark_end.unwrap_or(length).max(mark_start))
}

impl SourceCode for Windows {
    /// With context lines: the window that holds `span`. Without: only its line and column count, for the header.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let holds = |window: &&Window| window.start <= start && end <= window.start + window.text.len();
        let window = self.windows.iter().find(holds).ok_or(MietteError::OutOfBounds)?;
        let range = SourceSpan::new(window.start.into(), window.text.len());
        let (line, column) = if before == 0 && after == 0 {
            let mark = self.marks.iter().find(|mark| mark.start == start).ok_or(MietteError::OutOfBounds)?;
            (mark.line, mark.column)
        } else {
            (window.line, 0)
        };
        let data = window.text.as_bytes();
        Ok(Box::new(MietteSpanContents::new_named(window.name.clone(), data, range, line, column, window.lines)))
    }
}
