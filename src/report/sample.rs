//! Events of small runs, for the tests of all reports.

use std::sync::Arc;
use std::time::Duration;

use crate::diagnostic::Diagnostic;
use crate::event::{Connected, Direction, Event, Finding, Frame, Status, Step, StepResult};
use crate::sensitive::Sensitive;
use crate::source::{Origin, Source, Span};

const SCRIPT: &str = "\
echo \"--- addition ---\"
test \"adds\"
call_tool add a:1 b:2
assert_equals 3
test \"greets\"
call_tool greet name:Ann
assert_contains \"Hello, Bob\"
assert_contains \"Ann\"
finally
call_tool reset
";

struct Builder {
    source: Arc<Source>,
    events: Vec<Event>,
    index: usize,
}

impl Builder {
    fn origin(&self, line: u32) -> Origin {
        Origin::new(self.source.clone(), self.source.line_span(line))
    }

    fn step(&mut self, line: u32, status: Status, answer: Option<&str>, problem: Option<Diagnostic>) {
        let text = self.source.slice(self.source.line_span(line)).to_owned();
        let command =
            ["echo", "call_tool", "assert_equals", "assert_contains"].into_iter().find(|name| text.starts_with(name));
        let step = Arc::new(Step {
            index: self.index,
            origin: self.origin(line),
            command: command.unwrap_or("test"),
            line: Sensitive::new(text),
        });
        self.index += 1;
        self.events.push(Event::StepStarted(step.clone()));
        if command == Some("call_tool") {
            for (direction, text) in
                [(Direction::Sent, r#"{"id":1}"#), (Direction::Received, r#"{"id":1,"result":{}}"#)]
            {
                self.events.push(Event::Frame(Frame {
                    session: "main".into(),
                    direction,
                    text: Sensitive::new(text.into()),
                }));
            }
        }
        self.events.push(Event::StepFinished(StepResult {
            step,
            status,
            duration: Duration::from_millis(u64::from(line)),
            problem,
            path: (line == 4).then(|| "$.sum".to_owned()),
            answer: answer.map(|answer| Sensitive::new(answer.to_owned())),
        }));
    }

    fn test(&mut self, name: &str, line: Option<u32>) {
        let origin = line.map(|line| self.origin(line));
        self.events.push(Event::TestStarted { name: name.into(), tags: vec!["smoke".into()], origin });
    }

    fn test_end(&mut self, name: &str, status: Status) {
        self.events.push(Event::TestFinished { name: name.into(), status, duration: Duration::from_millis(12) });
    }

    fn finding(&mut self, message: &str, line: u32) {
        self.events.push(Event::Finding(Finding {
            id: "stdio-stdout-clean",
            must: true,
            message: Sensitive::new(message.into()),
            session: "main".into(),
            origin: Some(self.origin(line)),
        }));
    }
}

/// A script with two tests, one of which fails.
pub(super) fn run() -> Vec<Event> {
    let source = Source::new("tests/demo.mcp", SCRIPT);
    let mut run = Builder { source: source.clone(), events: Vec::new(), index: 0 };
    let file: Arc<str> = "tests/demo.mcp".into();
    run.events.push(Event::ScriptStarted { file: file.clone(), steps: 7 });
    run.events.push(Event::Output { text: Sensitive::new("--- addition ---".into()) });
    run.step(1, Status::Passed, None, None);
    run.test("adds", Some(2));
    run.events.push(Event::Connected(Connected {
        session: "main".into(),
        transport: "stdio",
        protocol: "2025-11-25",
        why: "it answered initialize".into(),
        server_name: Some("demo-server".into()),
        server_version: Some("1.2.3".into()),
        duration: Duration::from_millis(30),
    }));
    run.events
        .push(Event::ToolsListed { session: "main".into(), names: vec!["add".into(), "greet".into(), "reset".into()] });
    run.finding("stdout carried a line that is no message: `ready`", 3);
    run.step(3, Status::Passed, Some("3"), None);
    run.step(4, Status::Passed, None, None);
    run.test_end("adds", Status::Passed);
    run.test("greets", Some(5));
    run.finding("stdout carried a line that is no message: `called`", 6);
    let logged = Event::Stderr { session: "main".into(), line: Sensitive::new("greeting\u{7} Ann".into()) };
    run.events.push(logged);
    run.step(6, Status::Passed, Some("Hello,\nAnn"), None);
    let start = source.line_span(7).start;
    let failed = Diagnostic::error("mcp::assert::contains", "the response does not contain this text")
        .at(&source, Span::new(start + 16, start + 28), "not found")
        .detail("expected: Hello, Bob\n  actual: Hello,\n          Ann")
        .help("`assert_contains` looks at the text, then at the JSON");
    run.step(7, Status::Failed, None, Some(failed));
    let skipped =
        Diagnostic::warning("mcp::run::skipped", "skipped: line 7 of this test failed").at_origin(&run.origin(8), "");
    run.step(8, Status::Skipped, None, Some(skipped));
    run.test_end("greets", Status::Failed);
    run.step(10, Status::Passed, Some(""), None);
    run.events.push(Event::ScriptFinished { file, status: Status::Failed, duration: Duration::from_millis(40) });
    run.events
}

/// A script without tests that passes.
pub(super) fn plain() -> Vec<Event> {
    let source = Source::new("tests/plain.mcp", "call_tool reset\n");
    let mut run = Builder { source, events: Vec::new(), index: 0 };
    let file: Arc<str> = "tests/plain.mcp".into();
    run.events.push(Event::ScriptStarted { file: file.clone(), steps: 1 });
    run.test("plain", None);
    run.step(1, Status::Passed, None, None);
    run.test_end("plain", Status::Passed);
    run.events.push(Event::ScriptFinished { file, status: Status::Passed, duration: Duration::from_millis(15) });
    run.events
}

/// A script that was refused.
pub(super) fn refused() -> Vec<Event> {
    let source = Source::new("tests/broken.mcp", "echo \"open\n");
    let problem = Diagnostic::error("mcp::syntax::open_quote", "this quote is never closed")
        .at(&source, Span::new(5, 10), "opened here")
        .help("close it on the same line");
    vec![Event::ScriptRefused { file: "tests/broken.mcp".into(), problems: vec![problem] }]
}
