//! From text to tokens without a gap. The patterns are in `token`; here is what patterns cannot know: whether a word
//! goes on, and which heredocs a line has opened.

use std::collections::VecDeque;

use logos::Logos;
use memchr::memchr;

use super::heredoc::{self, Opener};
use super::name;
use super::token::{Token, TokenKind};
use crate::source::Span;

/// After this many heredocs without an end line near misses are no longer looked for: each one costs a search
/// through the rest of the source.
const NEAR_MISSES: u32 = 8;

/// The tokens of a source. They follow each other without a gap and cover all of it.
#[derive(Debug)]
pub struct Lexer<'s> {
    inner: logos::Lexer<'s, TokenKind>,
    /// Where the next token starts, for the iterator.
    at: u32,
    /// Tokens already found: the bodies behind a line with heredocs.
    ready: VecDeque<(TokenKind, u32)>,
    /// Marks of the heredocs opened on this line.
    marks: Vec<&'s str>,
    /// The end of the last token that is no segment of a word: the current word starts here.
    gap: u32,
    /// The start of the last word in which a `<<` was text: a further one in it is text too.
    text_word: Option<u32>,
    near_misses: u32,
}

impl<'s> Lexer<'s> {
    /// A lexer at the start of `text`, which must be shorter than 4 GiB.
    pub fn new(text: &'s str) -> Self {
        Self {
            inner: TokenKind::lexer(text),
            at: 0,
            ready: VecDeque::new(),
            marks: Vec::new(),
            gap: 0,
            text_word: None,
            near_misses: 0,
        }
    }

    /// The next token and its end; it starts where the one before ended. Behind the last one, and again and again,
    /// [`TokenKind::Eof`].
    pub(super) fn step(&mut self) -> (TokenKind, u32) {
        if !self.ready.is_empty() {
            return self.next_ready();
        }
        let kind = self.kind();
        let end = self.inner.span().end as u32;
        if is_gap(kind) {
            self.gap = end;
        }
        if kind == TokenKind::Newline && !self.marks.is_empty() {
            let length = self.bodies();
            self.inner.bump(length);
            self.gap = end + length as u32;
        }
        (kind, end)
    }

    #[cold]
    fn next_ready(&mut self) -> (TokenKind, u32) {
        self.ready.pop_front().unwrap_or((TokenKind::Eof, self.gap))
    }

    #[inline]
    fn kind(&mut self) -> TokenKind {
        // One space, or a line feed: what follows half of all other tokens.
        let bytes = self.inner.source().as_bytes();
        match bytes.get(self.inner.span().end..) {
            Some([b' ', after, ..]) if !matches!(after, b' ' | b'\t') => {
                self.inner.bump(1);
                return TokenKind::Blank;
            }
            Some([b'\n', ..]) => {
                self.inner.bump(1);
                return TokenKind::Newline;
            }
            _ => {}
        }
        // The patterns leave no character out; if one did, it would be shown as a stray one.
        let kind = match self.inner.next() {
            Some(found) => found.unwrap_or(TokenKind::Control),
            None => TokenKind::Eof,
        };
        match kind {
            TokenKind::Comment => self.comment(),
            TokenKind::Opener => self.opener(),
            TokenKind::Bom if self.inner.span().start > 0 => TokenKind::Invisible,
            _ => kind,
        }
    }

    fn span(&self) -> Span {
        let range = self.inner.span();
        Span::new(range.start as u32, range.end as u32)
    }

    // These three are kept out of the way of the ordinary tokens.

    /// A comment opener: within a word it is text, else the rest of the line belongs to it.
    #[inline(never)]
    fn comment(&mut self) -> TokenKind {
        if self.span().start > self.gap {
            return TokenKind::Bare;
        }
        let rest = self.inner.remainder();
        let length = match memchr(b'\n', rest.as_bytes()) {
            Some(end) => end - usize::from(rest[..end].ends_with('\r')),
            None => rest.len(),
        };
        self.inner.bump(length);
        TokenKind::Comment
    }

