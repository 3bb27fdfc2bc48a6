//! Runs of the real binary against servers: the built-in one, noisy ones, dying ones, and signals.
#![cfg(all(unix, feature = "demo"))]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_mcp-tester");

const SCRIPT: &str = "\
echo \"--- addition ---\"
test \"adds\" tags:fast
call_tool add a:1 b:2
assert_contains \"3\"
test \"echoes\"
call_tool echo text:\"hello world\"
assert_contains \"hello moon\"
assert_contains \"hello\"
finally
call_tool no_arguments
";

/// A folder with a script for the demo server.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "demo.mcp", SCRIPT);
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).current_dir(folder).stdin(Stdio::null());
    for name in ["CI", "NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("the binary runs")
}

fn on_demo(folder: &Path, args: &[&str]) -> Output {
    run(folder, &[args, &["--", BINARY, "demo-server"]].concat())
}

/// Runs against a shell script that may end by becoming the demo server (`$0`).
fn on_shell(folder: &Path, args: &[&str], shell: &str) -> Output {
    run(folder, &[args, &["--", "/bin/sh", "-c", shell, BINARY]].concat())
}

fn show(output: &Output) -> String {
    let times = regex::Regex::new(r"\b\d+m?\d*(\.\d+)?(ms|s)\b").expect("a pattern");
    let text = |bytes: &[u8]| times.replace_all(&String::from_utf8_lossy(bytes), "[time]").into_owned();
    let code = output.status.code().map_or_else(|| "a signal".to_owned(), |code| code.to_string());
    format!("exit {code}\n--- stdout\n{}--- stderr\n{}", text(&output.stdout), text(&output.stderr))
}

fn document(output: &Output) -> Value {
    let schema: Value = serde_json::from_str(include_str!("../grammar/report.schema.json")).expect("JSON");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let validator = jsonschema::options().offline().build(&schema).expect("a schema");
    let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(document["exit_code"].as_i64(), output.status.code().map(i64::from));
    document
}

fn assert_exit(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", show(output));
}

#[test]
fn a_run_in_text() {
    let folder = folder();
    insta::assert_snapshot!("run_text", show(&on_demo(folder.path(), &["demo.mcp"])));
    insta::assert_snapshot!("run_verbose", show(&on_demo(folder.path(), &["demo.mcp", "-v", "--tag", "fast"])));
    let frames = on_demo(folder.path(), &["demo.mcp", "-vv"]);
    let text = String::from_utf8_lossy(&frames.stdout).into_owned();
    assert!(text.contains("      → {\"jsonrpc\":\"2.0\"") && text.contains("      ← {\"jsonrpc\":\"2.0\""), "{text}");
}

