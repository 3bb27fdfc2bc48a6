//! The one place that splits text at `$name`, takes escapes out and undoes the indentation of heredocs.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2};

use super::ast::{Part, PartKind, Quote};
use super::heredoc::{self, Opener};
use crate::source::Span;

/// `identifier = ( ? ASCII letter ? | "_" ), { ? ASCII letter ? | ? digit ? | "_" } ;`
///
/// Its length at the start of `text`, 0 where there is none.
pub(super) fn identifier(text: &[u8]) -> usize {
    match text {
        [first, rest @ ..] if first.is_ascii_alphabetic() || *first == b'_' => {
            1 + rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
        }
        _ => 0,
    }
}

/// `variable = "$", identifier ;`
///
/// Its length at the start of `text`, 0 where there is none. Variables stand in bare, double-quoted and single-quoted
/// text and in the bodies of heredocs whose mark has no single quotes.
fn variable(text: &[u8]) -> usize {
    match text {
        [b'$', name @ ..] => match identifier(name) {
            0 => 0,
            length => 1 + length,
        },
        _ => 0,
    }
}

/// Where in `text` there are `$names`.
pub(super) fn variables(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    memchr_iter(b'$', bytes).map(|at| at..at + variable(&bytes[at..])).filter(|range| !range.is_empty())
}

/// [`memchr`] for texts that mostly are short.
fn find(byte: u8, text: &[u8]) -> Option<usize> {
    if text.len() < 24 { text.iter().position(|other| *other == byte) } else { memchr(byte, text) }
}

/// The parts of a script as they come to be.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) parts: Vec<Part>,
    pub(super) owned: Vec<(u32, Box<str>)>,
}

impl Pieces {
    /// Adds text that is the source under `span`.
    pub(super) fn push_text(&mut self, quote: Quote, span: Span) {
        self.parts.push(Part { kind: PartKind::Text, quote, span });
    }

    /// Adds text that differs from the source under `span`.
    pub(super) fn push_owned(&mut self, text: impl Into<Box<str>>, quote: Quote, span: Span) {
        // Spans come in the order of the source, so `Script::text` can search them.
        self.owned.push((span.start, text.into()));
        self.parts.push(Part { kind: PartKind::Owned, quote, span });
    }
}

/// Answers whether there is a certain byte under a span. It remembers how far it has looked, so that asking in the
/// order of the source costs next to nothing.
#[derive(Debug)]
pub(super) struct Finder<'s> {
    text: &'s [u8],
    byte: u8,
    /// There is none from `seen` up to `next`.
    seen: usize,
    next: usize,
}

impl<'s> Finder<'s> {
    pub(super) const fn new(text: &'s str, byte: u8) -> Self {
        Self { text: text.as_bytes(), byte, seen: 0, next: 0 }
    }

    /// Whether the byte is under `span`.
    #[inline]
    pub(super) fn is_in(&mut self, span: Span) -> bool {
        let (start, end) = (span.start as usize, span.end as usize);
        let is_known = start >= self.seen && end <= self.next;
        !is_known && self.find(start, end)
    }

    #[inline(never)]
    fn find(&mut self, start: usize, end: usize) -> bool {
        if start < self.seen {
            // Going back must not throw away what was found further on.
            return memchr(self.byte, &self.text[start..end]).is_some();
        }
        if self.next < start || self.seen == self.next {
            let found = memchr(self.byte, &self.text[start..]);
            (self.seen, self.next) = (start, found.map_or(self.text.len(), |at| start + at));
        }
        self.next < end
    }
}

/// Splits segments of one source into parts.
#[derive(Debug)]
pub(super) struct Splitter<'s> {
    text: &'s str,
    dollars: Finder<'s>,
    backslashes: Finder<'s>,
}

impl<'s> Splitter<'s> {
    pub(super) const fn new(text: &'s str) -> Self {
        Self { text, dollars: Finder::new(text, b'$'), backslashes: Finder::new(text, b'\\') }
    }

    /// Text in which nothing is escaped.
    #[inline]
    pub(super) fn plain(&mut self, span: Span, quote: Quote, out: &mut Pieces) {
        if self.dollars.is_in(span) {
            self.with_variables(span, quote, out);
        } else {
            out.push_text(quote, span);
        }
    }

    #[inline(never)]
    fn with_variables(&self, span: Span, quote: Quote, out: &mut Pieces) {
        let bytes = &self.text.as_bytes()[span.start as usize..span.end as usize];
        if !bytes.is_empty() && variable(bytes) == bytes.len() {
            // The most common case: nothing but a variable.
            out.parts.push(Part { kind: PartKind::Var, quote, span });
            return;
        }
        let mut builder = Builder::new(self.text, span.start, quote, out);
        builder.variables(span.start as usize, span.end as usize);
        builder.finish(span);
    }

