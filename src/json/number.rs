//! Numbers as text: exact, of any size, compared by value.
//!
//! Owns: the number grammar of RFC 8259 section 6 and comparison of decimals. May use: nothing.
//! Must not: round, or spend more time than the text is long (`1e1000000000` is never expanded).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A JSON number, kept exactly as it was written.
///
/// `==` compares the text; [`Number::cmp_value`] and [`Number::same_value`] compare values.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Arc<str>);

impl Number {
    /// Reads `text` if all of it is a number by JSON's grammar: no sign `+`, no leading zero, no `NaN`, no white space.
    pub fn parse(text: &str) -> Option<Self> {
        (grammar(text.as_bytes()).ok()? == text.len()).then(|| Self(text.into()))
    }

    /// Wraps text that the reader has checked.
    pub(super) fn checked(text: &str) -> Self {
        Self(text.into())
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value where it is an integer that fits; `1.0` and `1e2` are integers.
    pub fn as_i64(&self) -> Option<i64> {
        if let Ok(plain) = self.0.parse() {
            return Some(plain);
        }
        self.integer_text()?.parse().ok()
    }

    /// The value where it is an integer that fits and is not negative; `1.0`, `1e2` and `-0` are such integers.
    pub fn as_u64(&self) -> Option<u64> {
        self.integer_text()?.parse().ok()
    }

    /// The nearest `f64`, for durations and graphs, never for comparison; infinite where the number is too large.
    pub fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// True where the value is an integer, however it is written.
    pub fn is_integer(&self) -> bool {
        let parts = Parts::of(&self.0);
        parts.is_zero() || parts.point.cmp(&Point::small(parts.len() as i128)) != Ordering::Less
    }

    /// Compares by value: `1` equals `1.0` and `1e0`, `-0` equals `0`.
    pub fn cmp_value(&self, other: &Self) -> Ordering {
        if self.0 == other.0 {
            return Ordering::Equal;
        }
        Parts::of(&self.0).cmp(&Parts::of(&other.0))
    }

    /// True where both have the same value.
    pub fn same_value(&self, other: &Self) -> bool {
        self.cmp_value(other) == Ordering::Equal
    }

    /// A text that is the same for all numbers of one value.
    pub(super) fn canonical(&self) -> String {
        let parts = Parts::of(&self.0);
        if parts.is_zero() {
            return "0".to_owned();
        }
        let sign = if parts.negative { "-" } else { "" };
        let digits: String = parts.digits().map(char::from).collect();
        match parts.point {
            Point::Small(point) => format!("{sign}{digits}e{point}"),
            Point::Huge { negative, digits: point } => {
                format!("{sign}{digits}e{}{point}", if negative { "-" } else { "" })
            }
        }
    }

    /// Plain digits with a sign, for integers of at most 20 digits.
    fn integer_text(&self) -> Option<String> {
        let parts = Parts::of(&self.0);
        if parts.is_zero() {
            return Some("0".to_owned());
        }
        let Point::Small(point @ 1..=20) = parts.point else {
            return None;
        };
        let width = point as usize;
        if parts.len() > width {
            return None;
        }
        let mut text = String::with_capacity(width + 1);
        if parts.negative {
            text.push('-');
        }
        text.extend(parts.digits().map(char::from));
        text.extend(std::iter::repeat_n('0', width - parts.len()));
        Some(text)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(value.to_string().into())
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(value.to_string().into())
    }
}

/// Length of the number at the start of `bytes`, or the offset of the first byte that breaks the grammar.
pub(super) fn grammar(bytes: &[u8]) -> Result<usize, usize> {
    let digits = |mut at: usize| {
        let from = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        if at == from { Err(at) } else { Ok(at) }
    };
    let start = usize::from(bytes.first() == Some(&b'-'));
    let mut at = digits(start)?;
    if bytes[start] == b'0' && at > start + 1 {
        return Err(start + 1);
    }
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(at + 1 + sign)?;
    }
    Ok(at)
}

/// A number as `0.DIGITS × 10^point`, DIGITS without zeros at either end.
struct Parts<'a> {
    negative: bool,
    head: &'a [u8],
    tail: &'a [u8],
    point: Point,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let negative = text.starts_with('-');
        let text = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut head = whole.trim_start_matches('0');
        let mut tail = fraction.trim_end_matches('0');
        let mut shift = head.len() as i64;
        if head.is_empty() {
            let stripped = tail.trim_start_matches('0');
            shift = stripped.len() as i64 - tail.len() as i64;
            tail = stripped;
        }
        if tail.is_empty() {
            head = head.trim_end_matches('0');
        }
        Self { negative, head: head.as_bytes(), tail: tail.as_bytes(), point: Point::of(exponent, shift) }
    }

    fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    fn is_zero(&self) -> bool {
        self.len() == 0
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.head.iter().chain(self.tail).copied()
    }

    fn sign(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let sign = self.sign();
        let by_sign = sign.cmp(&other.sign());
        if by_sign != Ordering::Equal || sign == 0 {
            return by_sign;
        }
        let size = self.point.cmp(&other.point).then_with(|| self.digits().cmp(other.digits()));
        if sign < 0 { size.reverse() } else { size }
    }
}

