//! Values that may be private, and the one place that masks secrets.
//!
//! Owns: [`Sensitive`], which can be neither printed nor serialised without asking, and [`Masker`].
//! May use: nothing of ours. Must not: decide what is private; callers wrap.

use std::fmt;

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
