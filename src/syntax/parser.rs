//! From tokens to the tree: lines and the bodies of heredocs; `words` has the rest. Errors are collected, and reading
//! goes on at the next line.

mod words;

use std::sync::Arc;

use super::ast::{Part, Script, Statement, Word};
use super::error;
use super::heredoc::Opener;
use super::lexer::Lexer;
use super::parts::{Finder, Pieces, Splitter};
use super::token::{Token, TokenKind};
use super::version;
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};

/// More errors than this are counted, not kept.
const MAX_ERRORS: usize = 1_000;

/// What [`parse`] found.
#[derive(Debug)]
pub struct Parsed {
    /// The script. Where there are errors it holds what could be read of the lines they are on.
    pub script: Script,
    /// All errors, in the order of their lines; empty where the script can be used.
    pub errors: Vec<Diagnostic>,
    /// Indices of the statements with an error in their line, ascending: more errors found in them may only follow
    /// from the first.
    pub broken: Vec<u32>,
    completeness: Completeness,
}

impl Parsed {
    /// Whether more input could make this a script without errors.
    pub const fn completeness(&self) -> Completeness {
        self.completeness
    }

    /// True where the only error is a heredoc or a quote left open at the end of the input.
    pub fn incomplete(&self) -> bool {
        self.completeness != Completeness::Complete
    }
}

/// Whether a text ends before what it has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// No: it is good, or wrong whatever follows.
    Complete,
    /// A heredoc is open at the end: its lines are still to come.
    OpenHeredoc,
    /// A quote is open at the end of the last line. A further line cannot close it, only more text on this one.
    OpenQuote,
}

/// Reads a script. Never fails: errors are in [`Parsed::errors`], all of them at once.
pub fn parse(source: &Arc<Source>) -> Parsed {
    let text = source.text();
    if u32::try_from(text.len()).is_err() {
        let empty = Source::new(source.name(), "");
        let mut parsed = Parser::new(&empty).script();
        parsed.errors.push(error::too_large(source.name()));
        return parsed;
    }
    Parser::new(source).script()
}

/// A heredoc whose body is still to come.
struct Pending<'s> {
    opener: Opener<'s>,
    span: Span,
    /// The word it is the value of; `None` where that word was given up.
    word: Option<usize>,
    /// The part with the name of a named argument.
    name: Option<Part>,
}

struct Parser<'s> {
    source: &'s Arc<Source>,
    text: &'s str,
    lexer: Lexer<'s>,
    token: Token,
    splitter: Splitter<'s>,
    colons: Finder<'s>,
    statements: Vec<Statement>,
    words: Vec<Word>,
    out: Pieces,
    comments: Vec<Span>,
    pending: Vec<Pending<'s>>,
    version: version::Line,
    errors: Vec<Diagnostic>,
    uncounted: usize,
    broken: Vec<u32>,
    /// Something on the current line is wrong.
    is_broken: bool,
    /// The current word has an open quote.
    is_open: bool,
    /// Kinds of stray characters already reported on this line.
    strays: Vec<TokenKind>,
    completeness: Completeness,
    /// Number of errors before the heredoc that is open at the end.
    errors_before_open: usize,
}

impl<'s> Parser<'s> {
    fn new(source: &'s Arc<Source>) -> Self {
        let text = source.text();
        // Memory that is never written to costs nothing, copying while growing does; but a huge file may hold one word.
        let guess = (text.len() / 8).min(1 << 22);
        let mut parser = Self {
            source,
            text,
            lexer: Lexer::new(text),
            token: Token { kind: TokenKind::Eof, span: Span::default() },
            splitter: Splitter::new(text),
            colons: Finder::new(text, b':'),
            statements: Vec::with_capacity(guess / 4),
            words: Vec::with_capacity(guess),
            out: Pieces { parts: Vec::with_capacity(guess), owned: Vec::new() },
            comments: Vec::new(),
            pending: Vec::new(),
            version: version::Line::default(),
            errors: Vec::new(),
            uncounted: 0,
            broken: Vec::new(),
            is_broken: false,
            is_open: false,
            strays: Vec::new(),
            completeness: Completeness::Complete,
            errors_before_open: 0,
        };
        parser.advance();
        parser
    }

    /// Gives the current token and takes the next one.
    #[inline]
    fn advance(&mut self) -> Token {
        let token = self.token;
        let (kind, end) = self.lexer.step();
        self.token = Token { kind, span: Span::new(token.span.end, end) };
        token
    }

