//! Files written out of the command table are current, and the table keeps its promises.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use mcp_script::commands::{reference, registry};
use mcp_script::engine::cx::Files;
use mcp_script::engine::lower::{LowerCx, lower_source};
use mcp_script::engine::spec::{Arity, Kind};
use mcp_script::source::Source;

/// No files but one that examples include.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &Path) -> Result<Vec<u8>, String> {
        Err("no such file".into())
    }
    fn read_text(&self, path: &Path) -> Result<String, String> {
        if path.ends_with("common.mcp") { Ok("echo \"common\"\n".into()) } else { Err("no such file".into()) }
    }
    fn exists(&self, _path: &Path) -> bool {
        false
    }
    fn canonical(&self, path: &Path) -> std::path::PathBuf {
        path.to_path_buf()
    }
}

#[test]
fn the_reference_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammar/commands.md");
    let text = reference::markdown(registry());
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    assert!(fs::read_to_string(&file).unwrap_or_default() == text, "grammar/commands.md is stale: run scripts/bless");
}

#[test]
fn every_command_is_documented_and_named_once() {
    let mut names = Vec::new();
    for spec in registry().iter() {
        assert!(!names.contains(&spec.name), "{} stands twice", spec.name);
        names.push(spec.name);
        assert!(spec.name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", spec.name);
        assert!(spec.summary.ends_with('.') && spec.summary.len() < 120, "{}: {}", spec.name, spec.summary);
        assert!(spec.details.is_empty() || spec.details.ends_with('.'), "{}: {}", spec.name, spec.details);
        assert!(spec.example.contains(spec.name), "{}: the example does not show it", spec.name);
        assert!(!spec.forms.is_empty(), "{} has no form", spec.name);
        for slot in spec.forms.iter().flat_map(|form| form.slots) {
            assert!(!slot.doc.is_empty(), "{}: {} has no documentation", spec.name, slot.name);
            let last = spec.forms.iter().all(|form| {
                form.slots.iter().take(form.slots.len().saturating_sub(1)).all(|slot| slot.arity != Arity::Rest)
            });
            assert!(last, "{}: only the last parameter may take the rest", spec.name);
            if let Kind::Choice(words) = slot.kind {
                assert!(!words.is_empty(), "{}: {} has no choice", spec.name, slot.name);
            }
        }
    }
    assert!(names.len() >= 45, "the table has only {} commands", names.len());
}

#[test]
fn every_example_lowers() {
    for spec in registry().iter() {
        let source = Source::new(spec.name, format!("let id 1\n{}\n", spec.example));
        let lowered = lower_source(
            &source,
            &LowerCx { registry: registry(), files: &NoFiles, presets: vec![Arc::from("id")], path: None },
        );
        assert!(lowered.plan.is_some(), "{}: {:#?}", spec.name, lowered.problems);
    }
}
