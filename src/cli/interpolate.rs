//! `${env:NAME}` and `${env:NAME:-default}` in configuration values.

use thiserror::Error;

/// Why a configuration value could not be filled in.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InterpolateError {
    /// The variable is not set, and there is no default.
    #[error("the environment variable {name} is not set")]
    Missing {
        /// Its name.
        name: String,
    },
    /// `${` without `}`.
    #[error("`${{` is never closed by `}}`")]
    Open,
    /// What stands between the braces is no known form.
    #[error("`${{{0}}}` is not known; write ${{env:NAME}} or ${{env:NAME:-default}}")]
    Unknown(String),
}

/// Replaces `${env:NAME}` by the variable's value and `${env:NAME:-default}` by the default where the variable is
/// unset or empty. `$${` stands for a literal `${`. Nothing that was put in is looked at again.
///
/// # Errors
/// A variable that is not set and has no default (never empty text), and anything else between `${` and `}`.
pub fn interpolate(text: &str, env: impl Fn(&str) -> Option<String>) -> Result<String, InterpolateError> {
    let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("${") {
        let (before, opened) = rest.split_at(at);
        if let Some(before) = before.strip_suffix('$') {
            filled.push_str(before);
            filled.push_str("${");
            rest = &opened[2..];
            continue;
        }
        filled.push_str(before);
        let (inside, after) = opened[2..].split_once('}').ok_or(InterpolateError::Open)?;
        let unknown = || InterpolateError::Unknown(inside.to_owned());
        let wanted = inside.strip_prefix("env:").ok_or_else(unknown)?;
        let (name, default) = match wanted.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (wanted, None),
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(unknown());
        }
        match (env(name), default) {
            (Some(value), None) => filled.push_str(&value),
            (Some(value), Some(_)) if !value.is_empty() => filled.push_str(&value),
            (_, Some(default)) => filled.push_str(default),
            (None, None) => return Err(InterpolateError::Missing { name: name.to_owned() }),
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::{InterpolateError, interpolate};

    fn fill(text: &str) -> Result<String, InterpolateError> {
        interpolate(text, |name| match name {
            "TOKEN" => Some("t${env:OTHER}".into()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn variables_and_defaults() {
        for (text, filled) in [
            ("plain $x {y}", "plain $x {y}"),
            ("Bearer ${env:TOKEN}!", "Bearer t${env:OTHER}!"),
            ("${env:NOPE:-a:-b}", "a:-b"),
            ("${env:EMPTY:-fallback}|${env:EMPTY}|", "fallback||"),
            ("${env:NOPE:-}", ""),
            ("$${env:TOKEN}", "${env:TOKEN}"),
        ] {
            assert_eq!(fill(text).as_deref(), Ok(filled), "{text}");
        }
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        for (text, message) in [
            ("${env:NOPE}", "the environment variable NOPE is not set"),
            ("a ${env:TOKEN", "`${` is never closed by `}`"),
            ("${HOME}", "`${HOME}` is not known; write ${env:NAME} or ${env:NAME:-default}"),
            ("${env:}", "`${env:}` is not known; write ${env:NAME} or ${env:NAME:-default}"),
        ] {
            assert_eq!(fill(text).map_err(|error| error.to_string()), Err(message.to_owned()));
        }
    }
}
