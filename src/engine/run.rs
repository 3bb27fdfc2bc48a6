//! Runs a plan: tests, set-up, `finally`, what is skipped and why, and the counts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cx::{Cx, Link, Settings};
use super::outcome::{Failure, FailureKind, Fault, Outcome};
use super::plan::{Item, Plan, Step, Test};
use super::spec::{Kind, Role};
use super::step::Stepper;
use crate::diagnostic::Diagnostic;
use crate::event::{Event, Status, StepResult};
use crate::sensitive::Sensitive;
use crate::source::Span;

/// How long `finally` may take after an interruption.
const FINALLY_LIMIT: Duration = Duration::from_secs(5);

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptEnd {
    /// The worst of its steps.
    pub status: Status,
    /// Commands that were carried out.
    pub executed: usize,
    /// Commands that passed.
    pub passed: usize,
    /// Commands that failed.
    pub failed: usize,
    /// Commands that were not carried out.
    pub skipped: usize,
}

/// Runs a plan to its end; everything it has to tell goes to the sink.
pub async fn run(plan: &Plan, settings: &Settings) -> ScriptEnd {
    let started = Instant::now();
    let mut runner = Runner {
        stepper: Stepper::new(Cx::new(settings.clone(), plan.folder.clone())),
        plan,
        end: ScriptEnd { status: Status::Passed, executed: 0, passed: 0, failed: 0, skipped: 0 },
        broken_by: None,
        running: None,
    };
    runner.emit(&Event::ScriptStarted { file: plan.file.clone(), steps: plan.steps().count() });
    let why = {
        let stop = settings.stop.clone();
        tokio::select! {
            biased;
            () = stop.stopped() => stop.reason(),
            () = tokio::time::sleep(settings.max_time) => {
                Some(format!("--max-time {} is over", crate::duration::show(settings.max_time)))
            }
            () = runner.items() => None,
        }
    };
    if let Some(why) = &why {
        let of_test = runner.interrupted(why);
        let _late = tokio::time::timeout(FINALLY_LIMIT, async {
            runner.finally(of_test).await;
            runner.finally(&plan.finally).await;
        })
        .await;
    } else {
        runner.finally(&plan.finally).await;
    }
    runner.close().await;
    let mut end = runner.end;
    if end.failed > 0 || why.is_some() {
        end.status = Status::Failed;
    }
    runner.emit(&Event::ScriptFinished { file: plan.file.clone(), status: end.status, duration: started.elapsed() });
    end
}

struct Runner<'p> {
    stepper: Stepper<'p>,
    plan: &'p Plan,
    end: ScriptEnd,
    /// Why nothing but `finally` runs any more.
    broken_by: Option<String>,
    /// The test that runs, for an interruption.
    running: Option<Running<'p>>,
}

/// A test that runs.
struct Running<'p> {
    name: Arc<str>,
    begun: Instant,
    /// The step that runs, and since when.
    step: Option<(&'p Step, Instant)>,
    /// What must still run at its end.
    finally: &'p [Step],
}

/// What a step means for those after it.
enum Next {
    GoOn,
    Failed(u32),
    Leave(String),
}

impl<'p> Runner<'p> {
    fn emit(&self, event: &Event) {
        self.stepper.cx.emit(event);
    }

