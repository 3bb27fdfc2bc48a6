//! Runs one line: its prefixes, outermost first, around its command.

use std::pin::Pin;
use std::time::Duration;

use super::args::Args;
use super::cx::Cx;
use super::last::{Last, Reply, Shape};
use super::outcome::{Failure, FailureKind, Fault, Outcome};
use super::plan::{Op, Prefix, Step};
use super::spec::{PrefixKind, Role};
use crate::sensitive::Sensitive;

/// Pause between tries where `retry` names none.
const RETRY_DELAY: Duration = Duration::from_millis(100);

type Attempt<'a> = Pin<Box<dyn Future<Output = Result<Outcome, Fault>> + 'a>>;

/// Runs lines in a context that lives on.
pub struct Stepper<'p> {
    /// The context.
    pub cx: Cx,
    /// The last request and the assertions and `set_var` lines since, for `retry`.
    since_request: Vec<&'p Step>,
}

impl<'p> Stepper<'p> {
    /// Starts with a fresh context.
    pub fn new(cx: Cx) -> Self {
        Self { cx, since_request: Vec::new() }
    }

    /// Runs one line.
    ///
    /// # Errors
    /// Where the script itself is wrong.
    pub async fn run(&mut self, step: &'p Step) -> Result<Outcome, Fault> {
        if let Ok(mut current) = self.cx.current.lock() {
            *current = Some(step.info.clone());
        }
        let is_request = matches!(step.op.spec.role, Role::Request(_));
        if is_request {
            self.since_request.clear();
        }
        let result = self.attempt(step).await;
        if is_request || matches!(step.op.spec.role, Role::Assert(_) | Role::Store(_)) {
            self.since_request.push(step);
        }
        result
    }

    async fn attempt(&mut self, step: &'p Step) -> Result<Outcome, Fault> {
        self.cx.line = step.line;
        let result = if step.prefixes.is_empty() {
            self.once(&step.op).await
        } else {
            let result = self.prefixed(&step.prefixes, step).await;
            self.cx.call = Default::default();
            result
        };
        if matches!(step.op.spec.role, Role::Request(_)) && !matches!(result, Ok(Outcome::Passed)) {
            self.request_failed(step, &result);
        }
        result
    }

    /// What looks at the response of this line is skipped: nobody expected its failure.
    fn request_failed(&mut self, step: &Step, result: &Result<Outcome, Fault>) {
        let answered = self.cx.last.as_ref().is_some_and(|last| last.line == step.line);
        if !answered {
            let words = match result {
                Ok(Outcome::Failed(failure)) | Err(Fault::Script(failure)) => failure.title.clone(),
                _ => "it was skipped".into(),
            };
            self.cx.last = Some(Last::new(step.line, step.op.spec.name, Reply::Nothing(words), Shape::Plain));
        }
        if let Some(last) = &mut self.cx.last {
            last.unexpected = true;
        }
    }

    async fn once(&mut self, op: &Op) -> Result<Outcome, Fault> {
        if op.form.reads_last
            && let Some(outcome) = self.nothing_to_look_at(op)
        {
            return Ok(outcome);
        }
        let args = Args::fill(op, &self.cx.vars)?;
        match op.spec.role {
            Role::Request(run) | Role::Wait(run) => run(&mut self.cx, &args).await,
            Role::Act(run) | Role::Assert(run) | Role::Store(run) => run(&mut self.cx, &args),
            Role::Prefix(_) | Role::Structure(_) => unreachable!("lowering leaves prefixes and structure out of steps"),
        }
    }

    fn nothing_to_look_at(&self, op: &Op) -> Option<Outcome> {
        match &self.cx.last {
            Some(last) if last.unexpected => {
                Some(Outcome::Skipped(format!("the request on line {} failed", last.line)))
            }
            Some(_) => None,
            None => Some(
                Failure::new(
                    FailureKind::Missing,
                    "mcp::assert::no_response",
                    format!("`{}` has no response to look at", op.spec.name),
                )
                .help("a request such as `call_tool` must come before it")
                .into(),
            ),
        }
    }

