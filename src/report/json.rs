//! The JSON report: its own types, so that inner ones may change. `grammar/report.schema.json` describes it.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, PrettyFormatter};

use super::mask::DiagnosticMasker;
use super::record::{Record, ScriptRecord, TestRecord};
use crate::diagnostic::{Diagnostic, Severity};
use crate::event::{Connected, Finding, Status, StepResult};
use crate::sensitive::Masker;
use crate::source::Origin;

/// Changes when a reader of the document must change.
const SCHEMA_VERSION: u32 = 1;

/// The finding that stdout carried something else than messages.
const NOISE: &str = "stdio-stdout-clean";

/// The document for a run that ends with `exit_code`, with a line end.
pub fn document(record: &Record, exit_code: u8, duration: Duration, masker: &Masker) -> String {
    let mut writer = Writer { masker, diagnostics: DiagnosticMasker::default() };
    let document = writer.document(record, exit_code, duration);
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Plain(PrettyFormatter::new()));
    // Writing plain structs to memory cannot fail; were it to, an empty document says so by being none.
    let written = document.serialize(&mut serializer).is_ok();
    let mut text = if written { String::from_utf8(bytes).unwrap_or_default() } else { String::new() };
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "schemaVersion")]
    schema_version: u32,
    tool: Tool,
    status: &'static str,
    exit_code: u8,
    interrupted: Option<String>,
    duration_ms: f64,
    protocol: Option<Protocol>,
    server: Option<Server>,
    tools: Vec<String>,
    executed: usize,
    passed: usize,
    failed: usize,
    skipped: usize,
    noise: usize,
    scripts: Vec<Script<'a>>,
    tests: Vec<Test<'a>>,
    failures: Vec<Failure>,
    warnings: Vec<Failure>,
    findings: Vec<FindingOut<'a>>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Protocol {
    version: &'static str,
    why: String,
}

#[derive(Serialize)]
struct Server {
    name: Option<String>,
    version: Option<String>,
    transport: &'static str,
}

#[derive(Serialize)]
struct Session {
    name: String,
    protocol: Protocol,
    server: Server,
    duration_ms: f64,
}

#[derive(Serialize)]
struct Script<'a> {
    file: String,
    status: &'static str,
    duration_ms: f64,
    sessions: Vec<Session>,
    tools: Vec<String>,
    steps: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Test<'a> {
    file: String,
    name: String,
    line: Option<u32>,
    tags: &'a [String],
    status: &'static str,
    duration_ms: f64,
    steps: Vec<Step<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stderr: Vec<String>,
}

#[derive(Serialize)]
struct Step<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u32,
    column: u32,
    command: &'a str,
    text: String,
    status: &'static str,
    duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct Failure {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    command: Option<String>,
    error: String,
    hint: Option<String>,
    code: &'static str,
    detail: Option<String>,
}

#[derive(Serialize)]
struct FindingOut<'a> {
    id: &'a str,
    level: &'static str,
    message: String,
    session: String,
    file: Option<String>,
    line: Option<u32>,
}

const fn status_name(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Broken => "broken",
        Status::Skipped => "skipped",
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

struct Writer<'m> {
    masker: &'m Masker,
    diagnostics: DiagnosticMasker,
}

