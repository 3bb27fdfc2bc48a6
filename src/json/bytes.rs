//! Running over bytes, eight at a time.
//!
//! Owns: finding the bytes that matter, hashing names, and skipping over values that were checked before. May use: nothing.
//! Must not: panic, also when the text was not checked after all.

/// Offset of the first byte at or behind `at` that ends a run of plain string bytes: a quote, a backslash or a control character.
pub(super) fn plain_end(bytes: &[u8], at: usize) -> usize {
    let special = |word: u64| {
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5c)) | control
    };
    find(bytes, at, special, |byte| byte < 0x20 || byte == b'"' || byte == b'\\')
}

/// Hashes the bytes from `start` up to `end`.
pub(super) fn hash(bytes: &[u8], start: usize, end: usize) -> u32 {
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let mix = |state: u64, word: u64| (state.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let mut state = (end - start) as u64;
    let mut at = start;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        match end.saturating_sub(at) {
            0 => return (state >> 32) as u32,
            left @ 1..8 => return (mix(state, word & (u64::MAX >> (64 - 8 * left))) >> 32) as u32,
            _ => state = mix(state, word),
        }
        at += 8;
    }
    let tail = bytes.get(at..end).unwrap_or_default();
    if !tail.is_empty() {
        state = mix(state, tail.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
    (state >> 32) as u32
}

/// Offset of the first byte at or behind `at` that is not JSON white space.
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Offset behind the closing quote of the checked string whose opening quote is at `at`.
pub(super) fn skip_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    loop {
        let found = find(
            bytes,
            at,
            |word| zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5c)),
            |byte| matches!(byte, b'"' | b'\\'),
        );
        match bytes.get(found) {
            Some(b'"') => return found + 1,
            Some(_) => at = found + 2,
            None => return bytes.len(),
        }
    }
}

/// The byte 1 in each place of a word.
pub(super) const ONES: u64 = u64::MAX / 255;

/// Sets the top bit of each byte of `word` that is zero; bytes above the first zero may be wrong.
pub(super) const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

/// Offset of the first byte at or behind `at` that is looked for, eight bytes at a time; the length where there is none.
///
/// `word` sets the top bit of each such byte (of eight) and may be wrong only above the first; `byte` tells one byte.
pub(super) fn find(bytes: &[u8], mut at: usize, word: impl Fn(u64) -> u64, byte: impl Fn(u8) -> bool) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let hits = word(u64::from_le_bytes(*chunk)) & (ONES << 7);
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|found| !byte(*found)) {
        at += 1;
    }
    at.min(bytes.len())
}

/// Offset behind the checked value that starts at `at`.
pub(super) fn skip_value(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => skip_string(bytes, at),
        Some(b'{' | b'[') => skip_container(bytes, at),
        _ => skip_scalar(bytes, at),
    }
}

fn skip_scalar(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'a'..=b'z' | b'0'..=b'9' | b'-' | b'+' | b'.' | b'E') = bytes.get(at) {
        at += 1;
    }
    at
}

fn skip_container(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0usize;
    // With bit 0x20 set, `[` is `{` and `]` is `}`; nothing else in JSON outside strings becomes one of them.
    let brackets = |word: u64| {
        let folded = word | (ONES * 0x20);
        zeros(folded ^ (ONES * 0x7b)) | zeros(folded ^ (ONES * 0x7d)) | zeros(word ^ (ONES * 0x22))
    };
    loop {
        at = find(bytes, at, brackets, |byte| matches!(byte, b'{' | b'[' | b'}' | b']' | b'"'));
        match bytes.get(at) {
            Some(b'"') => at = skip_string(bytes, at),
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
            }
            Some(_) => {
                depth = depth.saturating_sub(1);
                at += 1;
                if depth == 0 {
                    return at;
                }
            }
            None => return bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{hash, plain_end, skip_value};

    #[test]
    fn text_that_was_never_checked_does_not_panic() {
        for broken in ["", "\"", "\"\\", "{", "[\"", "}", "[[]"] {
            assert!(skip_value(broken.as_bytes(), 0) <= broken.len());
        }
    }

    #[test]
    fn every_byte_that_matters_is_found_at_every_place() {
        for length in 0..20 {
            for at in 0..length {
                for special in [0, 1, 0x1f, b'"', b'\\'] {
                    let mut bytes = vec![0x80; length];
                    bytes[at] = special;
                    assert_eq!(plain_end(&bytes, 0), at, "{special} at {at} of {length}");
                }
            }
            for plain in [0x20, 0x21, 0x23, 0x5b, 0x7f, 0x80, 0xff] {
                assert_eq!(plain_end(&vec![plain; length], 0), length, "{plain}");
            }
        }
    }

    #[test]
    fn a_name_hashes_alike_wherever_it_stands() {
        for name in ["", "a", "1234567", "12345678", "123456789", "1234567890123456", "12345678901234567"] {
            let alone = hash(name.as_bytes(), 0, name.len());
            let amid = format!("xx{name}yyyyyyyyyyyyyyyy");
            assert_eq!(hash(amid.as_bytes(), 2, 2 + name.len()), alone, "{name}");
            assert_ne!(hash(amid.as_bytes(), 1, 2 + name.len()), alone, "{name}");
        }
    }
}