    /// The inside of double quotes: `\"` and `\\` are escapes, any other backslash is text.
    pub(super) fn double(&mut self, span: Span, out: &mut Pieces) {
        let bytes = self.text.as_bytes();
        let (mut at, end) = (span.start as usize, span.end as usize);
        if !self.backslashes.is_in(span) {
            return self.plain(span, Quote::Double, out);
        }
        let mut builder = Builder::new(self.text, span.start, Quote::Double, out);
        while let Some(found) = memchr2(b'\\', b'$', &bytes[at..end]) {
            at += found;
            match bytes[at..end] {
                [b'\\', b'\\' | b'"', ..] => {
                    builder.skip(at, at + 1);
                    at += 2;
                }
                [b'$', ..] => {
                    let length = variable(&bytes[at..end]);
                    if length > 0 {
                        builder.variable(at, at + length);
                    }
                    at += length.max(1);
                }
                _ => at += 1,
            }
        }
        builder.finish(span);
    }

    /// The body of a heredoc: without its last line end, carriage returns before line feeds and, for `<<-`, the
    /// common indentation.
    pub(super) fn body(&mut self, body: Span, opener: &Opener<'_>, out: &mut Pieces) {
        let text = &self.text[body.start as usize..body.end as usize];
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let span = Span::new(body.start, body.start + text.len() as u32);
        let quote = if opener.verbatim { Quote::Verbatim } else { Quote::Heredoc };
        let indent = if opener.dedent { heredoc::common_indent(text) } else { "" };
        if indent.is_empty() && !(text.contains('\r') && text.contains("\r\n")) {
            if opener.verbatim {
                out.push_text(quote, span);
            } else {
                self.plain(span, quote, out);
            }
            return;
        }
        let mut builder = Builder::new(self.text, span.start, quote, out);
        let (mut at, end) = (span.start as usize, span.end as usize);
        while at < end {
            let next = memchr(b'\n', &self.text.as_bytes()[at..end]).map_or(end, |found| at + found + 1);
            let line = &self.text[at..next];
            let content = at + heredoc::shared(line, indent);
            let return_at = if line.ends_with("\r\n") { next - 2 } else { next };
            builder.skip(at, content);
            if !opener.verbatim {
                builder.variables(content.min(return_at), return_at);
            }
            if return_at < next {
                builder.skip(return_at, return_at + 1);
            }
            at = next;
        }
        builder.finish(span);
    }
}

/// Collects the parts of one segment: text between variables, owned where something was left out of it.
struct Builder<'a> {
    text: &'a str,
    quote: Quote,
    out: &'a mut Pieces,
    /// Number of parts before the first one of this segment.
    before: usize,
    /// Where the current piece starts.
    piece: usize,
    /// Where the part of the piece that is not yet in `owned` starts.
    rest: usize,
    owned: String,
    is_changed: bool,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str, start: u32, quote: Quote, out: &'a mut Pieces) -> Self {
        let (before, start) = (out.parts.len(), start as usize);
        Self { text, quote, out, before, piece: start, rest: start, owned: String::new(), is_changed: false }
    }

    /// Leaves out the bytes from `from` to `to`.
    fn skip(&mut self, from: usize, to: usize) {
        if from < to {
            self.owned.push_str(&self.text[self.rest..from]);
            self.rest = to;
            self.is_changed = true;
        }
    }

    /// Ends the piece before a variable and starts one behind it.
    fn variable(&mut self, from: usize, to: usize) {
        self.flush(from);
        let span = Span::new(from as u32, to as u32);
        self.out.parts.push(Part { kind: PartKind::Var, quote: self.quote, span });
        (self.piece, self.rest) = (to, to);
    }

    /// Finds the variables from `at` to `end`.
    fn variables(&mut self, mut at: usize, end: usize) {
        let bytes = self.text.as_bytes();
        while let Some(found) = find(b'$', &bytes[at..end]) {
            at += found;
            let length = variable(&bytes[at..end]);
            if length > 0 {
                self.variable(at, at + length);
            }
            at += length.max(1);
        }
    }

    fn flush(&mut self, end: usize) {
        let span = Span::new(self.piece as u32, end as u32);
        if self.is_changed {
            self.owned.push_str(&self.text[self.rest..end]);
            let text = std::mem::take(&mut self.owned);
            if !text.is_empty() {
                self.out.push_owned(text, self.quote, span);
            }
            self.is_changed = false;
        } else if !span.is_empty() {
            self.out.push_text(self.quote, span);
        }
    }

    /// Ends the segment; one that came to nothing still has a part, so that its quoting is known.
    fn finish(mut self, span: Span) {
        self.flush(span.end as usize);
        if self.out.parts.len() > self.before {
            return;
        }
        if span.is_empty() {
            self.out.push_text(self.quote, span);
        } else {
            self.out.push_owned("", self.quote, span);
        }
    }
}
