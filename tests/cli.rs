//! The real binary from outside: help, usage errors, exit codes, and what goes to which stream.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A folder with a few scripts and a profile file.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("good.mcp", "#!/usr/bin/env mcp-tester\necho \"all good\"\n"),
        ("broken.mcp", "echo \"open\necho x\n"),
        ("empty.mcp", "# nothing\n"),
        ("tests/one.mcp", "test \"first\" tags:fast,a\necho 1\ntest \"second\"\necho 2\n"),
        (
            "profiles/mcp-tester.yml",
            "default: local\nprofiles:\n  local: {vars: {greeting: hello}}\n  off: {url: \"${env:NOWHERE_URL}\"}\n",
        ),
        ("profiles/greet.mcp", "echo $greeting\n"),
        ("bad/mcp-tester.yml", "profiles:\n  a: [1\n"),
        ("bad/x.mcp", "echo 1\n"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-tester"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    for name in ["CI", "NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("the binary runs")
}

/// Exit code, stdout and stderr as one text, times left out.
fn transcript(folder: &Path, args: &[&str]) -> String {
    show(&run(folder, args))
}

fn show(output: &Output) -> String {
    let times = regex::Regex::new(r"\b\d+(\.\d+)?(ms|s)\b").expect("a pattern");
    let text = |bytes: &[u8]| times.replace_all(&String::from_utf8_lossy(bytes), "[time]").into_owned();
    let code = output.status.code().map_or_else(|| "a signal".to_owned(), |code| code.to_string());
    format!("exit {code}\n--- stdout\n{}--- stderr\n{}", text(&output.stdout), text(&output.stderr))
}

fn document(output: &Output) -> Value {
    let schema: Value = serde_json::from_str(include_str!("../grammar/report.schema.json")).expect("JSON");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let errors: Vec<_> = jsonschema::options()
        .offline()
        .build(&schema)
        .expect("a schema")
        .iter_errors(&document)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(document["exit_code"].as_i64(), output.status.code().map(i64::from));
    document
}

