//! Values that may be private, and the one place that masks secrets.
//!
//! Owns: [`Sensitive`], which can be neither printed nor serialised without asking, and [`Masker`].
//! May use: nothing of ours. Must not: decide what is private; callers wrap.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem::Finder;

/// A value that reports and logs cannot show by accident: it has no `Display` and its `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Sensitive<T>(T);

impl<T> Sensitive<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Gives the value to code that has a reason to see it.
    pub const fn reveal(&self) -> &T {
        &self.0
    }

    /// Unwraps the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What stands in the place of a secret.
const MASK: &str = "***";

/// Fewest characters of a secret: shorter ones would mask half of every text and could be guessed from the rest.
const SHORTEST: usize = 4;

/// Fewest characters of one line of a secret with several lines (a PEM key) that is masked on its own.
const SHORTEST_LINE: usize = 8;

/// A secret with fewer than four characters, which cannot be masked sensibly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a secret needs at least 4 characters, or masking it would garble every text")]
pub struct TooShort;

/// Replaces secrets by `***` in whatever leaves the program: as they are, and JSON-escaped (once or twice),
/// percent-encoded or inside base64 at any alignment, standard and URL-safe.
///
/// A text must be masked before it is cut or escaped for a terminal: half a secret is not recognised.
#[derive(Default)]
pub struct Masker {
    filled: AtomicBool,
    needles: RwLock<Vec<Needle>>,
}

/// One form of one secret.
struct Needle {
    finder: Finder<'static>,
    /// The character before (after) the match carries bits of the secret too: base64 packs 3 bytes into 4.
    leaks: (bool, bool),
}

impl Masker {
    /// A masker that knows no secret yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Masks `secret` from now on. A secret of several lines is also masked line by line.
    ///
    /// # Errors
    /// Where it has fewer than 4 characters.
    pub fn add(&self, secret: &str) -> Result<(), TooShort> {
        if secret.trim().chars().count() < SHORTEST {
            return Err(TooShort);
        }
        let mut fresh = forms(secret.trim());
        let lines = secret.trim().lines().map(str::trim).filter(|_| secret.trim().contains('\n'));
        fresh.extend(lines.filter(|line| line.chars().count() >= SHORTEST_LINE).flat_map(forms));
        let mut needles = self.needles.write().unwrap_or_else(PoisonError::into_inner);
        for needle in fresh {
            if !needles.iter().any(|known| known.finder.needle() == needle.finder.needle()) {
                needles.push(needle);
            }
        }
        self.filled.store(true, Ordering::Release);
        Ok(())
    }

    /// True while no secret is known; then [`Masker::mask`] costs nothing.
    pub fn is_empty(&self) -> bool {
        !self.filled.load(Ordering::Acquire)
    }

    /// How many forms of secrets are looked for; it grows with each new secret.
    pub fn forms(&self) -> usize {
        self.needles.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The text with each secret replaced by `***`.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replace(text, |masked, _| masked.push_str(MASK))
    }

    /// The text with every byte of a secret replaced by `*`, line ends aside: offsets, lines and columns hold.
    /// For sources that spans point into.
    pub fn blank<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replace(text, |masked, secret| {
            masked.extend(secret.bytes().map(|byte| if byte == b'\n' { '\n' } else { '*' }));
        })
    }

    fn replace<'a>(&self, text: &'a str, mut put: impl FnMut(&mut String, &str)) -> Cow<'a, str> {
        let secrets = self.find(text);
        if secrets.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut done) = (String::with_capacity(text.len()), 0);
        for secret in secrets {
            let end = ceil_char(text, secret.end);
            masked.push_str(&text[done..floor_char(text, secret.start).max(done)]);
            put(&mut masked, &text[floor_char(text, secret.start).max(done)..end]);
            done = end;
        }
        masked.push_str(&text[done..]);
        Cow::Owned(masked)
    }

    /// Where secrets stand: in order, none touching the next.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_empty() {
            return Vec::new();
        }
        let needles = self.needles.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        let plain = text.as_bytes();
        search(&needles, plain, |range| found.push(range));
        if memchr::memchr(b'\\', plain).is_some() {
            let once = View::decode(plain, json_escape);
            search(&needles, &once.bytes, |range| found.push(once.back(range)));
            if memchr::memchr(b'\\', &once.bytes).is_some() {
                let twice = View::decode(&once.bytes, json_escape);
                search(&needles, &twice.bytes, |range| found.push(once.back(twice.back(range))));
            }
        }
        if memchr::memchr2(b'%', b'+', plain).is_some() {
            for decode in [percent_escape, form_escape] {
                let view = View::decode(plain, decode);
                search(&needles, &view.bytes, |range| found.push(view.back(range)));
            }
        }
        found.sort_by_key(|range| range.start);
        found.dedup_by(|next, kept| {
            let touches = next.start <= kept.end;
            if touches {
                kept.end = kept.end.max(next.end);
            }
            touches
        });
        found
    }
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Masker(***)")
    }
}

