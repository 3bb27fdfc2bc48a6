//! Scripts that run through the real binary. The folder names the outcome:
//!
//! - `ok`: exit 0, on stdio and HTTP and in every revision that the first line allows;
//! - `failed`: exit 1, `refused`: exit 2; what is printed stands beside the script in `.out`.
//!
//! Lines at the top of a script steer it: `# revisions: 2025-06-18..`, `# transports: stdio`, `# args: --strict`,
//! `# server: fault_server banner`, `# server: fault_server http html`, `# server: url http://…`, `# server: none` (default:
//! the demo server); `# servers: a; b` runs the script against each.
//! `BLESS=1` rewrites the expectations.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;

const REVISIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_mcp-tester")
}

fn example(name: &str) -> PathBuf {
    Path::new(binary()).parent().unwrap().join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

fn cases(outcome: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(outcome);
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mcp"))
        .collect();
    found.sort();
    if let Ok(only) = std::env::var("CASE") {
        found.retain(|path| path.to_string_lossy().contains(&only));
    }
    found
}

/// The steering lines at the top of a script.
fn header(path: &Path) -> BTreeMap<String, String> {
    let bytes = fs::read(path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .take_while(|line| line.starts_with('#'))
        .filter_map(|line| line.trim_start_matches('#').trim().split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

fn revisions(header: &BTreeMap<String, String>) -> Vec<&'static str> {
    let Some(range) = header.get("revisions") else { return REVISIONS.to_vec() };
    let (from, to) = range.split_once("..").unwrap_or((range, range));
    REVISIONS.iter().copied().filter(|rev| *rev >= from && (to.is_empty() || *rev <= to)).collect()
}

fn tester() -> Command {
    let mut command = Command::new(binary());
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    for name in ["CI", "NO_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"] {
        command.env_remove(name);
    }
    command
}

fn run(script: &Path, extra: &[String], server: &[String]) -> Output {
    let script = script.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut command = tester();
    command.arg("test").arg("--script").arg(script).args(["--color", "never"]).args(extra);
    command.args(server);
    command.output().unwrap()
}

/// The server of a case, as words for the command line; a server behind HTTP is started first.
fn server(line: Option<&str>) -> (Vec<String>, Option<HttpServer>) {
    let command = |words: Vec<String>| ([vec!["--".to_owned()], words].concat(), None);
    let Some(line) = line else { return command(vec![binary().to_owned(), "demo-server".to_owned()]) };
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if words[0] == "fault_server" {
        words[0] = example("fault_server").to_string_lossy().into_owned();
    }
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["none"] => (Vec::new(), None),
        ["url", url] => (vec!["-u".to_owned(), (*url).to_owned()], None),
        [program, "http", ..] => {
            let server = HttpServer::fault(program, &words[1..]);
            (vec!["-u".to_owned(), server.1.clone()], Some(server))
        }
        _ => command(words),
    }
}

fn extra_args(header: &BTreeMap<String, String>) -> Vec<String> {
    header.get("args").map(|args| args.split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
}

struct HttpServer(Child, String);

impl HttpServer {
    fn fault(program: &str, args: &[String]) -> Self {
        let mut child = Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().rsplit(' ').next().unwrap().to_owned();
        Self(child, format!("http://127.0.0.1:{port}/mcp"))
    }

    fn start() -> Self {
        let mut child = Command::new(binary())
            .args(["demo-server", "--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.split_whitespace().find(|word| word.starts_with("http://")).map(str::to_owned))
            .expect("the demo server prints its URL");
        std::thread::spawn(move || lines.for_each(drop));
        Self(child, url)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs jobs on as many threads as there are cores, and collects what went wrong.
fn in_parallel<T: Sync>(jobs: &[T], work: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if let Some(problem) = work(job) {
                        wrong.lock().unwrap().push(problem);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong
}

#[test]
fn ok_cases_pass_on_both_transports_and_in_every_revision() {
    let http = HttpServer::start();
    let mut jobs = Vec::new();
    for case in cases("ok") {
        let header = header(&case);
        let transports = header.get("transports").cloned().unwrap_or_else(|| "stdio,http".to_owned());
        for revision in revisions(&header) {
            for transport in transports.split(',') {
                jobs.push((case.clone(), revision, transport.trim().to_owned()));
            }
        }
    }
    assert!(!jobs.is_empty(), "no case was found");
    let wrong = in_parallel(&jobs, |(case, revision, transport)| {
        // HTTP+SSE, the HTTP of 2024-11-05, is another transport; the demo server serves Streamable HTTP.
        if transport == "http" && *revision == "2024-11-05" {
            return None;
        }
        let header = header(case);
        let server = if transport == "http" {
            vec!["-u".to_owned(), http.1.clone()]
        } else {
            server(header.get("server").map(String::as_str)).0
        };
        let extra =
            [extra_args(&header), vec!["--protocol".into(), (*revision).into(), "--format".into(), "json".into()]]
                .concat();
        let output = run(case, &extra, &server);
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let good = output.status.code() == Some(0)
            && summary["failed"] == 0
            && summary["protocol"]["version"].as_str().is_none_or(|spoken| spoken == *revision);
        (!good).then(|| {
            let out = String::from_utf8_lossy(&output.stdout);
            let err = String::from_utf8_lossy(&output.stderr);
            format!("{} over {transport} in {revision}: {:?}\n{out}\n{err}", case.display(), output.status.code())
        })
    });
    assert!(wrong.is_empty(), "{} of {} runs went wrong:\n{}", wrong.len(), jobs.len(), wrong.join("\n\n"));
}

/// Times, ports, paths and versions out of what is compared.
fn normalise(text: &str) -> String {
    let text =
        text.replace(&*example("fault_server").to_string_lossy(), "[fault_server]").replace(binary(), "[mcp-tester]");
    let text = text.replace(env!("CARGO_MANIFEST_DIR"), "[root]");
    let rules = [
        (r"\b\d+(\.\d+)?( ?(ms|µs)| s\b|s\b)", "[time]"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:[port]"),
        // Which of the two the kernel reports is a matter of microseconds.
        (r"server (closed|reset) the\s+(│ )?connection( without an answer)?", "server [ended] the connection"),
        (r"(?m)[ \t]+$", ""),
    ];
    let mut text = text;
    for (pattern, with) in rules {
        text = Regex::new(pattern).unwrap().replace_all(&text, with).into_owned();
    }
    text
}

fn compare(outcome: &str, exit: i32) {
    let all = cases(outcome);
    assert!(!all.is_empty(), "no case was found");
    let wrong = in_parallel(&all, |case| {
        let header = header(case);
        let many: Vec<Option<&str>> = match header.get("servers") {
            Some(list) => list.split(';').map(|line| Some(line.trim())).collect(),
            None => vec![header.get("server").map(String::as_str)],
        };
        let mut shown = String::new();
        for line in &many {
            let (words, _running) = server(*line);
            let output = run(case, &extra_args(&header), &words);
            let out = normalise(&String::from_utf8_lossy(&output.stdout));
            let err = normalise(&String::from_utf8_lossy(&output.stderr));
            if many.len() > 1 {
                shown.push_str(&format!("=== {}\n", line.unwrap_or_default()));
            }
            shown.push_str(&out);
            if !err.trim().is_empty() {
                shown.push_str("--- stderr\n");
                shown.push_str(&err);
            }
            if output.status.code() != Some(exit) {
                return Some(format!(
                    "{} {line:?}: exit {:?}, not {exit}\n{shown}",
                    case.display(),
                    output.status.code()
                ));
            }
        }
        let file = case.with_extension("out");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&file, shown).unwrap();
            return None;
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        (expected != shown).then(|| {
            let diff = similar::TextDiff::from_lines(&expected, &shown).unified_diff().to_string();
            format!("{}: another output (BLESS=1 accepts it)\n{diff}", case.display())
        })
    });
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), all.len(), wrong.join("\n\n"));
}

#[test]
fn failed_cases_exit_1_and_say_why() {
    compare("failed", 1);
}

#[test]
fn refused_cases_exit_2_and_say_why() {
    compare("refused", 2);
}
