//! From tokens to words: names, values, segments.

use super::{Completeness, Parser, Pending};
use crate::source::Span;
use crate::syntax::ast::{PartKind, Quote, Word};
use crate::syntax::error;
use crate::syntax::heredoc::Opener;
use crate::syntax::json_word;
use crate::syntax::name;
use crate::syntax::token::{Token, TokenKind};

/// Whether a token of this kind ends a word.
const fn is_gap(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Blank
            | TokenKind::Newline
            | TokenKind::Comment
            | TokenKind::WideSpace
            | TokenKind::LoneCr
            | TokenKind::Eof
    )
}

impl Parser<'_> {
    /// `word = heredoc | ( [ name, ":" ], value | name, ":" )
    ///        - ( ( "#" | "//" | [ name, ":" ], "<<" ), { ? any character ? } | bare-json ) ;`
    pub(super) fn word(&mut self) {
        let start = self.token.span.start;
        let first = self.out.parts.len();
        let is_named = self.name();
        let value = self.token.span.start;
        let value_part = self.out.parts.len();
        self.is_open = false;
        if self.token.kind == TokenKind::Opener {
            self.opener(is_named);
        } else {
            self.value();
            if self.is_bare_json(value, value_part) {
                self.bare_json(value, value_part);
            }
        }
        let span = Span::new(start, self.token.span.start);
        let parts = first as u32..self.out.parts.len() as u32;
        self.words.push(Word { parts, span, is_named });
    }

    /// `name = plain-name | double - interpolated | single ;`
    ///
    /// Reads a name with its colon, as one part, where the word starts with one. `x://…` and drive letters do not:
    /// they are values.
    #[inline]
    fn name(&mut self) -> bool {
        match self.token.kind {
            TokenKind::Bare => self.colons.is_in(self.token.span) && self.bare_name(),
            TokenKind::Double | TokenKind::Single => self.quoted_name(),
            _ => false,
        }
    }

    #[inline(never)]
    fn bare_name(&mut self) -> bool {
        let Span { start, end } = self.token.span;
        // A name ends before any `<`, so it lies in this one token; what follows stays to be read.
        let Some(length) = name::bare_name(&self.text.as_bytes()[start as usize..end as usize]) else {
            return false;
        };
        let end = start + length as u32 + 1;
        self.out.push_text(Quote::Bare, Span::new(start, end));
        self.cut(end);
        true
    }

    #[inline(never)]
    fn quoted_name(&mut self) -> bool {
        let is_name = self.text.as_bytes().get(self.token.span.end as usize) == Some(&b':')
            && name::quoted_can_name(self.slice(self.token.span));
        if !is_name {
            return false;
        }
        let token = self.advance();
        let part = Span::new(token.span.start, token.span.end + 1);
        let inside = inside(token);
        let (quote, text) = if token.kind == TokenKind::Double {
            // It holds no variable, so it is one part.
            let before = self.out.parts.len();
            self.splitter.double(inside, &mut self.out);
            let found = self.out.parts.drain(before..).next().map(|part| part.kind);
            let text = match found {
                Some(PartKind::Owned) => self.out.owned.pop().map(|(_, text)| text.into_string()),
                _ => None,
            };
            (Quote::Double, text.unwrap_or_else(|| self.slice(inside).to_owned()))
        } else {
            (Quote::Single, self.slice(inside).to_owned())
        };
        self.out.push_owned(text + ":", quote, part);
        self.cut(part.end);
        true
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
    fn value(&mut self) {
        while !is_gap(self.token.kind) {
            self.segment();
        }
    }

    /// `segment = bare | double | single ;`
    ///
    /// Reads one, also a broken one.
    #[inline]
    fn segment(&mut self) {
        if self.token.kind != TokenKind::Bare {
            self.other_segment();
            return;
        }
        let mut span = self.advance().span;
        while self.token.kind == TokenKind::Bare {
            span.end = self.advance().span.end;
        }
        self.splitter.plain(span, Quote::Bare, &mut self.out);
    }

    fn other_segment(&mut self) {
        match self.token.kind {
            TokenKind::Double => {
                let token = self.advance();
                self.splitter.double(inside(token), &mut self.out);
            }
            TokenKind::Single => {
                let token = self.advance();
                self.splitter.plain(inside(token), Quote::Single, &mut self.out);
            }
            TokenKind::OpenDouble | TokenKind::OpenSingle => self.open_quote(),
            TokenKind::BadOpener => {
                let span = self.rest_of_word();
                self.report(error::heredoc_mark(self.source, span));
                self.out.push_text(Quote::Bare, span);
            }
            TokenKind::Control | TokenKind::Invisible | TokenKind::CurlyQuote => {
                self.stray();
                self.text_token();
            }
            // The lexer gives an opener only where a value starts, and bodies only where they are read. Were it
            // otherwise they would be text.
            _ => self.text_token(),
        }
    }

    /// Takes the current token for text.
    fn text_token(&mut self) {
        let span = self.advance().span;
        self.out.push_text(Quote::Bare, span);
    }

    #[cold]
    fn open_quote(&mut self) {
        let token = self.advance();
        let before = self.text[..token.span.start as usize].chars().next_back();
        self.report(error::open_quote(self.source, token.span, before.is_some_and(char::is_alphanumeric)));
        self.is_open = true;
        if token.span.end as usize == self.text.len() && self.completeness == Completeness::Complete {
            self.completeness = Completeness::OpenQuote;
        }
        let quote = if token.kind == TokenKind::OpenDouble { Quote::Double } else { Quote::Single };
        self.out.push_text(quote, Span::new(token.span.start + 1, token.span.end));
    }

    /// `heredoc = [ name, ":" ], opener ;`
    ///
    /// Reads the opener; the name was read before, and the body comes after the line.
    #[cold]
    fn opener(&mut self, has_name: bool) {
        let token = self.advance();
        // The lexer makes an opener only of what reads as one.
        if let Some(opener) = Opener::read(&self.text[token.span.start as usize..]) {
            // A word's parts lie together, so its name moves to where the body will be.
            let name = if has_name { self.out.parts.pop() } else { None };
            self.pending.push(Pending { opener, span: token.span, word: Some(self.words.len()), name });
        }
    }

    /// `bare-json = [ name, ":" ], ( "{" | "[" ), { segment }, ( double | single ), { segment } ;`
    ///
    /// Whether the value that starts at byte `value` and part `first` is JSON without the quotes it needs: its own
    /// quotes would be taken for the script's.
    fn is_bare_json(&self, value: u32, first: usize) -> bool {
        matches!(self.text.as_bytes().get(value as usize), Some(b'{' | b'['))
            && !self.is_open
            && self.out.parts[first..].iter().any(|part| matches!(part.quote, Quote::Double | Quote::Single))
    }

    /// Reports such a word and reads it as what was meant, up to its last bracket.
    #[cold]
    fn bare_json(&mut self, value: u32, first: usize) {
        let json = Span::new(value, json_word::end(self.text, value, self.token.span.start));
        self.report(error::bare_json(self.source, json));
        self.out.parts.truncate(first);
        while self.token.span.start < json.end && !matches!(self.token.kind, TokenKind::Newline | TokenKind::Eof) {
            let token = self.advance();
            if token.kind == TokenKind::Opener
                && let Some(opener) = Opener::read(&self.text[token.span.start as usize..])
            {
                self.pending.push(Pending { opener, span: token.span, word: None, name: None });
            }
        }
        self.out.push_text(Quote::Single, Span::new(value, self.token.span.start));
    }

    /// Skips the tokens up to the next white space and gives what they cover.
    fn rest_of_word(&mut self) -> Span {
        let mut span = self.advance().span;
        while !is_gap(self.token.kind) {
            span = span.to(self.advance().span);
        }
        span
    }
}

/// A quoted segment without its quotes.
fn inside(token: Token) -> Span {
    Span::new(token.span.start + 1, token.span.end - 1)
}