    fn slice(&self, span: Span) -> &'s str {
        &self.text[span.start as usize..span.end as usize]
    }

    #[cold]
    fn report(&mut self, error: Diagnostic) {
        self.is_broken = true;
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        } else {
            self.uncounted += 1;
        }
    }

    /// `script = [ bom ], line, { newline, line } ;`
    fn script(mut self) -> Parsed {
        if self.token.kind == TokenKind::Bom {
            self.advance();
        }
        loop {
            let before = self.statements.len();
            self.line();
            self.end_line(before);
            match self.token.kind {
                TokenKind::Eof => break,
                TokenKind::Newline => drop(self.advance()),
                // Nothing else ends a line; were it otherwise, the rest would be read as a line of its own.
                _ => {}
            }
        }
        let is_only = self.errors_before_open == 0 && self.completeness == Completeness::OpenHeredoc
            || self.errors.len() == 1 && self.completeness == Completeness::OpenQuote;
        if self.uncounted > 0 {
            self.errors.push(error::too_many(self.source.name(), self.uncounted));
        }
        let script = Script {
            source: self.source.clone(),
            statements: self.statements,
            words: self.words,
            parts: self.out.parts,
            owned: self.out.owned,
            comments: self.comments,
            version: self.version.number(),
        };
        let completeness = if is_only { self.completeness } else { Completeness::Complete };
        Parsed { script, errors: self.errors, broken: self.broken, completeness }
    }

    /// `line = [ blank ], [ comment | statement, [ blank, [ comment ] ], [ newline, bodies ] ] ;`
    ///
    /// The bodies are there where the statement holds heredocs.
    fn line(&mut self) {
        self.blank();
        if !matches!(self.token.kind, TokenKind::Comment | TokenKind::Newline | TokenKind::Eof) {
            self.statement();
        }
        if self.token.kind == TokenKind::Comment {
            self.comment();
        }
        if !self.pending.is_empty() {
            if self.token.kind == TokenKind::Newline {
                self.advance();
            }
            self.bodies();
        }
    }

    /// Notes whether the statement of the line, the one behind the first `before`, has an error.
    fn end_line(&mut self, before: usize) {
        if self.is_broken {
            self.is_broken = false;
            self.strays.clear();
            if self.statements.len() > before {
                self.broken.push(before as u32);
            }
        }
    }

    /// Skips white space, also the wrong kinds of it.
    #[inline]
    fn blank(&mut self) {
        if self.token.kind == TokenKind::Blank {
            self.advance();
        }
        while matches!(self.token.kind, TokenKind::WideSpace | TokenKind::LoneCr | TokenKind::Blank) {
            if self.token.kind != TokenKind::Blank {
                self.stray();
            }
            self.advance();
        }
    }

    #[inline(never)]
    fn comment(&mut self) {
        let comment = self.advance();
        self.comments.push(comment.span);
        let text = self.slice(comment.span);
        // 0xC2 starts U+0080 to U+00BF, among them the second block of controls. Not `any`: this way it is vectorized.
        let may_be_control = |byte: u8| (byte < b' ') & (byte != b'\t') | (byte == 0x7F) | (byte == 0xC2);
        let is_suspect = text.bytes().fold(false, |found, byte| found | may_be_control(byte));
        if is_suspect && text.contains(error::is_control) {
            self.report(error::control_in_comment(self.source, comment.span));
        }
        if self.statements.is_empty()
            && let Some(error) = self.version.read(self.source, comment.span)
        {
            self.report(error);
        }
    }

    /// `statement = word, { blank, word } ;`
    fn statement(&mut self) {
        let first = self.words.len();
        while !matches!(self.token.kind, TokenKind::Comment | TokenKind::Newline | TokenKind::Eof) {
            self.word();
            self.blank();
        }
        let words = &self.words[first..];
        if let (Some(start), Some(end)) = (words.first(), words.last()) {
            let span = start.span.to(end.span);
            self.statements.push(Statement { words: first as u32..self.words.len() as u32, span });
        }
    }

    /// `bodies = body, end, { newline, body, end } ;`
    ///
    /// One for each heredoc of the line, in the order of the openers.
    #[cold]
    fn bodies(&mut self) {
        let mut is_first = true;
        let mut all = std::mem::take(&mut self.pending);
        for pending in all.drain(..) {
            if !is_first && self.token.kind == TokenKind::Newline {
                self.advance();
            }
            is_first = false;
            let body = self.body(&pending);
            if let Some(word) = pending.word {
                let first = self.out.parts.len() as u32;
                self.out.parts.extend(pending.name);
                self.splitter.body(body, &pending.opener, &mut self.out);
                self.words[word].parts = first..self.out.parts.len() as u32;
            }
        }
        // Kept for the next line with heredocs.
        self.pending = all;
    }

    /// `body = { { ? character ? }, newline } ;`
    ///
    /// No line of it is the end.
    fn body(&mut self, pending: &Pending<'s>) -> Span {
        let is_read = self.token.kind == TokenKind::Body;
        let body = if is_read { self.advance().span } else { Span::new(self.token.span.start, self.token.span.start) };
        let near = match self.token.kind {
            TokenKind::End if is_read => {
                self.advance();
                return body;
            }
            TokenKind::NearEnd if is_read => Some(self.advance().span),
            _ => None,
        };
        // Where an earlier heredoc of the line took all that was left, this one's end is not what is missing.
        if self.completeness == Completeness::OpenHeredoc && !is_read {
            return body;
        }
        if self.completeness != Completeness::OpenHeredoc {
            self.completeness = Completeness::OpenHeredoc;
            self.errors_before_open = self.errors.len() + self.uncounted;
        }
        self.report(error::open_heredoc(self.source, pending.span, &pending.opener, near));
        body
    }

    /// Reports the current token as a character that has no place here, once for each kind and line.
    #[cold]
    fn stray(&mut self) {
        let kind = self.token.kind;
        if self.strays.contains(&kind) {
            return;
        }
        self.strays.push(kind);
        let error = match kind {
            TokenKind::LoneCr => error::lone_cr(self.source, self.token.span),
            TokenKind::WideSpace => error::wide_space(self.source, self.token.span),
            TokenKind::CurlyQuote => error::curly_quote(self.source, self.token.span),
            TokenKind::Invisible => error::invisible(self.source, self.token.span),
            _ => error::control(self.source, self.token.span),
        };
        self.report(error);
    }
}

#[cfg(test)]
mod tests;
