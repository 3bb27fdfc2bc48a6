//! What a piece of a script is, for highlighting. It looks at tokens only, so it also colours a line that is being
//! written; it knows no command.

use std::collections::VecDeque;

use super::heredoc::Opener;
use super::lexer::Lexer;
use super::name;
use super::parts;
use super::token::{Token, TokenKind};
use crate::source::Span;

/// What a piece of a script is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The first word of a line.
    Command,
    /// The name of a named argument, with its colon.
    Name,
    /// Bare text.
    Text,
    /// A bare number, `true`, `false` or `null`.
    Number,
    /// Quoted text, its quotes included.
    String,
    /// Text that starts like a JSON object or array.
    Json,
    /// A `$name`.
    Variable,
    /// A comment.
    Comment,
    /// The opener of a heredoc and the line that ends it.
    Mark,
    /// The lines of a heredoc.
    Heredoc,
    /// What has no place here: an open quote, a `<<` that opens nothing, a stray character.
    Error,
}

/// A piece of the source and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Painted {
    /// The bytes; never empty.
    pub span: Span,
    /// What they are.
    pub class: Class,
}

/// The pieces of `text` in order, without overlap; what lies between them is white space. `text` must be shorter than
/// 4 GiB.
pub fn paint(text: &str) -> Vec<Painted> {
    let tokens: Vec<Token> = Lexer::new(text).collect();
    let mut painter = Painter { text, out: Vec::with_capacity(tokens.len()), verbatim: VecDeque::new() };
    let mut place = Place::LineStart;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map(|token| token.kind);
        place = painter.token(*token, next, place);
    }
    painter.out
}

/// Where in its line and word a token stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    LineStart,
    Command,
    WordStart,
    /// Behind the name of a named argument.
    ValueStart,
    /// Behind a quoted name, before its colon.
    Colon,
    Inside,
}

struct Painter<'s> {
    text: &'s str,
    out: Vec<Painted>,
    /// For each heredoc of the line whether nothing is replaced in it.
    verbatim: VecDeque<bool>,
}

impl Painter<'_> {
    fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn push(&mut self, start: u32, end: u32, class: Class) {
        if start < end {
            self.out.push(Painted { span: Span::new(start, end), class });
        }
    }

    fn all(&mut self, span: Span, class: Class) {
        self.push(span.start, span.end, class);
    }

    /// `span` as `class`, the variables in it as such.
    fn with_variables(&mut self, span: Span, class: Class) {
        let mut at = span.start;
        let variables: Vec<_> = parts::variables(self.slice(span)).collect();
        for variable in variables {
            let (start, end) = (span.start + variable.start as u32, span.start + variable.end as u32);
            self.push(at, start, class);
            self.push(start, end, Class::Variable);
            at = end;
        }
        self.push(at, span.end, class);
    }

    fn token(&mut self, token: Token, next: Option<TokenKind>, place: Place) -> Place {
        let span = token.span;
        match token.kind {
            TokenKind::Blank if place == Place::LineStart => return Place::LineStart,
            TokenKind::Blank => return Place::WordStart,
            TokenKind::Newline | TokenKind::Bom | TokenKind::Eof => return Place::LineStart,
            TokenKind::Bare | TokenKind::Double | TokenKind::Single => return self.segment(token, next, place),
            TokenKind::Comment => self.all(span, Class::Comment),
            TokenKind::Opener => {
                let opener = Opener::read(&self.text[span.start as usize..]);
                self.verbatim.push_back(opener.is_some_and(|opener| opener.verbatim));
                self.all(span, Class::Mark);
            }
            TokenKind::Body => {
                if self.verbatim.pop_front().unwrap_or_default() {
                    self.all(span, Class::Heredoc);
                } else {
                    self.with_variables(span, Class::Heredoc);
                }
            }
            TokenKind::End => self.all(span, Class::Mark),
            TokenKind::WideSpace | TokenKind::LoneCr => {
                self.all(span, Class::Error);
                return if place == Place::LineStart { place } else { Place::WordStart };
            }
            TokenKind::OpenDouble
            | TokenKind::OpenSingle
            | TokenKind::BadOpener
            | TokenKind::NearEnd
            | TokenKind::Control
            | TokenKind::CurlyQuote
            | TokenKind::Invisible => self.all(span, Class::Error),
        }
        if matches!(place, Place::LineStart | Place::Command) { Place::Command } else { Place::Inside }
    }

    fn segment(&mut self, token: Token, next: Option<TokenKind>, place: Place) -> Place {
        let Token { kind, mut span } = token;
        let is_quoted = kind != TokenKind::Bare;
        match place {
            Place::LineStart | Place::Command => {
                self.with_variables(span, Class::Command);
                return Place::Command;
            }
            Place::WordStart if is_quoted => {
                let goes_on = self.text[span.end as usize..].starts_with(':');
                if goes_on && name::quoted_can_name(self.slice(span)) {
                    self.all(span, Class::Name);
                    return Place::Colon;
                }
            }
            Place::WordStart => {
                if let Some(length) = name::bare_name(self.slice(span).as_bytes()) {
                    let end = span.start + length as u32 + 1;
                    self.push(span.start, end, Class::Name);
                    span.start = end;
                }
            }
            Place::Colon => {
                self.push(span.start, span.start + 1, Class::Name);
                span.start += 1;
            }
            Place::ValueStart | Place::Inside => {}
        }
        if span.is_empty() {
            return Place::ValueStart;
        }
        let is_alone =
            place != Place::Inside && !matches!(next, Some(TokenKind::Bare | TokenKind::Double | TokenKind::Single));
        let class = self.value_class(kind, span, is_alone);
        self.with_variables(span, class);
        Place::Inside
    }

    fn value_class(&self, kind: TokenKind, span: Span, is_alone: bool) -> Class {
        let text = self.slice(span);
        match kind {
            TokenKind::Bare if text.starts_with(['{', '[']) => Class::Json,
            TokenKind::Bare if is_alone && is_literal(text) => Class::Number,
            TokenKind::Bare => Class::Text,
            TokenKind::Single if text[1..].trim_start().starts_with(['{', '[']) => Class::Json,
            _ => Class::String,
        }
    }
}