#[test]
fn help_starts_with_examples_and_fits_a_screen() {
    let folder = folder();
    insta::assert_snapshot!("help", transcript(folder.path(), &["-h"]));
    insta::assert_snapshot!("help_test", transcript(folder.path(), &["test", "-h"]));
    for args in [&["-h"][..], &["test", "-h"], &["demo-server", "-h"]] {
        let output = run(folder.path(), args);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let first: Vec<_> = text.lines().take(4).collect();
        assert!(first[0] == "Examples:" && first[1..].iter().all(|line| line.starts_with("  mcp-tester ")), "{text}");
        assert!(text.lines().count() <= 40 && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn the_long_help_has_the_exit_codes() {
    let folder = folder();
    for args in [&["--help"][..], &["test", "--help"], &["demo-server", "--help"]] {
        let output = run(folder.path(), args);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("Exit codes:\n    0  good\n") && text.contains("  130  interrupted"), "{text}");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn wrong_usage_is_said_on_stderr() {
    let folder = folder();
    let unknown = transcript(folder.path(), &["tset", "good.mcp"]);
    assert!(
        unknown.starts_with("exit 2\n--- stdout\n--- stderr\n") && unknown.contains("did you mean `test`?"),
        "{unknown}"
    );
    insta::assert_snapshot!("unknown_option", transcript(folder.path(), &["test", "--fromat", "json"]));
    insta::assert_snapshot!("wrong_duration", transcript(folder.path(), &["test", "good.mcp", "--timeout", "5 sec"]));
    insta::assert_snapshot!(
        "server_named_twice",
        transcript(folder.path(), &["test", "good.mcp", "-c", "a", "--", "b"])
    );
    insta::assert_snapshot!("nothing_to_run", transcript(folder.path(), &["test"]));
    insta::assert_snapshot!(
        "unknown_revision",
        transcript(folder.path(), &["good.mcp", "--protocol", "2025-11-26", "-c", "x"])
    );
    let none = run(folder.path(), &[]);
    assert_eq!((none.status.code(), none.stdout.is_empty()), (Some(2), true));
    assert!(none.stderr.starts_with(b"Examples:\n"), "{}", show(&none));
}

#[test]
fn scripts_that_cannot_run_are_named() {
    let folder = folder();
    insta::assert_snapshot!("missing_file", transcript(folder.path(), &["test", "god.mcp"]));
    insta::assert_snapshot!("empty_script", transcript(folder.path(), &["empty.mcp"]));
    insta::assert_snapshot!("broken_and_good", transcript(folder.path(), &["test", "good.mcp", "broken.mcp"]));
    let output = run(folder.path(), &["good.mcp", "broken.mcp", "--format", "json"]);
    let document = document(&output);
    assert_eq!((&document["executed"], &document["exit_code"]), (&1.into(), &2.into()));
    assert_eq!((&document["failures"][0]["file"], &document["failures"][0]["line"]), (&"broken.mcp".into(), &1.into()));
}

#[test]
fn a_script_is_run_however_it_is_named() {
    let folder = folder();
    for args in [
        &["good.mcp"][..],
        &["test", "good.mcp"],
        &["run", "good.mcp"],
        &["test", "--script", "good.mcp"],
        &["-v", "good.mcp"],
        &["g*.mcp"],
        &["test", "-e", "echo \"all good\""],
    ] {
        let output = run(folder.path(), args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && text.starts_with("all good\n") && text.contains("1 command passed"),
            "{args:?}: {}",
            show(&output)
        );
    }
    let mut child =
        command(folder.path(), &["-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary runs");
    child.stdin.take().expect("stdin").write_all(b"echo \"from stdin\"\n").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("from stdin\n✓ -  "), "{}", show(&output));
}

#[test]
fn tests_are_listed_and_chosen() {
    let folder = folder();
    insta::assert_snapshot!("list", transcript(folder.path(), &["test", "tests", "good.mcp", "--list"]));
    insta::assert_snapshot!("chosen_by_tag", transcript(folder.path(), &["test", "tests", "--tag", "fast"]));
    insta::assert_snapshot!("nothing_chosen", transcript(folder.path(), &["test", "tests", "--filter", "third"]));
    assert!(run(folder.path(), &["test", "tests", "--filter", "third", "--allow-none"]).status.success());
}

#[test]
fn profiles_are_found_beside_the_script() {
    let folder = folder();
    let output = run(folder.path(), &["profiles/greet.mcp"]);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("hello\n"), "{}", show(&output));
    insta::assert_snapshot!("unknown_profile", transcript(folder.path(), &["profiles/greet.mcp", "-p", "lcoal"]));
    insta::assert_snapshot!("missing_variable", transcript(folder.path(), &["profiles/greet.mcp", "-p", "off"]));
    insta::assert_snapshot!("no_configuration", transcript(folder.path(), &["good.mcp", "-p", "local"]));
    let output = run(folder.path(), &["bad/x.mcp", "--format", "json"]);
    let document = document(&output);
    assert_eq!((&document["failures"][0]["file"], &document["exit_code"]), (&"bad/mcp-tester.yml".into(), &2.into()));
}

#[test]
fn json_is_one_document_whatever_happens() {
    let folder = folder();
    for (args, code) in [
        (&["good.mcp", "--format", "json"][..], 0),
        (&["--format=json", "good.mcp"], 0),
        (&["broken.mcp", "--format", "json"], 2),
        (&["test", "--format", "json", "--bogus"], 2),
        (&["nonsense", "--format", "json"], 2),
        (&["test", "--format", "json"], 2),
        (&["test", "-e", "ping", "--format", "json", "-c", "/nope/server"], 1),
    ] {
        let output = run(folder.path(), args);
        let document = document(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", show(&output));
        assert_eq!(document["failures"].as_array().map(Vec::is_empty), Some(code == 0), "{args:?}");
    }
}

#[test]
fn colour_follows_the_options_and_the_environment() {
    let folder = folder();
    let colored = |output: Output| output.stdout.contains(&0x1b);
    assert!(!colored(run(folder.path(), &["good.mcp"])));
    assert!(colored(run(folder.path(), &["good.mcp", "--color", "always"])));
    assert!(colored(command(folder.path(), &["good.mcp"]).env("CLICOLOR_FORCE", "1").output().expect("it runs")));
    let never = command(folder.path(), &["good.mcp", "--color", "never"]).env("CLICOLOR_FORCE", "1").output();
    assert!(!colored(never.expect("it runs")));
}

#[test]
fn secrets_are_masked_wherever_they_come_from() {
    let folder = folder();
    let line = "echo \"$pin $word\"";
    let output = command(
        folder.path(),
        &["-vv", "-e", line, "-e", "echo plain-s3cret", "--secret", "word=plain-s3cret", "--format", "json"],
    )
    .env("MCP_TESTER_SECRET_pin", "1234-5678")
    .output()
    .expect("it runs");
    assert!(output.status.success(), "{}", show(&output));
    let all = show(&output);
    assert!(!all.contains("1234-5678") && !all.contains("plain-s3cret") && all.contains("*** ***"), "{all}");
    insta::assert_snapshot!("short_secret", transcript(folder.path(), &["good.mcp", "--secret", "a=abc"]));
}

#[test]
fn a_reader_that_leaves_ends_output_quietly() {
    let folder = folder();
    let lines: String =
        (0..5_000).map(|n| format!("echo \"a line that is long enough to fill a pipe {n}\"\n")).collect();
    fs::write(folder.path().join("long.mcp"), lines).expect("a file");
    let mut child =
        command(folder.path(), &["long.mcp"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.is_empty()), (Some(0), true), "{}", show(&output));
}