    /// `<<`: where a word or a named argument's value starts it opens a heredoc, elsewhere it is text.
    #[cold]
    fn opener(&mut self) -> TokenKind {
        let span = self.span();
        let text = self.inner.source();
        let before = &text[self.gap as usize..span.start as usize];
        let is_text = self.text_word == Some(self.gap) || !(before.is_empty() || name::is_name_prefix(before));
        if is_text {
            self.text_word = Some(self.gap);
            return TokenKind::Bare;
        }
        let Some(opener) = Opener::read(&text[span.start as usize..]) else {
            return TokenKind::BadOpener;
        };
        self.inner.bump(opener.length - span.len() as usize);
        self.marks.push(opener.mark);
        TokenKind::Opener
    }

    /// Finds the bodies of all heredocs of the line and makes them ready; gives their length in bytes.
    #[cold]
    fn bodies(&mut self) -> usize {
        let rest = self.inner.remainder();
        let base = self.span().end;
        let mut marks = std::mem::take(&mut self.marks);
        let mut at = 0;
        for (index, mark) in marks.iter().enumerate() {
            if index > 0 {
                // The line end behind the last body is an ordinary one.
                match rest.as_bytes()[at..] {
                    [] => break,
                    [b'\r', ..] => at += 2,
                    _ => at += 1,
                }
                self.ready.push_back((TokenKind::Newline, base + at as u32));
            }
            let extent = heredoc::extent(&rest[at..], mark, self.near_misses < NEAR_MISSES);
            at += extent.body;
            self.ready.push_back((TokenKind::Body, base + at as u32));
            let Some(end) = extent.end else {
                break;
            };
            self.near_misses += u32::from(extent.near);
            at += end;
            let kind = if extent.near { TokenKind::NearEnd } else { TokenKind::End };
            self.ready.push_back((kind, base + at as u32));
        }
        marks.clear();
        // Kept for the next line with heredocs.
        self.marks = marks;
        at
    }
}

/// Whether a token of this kind stands between words.
const fn is_gap(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Blank
            | TokenKind::Newline
            | TokenKind::Comment
            | TokenKind::WideSpace
            | TokenKind::LoneCr
            | TokenKind::Bom
            | TokenKind::Eof
    )
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let (kind, end) = self.step();
        let start = std::mem::replace(&mut self.at, end);
        (kind != TokenKind::Eof).then_some(Token { kind, span: Span::new(start, end) })
    }
}

