//! The kinds of tokens. Together they cover every byte of a source: glued together they are the source again.

use logos::Logos;

use crate::source::Span;

/// A lexeme and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// The bytes it covers.
    pub span: Span,
}

/// What a lexeme is. The patterns find candidates; [`super::lexer::Lexer`] knows whether a comment opener or a
/// heredoc opener stands where it counts, and turns it into [`TokenKind::Bare`] where it does not.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// `bom = ? U+FEFF ? ;`
    ///
    /// A byte order mark; skipped at the start of the source, an error of kind [`TokenKind::Invisible`] elsewhere.
    #[token("\u{FEFF}")]
    Bom,
    /// `blank = ( " " | ? tab ? ), { " " | ? tab ? } ;`
    #[regex(r"[ \t]+")]
    Blank,
    /// `newline = [ ? CR ? ], ? LF ? ;`
    #[regex(r"\r?\n")]
    Newline,
    /// `comment = ( "#" | "//" ), { ? comment character ? } ;`
    ///
    /// Only where a word could start; runs to the end of the line.
    #[token("#")]
    #[token("//")]
    Comment,
    /// `bare = ? bare character ?, { ? bare character ? } ;`
    ///
    /// A run of text without quotes. One run may come as several tokens.
    #[regex(r#"[^ \t\r\n"'</#\x00-\x1f\x7f-\u{A0}\u{61C}\u{1680}\u{2000}-\u{200B}\u{200E}\u{200F}\u{2018}-\u{201F}\u{2028}-\u{202F}\u{205F}\u{2060}\u{2066}-\u{2069}\u{3000}\u{FEFF}][^ \t\r\n"'<\x00-\x1f\x7f-\u{A0}\u{61C}\u{1680}\u{2000}-\u{200B}\u{200E}\u{200F}\u{2018}-\u{201F}\u{2028}-\u{202F}\u{205F}\u{2060}\u{2066}-\u{2069}\u{3000}\u{FEFF}]*"#)]
    #[regex(r#"/[^ \t\r\n"'</\x00-\x1f\x7f-\u{A0}\u{61C}\u{1680}\u{2000}-\u{200B}\u{200E}\u{200F}\u{2018}-\u{201F}\u{2028}-\u{202F}\u{205F}\u{2060}\u{2066}-\u{2069}\u{3000}\u{FEFF}][^ \t\r\n"'<\x00-\x1f\x7f-\u{A0}\u{61C}\u{1680}\u{2000}-\u{200B}\u{200E}\u{200F}\u{2018}-\u{201F}\u{2028}-\u{202F}\u{205F}\u{2060}\u{2066}-\u{2069}\u{3000}\u{FEFF}]*"#)]
    #[token("/")]
    #[token("<")]
    Bare,
    /// `double = '"', { "\", ? character ? | ? character ? - ( '"' | "\" ) }, '"' ;`
    ///
    /// `\"` and `\\` are escapes, any other backslash stays.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Double,
    /// `single = "'", { ? character ? - "'" }, "'" ;`
    #[regex(r"'[^'\n]*'")]
    Single,
    /// A double quote that the line does not close, with the rest of the line.
    #[regex(r#""([^"\\\n]|\\[^\n])*\\?"#)]
    OpenDouble,
    /// A single quote that the line does not close, with the rest of the line.
    #[regex(r"'[^'\n]*")]
    OpenSingle,
    /// `opener = "<<", [ "-" ], ( identifier | '"', identifier, '"' | "'", identifier, "'" ) ;`
    ///
    /// The identifier is the mark of the heredoc.
    #[token("<<")]
    Opener,
    /// `<<` where an opener could stand, but no mark follows or the word goes on behind it: only the `<<`.
    BadOpener,
    /// The lines of a heredoc, with their line ends; may be empty.
    Body,
    /// `end = [ blank ], identifier, [ blank ] ;`
    ///
    /// The line that ends a heredoc: only its mark. Without its line end.
    End,
    /// A line that almost is the end of a heredoc that has none. Reading goes on behind it.
    NearEnd,
    /// Control characters other than tab and line ends.
    #[regex(r"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\u{9F}]+")]
    Control,
    /// A carriage return without a line feed.
    #[token("\r")]
    LoneCr,
    /// White space other than space and tab, such as U+00A0 and U+3000.
    #[regex(r"[\u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}]+")]
    WideSpace,
    /// A typographic quote, U+2018 to U+201F.
    #[regex(r"[\u{2018}-\u{201F}]")]
    CurlyQuote,
    /// Characters nobody sees: zero-width ones and those that change the direction of writing.
    #[regex(r"[\u{61C}\u{200B}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2060}\u{2066}-\u{2069}]+")]
    Invisible,
    /// The end of the source; only the parser sees it, with an empty span.
    Eof,
}