/// JSON's numbers and its three words.
fn is_literal(text: &str) -> bool {
    matches!(text, "true" | "false" | "null") || is_number(text.strip_prefix('-').unwrap_or(text))
}

fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(left, right)| (left, Some(right)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(left, right)| (left, Some(right)));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

#[cfg(test)]
mod tests {
    use super::Class::{Command, Comment, Error, Heredoc, Json, Mark, Name, Number, String, Text, Variable};
    use super::{Class, is_literal, paint};

    fn painted(text: &str) -> Vec<(Class, &str)> {
        paint(text)
            .iter()
            .map(|piece| (piece.class, &text[piece.span.start as usize..piece.span.end as usize]))
            .collect()
    }

    #[test]
    fn a_line_has_a_command_names_and_values() {
        assert_eq!(
            painted("  call_tool x a:1 b:\"q $v\" c:'[1]' \"d e\":$v 'f' http://x -2.5e3 # c"),
            [
                (Command, "call_tool"),
                (Text, "x"),
                (Name, "a:"),
                (Number, "1"),
                (Name, "b:"),
                (String, "\"q "),
                (Variable, "$v"),
                (String, "\""),
                (Name, "c:"),
                (Json, "'[1]'"),
                (Name, "\"d e\""),
                (Name, ":"),
                (Variable, "$v"),
                (String, "'f'"),
                (Text, "http://x"),
                (Number, "-2.5e3"),
                (Comment, "# c"),
            ]
        );
        assert_eq!(
            painted("a:b 1<2 3\"x\" [1]"),
            [(Command, "a:b"), (Text, "1"), (Text, "<"), (Text, "2"), (Text, "3"), (String, "\"x\""), (Json, "[1]")]
        );
    }

    #[test]
    fn heredocs_have_marks_and_lines() {
        assert_eq!(
            painted("c <<A n:<<'B'\n1 $x\n A\n2 $y\nB\nd"),
            [
                (Command, "c"),
                (Mark, "<<A"),
                (Name, "n:"),
                (Mark, "<<'B'"),
                (Heredoc, "1 "),
                (Variable, "$x"),
                (Heredoc, "\n"),
                (Mark, " A"),
                (Heredoc, "2 $y\n"),
                (Mark, "B"),
                (Command, "d")
            ]
        );
    }

    #[test]
    fn mistakes_are_seen_at_once() {
        assert_eq!(
            painted("c \"a b\nd \u{201C}x\ne <<1"),
            [
                (Command, "c"),
                (Error, "\"a b"),
                (Command, "d"),
                (Error, "\u{201C}"),
                (Text, "x"),
                (Command, "e"),
                (Error, "<<"),
                (Text, "1")
            ]
        );
        assert_eq!(painted("c <<A\nx\na\n"), [(Command, "c"), (Mark, "<<A"), (Heredoc, "x\n"), (Error, "a")]);
    }

    #[test]
    fn literals_are_those_of_json() {
        for text in ["0", "-1", "1.50", "1e5", "1E-5", "true", "null"] {
            assert!(is_literal(text), "{text}");
        }
        for text in ["", "-", "01", "1.", ".5", "1e", "+1", "0x1", "True", "1_000"] {
            assert!(!is_literal(text), "{text}");
        }
    }
}