#[test]
fn a_run_in_json() {
    let folder = folder();
    let output = on_demo(folder.path(), &["demo.mcp", "--format", "json"]);
    assert_exit(&output, 1);
    let document = document(&output);
    assert_eq!(document["protocol"]["version"], "2026-07-28");
    assert!(document["protocol"]["why"].as_str().is_some_and(|why| !why.is_empty()));
    assert_eq!((&document["server"]["transport"], document["server"]["name"].is_string()), (&"stdio".into(), true));
    let tools = document["tools"].as_array().expect("a list");
    assert!(tools.contains(&"add".into()) && tools.contains(&"create_user".into()));
    let counts = ["executed", "passed", "failed", "skipped", "noise"].map(|name| document[name].as_u64());
    assert_eq!(counts, [Some(6), Some(5), Some(1), Some(1), Some(0)]);
    let failure = &document["failures"][0];
    let place = ["file", "line", "column", "command"].map(|name| failure[name].to_string());
    assert_eq!(place, ["\"demo.mcp\"", "7", "17", "\"assert_contains\""]);
    let statuses = |test: usize| {
        let steps = document["tests"][test]["steps"].as_array().expect("steps");
        steps.iter().map(|step| step["status"].as_str().unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!((statuses(0), statuses(1)), (vec!["passed", "passed"], vec!["passed", "failed", "skipped", "passed"]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("✗ echoes"), "{}", show(&output));
}

#[test]
fn every_revision_can_be_pinned() {
    let folder = folder();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let args =
            ["-e", "call_tool add a:1 b:2", "-e", "assert_contains 3", "--format", "json", "--protocol", revision];
        let output = on_demo(folder.path(), &args);
        assert_exit(&output, 0);
        assert_eq!(document(&output)["protocol"]["version"], revision);
    }
}

#[test]
fn noise_is_always_mentioned_and_fails_under_strict() {
    let folder = folder();
    let shell = "echo ready; exec \"$0\" demo-server";
    let output = on_shell(folder.path(), &["-e", "call_tool add a:1 b:2"], shell);
    assert_exit(&output, 0);
    assert!(String::from_utf8_lossy(&output.stdout).contains("! MUST stdio-stdout-clean: "), "{}", show(&output));
    let output = on_shell(folder.path(), &["-e", "call_tool add a:1 b:2", "--strict", "--format", "json"], shell);
    assert_exit(&output, 1);
    let document = document(&output);
    assert_eq!((&document["noise"], &document["findings"][0]["id"]), (&1.into(), &"stdio-stdout-clean".into()));
}

#[test]
fn a_server_that_dies_is_explained() {
    let folder = folder();
    let output = on_shell(folder.path(), &["-e", "ping"], "echo 'cannot open the database' >&2; exit 3");
    assert_exit(&output, 1);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("exit code 3") && text.contains("cannot open the database"), "{text}");
    let output = run(folder.path(), &["-e", "ping", "-c", "/nope/server --flag"]);
    assert_exit(&output, 1);
    assert!(String::from_utf8_lossy(&output.stdout).contains("/nope/server"), "{}", show(&output));
}

#[test]
fn the_server_gets_the_environment_that_is_meant_for_it() {
    let folder = folder();
    let shell = "echo \"pin=$MCP_TESTER_SECRET_pin token=$TOKEN level=$LEVEL home=$HOME\" >&2; exec \"$0\" demo-server";
    let seen = |args: &[&str]| {
        let args = [&["-v", "-e", "ping"], args, &["--", "/bin/sh", "-c", shell, BINARY]].concat();
        let mut command = command(folder.path(), &args);
        command
            .env("MCP_TESTER_SECRET_pin", "1234-5678")
            .env("TOKEN", "t0ken-t0ken")
            .env("LEVEL", "3")
            .env("HOME", "/h");
        let output = command.output().expect("the binary runs");
        assert_exit(&output, 0);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().find_map(|line| line.split("stderr: ").nth(1).map(str::to_owned)).unwrap_or(text)
    };
    assert_eq!(seen(&[]), "pin= token=t0ken-t0ken level=3 home=/h");
    assert_eq!(seen(&["--secret", "TOKEN"]), "pin= token= level=3 home=/h");
    assert_eq!(seen(&["--secret", "TOKEN", "--env", "TOKEN"]), "pin= token=*** level=3 home=/h");
    assert_eq!(seen(&["--env-clear", "--env", "LEVEL=4"]), "pin= token= level=4 home=");
}

#[test]
fn a_profile_brings_server_and_variables() {
    let folder = folder();
    let root = folder.path();
    let config = format!(
        "default: demo\nprofiles:\n  demo:\n    command: /bin/sh -c 'test -f beside && exec \"$0\" demo-server' '{BINARY}'\n    protocol: 2025-06-18\n    vars: {{first: 40, second: 1}}\n"
    );
    write(root, "suite/mcp-tester.yml", &config);
    write(root, "suite/beside", "");
    write(root, "suite/deep/sum.mcp", "call_tool add a:$first b:$second\nassert_json $.sum 42\n");
    let output = run(root, &["suite/deep/sum.mcp", "--var", "second=2", "--format", "json"]);
    assert_exit(&output, 0);
    assert_eq!(document(&output)["protocol"]["version"], "2025-06-18");
    assert_exit(&run(root, &["suite/deep/sum.mcp"]), 1);
}

#[test]
fn other_tools_are_refused_before_anything_is_sent() {
    let folder = folder();
    let output = on_demo(folder.path(), &["-vv", "-e", "call_tool echo text:x", "--allow-tools", "add,fail"]);
    assert_exit(&output, 1);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.contains("\"tools/call\"") && text.contains("echo"), "{text}");
}

