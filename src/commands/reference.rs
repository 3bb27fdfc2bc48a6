//! The language reference, written out of the command table.

use std::fmt::Write as _;

use crate::engine::spec::{Arity, CommandSpec, Kind, Registry, Slot};

/// The whole reference as Markdown: what `grammar/commands.md` holds.
pub fn markdown(registry: &Registry) -> String {
    let mut text = String::from(
        "# Commands of the `.mcp` language\n\nGenerated from the command table: `scripts/bless` writes it, a test keeps it current.\n\nHow lines, quotes, variables and heredocs work stands in [README.md](README.md).\n",
    );
    let mut commands: Vec<&CommandSpec> = registry.iter().collect();
    commands.sort_by_key(|spec| (spec.group, spec.name));
    let mut group = None;
    for spec in commands {
        if group != Some(spec.group) {
            group = Some(spec.group);
            let _ = write!(text, "\n## {}\n", spec.group.title());
        }
        let _ = write!(text, "\n### {}\n\n{}", spec.name, spec.summary);
        if !spec.details.is_empty() {
            let _ = write!(text, " {}", spec.details);
        }
        text.push_str("\n\n```text\n");
        for form in spec.forms {
            let _ = writeln!(text, "{}", form.signature(spec.name));
        }
        text.push_str("```\n\n");
        let slots = slots(spec);
        for slot in &slots {
            let _ = writeln!(text, "- `{}`: {}{}", slot.name, slot.doc, frequency(slot));
        }
        if !slots.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "```mcp\n{}\n```\n", spec.example);
    }
    text
}

/// One command as plain text, for the terminal.
pub fn plain(spec: &CommandSpec) -> String {
    let mut text = String::new();
    for form in spec.forms {
        let _ = writeln!(text, "{}", form.signature(spec.name));
    }
    let _ = write!(text, "\n{}", spec.summary);
    if !spec.details.is_empty() {
        let _ = write!(text, " {}", spec.details);
    }
    text.push_str("\n\n");
    for slot in slots(spec) {
        let _ = writeln!(text, "  {:<12} {}{}", slot.name, slot.doc, frequency(slot));
    }
    text.push_str("\nExample:\n");
    for line in spec.example.lines() {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// All commands, one line each, by chapter, for the terminal.
pub fn overview(registry: &Registry) -> String {
    let mut commands: Vec<&CommandSpec> = registry.iter().collect();
    commands.sort_by_key(|spec| (spec.group, spec.name));
    let mut text = String::new();
    let mut group = None;
    for spec in commands {
        if group != Some(spec.group) {
            let gap = if group.is_some() { "\n" } else { "" };
            group = Some(spec.group);
            let _ = writeln!(text, "{gap}{}:", spec.group.title());
        }
        let _ = writeln!(text, "  {:<22} {}", spec.name, spec.summary);
    }
    text
}

/// The parameters of all forms, each once.
fn slots(spec: &CommandSpec) -> Vec<&'static Slot> {
    let mut slots: Vec<&'static Slot> = Vec::new();
    for slot in spec.forms.iter().flat_map(|form| form.slots).filter(|slot| slot.kind != Kind::Command) {
        if !slots.iter().any(|known| known.name == slot.name) {
            slots.push(slot);
        }
    }
    slots
}

fn frequency(slot: &Slot) -> &'static str {
    match slot.arity {
        Arity::Required | Arity::Rest => "",
        Arity::Optional => " (optional)",
        Arity::Named => " (optional, written name:value anywhere in the line)",
    }
}