/// Points of this size and above are kept as digits, wherever they came from, so that the two forms never overlap.
const SMALL_BELOW: u128 = 10u128.pow(37);

/// Where the decimal point stands. Exponents have no largest value in JSON, so long ones stay digits.
enum Point {
    Small(i128),
    /// Beyond [`SMALL_BELOW`]: sign and decimal digits without leading zeros.
    Huge {
        negative: bool,
        digits: String,
    },
}

impl Point {
    const fn small(value: i128) -> Self {
        Self::Small(value)
    }

    fn of(exponent: &str, shift: i64) -> Self {
        let negative = exponent.starts_with('-');
        let digits = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
        if digits.len() <= 38 {
            let size: i128 = digits.parse().unwrap_or(0);
            let value = if negative { -size } else { size } + i128::from(shift);
            if value.unsigned_abs() < SMALL_BELOW {
                return Self::Small(value);
            }
            return Self::Huge { negative: value < 0, digits: value.unsigned_abs().to_string() };
        }
        Self::Huge { negative, digits: add(digits, if negative { -shift } else { shift }) }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |point: &Self| match point {
            Self::Small(_) => 0,
            Self::Huge { negative: true, .. } => -1,
            Self::Huge { negative: false, .. } => 1,
        };
        match (self, other) {
            (Self::Small(one), Self::Small(two)) => one.cmp(two),
            (Self::Huge { negative, digits: one }, Self::Huge { negative: same, digits: two }) if negative == same => {
                let size = one.len().cmp(&two.len()).then_with(|| one.cmp(two));
                if *negative { size.reverse() } else { size }
            }
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

/// `digits` (at least 39 of them) plus `by`, in decimal.
fn add(digits: &str, by: i64) -> String {
    let mut carry = i128::from(by);
    let mut out: Vec<u8> = digits.bytes().collect();
    for digit in out.iter_mut().rev() {
        if carry == 0 {
            break;
        }
        let sum = i128::from(*digit - b'0') + carry;
        *digit = b'0' + sum.rem_euclid(10) as u8;
        carry = sum.div_euclid(10);
    }
    let mut text = if carry > 0 { carry.to_string() } else { String::new() };
    text.extend(out.into_iter().map(char::from));
    text.trim_start_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::Number;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn only_the_grammar_of_json_is_a_number() {
        for good in ["0", "-0", "10", "1.10", "1E5", "1e+05", "-0.0e-0", "9007199254740993"] {
            assert_eq!(number(good).as_str(), good);
        }
        for bad in ["", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x1", "NaN", "1 ", " 1", "1_0", "１"] {
            assert!(Number::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn values_compare_as_decimals_of_any_size() {
        let huge = format!("1e{}", "9".repeat(50));
        let one_below = format!("1e{}8", "9".repeat(49));
        let above = format!("1e1{}", "0".repeat(50));
        let border = format!("1e{}", "9".repeat(37));
        let border_above = format!("1e1{}", "0".repeat(37));
        let tenfold = format!("10e{}", "9".repeat(50));
        let table = [
            ("1", "1.0", Ordering::Equal),
            ("100", "1e2", Ordering::Equal),
            ("-0", "0e99", Ordering::Equal),
            ("0.001", "1E-3", Ordering::Equal),
            ("1.10", "1.1", Ordering::Equal),
            ("9007199254740993", "9007199254740992", Ordering::Greater),
            ("1e1000000000", "2e999999999", Ordering::Greater),
            ("-1e1000000000", "1", Ordering::Less),
            ("-2", "-10", Ordering::Greater),
            ("0.09", "0.1", Ordering::Less),
            ("12", "112", Ordering::Less),
            ("1.25", "1.3", Ordering::Less),
            (huge.as_str(), one_below.as_str(), Ordering::Greater),
            (tenfold.as_str(), above.as_str(), Ordering::Equal),
            (border.as_str(), border_above.as_str(), Ordering::Less),
            (huge.as_str(), "1e9", Ordering::Greater),
        ];
        for (one, two, expected) in table {
            assert_eq!(number(one).cmp_value(&number(two)), expected, "{one} {two}");
            assert_eq!(number(two).cmp_value(&number(one)), expected.reverse(), "{two} {one}");
        }
    }

    #[test]
    fn integers_are_integers_by_value() {
        for (text, value) in
            [("1.0", 1), ("1e2", 100), ("-0", 0), ("-12.50e1", -125), ("9223372036854775807", i64::MAX)]
        {
            assert_eq!(number(text).as_i64(), Some(value), "{text}");
            assert!(number(text).is_integer(), "{text}");
        }
        for text in ["1.5", "1e-1", "0.1"] {
            assert!(!number(text).is_integer() && number(text).as_i64().is_none(), "{text}");
        }
        assert!(number("1e1000000000").is_integer());
        assert_eq!(number("1e1000000000").as_i64(), None);
        assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(number("18446744073709551615").as_i64(), None);
        assert_eq!(number("-1").as_u64(), None);
        assert_eq!(number("0.0").as_u64(), Some(0));
    }
}