impl Writer<'_> {
    fn text(&self, text: &str) -> String {
        self.masker.mask(text).into_owned()
    }

    fn texts(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.text(text)).collect()
    }

    fn document<'a>(&mut self, record: &'a Record, exit_code: u8, duration: Duration) -> Document<'a> {
        let counts = record.counts();
        let first =
            record.scripts.iter().flat_map(|script| &script.sessions).find(|session| &*session.session == "main");
        let findings = || record.scripts.iter().flat_map(|script| &script.findings);
        Document {
            schema_version: SCHEMA_VERSION,
            tool: Tool { name: "mcp-tester", version: env!("CARGO_PKG_VERSION") },
            status: match exit_code {
                0 => "passed",
                2 => "invalid",
                130 | 143 => "interrupted",
                _ => "failed",
            },
            exit_code,
            interrupted: record.interrupted.as_deref().map(|why| self.text(why)),
            duration_ms: millis(duration),
            protocol: first.map(|session| self.protocol(session)),
            server: first.map(|session| self.server(session)),
            tools: record
                .scripts
                .iter()
                .find(|script| !script.tools.is_empty())
                .map_or_else(Vec::new, |script| self.texts(&script.tools)),
            executed: counts.executed,
            passed: counts.passed,
            failed: counts.failed,
            skipped: counts.skipped,
            noise: findings().filter(|finding| finding.id == NOISE).count(),
            scripts: record.scripts.iter().map(|script| self.script(script)).collect(),
            tests: record
                .scripts
                .iter()
                .flat_map(|script| script.tests.iter().map(move |test| (script, test)))
                .map(|(script, test)| self.test(script, test))
                .collect(),
            failures: self.failures(record),
            warnings: self.warnings(record),
            findings: findings().map(|finding| self.finding(finding)).collect(),
        }
    }

    fn protocol(&self, session: &Connected) -> Protocol {
        Protocol { version: session.protocol, why: self.text(&session.why) }
    }

    fn server(&self, session: &Connected) -> Server {
        Server {
            name: session.server_name.as_deref().map(|name| self.text(name)),
            version: session.server_version.as_deref().map(|version| self.text(version)),
            transport: session.transport,
        }
    }

    fn script<'a>(&self, script: &'a ScriptRecord) -> Script<'a> {
        Script {
            file: self.text(&script.file),
            status: status_name(script.status),
            duration_ms: millis(script.duration),
            sessions: script
                .sessions
                .iter()
                .map(|session| Session {
                    name: session.session.to_string(),
                    protocol: self.protocol(session),
                    server: self.server(session),
                    duration_ms: millis(session.duration),
                })
                .collect(),
            tools: self.texts(&script.tools),
            steps: script.steps.iter().map(|step| self.step(&script.file, step)).collect(),
        }
    }

    fn test<'a>(&self, script: &'a ScriptRecord, test: &'a TestRecord) -> Test<'a> {
        Test {
            file: self.text(&script.file),
            name: self.text(&test.name),
            line: test.origin.as_ref().map(|origin| origin.position().line),
            tags: &test.tags,
            status: status_name(test.status.unwrap_or(Status::Failed)),
            duration_ms: millis(test.duration),
            steps: test.steps.iter().map(|step| self.step(&script.file, step)).collect(),
            stderr: match test.status {
                Some(Status::Passed | Status::Skipped) => Vec::new(),
                _ => test.stderr.lines().map(|line| self.text(line)).collect(),
            },
        }
    }

    fn step<'a>(&self, file: &str, result: &'a StepResult) -> Step<'a> {
        let at = result.step.origin.position();
        let name = result.step.origin.source.name();
        Step {
            file: (name != file).then(|| self.text(name)),
            line: at.line,
            column: at.column,
            command: result.step.command,
            text: self.text(result.step.line.reveal()),
            status: status_name(result.status),
            duration_ms: millis(result.duration),
            path: result.path.as_deref().map(|path| self.text(path)),
            error: result.problem.as_ref().map(|problem| self.text(&problem.title)),
        }
    }

    fn warnings(&mut self, record: &Record) -> Vec<Failure> {
        let configured = record.problems.iter().filter(|problem| problem.severity == Severity::Warning);
        let warnings = configured.chain(record.scripts.iter().flat_map(|script| &script.warnings));
        warnings.map(|warning| self.failure(warning, None)).collect()
    }

    fn failures(&mut self, record: &Record) -> Vec<Failure> {
        let refusals = record.problems.iter().filter(|problem| problem.severity == Severity::Error);
        let mut failures: Vec<_> = refusals.map(|problem| self.failure(problem, None)).collect();
        for script in &record.scripts {
            for problem in &script.refused {
                let failure = self.failure(problem, None);
                let file = failure.file.or_else(|| Some(self.text(&script.file)));
                failures.push(Failure { file, ..failure });
            }
            let failed = |step: &&StepResult| matches!(step.status, Status::Failed | Status::Broken);
            let mut steps: Vec<_> = script.all_steps().filter(failed).collect();
            steps.sort_by_key(|step| step.step.index);
            for step in steps {
                failures.push(match &step.problem {
                    Some(problem) => self.failure(problem, Some(step)),
                    None => self.failure(&Diagnostic::error("mcp::run::failed", "this command failed"), Some(step)),
                });
            }
        }
        failures
    }

    fn failure(&mut self, problem: &Diagnostic, step: Option<&StepResult>) -> Failure {
        let problem = self.diagnostics.mask(problem, self.masker);
        let of_step =
            step.map(|step| &step.step.origin).map(|origin: &Origin| (origin.source.name(), origin.position()));
        let place = problem.place().or(of_step);
        Failure {
            file: place.map(|(file, _)| file.to_owned()),
            line: place.map(|(_, at)| at.line),
            column: place.map(|(_, at)| at.column),
            command: step.map(|step| step.step.command.to_owned()),
            error: problem.title.clone(),
            hint: problem.help.clone(),
            code: problem.code,
            detail: problem.detail.clone(),
        }
    }

    fn finding<'a>(&self, finding: &'a Finding) -> FindingOut<'a> {
        FindingOut {
            id: finding.id,
            level: if finding.must { "must" } else { "should" },
            message: self.text(finding.message.reveal()),
            session: finding.session.to_string(),
            file: finding.origin.as_ref().map(|origin| self.text(origin.source.name())),
            line: finding.origin.as_ref().map(|origin| origin.position().line),
        }
    }
}

