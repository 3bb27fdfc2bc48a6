//! Lengths of time as people write them: in scripts, flags and profiles alike.
//!
//! Owns: [`parse`] and [`show`]. May use: nothing of ours. Must not: know what is waited for.

use std::time::Duration;

/// Why a text is no length of time. `Display` says it in one line, without the text itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Nothing was written.
    #[error("a duration such as 500ms, 2s or 1m30s is needed here")]
    Empty,
    /// Something that is no decimal number stands where a number should.
    #[error("a duration starts with a number, as in 500ms, 2s or 1m30s")]
    NoNumber,
    /// The letters behind a number are none of the units.
    #[error("the units of a duration are ms, s, m and h, as in 500ms, 2s or 1m30s")]
    Unit,
    /// A part of a sum has no unit.
    #[error("each part of a duration needs its unit, as in 1m30s")]
    PartWithoutUnit,
    /// The parts of a sum do not go from the largest unit to the smallest, each at most once.
    #[error("the parts of a duration go from large to small, each unit once, as in 1h30m or 1m30s")]
    Order,
    /// More than about 584 years.
    #[error("this duration is too long")]
    TooLong,
}

/// Nanoseconds in each unit, the largest first. `ms` stands before `m` because it is looked for first.
const UNITS: [(&str, u128, u8); 4] =
    [("ms", 1_000_000, 0), ("h", 3_600_000_000_000, 3), ("m", 60_000_000_000, 2), ("s", 1_000_000_000, 1)];

/// Reads a length of time: a decimal number with `ms`, `s`, `m` or `h`, a sum from large to small such as
/// `1m30s`, or a bare number of milliseconds. Digits below a nanosecond are dropped.
///
/// # Errors
/// Where the text is something else; signs, exponents and white space are refused.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    let (mut rest, mut nanos, mut last_rank) = (text, 0_u128, u8::MAX);
    while !rest.is_empty() {
        let (number, after) = split_number(rest).ok_or(DurationError::NoNumber)?;
        let unit_end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_end);
        let (scale, rank) = match unit {
            "" if after.is_empty() && last_rank == u8::MAX => (1_000_000, 0),
            "" => return Err(DurationError::PartWithoutUnit),
            _ => UNITS
                .iter()
                .find(|(name, ..)| *name == unit)
                .map(|(_, scale, rank)| (*scale, *rank))
                .ok_or(DurationError::Unit)?,
        };
        if rank >= last_rank {
            return Err(DurationError::Order);
        }
        nanos = scaled(number, scale).and_then(|part| nanos.checked_add(part)).ok_or(DurationError::TooLong)?;
        (rest, last_rank) = (next, rank);
    }
    u64::try_from(nanos).map(Duration::from_nanos).map_err(|_| DurationError::TooLong)
}

/// Splits `12.5` off the front: digits, and a point only where digits follow it.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let fraction = text[whole..].strip_prefix('.').map_or(0, digits);
    let end = if fraction > 0 { whole + 1 + fraction } else { whole };
    (whole > 0).then(|| text.split_at(end))
}

/// A decimal number times `scale`, in whole steps; none where it does not fit.
fn scaled(number: &str, scale: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // A nanosecond is at most 13 digits below any unit; later digits cannot matter.
    let fraction = &fraction[..fraction.len().min(18)];
    let below = if fraction.is_empty() {
        0
    } else {
        fraction.parse::<u128>().ok()? * scale / 10_u128.pow(fraction.len() as u32)
    };
    whole.parse::<u128>().ok()?.checked_mul(scale)?.checked_add(below)
}

/// Writes a length of time so that [`parse`] reads it back, rounded to milliseconds (below 10 ms to a tenth of
/// one): `0.4ms`, `850ms`, `1.25s`, `1m30s`, `2h5m`.
pub fn show(duration: Duration) -> String {
    let tenths = duration.as_nanos().saturating_add(50_000) / 100_000;
    if tenths < 100 {
        return if tenths.is_multiple_of(10) {
            format!("{}ms", tenths / 10)
        } else {
            format!("{}.{}ms", tenths / 10, tenths % 10)
        };
    }
    let millis = duration.as_nanos().saturating_add(500_000) / 1_000_000;
    if millis < 1_000 {
        return format!("{millis}ms");
    }
    let (hours, minutes, millis) = (millis / 3_600_000, millis / 60_000 % 60, millis % 60_000);
    let mut text = String::new();
    for (count, unit) in [(hours, 'h'), (minutes, 'm')] {
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
        }
    }
    if millis > 0 || text.is_empty() {
        let seconds = format!("{}.{:03}", millis / 1_000, millis % 1_000);
        text.push_str(seconds.trim_end_matches('0').trim_end_matches('.'));
        text.push('s');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{DurationError, parse, show};

    #[test]
    fn every_unit_sums_and_bare_milliseconds() {
        for (text, nanos) in [
            ("0", 0),
            ("250", 250_000_000),
            ("1.5", 1_500_000),
            ("500ms", 500_000_000),
            ("2s", 2_000_000_000),
            ("1.5s", 1_500_000_000),
            ("0.000000001s", 1),
            ("0.0000000001s", 0),
            ("10m", 600_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1h2m3s4ms", 3_723_004_000_000),
            ("1h250ms", 3_600_250_000_000),
            ("0.5h", 1_800_000_000_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_its_reason() {
        for (text, error) in [
            ("", DurationError::Empty),
            ("s", DurationError::NoNumber),
            ("-1s", DurationError::NoNumber),
            (".5s", DurationError::NoNumber),
            ("fast", DurationError::NoNumber),
            ("5.", DurationError::Unit),
            ("5 s", DurationError::Unit),
            ("5sec", DurationError::Unit),
            ("5S", DurationError::Unit),
            ("1e3", DurationError::Unit),
            ("1d", DurationError::Unit),
            ("1m30", DurationError::PartWithoutUnit),
            ("30s1m", DurationError::Order),
            ("1s1s", DurationError::Order),
            ("99999999999999999999h", DurationError::TooLong),
            ("999999999999999999999999999999999999999999", DurationError::TooLong),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn shown_durations_read_well_and_read_back() {
        for (nanos, text) in [
            (0, "0ms"),
            (400_000, "0.4ms"),
            (1_000_000, "1ms"),
            (9_960_000, "10ms"),
            (850_000_000, "850ms"),
            (999_600_000, "1s"),
            (1_250_000_000, "1.25s"),
            (60_000_000_000, "1m"),
            (90_000_000_000, "1m30s"),
            (7_500_000_000_000, "2h5m"),
            (3_600_250_000_000, "1h0.25s"),
        ] {
            assert_eq!(show(Duration::from_nanos(nanos)), text);
            assert!(parse(text).is_ok(), "{text}");
        }
        assert!(parse(&show(Duration::MAX)).is_err());
    }
}
