//! Owns one trial: the real binary runs one script against one server in one revision, and what it says is checked.
//! May use the catalog and processes. Must not decide which trials there are.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::catalog::{How, Start};
use crate::process::{Group, free_port, wait_for_port};

/// A slow Python server on a busy machine needs 15 s to start.
const START: Duration = Duration::from_secs(90);
/// Longer than any script takes, so that only what hangs meets it.
const LIMIT: Duration = Duration::from_secs(240);

/// What to run, and what to expect of it.
pub struct Trial {
    pub name: String,
    pub script: PathBuf,
    /// What `--protocol` gets: a revision or `auto`.
    pub ask: &'static str,
    /// The revision that the report has to name; none where no session comes about.
    pub spoken: Option<&'static str>,
    pub exit: i32,
    pub says: Option<String>,
}

/// Where a trial's server is.
pub enum Server<'a> {
    /// Started by mcp-tester itself.
    Command(&'a Start),
    /// Started before, and listening.
    Url(String),
}

/// Runs the trial; the error is everything a reader needs to find the cause.
pub fn run(trial: &Trial, server: &Server<'_>) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|why| why.to_string())?;
    let scratch = folder.path().join("scratch");
    std::fs::create_dir(&scratch).map_err(|why| why.to_string())?;
    let mut command = command(trial, server, &scratch);
    let (stdout, stderr) = (folder.path().join("stdout"), folder.path().join("stderr"));
    let mut group = Group::start(&mut command, &stdout, &stderr)?;
    let status = group.wait(LIMIT)?;
    let left = group.left_behind();
    group.end();

    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let (stdout, stderr) = (read(&stdout), read(&stderr));
    let mut wrong = match status {
        None => vec![format!("it still ran after {LIMIT:?}")],
        Some(status) => complaints(trial, status.code(), &stdout),
    };
    if !left.is_empty() {
        wrong.push(format!("left behind: {}", left.join("; ")));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n  run: {command:?}\n--- stdout ---\n{stdout}\n--- stderr ---\n{stderr}", wrong.join("\n")))
}

fn command(trial: &Trial, server: &Server<'_>, scratch: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-tester"));
    command.current_dir(scratch).arg("test").arg("--script").arg(&trial.script);
    command.args(["--format", "json", "--protocol", trial.ask, "--timeout", "60s", "--connect-timeout", "90s"]);
    command.arg("--var").arg(format!("folder={}", scratch.display()));
    match server {
        Server::Url(url) => {
            command.args(["--url", url]);
        }
        Server::Command(start) => {
            let put = |word: &str| word.replace("FOLDER", &scratch.display().to_string());
            for (name, value) in &start.env {
                command.arg("--env").arg(format!("{name}={}", put(value)));
            }
            command.arg("--").args(start.words.iter().map(|word| put(word)));
        }
    }
    command
}

/// What is wrong with the exit code and the report, in words.
fn complaints(trial: &Trial, exit: Option<i32>, stdout: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if exit != Some(trial.exit) {
        wrong.push(format!("exit code {exit:?} instead of {}", trial.exit));
    }
    let report: Value = match serde_json::from_str(stdout) {
        Ok(report) => report,
        Err(why) => return [wrong, vec![format!("stdout is not one JSON document: {why}")]].concat(),
    };
    let count = |name: &str| report[name].as_u64();
    if trial.exit == 0 {
        for name in ["failed", "skipped"] {
            if count(name) != Some(0) {
                wrong.push(format!("{name} is {} instead of 0", report[name]));
            }
        }
        if count("executed").unwrap_or(0) == 0 || count("executed") != count("passed") {
            wrong.push(format!("executed {}, passed {}", report["executed"], report["passed"]));
        }
    } else if count("failed").unwrap_or(0) == 0 || report["failures"].as_array().is_none_or(Vec::is_empty) {
        wrong.push("the report names no failure".to_owned());
    }
    if report["exit_code"].as_i64() != Some(trial.exit.into()) {
        wrong.push(format!("the report's exit code is {}", report["exit_code"]));
    }
    if let Some(spoken) = trial.spoken
        && report["protocol"]["version"].as_str() != Some(spoken)
    {
        wrong.push(format!("spoke {} instead of {spoken}", report["protocol"]));
    }
    // Nothing seen of these servers writes other text to stdout.
    if count("noise") != Some(0) {
        wrong.push(format!("noise on stdout: {}", report["noise"]));
    }
    if let Some(text) = &trial.says
        && !stdout.contains(text.as_str())
    {
        wrong.push(format!("the report does not say {text}"));
    }
    wrong
}

/// A server that listens, for all the trials of its row.
pub struct Listening {
    group: Group,
    url: String,
    folder: tempfile::TempDir,
}

impl Listening {
    /// Starts it on a free port; tries again where somebody else took the port first.
    pub fn start(start: &Start, how: How) -> Result<Listening, String> {
        Listening::once(start, how).or_else(|_| Listening::once(start, how))
    }

    fn once(start: &Start, how: How) -> Result<Listening, String> {
        let folder = tempfile::tempdir().map_err(|why| why.to_string())?;
        let port = free_port()?;
        let put = |word: &str| match word {
            "PORT" => port.to_string(),
            word => word.replace("FOLDER", &folder.path().display().to_string()),
        };
        let (program, arguments) = start.words.split_first().ok_or("an empty command")?;
        let mut command = Command::new(put(program));
        command.args(arguments.iter().map(|word| put(word))).current_dir(folder.path());
        command.envs(start.env.iter().map(|(name, value)| (name, put(value))));
        let (stdout, stderr) = (folder.path().join("stdout"), folder.path().join("stderr"));
        let mut group = Group::start(&mut command, &stdout, &stderr)?;
        if let Err(why) = wait_for_port(&mut group, port, START) {
            return Err(format!("{why}\n  run: {command:?}\n{}", read_to_string(stderr).unwrap_or_default()));
        }
        let path = if how == How::Sse { "sse" } else { "mcp" };
        Ok(Listening { group, url: format!("http://127.0.0.1:{port}/{path}"), folder })
    }

    pub fn server(&self) -> Server<'static> {
        Server::Url(self.url.clone())
    }

    /// Ends it; the error names processes of its own that outlived it.
    pub fn end(mut self) -> Result<(), String> {
        self.group.end();
        let left = self.group.left_behind();
        drop(self.folder);
        if left.is_empty() { Ok(()) } else { Err(format!("left behind: {}", left.join("; "))) }
    }
}
