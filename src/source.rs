//! Source texts and places in them.
//!
//! Owns: [`Source`], [`Span`], [`Origin`] and the arithmetic from byte offsets to lines and columns.
//! May use: nothing of ours. Must not: know what the text means or where it came from.

use std::sync::{Arc, OnceLock};

/// A range of bytes in one [`Source`]: `start` is included, `end` is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// A span from byte `start` up to, not including, byte `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Number of bytes covered.
    pub const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// True where the span covers no byte.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// A line and a column as people count them: both start at 1, columns count Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line number, from 1.
    pub line: u32,
    /// Column in Unicode scalar values, from 1.
    pub column: u32,
}

/// One text that was read, with the name people know it by (a path, `-`, or `-e`).
#[derive(Debug)]
pub struct Source {
    name: String,
    text: Arc<str>,
    line_starts: OnceLock<Vec<u32>>,
}

impl Source {
    /// Wraps `text` under `name`. Texts above 4 GiB are refused by whoever reads files.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into(), line_starts: OnceLock::new() })
    }

    /// The name shown in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, shared.
    pub fn shared(&self) -> &Arc<str> {
        &self.text
    }

    /// The text under `span`; clamped to the source and to character borders, never panics.
    pub fn slice(&self, span: Span) -> &str {
        let end = floor_char(&self.text, span.end as usize);
        let start = floor_char(&self.text, span.start as usize).min(end);
        &self.text[start..end]
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let mut starts = vec![0];
            starts.extend(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at as u32 + 1));
            starts
        })
    }

    /// Line and column of a byte offset; offsets past the end give the end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = floor_char(&self.text, offset as usize) as u32;
        let line = self.line_starts().partition_point(|start| *start <= offset);
        let start = self.line_starts()[line - 1] as usize;
        let column = self.text[start..offset as usize].chars().count() as u32 + 1;
        Position { line: line as u32, column }
    }

    /// The span of a line (from 1) without its line end; empty where there is no such line.
    pub fn line_span(&self, line: u32) -> Span {
        let starts = self.line_starts();
        let Some(&start) = (line as usize).checked_sub(1).and_then(|at| starts.get(at)) else {
            return Span::default();
        };
        let end = starts.get(line as usize).map_or(self.text.len(), |next| *next as usize - 1);
        let end = if self.text[start as usize..end].ends_with('\r') { end - 1 } else { end };
        Span::new(start, end as u32)
    }

    /// Number of lines; a text without a line end has one.
    pub fn line_count(&self) -> u32 {
        self.line_starts().len() as u32
    }
}

fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A place in a source, and for included files the place that included it.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The text.
    pub source: Arc<Source>,
    /// The bytes meant.
    pub span: Span,
    /// Where an `include` brought this text in, if one did.
    pub included_from: Option<Arc<Origin>>,
}

impl Origin {
    /// A place in a source that nothing included.
    pub fn new(source: Arc<Source>, span: Span) -> Self {
        Self { source, span, included_from: None }
    }

    /// Line and column of the first byte.
    pub fn position(&self) -> Position {
        self.source.position(self.span.start)
    }

    /// The same source and includer, another span.
    pub fn at(&self, span: Span) -> Self {
        Self { source: self.source.clone(), span, included_from: self.included_from.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Position, Source, Span};

    #[test]
    fn positions_count_scalars_and_clamp() {
        let source = Source::new("t", "ä b\r\nx\n");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(1), Position { line: 1, column: 1 });
        assert_eq!(source.position(2), Position { line: 1, column: 2 });
        assert_eq!(source.position(6), Position { line: 2, column: 1 });
        assert_eq!(source.position(999), Position { line: 3, column: 1 });
        assert_eq!(source.slice(source.line_span(1)), "ä b");
        assert_eq!(source.slice(source.line_span(9)), "");
        assert_eq!(source.slice(Span::new(1, 900)), "ä b\r\nx\n");
    }
}
