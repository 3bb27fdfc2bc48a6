//! Every `mcp` block of the README, every script in `examples/` and every example of the command table runs against
//! the demo server.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use mcp_script::commands::registry;

fn run(script: &Path, folder: &Path) -> Output {
    let binary = env!("CARGO_BIN_EXE_mcp-tester");
    Command::new(binary)
        .current_dir(folder)
        .env_remove("CI")
        .stdin(Stdio::null())
        .args(["test", "--color", "never", "--var", "city=Berlin", "--script"])
        .arg(script)
        .arg("--")
        .args([binary, "demo-server"])
        .output()
        .unwrap()
}

fn check(name: &str, output: &Output) {
    assert_eq!(
        output.status.code(),
        Some(0),
        "{name}:\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The blocks of a Markdown text that are marked as `mcp`.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match (&mut open, line.trim_end()) {
            (None, "```mcp") => open = Some(String::new()),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some(block), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    blocks
}

#[test]
fn readme_blocks_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("common.mcp"), "echo \"common\"\n").unwrap();
    let mut seen = 0;
    for file in ["README.md", "grammar/README.md"] {
        for (at, block) in blocks(&fs::read_to_string(root.join(file)).unwrap()).into_iter().enumerate() {
            let script = folder.path().join(format!("block{at}.mcp"));
            fs::write(&script, &block).unwrap();
            check(&format!("{file}, block {at}:\n{block}"), &run(&script, folder.path()));
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} blocks were found");
}

#[test]
fn examples_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for entry in fs::read_dir(root.join("examples")).unwrap() {
        let path = entry.unwrap().path();
        // `any_server.mcp` is for the test servers of `tests/servers.rs`.
        if path.extension().is_some_and(|extension| extension == "mcp") && !path.ends_with("any_server.mcp") {
            check(&path.display().to_string(), &run(&path, root));
            seen += 1;
        }
    }
    assert!(seen >= 2, "only {seen} examples were found");
}

#[test]
fn examples_of_the_command_table_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("common.mcp"), "echo \"common\"\n").unwrap();
    for spec in registry().iter() {
        let script = folder.path().join(format!("{}.mcp", spec.name));
        fs::write(&script, spec.example).unwrap();
        check(spec.name, &run(&script, folder.path()));
    }
}