    async fn items(&mut self) {
        let plan = self.plan;
        if !plan.has_tests() {
            let name: Arc<str> = file_stem(&plan.file).into();
            self.emit(&Event::TestStarted { name: name.clone(), tags: Vec::new(), origin: None });
            let begun = Instant::now();
            self.running = Some(Running { name: name.clone(), begun, step: None, finally: &[] });
            let mut status = Status::Passed;
            for item in &plan.items {
                if let Item::Step(step) = item {
                    match self.loose(step).await {
                        Next::GoOn => {}
                        Next::Failed(_) => status = Status::Failed,
                        Next::Leave(_) if status == Status::Passed => status = Status::Skipped,
                        Next::Leave(_) => {}
                    }
                }
            }
            self.running = None;
            self.emit(&Event::TestFinished { name, status, duration: begun.elapsed() });
            return;
        }
        let mut before_tests = true;
        for item in &plan.items {
            match item {
                Item::Step(step) => {
                    if let Next::Failed(line) = self.loose(step).await
                        && before_tests
                    {
                        self.broken_by.get_or_insert_with(|| format!("the set-up failed on line {line}"));
                    }
                }
                Item::Test(test) => {
                    before_tests = false;
                    let wanted = self
                        .stepper
                        .cx
                        .settings
                        .filter
                        .as_ref()
                        .is_none_or(|filter| (filter.0)(&test.name, &test.tags));
                    if wanted {
                        self.test(test).await;
                    }
                }
            }
        }
    }

    /// A step outside all tests: a failure does not stop those after it, unless `--fail-fast` says so.
    async fn loose(&mut self, step: &'p Step) -> Next {
        if let Some(why) = self.broken_by.clone() {
            self.skip(step, &why);
            return Next::GoOn;
        }
        let next = self.step(step).await;
        match &next {
            Next::Leave(why) => self.broken_by = Some(why.clone()),
            Next::Failed(line) if self.stepper.cx.settings.fail_fast => {
                self.broken_by = Some(format!("--fail-fast: line {line} failed"));
            }
            _ => {}
        }
        next
    }

    async fn test(&mut self, test: &'p Test) {
        let begun = Instant::now();
        self.emit(&Event::TestStarted {
            name: test.name.clone(),
            tags: test.tags.clone(),
            origin: Some(test.origin.clone()),
        });
        self.running = Some(Running { name: test.name.clone(), begun, step: None, finally: &test.finally });
        let skipped = self.end.skipped;
        let mut why = self.broken_by.clone();
        let mut status = if why.is_some() { Status::Skipped } else { Status::Passed };
        let begins = why.is_none();
        for step in &test.steps {
            if let Some(why) = &why {
                self.skip(step, why);
                continue;
            }
            match self.step(step).await {
                Next::GoOn => {}
                Next::Failed(line) => {
                    status = Status::Failed;
                    why = Some(format!("line {line} of this test failed"));
                }
                Next::Leave(reason) => {
                    status = Status::Skipped;
                    why = Some(reason);
                }
            }
        }
        if begins {
            if let Some(running) = &mut self.running {
                running.finally = &[];
            }
            for step in &test.finally {
                if let Next::Failed(_) = self.step(step).await {
                    status = Status::Failed;
                }
            }
        }
        // A line that waited for something that failed elsewhere was not tested: the test did not pass.
        if status == Status::Passed && self.end.skipped > skipped {
            status = Status::Skipped;
        }
        self.running = None;
        self.emit(&Event::TestFinished { name: test.name.clone(), status, duration: begun.elapsed() });
        if status == Status::Failed && self.stepper.cx.settings.fail_fast {
            self.broken_by.get_or_insert_with(|| format!("--fail-fast: test \"{}\" failed", test.name));
        }
    }

    async fn finally(&mut self, steps: &'p [Step]) {
        for step in steps {
            self.step(step).await;
        }
    }

    async fn step(&mut self, step: &'p Step) -> Next {
        let started = Instant::now();
        if let Some(running) = &mut self.running {
            running.step = Some((step, started));
        }
        self.emit(&Event::StepStarted(step.info.clone()));
        let result = self.stepper.run(step).await;
        let duration = started.elapsed();
        if let Some(running) = &mut self.running {
            running.step = None;
        }
        let (status, problem, next) = match result {
            Ok(Outcome::Passed) => (Status::Passed, None, Next::GoOn),
            Ok(Outcome::Failed(failure)) => (Status::Failed, Some(diagnose(step, &failure)), Next::Failed(step.line)),
            Ok(Outcome::Skipped(why)) => (Status::Skipped, Some(skipped(step, &why)), Next::GoOn),
            Ok(Outcome::Leave(why)) => (Status::Passed, None, Next::Leave(why)),
            Err(Fault::Script(failure)) => (Status::Broken, Some(diagnose(step, &failure)), Next::Failed(step.line)),
            Err(Fault::Unset { name, line }) => {
                let why = format!("`${name}` has no value: line {line} did not set it");
                (Status::Skipped, Some(skipped(step, &why)), Next::GoOn)
            }
        };
        if status != Status::Passed {
            unset_variables(step, &mut self.stepper.cx);
        }
        self.finish(step, status, duration, problem);
        next
    }