#[test]
fn scripts_run_in_order_and_fail_fast_stops() {
    let folder = folder();
    write(folder.path(), "many/a.mcp", "call_tool add a:1 b:1\nassert_contains 3\n");
    write(folder.path(), "many/b.mcp", "call_tool add a:1 b:2\nassert_contains 3\n");
    write(folder.path(), "many/c.mcp", "call_tol add\n");
    insta::assert_snapshot!("many", show(&on_demo(folder.path(), &["test", "many"])));
    let output = on_demo(folder.path(), &["test", "many/a.mcp", "many/b.mcp", "--fail-fast"]);
    assert_exit(&output, 1);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("--fail-fast: 1 script not run any more") && !text.contains("✓ many/b.mcp"), "{text}");
}

/// Waits until `ready` holds, 20 s at most.
fn wait_until(what: &str, mut ready: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < Duration::from_secs(20), "waited too long for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill {name}");
}

/// Starts a run of `script` whose server writes its process id to `pid` in the folder.
fn start(folder: &Path, script: &str) -> Child {
    write(folder, "slow.mcp", script);
    let shell = "echo $$ > pid; exec \"$0\" demo-server";
    let args = ["slow.mcp", "--format", "json", "--", "/bin/sh", "-c", shell, BINARY];
    let child = command(folder, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    wait_until("the server", || fs::read_to_string(folder.join("pid")).is_ok_and(|pid| pid.ends_with('\n')));
    thread::sleep(Duration::from_millis(500));
    child
}

fn server_is_gone(folder: &Path) -> bool {
    let pid = fs::read_to_string(folder.join("pid")).expect("a process id");
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    state.is_empty() || state.contains(") Z ")
}

#[test]
fn ctrl_c_runs_finally_ends_the_server_and_reports() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = folder();
        let script = "call_tool slow steps:1000 delay_ms:100\necho never\nfinally\ncall_tool add a:1 b:2\n";
        let child = start(folder.path(), script);
        signal(&child, name);
        let output = child.wait_with_output().expect("it ends");
        assert_exit(&output, code);
        let document = document(&output);
        assert_eq!((&document["status"], &document["passed"]), (&"interrupted".into(), &1.into()), "{}", show(&output));
        assert!(document["interrupted"].as_str().is_some_and(|why| why.starts_with("SIG")));
        wait_until("the server's end", || server_is_gone(folder.path()));
    }
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let folder = folder();
    let child = start(folder.path(), "call_tool slow steps:1000 delay_ms:100\nfinally\nsleep 4s\necho late\n");
    signal(&child, "-INT");
    thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    signal(&child, "-INT");
    let output = child.wait_with_output().expect("it ends");
    assert_exit(&output, 130);
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    document(&output);
    wait_until("the server's end", || server_is_gone(folder.path()));
}

#[test]
fn the_demo_server_prints_its_url_serves_and_ends_on_a_signal() {
    let folder = folder();
    let mut server = command(folder.path(), &["demo-server", "--http"]);
    let mut child = server.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("stderr")).read_line(&mut line).expect("a line");
    let url = line.trim();
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/mcp"), "{line}");
    for server in [&["-u", url][..], &["-c", url], &[url], &["--", url]] {
        let output = run(folder.path(), &[&["demo.mcp", "--tag", "fast", "--format", "json"], server].concat());
        assert_exit(&output, 0);
        assert_eq!(document(&output)["server"]["transport"], "http");
    }
    signal(&child, "-TERM");
    let output = child.wait_with_output().expect("it ends");
    assert_exit(&output, 143);
    assert!(output.stdout.is_empty());
}
