//! Static errors of scripts: what is refused before anything runs, and under which code.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_script::commands::registry;
use mcp_script::diagnostic::{Style, render};
use mcp_script::engine::cx::Files;
use mcp_script::engine::lower::{LowerCx, Lowered, lower_source};
use mcp_script::source::Source;

/// Files in memory.
struct Memory(Vec<(&'static str, &'static str)>);

impl Files for Memory {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.read_text(path).map(String::into_bytes)
    }
    fn read_text(&self, path: &Path) -> Result<String, String> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "no such file".into())
    }
    fn exists(&self, path: &Path) -> bool {
        self.read_text(path).is_ok()
    }
    fn canonical(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }
}

fn lower(text: &str, files: Vec<(&'static str, &'static str)>) -> Lowered {
    let source = Source::new("test.mcp", text);
    let presets = vec![Arc::from("outside")];
    let cx = LowerCx { registry: registry(), files: &Memory(files), presets, path: Some("test.mcp".into()) };
    lower_source(&source, &cx)
}

fn codes(text: &str) -> Vec<&'static str> {
    lower(text, vec![("a.mcp", "echo a\ninclude b.mcp\n"), ("b.mcp", "include a.mcp\n"), ("t.mcp", "test \"x\"\n")])
        .problems
        .iter()
        .map(|problem| problem.code)
        .collect()
}

#[test]
fn good_lines_are_good() {
    for line in [
        "echo a:b c: $outside",
        "call_tool add a:1 \"odd name\":2 http://x C:\\y",
        "call_tool add $outside",
        "let id 5\ncall_tool_raw t '{\"id\": $id, \"$id\": \"$id\", \"x\": \"$unknown\"}'",
        "expect_error timeout timeout 300 call_tool x",
        "expect_error timeout call_tool x",
        "expect_error timeout 300ms call_tool x",
        "expect_error tool timeout 5s retry 3 call_tool x",
        "retry 3 assert_contains x\nretry 3 10ms assert_contains x",
        "timeout 1s retry 3 assert_contains x",
        "repeat 3 echo x",
        "assert_json $.a.b '{\"x\": 1}'\nassert_json '[1]'",
        "assert_includes '{\"a\": 1}' unordered:true\nassert_includes unordered:false $.x 1",
        "assert_schema schema.json\nassert_schema $.x '{\"type\": \"object\"}'",
        "assert_error_code tool\nassert_error_code -32602",
        "require tools\nrequire protocol 2025-06-18..",
        "test \"a b\" tags:x,y\nend\nfinally\necho done",
        "assert_equals x:y\nassert_equals $outside \"\"",
        "get_prompt greet name:$outside",
        "expect_error assert_contains x",
        "set_var x rawResponse\necho $x",
        "retry 2 set_var x $.id",
    ] {
        let lowered = lower(line, Vec::new());
        assert!(lowered.plan.is_some() && lowered.problems.is_empty(), "{line}: {:#?}", lowered.problems);
    }
}

#[test]
fn bad_lines_are_refused_under_a_stable_code() {
    for (text, code) in [
        ("call_tol add", "mcp::script::unknown_command"),
        ("echo $nope", "mcp::script::unknown_variable"),
        ("echo \"$nope\"", "mcp::script::unknown_variable"),
        ("echo $later\nlet later 1", "mcp::script::unknown_variable"),
        ("let name", "mcp::script::wrong_words"),
        ("let name a b", "mcp::script::wrong_words"),
        ("assert_gt 1 # 2", "mcp::script::wrong_words"),
        ("let $outside 1", "mcp::script::name_not_literal"),
        ("let 1x 1", "mcp::word::not_name"),
        ("call_tool add a:1 a:2", "mcp::script::same_name"),
        ("call_tool add a: 1", "mcp::script::no_value"),
        ("expect_error", "mcp::script::no_command"),
        ("expect_error echo x", "mcp::script::misplaced_prefix"),
        ("not call_tool x", "mcp::script::misplaced_prefix"),
        ("not set_var x $.y", "mcp::script::misplaced_prefix"),
        ("not expect_error assert_contains x", "mcp::script::misplaced_prefix"),
        ("timeout 5s echo x", "mcp::script::misplaced_prefix"),
        ("timeout 5s assert_contains x", "mcp::script::misplaced_prefix"),
        ("retry 3 echo x", "mcp::script::misplaced_prefix"),
        ("header 'A: b' assert_contains x", "mcp::script::misplaced_prefix"),
        ("timeout soon call_tool x", "mcp::word::not_duration"),
        ("repeat many echo x", "mcp::word::not_count"),
        ("assert_matches '('", "mcp::word::not_regex"),
        ("assert_json '{'", "mcp::word::not_json"),
        ("let a 1\nassert_json '{\"a\": $a'", "mcp::word::not_json"),
        ("assert_type $.x strnig", "mcp::word::not_listed"),
        ("set_var x $.items[?", "mcp::word::not_path"),
        ("include nowhere.mcp", "mcp::script::include_unreadable"),
        ("include a.mcp", "mcp::script::include_cycle"),
        ("include t.mcp", "mcp::script::structure_in_include"),
    ] {
        let found = codes(text);
        assert_eq!(found, [code], "{text}");
        assert!(
            lower(
                text,
                vec![("a.mcp", "echo a\ninclude b.mcp\n"), ("b.mcp", "include a.mcp\n"), ("t.mcp", "test \"x\"\n")]
            )
            .plan
            .is_none(),
            "{text}"
        );
    }
}

#[test]
fn all_errors_of_a_script_come_at_once_and_in_order() {
    let text = "call_tol add\necho \"open\nlet name\necho $nope\n";
    let lowered = lower(text, Vec::new());
    let lines: Vec<u32> =
        lowered.problems.iter().filter_map(|problem| problem.place().map(|(_, at)| at.line)).collect();
    assert_eq!(lines, [1, 2, 3, 4]);
    let shown = render(&lowered.problems, &Style { color: false, width: 100 });
    assert!(shown.contains("did you mean `call_tool`?"), "{shown}");
}

#[test]
fn a_name_set_by_an_included_file_is_known() {
    let lowered = lower("include vars.mcp\necho $set_there\n", vec![("vars.mcp", "let set_there 1\n")]);
    assert!(lowered.plan.is_some(), "{:#?}", lowered.problems);
}
