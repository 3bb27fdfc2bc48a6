//! Where JSON that was written without quotes around it ends, so that the error can show how to write it.

use memchr::memchr;

/// How far the closing bracket is looked for, in bytes: a line may hold many such words.
const FARTHEST: usize = 4_096;

/// The end of the brackets that open at byte `start`, on the same line; `otherwise` where they do not close there.
pub(super) fn end(text: &str, start: u32, otherwise: u32) -> u32 {
    let rest = &text.as_bytes()[start as usize..];
    let rest = &rest[..rest.len().min(FARTHEST)];
    let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
    let (mut depth, mut is_string, mut is_escaped) = (0_u32, false, false);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => depth += 1,
            b'}' | b']' if !is_string => {
                depth -= 1;
                if depth == 0 {
                    return otherwise.max(start + at as u32 + 1);
                }
            }
            _ => {}
        }
    }
    otherwise
}
