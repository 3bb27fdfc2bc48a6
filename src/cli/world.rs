//! The ports to the outside: files, environment, the person at the terminal. Read and written nowhere else.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::engine::cx::{Environment, Files, Prompt};
use crate::report::Reporter;
use crate::syntax::decode;

/// Largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Longest line that is taken as an answer, in bytes.
const LONGEST_ANSWER: u64 = 1 << 20;

/// Files on this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        let describe = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => "there is no such file".to_owned(),
            ErrorKind::PermissionDenied => "permission denied".to_owned(),
            ErrorKind::IsADirectory => "it is a folder".to_owned(),
            _ => error.to_string(),
        };
        let file = File::open(path).map_err(describe)?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err("it is a folder".to_owned());
        }
        read_limited(file).map_err(describe)?
    }

    fn read_text(&self, path: &Path) -> Result<String, String> {
        decode(self.read(path)?).map_err(|error| error.to_string())
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
    }
}

/// All of stdin as text.
///
/// # Errors
/// Why it cannot be read or is no UTF-8, in words.
pub fn read_stdin() -> Result<String, String> {
    let bytes = read_limited(io::stdin().lock()).map_err(|error| error.to_string())??;
    decode(bytes).map_err(|error| error.to_string())
}

fn read_limited(from: impl Read) -> io::Result<Result<Vec<u8>, String>> {
    let mut bytes = Vec::new();
    let read = from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    let fits = u64::try_from(read).is_ok_and(|read| read <= LARGEST);
    Ok(if fits { Ok(bytes) } else { Err(format!("it is larger than {} MiB", LARGEST >> 20)) })
}

/// The environment as it was when the program started.
#[derive(Clone, Debug, Default)]
pub struct Env(Arc<BTreeMap<String, String>>);

impl Env {
    /// Reads it; variables that are not UTF-8 are left out.
    pub fn read() -> Self {
        let vars =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self(Arc::new(vars.collect()))
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Variables whose name starts with `prefix`: the rest of the name, and the value.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Env {
    fn from(vars: [(&str, &str); N]) -> Self {
        Self(Arc::new(vars.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
    }
}

impl Environment for Env {
    fn var(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }
}

/// Why nobody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPerson {
    /// `--no-input`, or `CI` is set.
    Off,
    /// stdin holds a script.
    StdinTaken,
}

/// Asks on stderr and reads one line of stdin.
#[derive(Debug)]
pub struct Person {
    reporter: Arc<Reporter>,
    absent: Option<NoPerson>,
}

impl Person {
    /// Someone who can be asked, unless a reason is given.
    pub const fn new(reporter: Arc<Reporter>, absent: Option<NoPerson>) -> Self {
        Self { reporter, absent }
    }
}

impl Prompt for Person {
    fn ask(&self, prompt: &str, variable: &str) -> Result<String, String> {
        let add = format!("add --var {variable}=VALUE");
        match self.absent {
            Some(NoPerson::Off) => return Err(format!("nobody can be asked (--no-input, or CI is set): {add}")),
            Some(NoPerson::StdinTaken) => {
                return Err(format!("nobody can be asked (the script came from stdin): {add}"));
            }
            None => {}
        }
        self.reporter.pause(|| {
            // A prompt that cannot be shown is no reason not to read the answer.
            let mut stderr = io::stderr().lock();
            let _shown = write!(stderr, "{} ", prompt.trim_end()).and_then(|()| stderr.flush());
            drop(stderr);
            let mut line = Vec::new();
            let read = io::stdin().lock().take(LONGEST_ANSWER).read_until(b'\n', &mut line);
            match read {
                Ok(0) => Err(format!("stdin has ended: {add}")),
                Ok(_) => {
                    let line = String::from_utf8(line).map_err(|_| "the answer is not valid UTF-8".to_owned())?;
                    let line = line.strip_suffix('\n').unwrap_or(&line);
                    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
                }
                Err(error) => Err(format!("stdin cannot be read ({error}): {add}")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Disk, Env};
    use crate::engine::cx::{Environment, Files};

    #[test]
    fn files_are_read_or_the_reason_is_given() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.mcp");
        fs::write(&file, "echo ä").expect("a file");
        assert_eq!(Disk.read_text(&file).as_deref(), Ok("echo ä"));
        fs::write(&file, b"echo \xff").expect("a file");
        assert!(Disk.read_text(&file).is_err_and(|why| why.contains("not valid UTF-8")));
        assert_eq!(Disk.read(folder.path()), Err("it is a folder".into()));
        assert_eq!(Disk.read(&folder.path().join("nope")), Err("there is no such file".into()));
    }

    #[test]
    fn the_environment_is_a_table() {
        let env = Env::from([("A_x", "1"), ("A_y", "2"), ("B", "3")]);
        assert_eq!(env.with_prefix("A_").collect::<Vec<_>>(), [("x", "1"), ("y", "2")]);
        assert_eq!((env.var("B").as_deref(), env.get("C")), (Some("3"), None));
    }
}
