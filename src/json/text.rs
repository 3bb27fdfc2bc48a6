//! The text of JSON strings: decoding escapes and writing them.
//!
//! Owns: the escapes of RFC 8259 section 7.
//! May use: nothing. Must not: panic, also when the text was not checked after all.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text of a string whose inner bytes (between the quotes) are `inner`; half surrogates become U+FFFD.
pub(super) fn decode(inner: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else {
        return Cow::Borrowed(inner);
    };
    let mut out = String::with_capacity(inner.len());
    out.push_str(&inner[..first]);
    let mut rest = &inner[first..];
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let (decoded, used) = escape(&rest[at..]);
        out.push(decoded);
        rest = rest.get(at + used..).unwrap_or("");
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character an escape stands for and the number of bytes it takes; `text` starts with the backslash.
fn escape(text: &str) -> (char, usize) {
    let plain = match text.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(text),
        Some(other) if other.is_ascii() => char::from(*other),
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (plain, 2)
}

fn unicode_escape(text: &str) -> (char, usize) {
    let Some(unit) = unit(text) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    if let Some(plain) = char::from_u32(unit) {
        return (plain, 6);
    }
    if is_high(unit)
        && let Some(low) = text.get(6..).and_then(self::unit)
        && is_low(low)
        && let Some(pair) = char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
    {
        return (pair, 12);
    }
    (char::REPLACEMENT_CHARACTER, 6)
}

/// The code unit of a `\uXXXX` escape at the start of `text`.
fn unit(text: &str) -> Option<u32> {
    hex4(text.as_bytes().strip_prefix(b"\\u")?)
}

/// The value of four hexadecimal digits at the start of `bytes`.
pub(super) fn hex4(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk::<4>()?.iter().try_fold(0, |value, byte| Some(value * 16 + char::from(*byte).to_digit(16)?))
}

/// True for the first half of a surrogate pair.
pub(super) fn is_high(unit: u32) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

/// True for the second half of a surrogate pair.
pub(super) fn is_low(unit: u32) -> bool {
    (0xdc00..0xe000).contains(&unit)
}

/// Appends `text` as a JSON string with its quotes; escapes only what RFC 8259 asks for.
pub(super) fn write_string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[done..at]);
        done = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            8 => out.push_str("\\b"),
            12 => out.push_str("\\f"),
            // Writing into a String cannot fail.
            other => _ = write!(out, "\\u{other:04x}"),
        }
    }
    out.push_str(&text[done..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::{decode, write_string};

    #[test]
    fn escapes_decode_and_half_surrogates_become_a_replacement() {
        assert_eq!(decode(r#"a\"\\\/\b\f\n\r\t"#), "a\"\\/\u{8}\u{c}\n\r\t");
        assert_eq!(decode(r"\u00e4\uD83D\uDE00"), "ä😀");
        assert_eq!(decode(r"\ud83d"), "\u{fffd}");
        assert_eq!(decode(r"\ud83dx"), "\u{fffd}x");
        assert_eq!(decode(r"\ud83d\n"), "\u{fffd}\n");
        assert_eq!(decode(r"\ud83d\u0041"), "\u{fffd}A");
        assert_eq!(decode(r"\ude00\ud83d\ude00"), "\u{fffd}😀");
    }

    #[test]
    fn text_that_was_never_checked_does_not_panic() {
        for broken in ["\\", "\\u", "\\u12", "\\ä", "\\ud83d\\u", "\\ud83d\\uä123"] {
            decode(broken);
        }
    }

    #[test]
    fn strings_are_written_with_the_escapes_they_need() {
        let mut out = String::new();
        write_string("a\"\\\n\u{1}\u{7f}ä/", &mut out);
        assert_eq!(out, "\"a\\\"\\\\\\n\\u0001\u{7f}ä/\"");
    }
}
