//! What reading JSON may cost, and what it can find wrong.
//!
//! Owns: limits, errors and remarks. May use: nothing of ours outside this folder.
//! Must not: repeat raw control characters of a text in a message.

use thiserror::Error;

pub use super::spanned::parse_spanned;

/// How much JSON is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Arrays and objects that may be open at once; never more than 1024.
    pub depth: usize,
    /// Length of the text in bytes; never more than 4 GiB.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 128, bytes: 64 << 20 }
    }
}

/// Why a text is not acceptable JSON.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message} at byte {offset}")]
pub struct ReadError {
    /// What is wrong, without the place. Holds no control characters.
    pub message: String,
    /// Byte offset of the first wrong byte; the length of the text where it ends too early.
    pub offset: usize,
}

/// Something odd in a text that is JSON all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Remark {
    /// Byte offset: of the name's opening quote, or of the escape's backslash.
    pub offset: usize,
    /// What is odd.
    pub kind: RemarkKind,
}

/// The kinds of [`Remark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemarkKind {
    /// An object has another member of the same name before this one.
    DuplicateMember,
    /// An escaped half of a surrogate pair without the other half; it reads as U+FFFD.
    LoneSurrogate,
}

/// An error with its place.
pub(super) fn fail(message: impl Into<String>, offset: usize) -> ReadError {
    ReadError { message: message.into(), offset }
}
