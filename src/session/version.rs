//! The published revisions and what each of them has. The only file that compares revisions.
//!
//! Owns: [`Revision`], [`Era`], [`Features`]. May use: nothing. Must not: send or read anything.

use std::fmt;

/// A published revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// The first one: stdio, and HTTP+SSE.
    V2024_11_05,
    /// Streamable HTTP, batches, audio, tool annotations.
    V2025_03_26,
    /// Structured output, elicitation, the version header; no batches.
    V2025_06_18,
    /// Tasks, URL elicitation, icons.
    V2025_11_25,
    /// No handshake: every request carries its metadata.
    V2026_07_28,
}

/// How a connection opens and what state it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize` first; capabilities hold for the session.
    Legacy,
    /// No handshake; every request stands alone.
    Modern,
}

impl Revision {
    /// All of them, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest that opens with `initialize`.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest of all, which the probe asks for.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The date that stands for the revision on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision with this date; none for dates that are no published revision.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// True for revisions without a handshake.
    pub const fn is_modern(self) -> bool {
        matches!(self.features().era, Era::Modern)
    }

    /// The newest revision of `era` among `versions`; unknown texts are passed over.
    pub fn newest<'a>(versions: impl IntoIterator<Item = &'a str>, era: Era) -> Option<Self> {
        versions.into_iter().filter_map(Self::parse).filter(|revision| revision.features().era == era).max()
    }

    /// True where the revision lies in a range: `2025-06-18`, `2025-06-18..`, `..2025-11-25`, `2025-03-26..2025-11-25`
    /// (both ends included).
    ///
    /// # Errors
    /// Where an end is no published revision; the words list those there are.
    pub fn within(self, range: &str) -> Result<bool, String> {
        let end = |text: &str| match text {
            "" => Ok(None),
            text => Self::parse(text).map(Some).ok_or_else(|| {
                let known: Vec<&str> = Self::ALL.iter().map(|revision| revision.as_str()).collect();
                format!("`{text}` is no published revision; there are {}", known.join(", "))
            }),
        };
        let (from, to) = range.split_once("..").unwrap_or((range, range));
        let (from, to) = (end(from)?, end(to)?);
        if from.is_none() && to.is_none() {
            return Err("it names no revision".to_owned());
        }
        Ok(from.is_none_or(|from| from <= self) && to.is_none_or(|to| self <= to))
    }

    /// What the revision has.
    pub const fn features(self) -> &'static Features {
        match self {
            Self::V2024_11_05 => &F24,
            Self::V2025_03_26 => &F03,
            Self::V2025_06_18 => &F06,
            Self::V2025_11_25 => &F11,
            Self::V2026_07_28 => &F26,
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a revision has and another has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// How it opens.
    pub era: Era,
    /// Both sides must take arrays of messages.
    pub batches: bool,
    /// Requests over HTTP carry `MCP-Protocol-Version` once the session is open.
    pub version_header: bool,
    /// Streamable HTTP has a standing GET stream and sessions.
    pub standing_stream: bool,
    /// The server may ask for input from the user.
    pub elicitation: bool,
    /// Elicitation and sampling declare their modes.
    pub modes: bool,
    /// Results say what they are (`resultType`).
    pub result_type: bool,
    /// Server capability `completions` exists.
    pub completions: bool,
    /// Tasks belong to the core protocol.
    pub core_tasks: bool,
    /// Tools may declare an `outputSchema`.
    pub output_schema: bool,
    /// The code for a resource that does not exist.
    pub resource_not_found: i64,
}

const F24: Features = Features {
    era: Era::Legacy,
    batches: false,
    version_header: false,
    standing_stream: false,
    elicitation: false,
    modes: false,
    result_type: false,
    completions: false,
    core_tasks: false,
    output_schema: false,
    resource_not_found: -32002,
};
const F03: Features = Features { batches: true, standing_stream: true, completions: true, ..F24 };
const F06: Features = Features { batches: false, version_header: true, elicitation: true, output_schema: true, ..F03 };
const F11: Features = Features { modes: true, core_tasks: true, ..F06 };
const F26: Features = Features {
    era: Era::Modern,
    standing_stream: false,
    core_tasks: false,
    result_type: true,
    resource_not_found: -32602,
    ..F11
};

#[cfg(test)]
mod tests {
    use super::{Era, Revision};

    #[test]
    fn dates_round_trip_and_sort() {
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        }
        assert!(Revision::ALL.is_sorted());
        assert!(Revision::parse("2025-06-19").is_none());
        assert!(Revision::LATEST.is_modern() && !Revision::LATEST_LEGACY.is_modern());
    }

    #[test]
    fn the_newest_common_revision_of_an_era_is_chosen() {
        let all = ["2024-11-05", "2026-07-28", "2025-06-18", "2099-01-01"];
        assert_eq!(Revision::newest(all, Era::Modern), Some(Revision::V2026_07_28));
        assert_eq!(Revision::newest(all, Era::Legacy), Some(Revision::V2025_06_18));
        assert_eq!(Revision::newest(["2099-01-01"], Era::Legacy), None);
    }

    #[test]
    fn features_follow_the_table_of_differences() {
        let row = |pick: fn(&super::Features) -> bool| Revision::ALL.map(|revision| pick(revision.features()));
        assert_eq!(row(|f| f.batches), [false, true, false, false, false]);
        assert_eq!(row(|f| f.version_header), [false, false, true, true, true]);
        assert_eq!(row(|f| f.standing_stream), [false, true, true, true, false]);
        assert_eq!(row(|f| f.elicitation), [false, false, true, true, true]);
        assert_eq!(row(|f| f.modes), [false, false, false, true, true]);
        assert_eq!(row(|f| f.completions), [false, true, true, true, true]);
        assert_eq!(row(|f| f.core_tasks), [false, false, false, true, false]);
        assert_eq!(row(|f| f.output_schema), [false, false, true, true, true]);
        assert_eq!(row(|f| f.result_type), [false, false, false, false, true]);
        assert_eq!(row(|f| f.resource_not_found == -32602), [false, false, false, false, true]);
    }
}