    fn finish(&mut self, step: &Step, status: Status, duration: Duration, problem: Option<Diagnostic>) {
        match status {
            Status::Passed => self.end.passed += 1,
            Status::Failed | Status::Broken => self.end.failed += 1,
            Status::Skipped => self.end.skipped += 1,
        }
        if status != Status::Skipped {
            self.end.executed += 1;
        }
        let cx = &mut self.stepper.cx;
        let path = cx.path.take();
        let answer = match (&cx.last, cx.settings.answers, &step.op.spec.role) {
            (Some(last), true, Role::Request(_)) if last.line == step.line && status != Status::Skipped => {
                let text = last.text();
                Some(Sensitive::new(if text.is_empty() { last.compact().to_owned() } else { text.to_owned() }))
            }
            _ => None,
        };
        let info = step.info.clone();
        self.emit(&Event::StepFinished(StepResult { step: info, status, duration, problem, path, answer }));
    }

    fn skip(&mut self, step: &'p Step, why: &str) {
        unset_variables(step, &mut self.stepper.cx);
        self.emit(&Event::StepStarted(step.info.clone()));
        self.finish(step, Status::Skipped, Duration::ZERO, Some(skipped(step, why)));
    }

    /// Reports what was cut off; gives the steps that the test that ran must still run.
    fn interrupted(&mut self, why: &str) -> &'p [Step] {
        self.emit(&Event::Interrupted { why: why.to_owned() });
        let Some(running) = self.running.take() else { return &[] };
        if let Some((step, started)) = running.step {
            let failure = Failure::new(FailureKind::Timeout, "mcp::run::interrupted", format!("interrupted: {why}"))
                .help("this command was running at the time");
            self.finish(step, Status::Failed, started.elapsed(), Some(diagnose(step, &failure)));
        }
        self.emit(&Event::TestFinished {
            name: running.name,
            status: Status::Failed,
            duration: running.begun.elapsed(),
        });
        running.finally
    }

    async fn close(&mut self) {
        if let Link::Open(session) | Link::Lost { session: Some(session), .. } =
            std::mem::take(&mut self.stepper.cx.link)
        {
            session.close().await;
        }
    }
}

fn file_stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".mcp").unwrap_or(name)
}

/// Variables that a line should have set have no value after it failed or was skipped.
fn unset_variables(step: &Step, cx: &mut Cx) {
    for operand in step.op.operands.iter().filter(|operand| operand.kind == Kind::NewVariable) {
        if let Some(name) = operand.template.literal() {
            // `default` leaves a value from outside alone, also where it fails.
            if !cx.vars.is_outside(&name) {
                cx.vars.mark_unset(&name.as_ref().into(), step.line);
            }
        }
    }
}

fn skipped(step: &Step, why: &str) -> Diagnostic {
    Diagnostic::warning("mcp::run::skipped", format!("skipped: {why}")).at_origin(&step.info.origin, "")
}

fn diagnose(step: &Step, failure: &Failure) -> Diagnostic {
    let span = failure.span.unwrap_or(step.info.origin.span);
    let span = Span::new(span.start.min(span.end), span.end);
    let mut diagnostic = Diagnostic::error(failure.code, failure.title.clone())
        .at_origin(&step.info.origin.at(span), failure.label.clone());
    diagnostic.help.clone_from(&failure.help);
    diagnostic.detail.clone_from(&failure.detail);
    diagnostic
}
