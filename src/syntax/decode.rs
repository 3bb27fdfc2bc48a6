//! From the bytes of a file to text.

use memchr::memchr_iter;
use thiserror::Error;

/// Why bytes are not the text of a script.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes are UTF-16, which some editors call "Unicode".
    #[error("the file is UTF-16 ({order} first); save it as UTF-8", order = if *.little_endian { "little end" } else { "big end" })]
    Utf16 {
        /// The low byte of each unit comes first.
        little_endian: bool,
    },
    /// Some bytes are no UTF-8.
    #[error("line {line}, byte offset {offset}: not valid UTF-8; save the file as UTF-8")]
    Utf8 {
        /// Number of good bytes before the bad one.
        offset: usize,
        /// The line it is on, from 1.
        line: usize,
    },
}

impl DecodeError {
    /// The stable code a diagnostic about it carries.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Utf16 { .. } => "mcp::syntax::utf16",
            Self::Utf8 { .. } => "mcp::syntax::not_utf8",
        }
    }
}

/// Takes the bytes of a file for UTF-8. A byte order mark stays in the text; [`super::parse`] skips it.
///
/// # Errors
/// Bytes that are UTF-16, with or without a byte order mark, or not valid UTF-8.
pub fn decode(bytes: Vec<u8>) -> Result<String, DecodeError> {
    if let Some(little_endian) = utf16(&bytes) {
        return Err(DecodeError::Utf16 { little_endian });
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let line = memchr_iter(b'\n', &error.as_bytes()[..offset]).count() + 1;
        DecodeError::Utf8 { offset, line }
    })
}

/// The byte order of UTF-16, if the bytes are that: by their byte order mark, or by zeros in every second of the
/// first bytes, as plain ASCII has them.
fn utf16(bytes: &[u8]) -> Option<bool> {
    match bytes {
        [0xFF, 0xFE, ..] => return Some(true),
        [0xFE, 0xFF, ..] => return Some(false),
        _ => {}
    }
    let (units, _) = bytes.as_chunks::<2>();
    let units = &units[..units.len().min(16)];
    if units.len() < 2 {
        return None;
    }
    if units.iter().all(|[low, high]| *low != 0 && *high == 0) {
        return Some(true);
    }
    units.iter().all(|[high, low]| *low != 0 && *high == 0).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::{DecodeError, decode};

    fn utf16(text: &str, little: bool, mark: bool) -> Vec<u8> {
        let mark = mark.then_some(0xFEFF);
        mark.into_iter()
            .chain(text.encode_utf16())
            .flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() })
            .collect()
    }

    #[test]
    fn utf16_is_named() {
        for mark in [true, false] {
            for little_endian in [true, false] {
                let bytes = utf16("echo \"hé\"\n", little_endian, mark);
                let error = decode(bytes).unwrap_err();
                assert_eq!(error, DecodeError::Utf16 { little_endian });
            }
        }
        let error = decode(utf16("echo", true, true)).unwrap_err();
        assert_eq!(error.to_string(), "the file is UTF-16 (little end first); save it as UTF-8");
        assert_eq!(error.code(), "mcp::syntax::utf16");
    }

    #[test]
    fn bad_bytes_have_an_offset_and_a_line() {
        let error = decode(b"a\nb\nc \xE9 d".to_vec()).unwrap_err();
        assert_eq!(error, DecodeError::Utf8 { offset: 6, line: 3 });
        assert_eq!(error.to_string(), "line 3, byte offset 6: not valid UTF-8; save the file as UTF-8");
        assert_eq!(error.code(), "mcp::syntax::not_utf8");
    }

    #[test]
    fn text_stays_as_it_is() {
        for text in ["", "a", "\u{FEFF}echo é\r\n", "a\0b"] {
            assert_eq!(decode(text.as_bytes().to_vec()).as_deref(), Ok(text));
        }
    }
}
