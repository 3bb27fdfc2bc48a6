//! From tokens to the tree. Errors are collected, and reading goes on at the next line.

use std::sync::Arc;

use super::ast::{Name, Part, PartKind, Quote, Script, Statement, Word};
use super::error;
use super::heredoc::Opener;
use super::json_word;
use super::lexer::Lexer;
use super::name;
use super::parts::Splitter;
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
    statements: Vec<Statement>,
    words: Vec<Word>,
    parts: Vec<Part>,
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
        // A quarter of what short words would need: growing is cheap, memory never written to is not touched.
        let guess = text.len() / 16;
        let mut parser = Self {
            source,
            text,
            lexer: Lexer::new(text),
            token: Token { kind: TokenKind::Eof, span: Span::default() },
            splitter: Splitter::new(text),
            statements: Vec::with_capacity(guess / 4),
            words: Vec::with_capacity(guess),
            parts: Vec::with_capacity(guess),
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

    fn advance(&mut self) -> Token {
        let end = self.token.span.end;
        let next = self.lexer.next().unwrap_or(Token { kind: TokenKind::Eof, span: Span::new(end, end) });
        std::mem::replace(&mut self.token, next)
    }

    fn slice(&self, span: Span) -> &'s str {
        &self.text[span.start as usize..span.end as usize]
    }

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
            parts: self.parts,
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
    fn blank(&mut self) {
        loop {
            match self.token.kind {
                TokenKind::Blank => {}
                TokenKind::WideSpace | TokenKind::LoneCr => self.stray(),
                _ => return,
            }
            self.advance();
        }
    }

    fn comment(&mut self) {
        let comment = self.advance();
        self.comments.push(comment.span);
        let text = self.slice(comment.span);
        // 0xC2 starts U+0080 to U+00BF, among them the second block of controls.
        let may_be_control = |byte: u8| byte < b' ' && byte != b'\t' || byte == 0x7F || byte == 0xC2;
        if text.bytes().any(may_be_control) && text.contains(error::is_control) {
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

    /// `word = heredoc | ( [ name, ":" ], value | name, ":" )
    ///        - ( ( "#" | "//" | [ name, ":" ], "<<" ), { ? any character ? } | bare-json ) ;`
    fn word(&mut self) {
        let start = self.token.span.start;
        let first = self.parts.len();
        let name = self.name();
        let value = self.token.span.start;
        self.is_open = false;
        let value_part = self.parts.len();
        self.value(name.is_some());
        let mut span = Span::new(start, self.token.span.start);
        let is_heredoc = self.pending.last().is_some_and(|pending| pending.word == Some(self.words.len()));
        if !is_heredoc && self.is_bare_json(value_part) {
            let json = Span::new(value, json_word::end(self.text, value, span.end));
            self.report(error::bare_json(self.source, json));
            self.parts.truncate(value_part);
            self.skip_to(json.end);
            span.end = self.token.span.start;
            let kind = PartKind::Text;
            self.parts.push(Part { kind, quote: Quote::Single, span: Span::new(value, span.end) });
        }
        let parts = first as u32..self.parts.len() as u32;
        self.words.push(Word { parts, span, name });
    }

    /// `name = plain-name | double - interpolated | single ;`
    ///
    /// Reads a name with its colon, as one part, where the word starts with one. `x://…` and drive letters do not:
    /// they are values.
    fn name(&mut self) -> Option<Name> {
        match self.token.kind {
            TokenKind::Bare => {
                let start = self.token.span.start;
                let length = name::bare_name(&self.text[start as usize..self.token.span.end as usize])?;
                // A name ends before any `<`, so it lies in this one token; what follows stays to be read.
                let span = Span::new(start, start + length as u32);
                let part = Span::new(start, span.end + 1);
                self.parts.push(Part { kind: PartKind::Text, quote: Quote::Bare, span: part });
                self.cut(part.end);
                Some(Name { text: self.slice(span).into(), span })
            }
            TokenKind::Double | TokenKind::Single => {
                let token = self.token;
                let is_name = self.text.as_bytes().get(token.span.end as usize) == Some(&b':')
                    && name::quoted_can_name(self.slice(token.span));
                if !is_name {
                    return None;
                }
                let quote = self.quoted();
                let text = self.parts.pop().map(|part| match part.kind {
                    PartKind::Owned(text) => text,
                    PartKind::Text | PartKind::Var => self.slice(part.span).into(),
                })?;
                let span = Span::new(token.span.start, self.token.span.start + 1);
                self.parts.push(Part { kind: PartKind::Owned(format!("{text}:").into()), quote, span });
                self.cut(span.end);
                Some(Name { text, span: token.span })
            }
            _ => None,
        }
    }

    /// Takes the start of the current token away, up to byte `to`.
    fn cut(&mut self, to: u32) {
        if self.token.span.end <= to {
            self.advance();
        } else {
            self.token.span.start = to;
        }
    }

    /// `value = segment, { segment } ;`
    fn value(&mut self, has_name: bool) {
        if self.token.kind == TokenKind::Opener {
            self.opener(has_name);
        }
        while self.segment() {}
    }

    /// `segment = bare | double | single ;`
    ///
    /// Reads one, also a broken one; false where the word ends.
    fn segment(&mut self) -> bool {
        match self.token.kind {
            TokenKind::Bare => {
                let mut span = self.advance().span;
                while self.token.kind == TokenKind::Bare {
                    span = span.to(self.advance().span);
                }
                self.splitter.plain(span, Quote::Bare, &mut self.parts);
            }
            TokenKind::Double | TokenKind::Single => {
                self.quoted();
            }
            TokenKind::OpenDouble | TokenKind::OpenSingle => self.open_quote(),
            TokenKind::Opener => self.opener(false),
            TokenKind::BadOpener => {
                let span = self.rest_of_word();
                self.report(error::heredoc_mark(self.source, span));
                self.parts.push(Part { kind: PartKind::Text, quote: Quote::Bare, span });
            }
            TokenKind::Control | TokenKind::Invisible | TokenKind::CurlyQuote => {
                self.stray();
                let span = self.advance().span;
                self.parts.push(Part { kind: PartKind::Text, quote: Quote::Bare, span });
            }
            // The lexer gives bodies only behind lines with openers, where they are read; text they would be, elsewhere.
            TokenKind::Body | TokenKind::End | TokenKind::NearEnd | TokenKind::Bom => {
                let span = self.advance().span;
                self.parts.push(Part { kind: PartKind::Text, quote: Quote::Bare, span });
            }
            TokenKind::Blank
            | TokenKind::Newline
            | TokenKind::Comment
            | TokenKind::WideSpace
            | TokenKind::LoneCr
            | TokenKind::Eof => return false,
        }
        true
    }

    /// A closed quoted segment.
    fn quoted(&mut self) -> Quote {
        let token = self.advance();
        let inside = Span::new(token.span.start + 1, token.span.end - 1);
        if token.kind == TokenKind::Double {
            self.splitter.double(inside, &mut self.parts);
            Quote::Double
        } else {
            self.splitter.plain(inside, Quote::Single, &mut self.parts);
            Quote::Single
        }
    }

    fn open_quote(&mut self) {
        let token = self.advance();
        let is_glued = token.span.start > 0
            && self.text[..token.span.start as usize].chars().next_back().is_some_and(char::is_alphanumeric);
        self.report(error::open_quote(self.source, token.span, is_glued));
        self.is_open = true;
        if token.span.end as usize == self.text.len() && self.completeness == Completeness::Complete {
            self.completeness = Completeness::OpenQuote;
        }
        let quote = if token.kind == TokenKind::OpenDouble { Quote::Double } else { Quote::Single };
        let span = Span::new(token.span.start + 1, token.span.end);
        self.parts.push(Part { kind: PartKind::Text, quote, span });
    }

    /// `heredoc = [ name, ":" ], opener ;`
    ///
    /// Reads the opener; the name was read before, and the body comes after the line.
    fn opener(&mut self, has_name: bool) {
        let token = self.advance();
        // The lexer makes an opener only of what reads as one.
        let Some(opener) = Opener::read(&self.text[token.span.start as usize..]) else {
            return;
        };
        let name = if has_name { self.parts.last().cloned() } else { None };
        self.pending.push(Pending { opener, span: token.span, word: Some(self.words.len()), name });
    }

    /// `bodies = body, end, { newline, body, end } ;`
    ///
    /// One for each heredoc of the line, in the order of the openers.
    fn bodies(&mut self) {
        let mut is_first = true;
        for pending in std::mem::take(&mut self.pending) {
            if !is_first && self.token.kind == TokenKind::Newline {
                self.advance();
            }
            is_first = false;
            let body = self.body(&pending);
            if let Some(word) = pending.word {
                let first = self.parts.len() as u32;
                self.parts.extend(pending.name);
                self.splitter.body(body, &pending.opener, &mut self.parts);
                self.words[word].parts = first..self.parts.len() as u32;
            }
        }
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

    /// `bare-json = [ name, ":" ], ( "{" | "[" ), { segment }, ( double | single ), { segment } ;`
    ///
    /// Whether the value that starts at part `first` is JSON without the quotes it needs: its own quotes would be
    /// taken for the script's.
    fn is_bare_json(&self, first: usize) -> bool {
        let parts = &self.parts[first..];
        let starts = parts
            .first()
            .is_some_and(|part| part.quote == Quote::Bare && self.slice(part.span).starts_with(['{', '[']));
        starts && !self.is_open && parts.iter().any(|part| matches!(part.quote, Quote::Double | Quote::Single))
    }

    /// Skips the tokens of this line that start before byte `end`.
    fn skip_to(&mut self, end: u32) {
        while self.token.span.start < end && !matches!(self.token.kind, TokenKind::Newline | TokenKind::Eof) {
            let token = self.advance();
            if token.kind == TokenKind::Opener
                && let Some(opener) = Opener::read(&self.text[token.span.start as usize..])
            {
                self.pending.push(Pending { opener, span: token.span, word: None, name: None });
            }
        }
    }

    /// Skips the tokens up to the next white space and gives what they cover.
    fn rest_of_word(&mut self) -> Span {
        let mut span = self.advance().span;
        while !matches!(
            self.token.kind,
            TokenKind::Blank | TokenKind::Newline | TokenKind::Eof | TokenKind::WideSpace | TokenKind::LoneCr
        ) {
            span = span.to(self.advance().span);
        }
        span
    }

    /// Reports the current token as a character that has no place here, once for each kind and line.
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
