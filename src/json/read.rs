//! The one scan that decides whether bytes are JSON.
//!
//! Owns: RFC 8259's grammar, the limits, and what is odd but allowed. May use: nothing of ours outside this folder.
//! Must not: build a tree, recurse, or need more memory than its input.

use std::borrow::Cow;

use thiserror::Error;

use super::number::grammar;
use super::text::{decode, hex4, is_high, is_low, skip_space, skip_string};

/// How much JSON is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Arrays and objects that may be open at once; never more than 1024.
    pub depth: usize,
    /// Length of the text in bytes; never more than 4 GiB.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 128, bytes: 64 << 20 }
    }
}

/// Deepest nesting at all: walking a tree takes stack for every level.
const DEEPEST: usize = 1024;

/// Why a text is not acceptable JSON.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message} at byte {offset}")]
pub struct ReadError {
    /// What is wrong, without the place. Holds no control characters.
    pub message: String,
    /// Byte offset of the first wrong byte; the length of the text where it ends too early.
    pub offset: usize,
}

/// Something odd in a text that is JSON all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Remark {
    /// Byte offset: of the name's opening quote, or of the escape's backslash.
    pub offset: usize,
    /// What is odd.
    pub kind: RemarkKind,
}

/// The kinds of [`Remark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemarkKind {
    /// An object has another member of the same name before this one.
    DuplicateMember,
    /// An escaped half of a surrogate pair without the other half; it reads as U+FFFD.
    LoneSurrogate,
}

/// Remarks kept per text; a hostile text could hold millions.
const MAX_REMARKS: usize = 100;

/// Members up to which each new name is compared with all before it; larger objects are sorted once, at their end.
const FEW: usize = 16;

/// What a successful scan found out.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Offset of the value's first byte.
    pub start: usize,
    /// Offset behind the value's last byte.
    pub end: usize,
    /// The first 100 oddities found, in the order of the text.
    pub remarks: Vec<Remark>,
}

/// Checks that `text` is one JSON value, with white space around it at most.
pub(super) fn scan(text: &str, limits: &Limits) -> Result<Checked, ReadError> {
    if text.len() > limits.bytes.min(u32::MAX as usize) {
        return Err(fail(format!("longer than the limit of {} bytes", limits.bytes), limits.bytes));
    }
    if text.starts_with('\u{feff}') {
        return Err(fail("a byte order mark may not come before JSON", 0));
    }
    let mut scanner = Scanner { text, bytes: text.as_bytes(), at: 0, names: Vec::new(), remarks: Vec::new() };
    let start = skip_space(scanner.bytes, 0);
    scanner.values(limits.depth.min(DEEPEST))?;
    let end = scanner.at;
    scanner.space();
    if scanner.at < text.len() {
        return Err(fail(format!("{} after the end of the value", describe(text, scanner.at)), scanner.at));
    }
    scanner.remarks.sort_unstable();
    Ok(Checked { start, end, remarks: scanner.remarks })
}

/// An error with its place.
pub(super) fn fail(message: impl Into<String>, offset: usize) -> ReadError {
    ReadError { message: message.into(), offset }
}

/// Names the character at `at` without printing control characters.
fn describe(text: &str, at: usize) -> Cow<'static, str> {
    match text.get(at..).and_then(|rest| rest.chars().next()) {
        None => Cow::Borrowed("the end of the text"),
        Some(c) if c.is_ascii_graphic() => Cow::Owned(format!("`{c}`")),
        Some(c) if c.is_ascii() => Cow::Owned(format!("byte 0x{:02X}", u32::from(c))),
        Some(c) => Cow::Owned(format!("U+{:04X}", u32::from(c))),
    }
}

#[derive(Clone, Copy)]
struct Frame {
    object: bool,
    /// Index of its first name in `Scanner::names`.
    names: usize,
}

/// A member's name: hash of its decoded text, offset of its opening quote.
type Name = (u32, u32);

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    names: Vec<Name>,
    remarks: Vec<Remark>,
}