    fn prefixed<'s>(&'s mut self, prefixes: &'p [Prefix], step: &'p Step) -> Attempt<'s>
    where
        'p: 's,
    {
        Box::pin(async move {
            let Some((prefix, rest)) = prefixes.split_first() else {
                return self.once(&step.op).await;
            };
            let args = Args::fill(&prefix.op, &self.cx.vars)?;
            match prefix.kind {
                PrefixKind::ExpectError => expect_error(prefix, self.prefixed(rest, step).await?),
                PrefixKind::Not => {
                    self.cx.negated = true;
                    let result = self.prefixed(rest, step).await;
                    self.cx.negated = false;
                    Ok(turn_around(step, result?))
                }
                PrefixKind::Header => {
                    self.add_header(prefix, args.nth::<std::sync::Arc<str>>(0).as_deref().unwrap_or_default())?;
                    self.prefixed(rest, step).await
                }
                PrefixKind::Timeout => {
                    let limit = args.nth::<Duration>(0).unwrap_or(Duration::MAX);
                    if !prefix.overall {
                        self.cx.call.timeout = Some(limit);
                        return self.prefixed(rest, step).await;
                    }
                    match tokio::time::timeout(limit, self.prefixed(rest, step)).await {
                        Ok(result) => result,
                        Err(_) => Ok(Failure::new(
                            FailureKind::Timeout,
                            "mcp::run::overall_timeout",
                            format!("not done within {}, all tries together", crate::duration::show(limit)),
                        )
                        .help("give it longer, or fewer tries")
                        .into()),
                    }
                }
                PrefixKind::Retry => {
                    let times = args.nth::<u64>(0).unwrap_or(0);
                    let delay = args.nth::<Duration>(1).unwrap_or(RETRY_DELAY);
                    self.retry(times, delay, rest, step).await
                }
                PrefixKind::Repeat => {
                    let times = args.nth::<u64>(0).unwrap_or(1);
                    self.repeat(times, rest, step).await
                }
            }
        })
    }

    fn add_header(&mut self, prefix: &Prefix, header: &str) -> Result<(), Fault> {
        let Some((name, value)) = header.split_once(':') else {
            return Err(Fault::script("mcp::script::bad_header", format!("`{header}` is not a header"))
                .at(prefix.op.operands.first().map(|operand| operand.template.span), "no colon")
                .help("write it as 'Name: value'; an empty value removes the header")
                .into());
        };
        self.cx.call.headers.push((name.trim().to_owned(), Sensitive::new(value.trim().to_owned())));
        Ok(())
    }

    async fn retry(
        &mut self,
        times: u64,
        delay: Duration,
        rest: &'p [Prefix],
        step: &'p Step,
    ) -> Result<Outcome, Fault> {
        let mut outcome = self.prefixed(rest, step).await?;
        for _ in 0..times {
            if !matches!(outcome, Outcome::Failed(_)) {
                return Ok(outcome);
            }
            tokio::time::sleep(delay).await;
            if matches!(step.op.spec.role, Role::Assert(_) | Role::Store(_)) {
                self.replay().await?;
                self.cx.line = step.line;
            }
            outcome = self.prefixed(rest, step).await?;
        }
        if let Outcome::Failed(failure) = &mut outcome {
            failure.title = format!("{} (after {} tries)", failure.title, times + 1);
        }
        Ok(outcome)
    }

    /// Repeats the last request and the lines since; only what the assertion then sees counts.
    async fn replay(&mut self) -> Result<(), Fault> {
        for at in 0..self.since_request.len() {
            let step = self.since_request[at];
            Box::pin(self.attempt(step)).await?;
        }
        Ok(())
    }

    async fn repeat(&mut self, times: u64, rest: &'p [Prefix], step: &'p Step) -> Result<Outcome, Fault> {
        for at in 1..=times {
            let mut outcome = self.prefixed(rest, step).await?;
            if let Outcome::Failed(failure) = &mut outcome {
                failure.title = format!("{} (repetition {at} of {times})", failure.title);
            }
            if !matches!(outcome, Outcome::Passed) {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Passed)
    }
}

fn expect_error(prefix: &Prefix, outcome: Outcome) -> Result<Outcome, Fault> {
    let expected = prefix.accepts.title();
    Ok(match outcome {
        Outcome::Failed(failure) if prefix.accepts.takes(failure.kind) => Outcome::Passed,
        Outcome::Failed(mut failure) => {
            failure.title = format!("expected {expected}, but this was {}: {}", failure.kind.title(), failure.title);
            let hint = match failure.kind {
                FailureKind::Timeout => {
                    "a timeout counts only where the line has a `timeout` prefix, or with `expect_error timeout`"
                }
                FailureKind::Closed => "a lost connection counts only with `expect_error closed` or `expect_error any`",
                _ => "`expect_error` without a word after it accepts tool errors and JSON-RPC errors alike",
            };
            failure.help = Some(hint.into());
            Outcome::Failed(failure)
        }
        Outcome::Passed => Failure::new(
            FailureKind::Unmet,
            "mcp::run::no_error",
            format!("expected {expected}, but the command succeeded"),
        )
        .at(Some(prefix.op.span), "no error came")
        .help("leave out `expect_error` if success is right")
        .into(),
        other => other,
    })
}

fn turn_around(step: &Step, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Failed(failure) if failure.kind == FailureKind::Assertion => Outcome::Passed,
        Outcome::Passed => {
            Failure::assertion("mcp::assert::not", format!("`{}` holds, but `not` stands before it", step.op.spec.name))
                .help("leave out `not` if this is right")
                .into()
        }
        other => other,
    }
}
