//! Starts the child process.
//!
//! Owns: the command line as it is handed to the system, and the words for what the system answers.
//! May use: `sensitive`. Must not: read or write the child's streams.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap};

use crate::sensitive::Sensitive;

/// What to start, and how.
#[derive(Debug, Clone)]
pub struct StdioOptions {
    /// The program: a name looked up in `PATH`, or a path.
    pub program: String,
    /// Its arguments, as they are; no shell sees them.
    pub args: Vec<String>,
    /// Variables to set, after clearing and removing.
    pub env: Vec<(String, Sensitive<String>)>,
    /// Start from an empty environment instead of ours.
    pub env_clear: bool,
    /// Variables of ours that the child must not see.
    pub env_remove: Vec<String>,
    /// Its working directory; ours by default.
    pub cwd: Option<PathBuf>,
    /// The longest line accepted on stdout, in bytes.
    pub max_message: usize,
}

impl StdioOptions {
    /// A program with arguments, our environment and directory, and lines of up to 64 MiB.
    pub fn new(program: impl Into<String>, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            env_clear: false,
            env_remove: Vec::new(),
            cwd: None,
            max_message: 64 * 1024 * 1024,
        }
    }
}

/// A program that could not be started.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot start `{program}`: {cause}")]
pub struct SpawnError {
    /// The program as given.
    pub program: String,
    /// Why, such as `not found in PATH`.
    pub cause: String,
    /// What to do about it.
    pub hint: Option<String>,
}

pub(super) fn spawn(options: &StdioOptions) -> Result<Box<dyn ChildWrapper>, SpawnError> {
    let mut outcome = command(options, &options.program).spawn();
    // npm and its like are `.cmd` files there, which are only found by their full name.
    if cfg!(windows) && matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::NotFound) {
        for extension in [".cmd", ".bat"] {
            outcome = command(options, &format!("{}{extension}", options.program)).spawn();
            if outcome.is_ok() {
                break;
            }
        }
    }
    outcome.map_err(|error| explain(options, &error))
}

fn command(options: &StdioOptions, program: &str) -> CommandWrap {
    let mut command = CommandWrap::with_new(program, |command| {
        command.args(&options.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if options.env_clear {
            command.env_clear();
        }
        for name in &options.env_remove {
            command.env_remove(name);
        }
        command.envs(options.env.iter().map(|(name, value)| (name, value.reveal())));
        if let Some(cwd) = &options.cwd {
            command.current_dir(cwd);
        }
    });
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    command
}

fn explain(options: &StdioOptions, error: &io::Error) -> SpawnError {
    let (cause, hint) = words(options, error);
    SpawnError { program: options.program.clone(), cause, hint }
}

fn words(options: &StdioOptions, error: &io::Error) -> (String, Option<String>) {
    if let Some(cwd) = &options.cwd
        && !cwd.is_dir()
    {
        let what = if cwd.exists() { "is not a folder" } else { "does not exist" };
        return (format!("the working directory {} {what}", cwd.display()), None);
    }
    let path = options.cwd.as_deref().unwrap_or(Path::new("")).join(&options.program);
    match error.kind() {
        io::ErrorKind::NotFound => not_found(&options.program, &path),
        io::ErrorKind::PermissionDenied if path.is_dir() => ("it is a folder, not a program".to_owned(), None),
        io::ErrorKind::PermissionDenied => (
            "permission denied".to_owned(),
            Some("the file must be executable (chmod +x), and so must be the folders above it".to_owned()),
        ),
        io::ErrorKind::ArgumentListTooLong => ("its arguments and environment are too long".to_owned(), None),
        _ if cfg!(unix) && error.raw_os_error() == Some(8) => (
            "it is no program that this system can run".to_owned(),
            Some(
                "a script needs a first line such as `#!/usr/bin/env node`; otherwise name its interpreter first"
                    .to_owned(),
            ),
        ),
        _ => (error.to_string(), None),
    }
}

fn not_found(program: &str, path: &Path) -> (String, Option<String>) {
    if program.is_empty() {
        return ("no program was named".to_owned(), None);
    }
    let is_path = program.contains('/') || (cfg!(windows) && program.contains('\\'));
    if is_path && path.exists() {
        return (
            "the file is there, but the interpreter that it asks for is not".to_owned(),
            Some("look at its first line (`#!…`), or at the system it was built for".to_owned()),
        );
    }
    let cause = if is_path { "no such file" } else { "not found in PATH" };
    let hint = if program.contains(char::is_whitespace) {
        "the whole text was taken for a program's name; arguments are words of their own"
    } else if is_path {
        "a relative path counts from the server's working directory"
    } else {
        "install it, or give its full path; the PATH of a CI job is often shorter than yours"
    };
    (cause.to_owned(), Some(hint.to_owned()))
}