impl Scanner<'_> {
    fn space(&mut self) {
        self.at = skip_space(self.bytes, self.at);
    }

    fn peek(&self) -> u8 {
        // NUL is valid nowhere outside strings, so it can stand for the end.
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn expected<T>(&self, what: &str) -> Result<T, ReadError> {
        Err(fail(format!("expected {what}, found {}", describe(self.text, self.at)), self.at))
    }

    /// Steps over one value and everything in it.
    fn values(&mut self, depth: usize) -> Result<(), ReadError> {
        let mut open: Vec<Frame> = Vec::with_capacity(8);
        loop {
            self.space();
            let first = self.peek();
            match first {
                b'"' => _ = self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b'{' | b'[' => {
                    if open.len() >= depth {
                        return Err(fail(format!("nested deeper than the limit of {depth} levels"), self.at));
                    }
                    let object = first == b'{';
                    self.at += 1;
                    self.space();
                    if self.peek() == if object { b'}' } else { b']' } {
                        self.at += 1;
                    } else {
                        open.push(Frame { object, names: self.names.len() });
                        if object {
                            self.name(self.names.len())?;
                        }
                        continue;
                    }
                }
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'n' => self.literal("null")?,
                _ => return self.expected("a value"),
            }
            loop {
                let Some(&frame) = open.last() else {
                    return Ok(());
                };
                self.space();
                match (self.peek(), frame.object) {
                    (b',', object) => {
                        self.at += 1;
                        if object {
                            self.space();
                            self.name(frame.names)?;
                        }
                        break;
                    }
                    (b'}', true) => self.close_object(frame.names),
                    (b']', false) => {}
                    (_, true) => return self.expected("`,` or `}`"),
                    (_, false) => return self.expected("`,` or `]`"),
                }
                self.at += 1;
                open.pop();
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), ReadError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.expected("a value");
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), ReadError> {
        match grammar(&self.bytes[self.at..]) {
            Ok(len) => self.at += len,
            Err(len) => {
                let leading_zero = self.bytes[self.at..self.at + len].ends_with(b"0");
                self.at += len;
                if leading_zero {
                    return Err(fail("a number may not start with a zero that has digits after it", self.at - 1));
                }
                return self.expected("a digit");
            }
        }
        Ok(())
    }

    /// Steps over a string; true where it holds escapes.
    fn string(&mut self) -> Result<bool, ReadError> {
        let open = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at = plain_end(self.bytes, self.at);
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(control) => {
                    return Err(fail(
                        format!("control character 0x{control:02X} in a string must be written as an escape"),
                        self.at,
                    ));
                }
                None => {
                    return Err(fail(format!("the string that starts at byte {open} is not closed"), self.at));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<(), ReadError> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let unit = self.unit(self.at)?;
                let start = self.at;
                self.at += 6;
                if is_high(unit) && self.bytes[self.at..].starts_with(b"\\u") && is_low(self.unit(self.at)?) {
                    self.at += 6;
                } else if is_high(unit) || is_low(unit) {
                    self.remark(RemarkKind::LoneSurrogate, start);
                }
            }
            _ => {
                self.at += 1;
                return self.expected("one of the escapes `\"\\/bfnrtu`");
            }
        }
        Ok(())
    }

    fn unit(&self, at: usize) -> Result<u32, ReadError> {
        hex4(self.bytes.get(at + 2..).unwrap_or_default())
            .ok_or_else(|| fail("`\\u` needs four hexadecimal digits after it", at))
    }

    fn remark(&mut self, kind: RemarkKind, offset: usize) {
        if self.remarks.len() < MAX_REMARKS {
            self.remarks.push(Remark { offset, kind });
        }
    }

    /// Steps over a name and the colon, and looks for the same name in the object whose names begin at `first`.
    fn name(&mut self, first: usize) -> Result<(), ReadError> {
        let open = self.at;
        if self.peek() != b'"' {
            return self.expected("a member name in double quotes");
        }
        let escaped = self.string()?;
        let inner = &self.text[open + 1..self.at - 1];
        let hash = if escaped { hash(decode(inner).as_bytes()) } else { hash(inner.as_bytes()) };
        let known = &self.names[first..];
        if known.len() < FEW
            && let Some(_) = known.iter().find(|(other, at)| *other == hash && self.name_at(*at) == decode(inner))
        {
            self.remark(RemarkKind::DuplicateMember, open);
        }
        self.names.push((hash, open as u32));
        self.space();
        if self.peek() != b':' {
            return self.expected("`:`");
        }
        self.at += 1;
        Ok(())
    }

    /// The decoded name whose opening quote is at `at`.
    fn name_at(&self, at: u32) -> Cow<'_, str> {
        let at = at as usize;
        decode(&self.text[at + 1..skip_string(self.bytes, at) - 1])
    }

    fn close_object(&mut self, first: usize) {
        if self.names.len() - first > FEW {
            let mut names = self.names.split_off(first);
            // The first few were compared as they came.
            let compared = names[FEW - 1].1;
            names.sort_unstable();
            for same_hash in names.chunk_by_mut(|one, two| one.0 == two.0).filter(|group| group.len() > 1) {
                same_hash.sort_by_cached_key(|(_, at)| self.name_at(*at));
                for pair in same_hash.windows(2) {
                    if pair[1].1 > compared && self.name_at(pair[0].1) == self.name_at(pair[1].1) {
                        self.remark(RemarkKind::DuplicateMember, pair[1].1 as usize);
                    }
                }
            }
        }
        self.names.truncate(first);
    }
}