/// Every form of one secret that is looked for.
fn forms(secret: &str) -> Vec<Needle> {
    let mut forms = vec![Needle { finder: Finder::new(secret).into_owned(), leaks: (false, false) }];
    for before in 0..3 {
        let padded = [&[0; 3][..before], secret.as_bytes()].concat();
        // Whole characters of six bits that hold nothing but the secret.
        let sure = (before * 8).div_ceil(6)..padded.len() * 8 / 6;
        let leaks = (before > 0, padded.len() % 3 != 0);
        for text in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            forms.push(Needle { finder: Finder::new(&text.as_bytes()[sure.clone()]).into_owned(), leaks });
        }
    }
    forms
}

fn search(needles: &[Needle], text: &[u8], mut found: impl FnMut(Range<usize>)) {
    let carries = |at: Option<usize>| {
        at.and_then(|at| text.get(at)).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
    };
    for needle in needles {
        for start in needle.finder.find_iter(text) {
            let end = start + needle.finder.needle().len();
            let left = needle.leaks.0 && carries(start.checked_sub(1));
            let right = needle.leaks.1 && carries(Some(end));
            found(start - usize::from(left)..end + usize::from(right));
        }
    }
}

/// A text with its escapes taken out, and the way back to where each byte came from.
struct View {
    bytes: Vec<u8>,
    /// For each byte the offset it came from; one more for the end.
    origins: Vec<usize>,
}

impl View {
    /// Decodes with `escape`, which gives for the text at an escape its bytes and the length it had, or nothing.
    fn decode(text: &[u8], escape: impl Fn(&[u8]) -> Option<(Decoded, usize)>) -> Self {
        let (mut bytes, mut origins) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
        let mut at = 0;
        while at < text.len() {
            let (decoded, length) = escape(&text[at..]).unwrap_or((Decoded::byte(text[at]), 1));
            bytes.extend_from_slice(decoded.bytes());
            origins.resize(bytes.len(), at);
            at += length;
        }
        origins.push(text.len());
        Self { bytes, origins }
    }

    fn back(&self, range: Range<usize>) -> Range<usize> {
        self.origins[range.start]..self.origins[range.end]
    }
}

/// The bytes of one decoded character.
struct Decoded {
    buffer: [u8; 4],
    length: usize,
}

impl Decoded {
    const fn byte(byte: u8) -> Self {
        Self { buffer: [byte, 0, 0, 0], length: 1 }
    }

