//! The child's process group, or its job object on Windows.
//!
//! Owns: the child, signals, the words for an exit status. May use: nothing of ours.
//! Must not: decide when a process has to end.

use std::io;
use std::process::ExitStatus;
use std::task::{Context, Poll};

use process_wrap::tokio::ChildWrapper;

/// Every process that the child started and that stayed in its group. Dropping it kills what is left.
#[derive(Debug)]
pub(super) struct Group {
    child: Box<dyn ChildWrapper>,
    /// Nothing is left; the group's number may belong to somebody else by now.
    empty: bool,
}

impl Group {
    pub(super) fn new(child: Box<dyn ChildWrapper>) -> Self {
        Self { child, empty: false }
    }

    /// The child's process id, while it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the child itself, not for what it started. Only one task may wait.
    pub(super) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        // The waiting is kept in the child, so the future can be made anew for each poll.
        self.child.wait().as_mut().poll(cx)
    }

    /// Asks all processes to end. False where there is none left, or where the system knows no asking.
    pub(super) fn terminate(&mut self) -> bool {
        const TERM: i32 = 15;
        self.signal(TERM)
    }

    /// True while a process of the group is left. Only to be asked once the child itself was waited for.
    pub(super) fn has_members(&mut self) -> bool {
        // CONT changes nothing for a process that runs; the wrapper has no signal 0.
        const CONT: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 18 } else { 19 };
        self.signal(CONT)
    }

    #[cfg(unix)]
    fn signal(&mut self, signal: i32) -> bool {
        if !self.empty && self.child.signal(signal).is_err() {
            self.empty = true;
        }
        !self.empty
    }

    #[cfg(not(unix))]
    fn signal(&mut self, _signal: i32) -> bool {
        false
    }

    /// Ends all processes.
    pub(super) fn kill(&mut self) {
        if !self.empty {
            // The error says that there is no such group: nothing to do.
            let _ = self.child.start_kill();
        }
    }

    /// To be called when the child was waited for and its group killed or found empty: from here on the group's
    /// number is not ours.
    pub(super) fn forget(&mut self) {
        self.empty = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// An exit status in words, and the code where the child ended by itself.
pub(super) fn describe(status: ExitStatus) -> (String, Option<i32>) {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            let core = if status.core_dumped() { ", core dumped" } else { "" };
            return match signal_name(signal) {
                Some(name) => (format!("signal {signal} ({name}{core})"), None),
                None => (format!("signal {signal}{core}"), None),
            };
        }
    }
    match status.code() {
        Some(code) => (format!("exit code {code}"), Some(code)),
        None => ("ended without an exit code".to_owned(), None),
    }
}

/// Names that mean the same number on every Unix we know, and Linux's.
#[cfg(unix)]
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "HUP",
        2 => "INT",
        3 => "QUIT",
        4 => "ILL",
        5 => "TRAP",
        6 => "ABRT",
        8 => "FPE",
        9 => "KILL",
        11 => "SEGV",
        13 => "PIPE",
        14 => "ALRM",
        15 => "TERM",
        24 => "XCPU",
        25 => "XFSZ",
        7 if cfg!(target_os = "linux") => "BUS",
        10 if cfg!(target_os = "linux") => "USR1",
        12 if cfg!(target_os = "linux") => "USR2",
        31 if cfg!(target_os = "linux") => "SYS",
        _ => return None,
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::describe;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    #[test]
    fn statuses_read_as_people_say_them() {
        assert_eq!(describe(ExitStatus::from_raw(3 << 8)), ("exit code 3".to_owned(), Some(3)));
        assert_eq!(describe(ExitStatus::from_raw(9)), ("signal 9 (KILL)".to_owned(), None));
        assert_eq!(describe(ExitStatus::from_raw(0x80 | 11)), ("signal 11 (SEGV, core dumped)".to_owned(), None));
        assert_eq!(describe(ExitStatus::from_raw(40)), ("signal 40".to_owned(), None));
    }
}
