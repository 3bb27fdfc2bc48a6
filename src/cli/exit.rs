//! The exit codes: one table for all commands, never renumbered.

use std::process::ExitCode;

/// How the program ends. The numbers are a promise to scripts and CI jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All good.
    Good = 0,
    /// A test, tool or check failed, or a line of a script failed while it ran, whatever the reason.
    Failed = 1,
    /// Wrong usage or configuration, a script refused before any of it ran, or nothing executed.
    Invalid = 2,
    /// A comparison needs a person to look at it.
    Review = 3,
    /// One-off commands: the server answered with a JSON-RPC error.
    RpcError = 4,
    /// One-off commands: the server could not be reached, or the connection was lost.
    NoConnection = 5,
    /// One-off commands: the server did not answer in time.
    TimedOut = 6,
    /// One-off commands: the server wants other credentials.
    NotAuthorized = 7,
    /// Ended by Ctrl-C (SIGINT).
    Interrupted = 130,
    /// Ended by SIGTERM.
    Terminated = 143,
}

/// The table as `--help` shows it.
pub const TABLE: &str = "\
Exit codes:
    0  good
    1  a test, tool or check failed
    2  wrong usage or configuration, a script with errors, or nothing was executed
    3  a comparison needs review
    4  one-off commands: the server answered with a JSON-RPC error
    5  one-off commands: no connection, or it was lost
    6  one-off commands: timed out
    7  one-off commands: not authorized
  130  interrupted (Ctrl-C)
  143  terminated (SIGTERM)";

impl Exit {
    /// The number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Which of two ends counts for several scripts: 143, 130, 2, 1 win in this order.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let rank = |exit: Self| match exit {
            Self::Terminated => 4,
            Self::Interrupted => 3,
            Self::Invalid => 2,
            Self::Good => 0,
            _ => 1,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::{Exit, TABLE};

    const ALL: [Exit; 10] = [
        Exit::Good,
        Exit::Failed,
        Exit::Invalid,
        Exit::Review,
        Exit::RpcError,
        Exit::NoConnection,
        Exit::TimedOut,
        Exit::NotAuthorized,
        Exit::Interrupted,
        Exit::Terminated,
    ];

    #[test]
    fn numbers_are_fixed_and_listed_in_the_help() {
        assert_eq!(ALL.map(Exit::code), [0, 1, 2, 3, 4, 5, 6, 7, 130, 143]);
        let listed: Vec<String> =
            TABLE.lines().skip(1).filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect();
        assert_eq!(listed, ALL.map(|exit| exit.code().to_string()));
    }

    #[test]
    fn the_worse_end_counts() {
        let order = [Exit::Good, Exit::Failed, Exit::Invalid, Exit::Interrupted, Exit::Terminated];
        for (at, better) in order.iter().enumerate() {
            for worse in &order[at..] {
                assert_eq!(better.worse(*worse), *worse);
                assert_eq!(worse.worse(*better), *worse);
            }
        }
    }
}
