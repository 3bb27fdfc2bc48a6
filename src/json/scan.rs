//! The one scan that decides whether bytes are JSON.
//!
//! Owns: RFC 8259's grammar, and finding what is odd but allowed. May use: nothing of ours outside this folder.
//! Must not: build a tree, recurse, or need more memory than its input.

use std::borrow::Cow;

use super::bytes::{hash, plain_end, skip_space, skip_string};
use super::number::grammar;
use super::read::{Limits, ReadError, Remark, RemarkKind, fail};
use super::text::{decode, hex4, is_high, is_low};

/// Deepest nesting at all: walking a tree takes stack for every level.
const DEEPEST: usize = 1024;

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
    let names = Vec::with_capacity(32);
    let mut scanner = Scanner { text, bytes: text.as_bytes(), at: 0, names, remarks: Vec::new(), error: None };
    let start = skip_space(scanner.bytes, 0);
    let walked = scanner.values(limits.depth.min(DEEPEST));
    if let Some(error) = scanner.error.take().or_else(|| walked.is_err().then(|| fail("not JSON", scanner.at))) {
        return Err(error);
    }
    let end = scanner.at;
    scanner.space();
    if scanner.at < text.len() {
        return Err(fail(format!("{} after the end of the value", describe(text, scanner.at)), scanner.at));
    }
    scanner.remarks.sort_unstable();
    Ok(Checked { start, end, remarks: scanner.remarks })
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

/// A member's name: hash of its decoded text in the upper half, offset of its opening quote in the lower.
///
/// Below the names of each open array or object lies one entry of the same type that describes the one around it, so that a
/// single vector holds all that is open.
type Name = u64;

/// Marks an entry for an object, in the bit above all indexes.
const OBJECT: u64 = 1 << 63;

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    names: Vec<Name>,
    remarks: Vec<Remark>,
    error: Option<ReadError>,
}

/// The scan stopped; why is in the scanner, so that results stay small on the way back.
#[derive(Debug)]
struct Stop;