    fn char(c: char) -> Self {
        let mut buffer = [0; 4];
        let length = c.encode_utf8(&mut buffer).len();
        Self { buffer, length }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

fn json_escape(text: &[u8]) -> Option<(Decoded, usize)> {
    let unit = |text: &[u8]| match text {
        [b'\\', b'u', a, b, c, d, ..] => hex(&[*a, *b, *c, *d]),
        _ => None,
    };
    let [b'\\', kind, ..] = text else { return None };
    let byte = match kind {
        b'"' | b'\\' | b'/' => *kind,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'u' => {
            let first = unit(text)?;
            if let Some(c) = char::from_u32(first) {
                return Some((Decoded::char(c), 6));
            }
            let second = unit(text.get(6..)?)?;
            let pair = char::decode_utf16([first as u16, second as u16]).next()?.ok()?;
            return Some((Decoded::char(pair), 12));
        }
        _ => return None,
    };
    Some((Decoded::byte(byte), 2))
}

fn percent_escape(text: &[u8]) -> Option<(Decoded, usize)> {
    match text {
        [b'%', high, low, ..] => Some((Decoded::byte(hex(&[*high, *low])? as u8), 3)),
        _ => None,
    }
}

/// As [`percent_escape`], with `+` for a space as HTML forms write it.
fn form_escape(text: &[u8]) -> Option<(Decoded, usize)> {
    if text.first() == Some(&b'+') { Some((Decoded::byte(b' '), 1)) } else { percent_escape(text) }
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}

fn floor_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    use super::{Masker, TooShort};

    fn masker(secret: &str) -> Masker {
        let masker = Masker::new();
        masker.add(secret).expect("long enough");
        masker
    }

    #[test]
    fn raw_secrets_go_and_the_rest_stays() {
        let masker = masker("hunter2!");
        assert_eq!(masker.mask("pw=hunter2!, again hunter2!hunter2!."), "pw=***, again ***.");
        assert!(matches!(masker.mask("nothing here"), Cow::Borrowed(_)));
        assert!(matches!(Masker::new().mask("hunter2!"), Cow::Borrowed(_)));
    }

    #[test]
    fn short_secrets_are_refused() {
        assert_eq!(Masker::new().add("äöü"), Err(TooShort));
        assert_eq!(Masker::new().add("  a  "), Err(TooShort));
        assert_eq!(Masker::new().add("äöüß"), Ok(()));
    }

    #[test]
    fn escaped_forms_are_seen_through() {
        let masker = masker("p\"w/ä\n😀x");
        for text in [
            "p\"w/ä\n😀x",
            r#"p\"w/ä\n😀x"#,
            r#"p\"w\/\u00e4\n\uD83D\ude00x"#,
            r#"p\\\"w\\/ä\\n😀x"#,
            "p%22w%2F%C3%A4%0A%F0%9F%98%80x",
            "p%22w/%c3%a4%0a%f0%9f%98%80x",
        ] {
            assert_eq!(masker.mask(&format!("<{text}>")), "<***>", "{text}");
        }
    }

    #[test]
    fn form_encoding_is_seen_through() {
        let masker = masker("a b+c");
        assert_eq!(masker.mask("k=a+b%2Bc&x"), "k=***&x");
        assert_eq!(masker.mask("k=a%20b+c&x"), "k=***&x");
    }

    #[test]
    fn base64_is_masked_at_every_alignment() {
        for secret in ["abcd", "s3cr3t-token", "??>>~~??>>", "ßß?ß"] {
            let masker = masker(secret);
            for before in ["", "u", "u:", "us:", "user:"] {
                for after in ["", "x", "xy", "xyz"] {
                    let plain = format!("{before}{secret}{after}");
                    for encoded in [STANDARD.encode(&plain), URL_SAFE_NO_PAD.encode(&plain)] {
                        let text = format!("Basic {encoded}");
                        let masked = masker.mask(&text);
                        assert!(masked.contains("***"), "{plain} as {encoded} stays");
                        let left = masked.replace("***", "").len();
                        let spare = (before.len() + after.len()).div_ceil(3) * 4 + 4;
                        assert!(left <= "Basic ".len() + spare, "{plain}: {masked} shows too much");
                    }
                }
            }
        }
    }

    #[test]
    fn multi_line_secrets_are_masked_line_by_line() {
        let masker = masker("-----BEGIN KEY-----\nMIIabcdefgh\nxy\n-----END KEY-----\n");
        assert_eq!(masker.mask("stderr: MIIabcdefgh"), "stderr: ***");
        assert_eq!(masker.mask("xy"), "xy");
    }

    #[test]
    fn blanked_sources_keep_their_offsets() {
        let masker = masker("töken");
        assert_eq!(masker.blank("a töken b"), "a ****** b");
        assert_eq!(masker.blank("a töken b").len(), "a töken b".len());
    }

    #[test]
    fn debug_tells_nothing() {
        assert_eq!(format!("{:?}", masker("töken")), "Masker(***)");
    }
}
