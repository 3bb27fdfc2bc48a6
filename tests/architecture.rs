//! The layers: which module may import which, and who may print or touch the world.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What each layer may import of ours, itself aside.
const LAYERS: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("sensitive", &[]),
    ("duration", &[]),
    ("near", &[]),
    ("json", &["source", "near"]),
    ("rpc", &["json"]),
    ("diagnostic", &["source", "sensitive", "near"]),
    ("event", &["source", "sensitive", "diagnostic"]),
    ("syntax", &["source", "diagnostic"]),
    ("transport", &["rpc", "json", "sensitive"]),
    ("session", &["rpc", "transport", "json", "source", "sensitive"]),
    ("engine", &["syntax", "session", "rpc", "event", "json", "diagnostic", "source", "sensitive", "duration"]),
    ("verify", &["session", "json"]),
    (
        "commands",
        &["engine", "session", "rpc", "verify", "json", "event", "diagnostic", "source", "sensitive", "duration"],
    ),
    ("report", &["event", "diagnostic", "source", "sensitive", "json", "duration"]),
    ("demo", &[]),
];

/// Layers that may see everything.
const TOP: &[&str] = &["cli", "lib", "main"];

/// Layers that may print or touch environment, files and terminal.
const WORLDLY: &[&str] = &["cli", "report", "main"];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn layer_of(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The code of a file without its unit tests and comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn sources() -> Vec<(PathBuf, String, String)> {
    let mut files = Vec::new();
    rust_files(&root(), &mut files);
    files
        .into_iter()
        .filter(|path| !path.ends_with("tests.rs"))
        .map(|path| (path.clone(), layer_of(&path), code(&path)))
        .collect()
}

/// The layers a text names as `crate::layer`.
fn imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let inside: String = list.chars().take_while(|c| *c != ';').collect();
            found.extend(
                inside.split([',', '{', '}']).map(|part| part.trim().split("::").next().unwrap_or_default().to_owned()),
            );
        } else {
            found.push(rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect());
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn layers_import_only_what_they_may() {
    let rules: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, layer, text) in sources() {
        if TOP.contains(&layer.as_str()) {
            continue;
        }
        let Some(may) = rules.get(layer.as_str()) else {
            wrong.push(format!("{}: the layer `{layer}` stands in no rule", path.display()));
            continue;
        };
        for import in imports(&text) {
            seen += 1;
            if import != layer && !may.contains(&import.as_str()) {
                wrong.push(format!("{}: `{layer}` must not import `{import}`", path.display()));
            }
        }
    }
    assert!(seen > 50, "the test sees hardly any import: {seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_outer_layers_touch_the_world() {
    let mut wrong = Vec::new();
    for (path, layer, text) in sources() {
        if WORLDLY.contains(&layer.as_str()) {
            continue;
        }
        for forbidden in [
            "println!",
            "eprintln!",
            "print!(",
            "std::fs",
            "std::env",
            "std::io::stdout",
            "std::io::stdin",
            "std::io::stderr",
        ] {
            // The demo server talks over its own stdin and stdout, and transports start processes.
            let excused =
                layer == "demo" && forbidden.starts_with("std::io") || layer == "transport" && forbidden == "std::env";
            if text.contains(forbidden) && !excused {
                wrong.push(format!("{}: `{forbidden}` in layer `{layer}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn revisions_are_compared_in_one_file() {
    let mut wrong = Vec::new();
    for (path, layer, text) in sources() {
        if layer == "demo" || path.ends_with("session/version.rs") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let names = line.contains("Revision::V");
            let compares = ["==", "!=", " < ", " > ", ">=", "<=", "matches!"].iter().any(|sign| line.contains(sign));
            if names && compares {
                wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "compare revisions in session/version.rs only:\n{}", wrong.join("\n"));
}

#[test]
fn pure_layers_hold_no_async_code() {
    for (path, layer, text) in sources() {
        if ["syntax", "json", "report", "diagnostic", "event", "source", "sensitive", "rpc"].contains(&layer.as_str()) {
            assert!(!text.contains("async "), "{}: async code in a pure layer", path.display());
        }
    }
}

#[test]
fn files_stay_readable() {
    let mut long: Vec<String> = Vec::new();
    let mut files = Vec::new();
    rust_files(&root(), &mut files);
    for path in files {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > 700 {
            long.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(long.is_empty(), "split these files:\n{}", long.join("\n"));
}