impl Scanner<'_> {
    fn space(&mut self) {
        self.at = skip_space(self.bytes, self.at);
    }

    fn peek(&self) -> u8 {
        // NUL is valid nowhere outside strings, so it can stand for the end.
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    #[cold]
    fn expected<T>(&mut self, what: &str) -> Result<T, Stop> {
        self.stop(format!("expected {what}, found {}", describe(self.text, self.at)), self.at)
    }

    #[cold]
    fn stop<T>(&mut self, message: impl Into<String>, offset: usize) -> Result<T, Stop> {
        self.error = Some(fail(message, offset));
        Err(Stop)
    }

    /// Steps over one value and everything in it.
    fn values(&mut self, depth: usize) -> Result<(), Stop> {
        // What is open innermost: whether it is an object, and where its names begin; how much is open at all.
        let (mut object, mut first, mut levels) = (false, 0usize, 0usize);
        loop {
            self.space();
            let byte = self.peek();
            match byte {
                b'"' => _ = self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b'{' | b'[' => {
                    if levels >= depth {
                        return self.stop(format!("nested deeper than the limit of {depth} levels"), self.at);
                    }
                    self.at += 1;
                    self.space();
                    if self.peek() == if byte == b'{' { b'}' } else { b']' } {
                        self.at += 1;
                    } else {
                        self.names.push(first as u64 | if object { OBJECT } else { 0 });
                        (object, first, levels) = (byte == b'{', self.names.len(), levels + 1);
                        if object {
                            self.name(first)?;
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
                if levels == 0 {
                    return Ok(());
                }
                self.space();
                match (self.peek(), object) {
                    (b',', false) => {
                        self.at += 1;
                        break;
                    }
                    (b',', true) => {
                        self.at += 1;
                        self.space();
                        self.name(first)?;
                        break;
                    }
                    (b'}', true) => self.close_object(first),
                    (b']', false) => {}
                    (_, true) => return self.expected("`,` or `}`"),
                    (_, false) => return self.expected("`,` or `]`"),
                }
                self.at += 1;
                let around = self.names.pop().unwrap_or_default();
                (object, first, levels) = (around & OBJECT != 0, (around & !OBJECT) as usize, levels - 1);
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Stop> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.expected("a value");
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Stop> {
        match grammar(&self.bytes[self.at..]) {
            Ok(len) => self.at += len,
            Err(len) => {
                let leading_zero = self.bytes[self.at..self.at + len].ends_with(b"0");
                self.at += len;
                if leading_zero {
                    return self.stop("a number may not start with a zero that has digits after it", self.at - 1);
                }
                return self.expected("a digit");
            }
        }
        Ok(())
    }

    /// Steps over a string; true where it holds escapes.
    fn string(&mut self) -> Result<bool, Stop> {
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
                    let message = format!("control character 0x{control:02X} in a string must be written as an escape");
                    return self.stop(message, self.at);
                }
                None => return self.stop(format!("the string that starts at byte {open} is not closed"), self.at),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Stop> {
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

    fn unit(&mut self, at: usize) -> Result<u32, Stop> {
        match hex4(self.bytes.get(at + 2..).unwrap_or_default()) {
            Some(unit) => Ok(unit),
            None => self.stop("`\\u` needs four hexadecimal digits after it", at),
        }
    }

    fn remark(&mut self, kind: RemarkKind, offset: usize) {
        if self.remarks.len() < MAX_REMARKS {
            self.remarks.push(Remark { offset, kind });
        }
    }

    /// Steps over a name and the colon, and looks for the same name in the object whose names begin at `first`.
    fn name(&mut self, first: usize) -> Result<(), Stop> {
        let open = self.at;
        if self.peek() != b'"' {
            return self.expected("a member name in double quotes");
        }
        let escaped = self.string()?;
        let hash = match escaped {
            true => {
                let name = decode(&self.text[open + 1..self.at - 1]);
                hash(name.as_bytes(), 0, name.len())
            }
            false => hash(self.bytes, open + 1, self.at - 1),
        };
        let known = &self.names[first..];
        if known.len() < FEW
            && known
                .iter()
                .any(|other| (*other >> 32) as u32 == hash && self.name_at(*other) == self.name_at(open as u64))
        {
            self.remark(RemarkKind::DuplicateMember, open);
        }
        self.names.push(u64::from(hash) << 32 | open as u64);
        self.space();
        if self.peek() != b':' {
            return self.expected("`:`");
        }
        self.at += 1;
        Ok(())
    }

    /// The decoded name whose opening quote is at the offset in `name`.
    fn name_at(&self, name: Name) -> Cow<'_, str> {
        let at = offset(name);
        decode(&self.text[at + 1..skip_string(self.bytes, at) - 1])
    }

    fn close_object(&mut self, first: usize) {
        if self.names.len() - first > FEW {
            let mut all = std::mem::take(&mut self.names);
            let names = &mut all[first..];
            // The first few were compared as they came.
            let compared = offset(names[FEW - 1]);
            names.sort_unstable();
            for same_hash in names.chunk_by_mut(|one, two| one >> 32 == two >> 32).filter(|group| group.len() > 1) {
                same_hash.sort_by_cached_key(|name| self.name_at(*name));
                for pair in same_hash.windows(2) {
                    if offset(pair[1]) > compared && self.name_at(pair[0]) == self.name_at(pair[1]) {
                        self.remark(RemarkKind::DuplicateMember, offset(pair[1]));
                    }
                }
            }
            self.names = all;
        }
        self.names.truncate(first);
    }
}

fn offset(name: Name) -> usize {
    (name & u64::from(u32::MAX)) as usize
}

#[cfg(test)]
mod tests {
    use super::scan;
    use crate::json::{Limits, Remark, RemarkKind};

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