/// Pretty JSON in which no control or bidi character stands raw: the document may well be read on a terminal.
struct Plain<'a>(PrettyFormatter<'a>);

impl Formatter for Plain<'_> {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_tricky(*c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + io::Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        self.0.write_char_escape(writer, escape)
    }
}

/// DEL, C1 controls, and everything that changes the direction or the look of the text around it.
const fn is_tricky(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::record::Record;
    use super::document;
    use crate::diagnostic::Diagnostic;
    use crate::event::Event;
    use crate::report::sample;
    use crate::sensitive::Masker;

    fn write(record: &Record, exit_code: u8, masker: &Masker) -> serde_json::Value {
        let text = document(record, exit_code, Duration::from_millis(1234), masker);
        serde_json::from_str(&text).expect("JSON")
    }

    fn record() -> Record {
        let mut record = Record::default();
        sample::run().iter().for_each(|event| record.fold(event, &Masker::new()));
        record
    }

    #[test]
    fn a_run_as_a_document() {
        insta::assert_snapshot!(document(&record(), 1, Duration::from_millis(1234), &Masker::new()));
    }

    #[test]
    fn documents_follow_the_schema() {
        let schema = include_str!("../../grammar/report.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
        let validator = jsonschema::options().offline().should_validate_formats(true).build(&schema).expect("a schema");
        let mut interrupted = record();
        interrupted.interrupted = Some("SIGINT".into());
        let mut refused = Record::default();
        refused.problems.push(Diagnostic::error("mcp::usage::args", "unexpected argument"));
        let problems = vec![Diagnostic::error("mcp::syntax::open_quote", "the quote is never closed")];
        refused.fold(&Event::ScriptRefused { file: "a.mcp".into(), problems }, &Masker::new());
        for (record, code) in [(record(), 1), (Record::default(), 0), (interrupted, 130), (refused, 2)] {
            let document = write(&record, code, &Masker::new());
            let errors: Vec<_> =
                validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
            assert!(errors.is_empty(), "{errors:#?}");
        }
    }

    #[test]
    fn secrets_and_tricky_characters_stay_out() {
        let masker = Masker::new();
        masker.add("addition").expect("long enough");
        masker.add("demo-server").expect("long enough");
        let text = document(&record(), 1, Duration::ZERO, &masker);
        assert!(!text.contains("addition") && !text.contains("demo-server"), "{text}");
        let mut record = Record::default();
        record.problems.push(Diagnostic::error("mcp::x", "a\u{202e}b\u{9b}c\u{1b}[31m\u{e0041}"));
        let text = document(&record, 2, Duration::ZERO, &Masker::new());
        assert!(text.contains(r"a\u202eb\u009bc\u001b[31m\udb40\udc41"), "{text}");
    }

    #[test]
    fn failures_come_in_script_order() {
        let document = write(&record(), 1, &Masker::new());
        let lines: Vec<_> = document["failures"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|failure| failure["line"].to_string())
            .collect();
        let mut sorted = lines.clone();
        sorted.sort_by_key(|line| line.parse::<u32>().ok());
        assert_eq!(lines, sorted);
    }
}