/// Offset of the first byte at or behind `at` that ends a run of plain string bytes: a quote, a backslash or a control character.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let quote = zero(word ^ (ONES * 0x22));
        let backslash = zero(word ^ (ONES * 0x5c));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        // A borrow can only set bits above the first true hit, so the lowest set bit is right.
        let hits = (quote | backslash | control) & TOPS;
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x20 || byte == b'"' || byte == b'\\' {
            break;
        }
        at += 1;
    }
    at
}

fn hash(name: &[u8]) -> u32 {
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let mut chunks = name.chunks_exact(8);
    let mut state = name.len() as u64;
    for chunk in &mut chunks {
        let word = chunk.first_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word));
        state = (state.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
    let tail = chunks.remainder().iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    ((state.rotate_left(5) ^ tail).wrapping_mul(FACTOR) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::{Limits, Remark, RemarkKind, scan};

    fn error(text: &str) -> (String, usize) {
        let error = scan(text, &Limits::default()).expect_err(text);
        (error.message, error.offset)
    }

    fn remarks(text: &str) -> Vec<Remark> {
        scan(text, &Limits::default()).expect(text).remarks
    }

    #[test]
    fn each_error_names_its_byte() {
        for (text, offset, part) in [
            ("", 0, "the end of the text"),
            (" \n", 2, "the end of the text"),
            ("{} x", 3, "`x` after the end"),
            ("[1,]", 3, "expected a value"),
            ("[1 2]", 3, "`,` or `]`"),
            ("{\"a\" 1}", 5, "`:`"),
            ("{\"a\":1,}", 7, "member name"),
            ("{a:1}", 1, "member name"),
            ("{\"a\":1]", 6, "`,` or `}`"),
            ("tru", 0, "a value"),
            ("truex", 4, "after the end"),
            ("01", 0, "zero"),
            ("-01", 1, "zero"),
            ("-", 1, "a digit"),
            ("1.e5", 2, "a digit"),
            ("1e+", 3, "a digit"),
            ("+1", 0, "a value"),
            ("\"ab", 3, "not closed"),
            ("\"a\u{1}\"", 2, "0x01"),
            ("\"0123456789\n\"", 11, "0x0A"),
            ("\"\\x\"", 2, "escapes"),
            ("\"\\u12g4\"", 1, "hexadecimal"),
            ("\"\\ud800\\u12\"", 7, "hexadecimal"),
            ("\u{feff}1", 0, "byte order mark"),
            ("\u{a0}1", 0, "U+00A0"),
            ("\u{1b}[0m", 0, "0x1B"),
            ("[", 1, "a value"),
            ("{\"a\":", 5, "a value"),
        ] {
            let (message, at) = error(text);
            assert_eq!(at, offset, "{text:?}: {message}");
            assert!(message.contains(part), "{text:?}: {message}");
        }
    }

    #[test]
    fn depth_and_size_are_limited() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(scan(&nested(128), &Limits::default()).is_ok());
        assert_eq!(error(&nested(129)).1, 128);
        assert_eq!(error(&"[".repeat(5_000_000)).1, 128);
        let small = Limits { bytes: 4, ..Limits::default() };
        assert!(scan("[12]", &small).is_ok());
        assert_eq!(
            scan("[123]", &small).expect_err("too long").to_string(),
            "longer than the limit of 4 bytes at byte 4"
        );
    }

    #[test]
    fn equal_names_are_remarked_also_when_escaped_or_many() {
        let duplicate = |offset| Remark { offset, kind: RemarkKind::DuplicateMember };
        assert_eq!(remarks(r#"{"a":1,"b":{"a":1},"\u0061":2}"#), [duplicate(19)]);
        assert_eq!(remarks(r#"[{"a":1},{"a":1}]"#), []);
        let mut many: String = (0..50).map(|n| format!("\"key{n}\":{{\"x\":1}},")).collect();
        assert_eq!(remarks(&format!("{{{many}\"y\":0}}")), []);
        let at = many.len() + 1;
        many.push_str("\"key3\":1,\"key\\u0033\":2");
        assert_eq!(remarks(&format!("{{{many}}}")), [duplicate(at), duplicate(at + 9)]);
        assert_eq!(remarks(&format!("{{\"\":1{}}}", ",\"\":1".repeat(500))).len(), 100);
    }

    #[test]
    fn half_surrogates_are_remarked() {
        let lone = |offset| Remark { offset, kind: RemarkKind::LoneSurrogate };
        assert_eq!(remarks(r#""\ud83d\ude00""#), []);
        assert_eq!(remarks(r#""\ud83d x \ude00""#), [lone(1), lone(10)]);
        assert_eq!(remarks(r#""\ud83d\u0041""#), [lone(1)]);
        assert_eq!(remarks(r#""\ud83d\ud83d\ude00""#), [lone(1)]);
    }
}