#[cfg(test)]
mod tests {
    use super::{Lexer, TokenKind};

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        Lexer::new(text).map(|token| (token.kind, &text[token.span.start as usize..token.span.end as usize])).collect()
    }

    fn rebuilt(text: &str) -> String {
        kinds(text).into_iter().map(|(_, lexeme)| lexeme).collect()
    }

    #[test]
    fn words_quotes_and_comments() {
        use TokenKind::{Bare, Blank, Comment, Double, Newline, Single};
        assert_eq!(
            kinds("a b:\"c d\"'e' # x\r\n//y"),
            [
                (Bare, "a"),
                (Blank, " "),
                (Bare, "b:"),
                (Double, "\"c d\""),
                (Single, "'e'"),
                (Blank, " "),
                (Comment, "# x"),
                (Newline, "\r\n"),
                (Comment, "//y"),
            ]
        );
    }

    #[test]
    fn comment_openers_inside_words_are_text() {
        for text in ["a#b", "http://x", "a//b", "/a//b", "\"x\"#y", "'x'//y", "a<#b", "a<//b"] {
            let tokens = kinds(text);
            assert!(tokens.iter().all(|(kind, _)| *kind != TokenKind::Comment), "{text}: {tokens:?}");
        }
        assert_eq!(kinds("#a\"b"), [(TokenKind::Comment, "#a\"b")]);
        assert_eq!(kinds("///"), [(TokenKind::Comment, "///")]);
    }

    #[test]
    fn escapes_do_not_close_a_quote() {
        use TokenKind::{Bare, Blank, Double, Newline, OpenDouble, OpenSingle};
        assert_eq!(kinds(r#""a\"b" "\\" "\x""#)[0], (Double, r#""a\"b""#));
        assert_eq!(kinds(r#""\\"x"#), [(Double, r#""\\""#), (Bare, "x")]);
        assert_eq!(kinds("\"a\\\"\nb"), [(OpenDouble, "\"a\\\""), (Newline, "\n"), (Bare, "b")]);
        assert_eq!(kinds("\"a\\"), [(OpenDouble, "\"a\\")]);
        assert_eq!(kinds("x 'a"), [(Bare, "x"), (Blank, " "), (OpenSingle, "'a")]);
    }

    #[test]
    fn heredocs_are_read_in_order() {
        use TokenKind::{Bare, Blank, Body, Comment, End, Newline, Opener};
        assert_eq!(
            kinds("c <<A x:<<-'B' # n\n1\n A \r\n\tB\nd"),
            [
                (Bare, "c"),
                (Blank, " "),
                (Opener, "<<A"),
                (Blank, " "),
                (Bare, "x:"),
                (Opener, "<<-'B'"),
                (Blank, " "),
                (Comment, "# n"),
                (Newline, "\n"),
                (Body, "1\n"),
                (End, " A "),
                (Newline, "\r\n"),
                (Body, ""),
                (End, "\tB"),
                (Newline, "\n"),
                (Bare, "d"),
            ]
        );
    }

    #[test]
    fn openers_count_only_where_a_value_starts() {
        use TokenKind::{BadOpener, Bare, NearEnd, Opener};
        let has = |text: &str, kind| kinds(text).iter().any(|(found, _)| *found == kind);
        for text in ["a<<b", "a:b<<c", "\"a\"<<b", "x://<<b", "1:<<b", "$a:<<b", "\"$a\":<<b", "a<<'b'", "'a'b:<<c"] {
            assert!(!has(text, Opener) && !has(text, BadOpener), "{text}");
        }
        for text in ["<<b", "a:<<b", "\"a b\":<<b", "'$a':<<b", "é:<<\"b\""] {
            assert!(has(text, Opener), "{text}");
        }
        for text in ["<<", "a:<<", "<<1", "<<b;", "<<'b", "<<<"] {
            assert!(has(text, BadOpener), "{text}");
        }
        assert_eq!(kinds("a<<b"), [(Bare, "a"), (Bare, "<<"), (Bare, "b")]);
        assert!(has("<<EOF\nx\nEOF;\ny", NearEnd));
    }

    #[test]
    fn strays_are_told_apart() {
        use TokenKind::{Bare, Bom, Control, CurlyQuote, Invisible, LoneCr, WideSpace};
        assert_eq!(
            kinds("\u{FEFF}a\u{7}b\u{A0}\u{201C}\r\u{200B}\u{FEFF}é\u{85}\u{3000}"),
            [
                (Bom, "\u{FEFF}"),
                (Bare, "a"),
                (Control, "\u{7}"),
                (Bare, "b"),
                (WideSpace, "\u{A0}"),
                (CurlyQuote, "\u{201C}"),
                (LoneCr, "\r"),
                (Invisible, "\u{200B}"),
                (Invisible, "\u{FEFF}"),
                (Bare, "é"),
                (Control, "\u{85}"),
                (WideSpace, "\u{3000}"),
            ]
        );
    }

    #[test]
    fn lexemes_rebuild_the_source() {
        for text in
            ["", "\r\n", "a \"b\\\"c\" 'd' <<E # f\n g\nE\n", "<<A <<B\nx\nA", "<<A <<B\r\nA\r\n", "\\\r\0é\u{2028}"]
        {
            assert_eq!(rebuilt(text), text);
        }
    }
}
