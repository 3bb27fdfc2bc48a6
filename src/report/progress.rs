//! What runs right now, on stderr of a terminal, for anything slower than a second.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::diagnostic::escape;
use crate::duration;
use crate::event::{Event, Step};
use crate::sensitive::Masker;

/// Nothing is shown before a command has run this long.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two looks.
const TICK: Duration = Duration::from_millis(100);

/// Characters of a command or message that are shown.
const LONGEST: usize = 60;

/// A line that appears while something slow runs, and goes away.
#[derive(Debug)]
pub struct Progress {
    shared: Arc<Shared>,
    drawer: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    step: Option<(Arc<Step>, Instant)>,
    /// What the server said last, and how far it is.
    note: Option<(String, Option<f64>)>,
    bar: Option<ProgressBar>,
    over: bool,
}

impl Progress {
    /// Starts looking. Secrets are masked in what is shown.
    pub fn start(masker: Arc<Masker>) -> Self {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let drawer = thread::Builder::new().name("progress".into()).spawn(move || draw(&theirs, &masker)).ok();
        Self { shared, drawer }
    }

    /// Takes note of what runs.
    pub fn observe(&self, event: &Event) {
        match event {
            Event::StepStarted(step) => self.state().step = Some((step.clone(), Instant::now())),
            Event::StepFinished(_) => {
                let mut state = self.state();
                (state.step, state.note) = (None, None);
                state.wipe();
            }
            Event::Progress { text, share } => self.state().note = Some((text.reveal().clone(), *share)),
            _ => {}
        }
    }

    /// Takes the line away, so that something can be written.
    pub fn clear(&self) {
        self.state().wipe();
    }

    /// Takes the line away and keeps it away while `work` runs.
    pub fn pause<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut state = self.state();
        state.wipe();
        let result = work();
        if let Some((_, since)) = &mut state.step {
            *since = Instant::now();
        }
        result
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let mut state = self.state();
        state.over = true;
        state.wipe();
        drop(state);
        self.shared.ended.notify_all();
        if let Some(drawer) = self.drawer.take() {
            // A drawer that panicked has nothing left to say.
            let _ended = drawer.join();
        }
    }
}

impl State {
    fn wipe(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn draw(shared: &Shared, masker: &Masker) {
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    while !state.over {
        let waited = shared.ended.wait_timeout(state, TICK);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if let Some((step, since)) = state.step.clone()
            && since.elapsed() >= PATIENCE
            && !state.over
        {
            let message = message(&step, since.elapsed(), state.note.as_ref(), masker);
            let bar = state.bar.get_or_insert_with(spinner);
            bar.set_message(message);
            bar.tick();
        }
    }
}

fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}

fn message(step: &Step, elapsed: Duration, note: Option<&(String, Option<f64>)>, masker: &Masker) -> String {
    let elapsed = duration::show(Duration::from_secs(elapsed.as_secs()));
    let place = step.origin.position().line;
    let mut message = format!("{elapsed}  line {place}: {}", short(step.line.reveal(), masker));
    if let Some((text, share)) = note {
        if let Some(share) = share {
            message.push_str(&format!("  {:.0} %", share.clamp(0.0, 1.0) * 100.0));
        }
        message.push_str("  ");
        message.push_str(&short(text, masker));
    }
    message
}

/// The first line, masked, escaped and cut.
fn short(text: &str, masker: &Masker) -> String {
    let masked = masker.mask(text);
    let line = masked.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(LONGEST).collect();
    let more = if cut.len() < masked.len() { "…" } else { "" };
    format!("{}{more}", escape(&cut))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Progress, message};
    use crate::event::{Event, Step};
    use crate::report::sample;
    use crate::sensitive::{Masker, Sensitive};

    fn step() -> Arc<Step> {
        sample::run()
            .into_iter()
            .find_map(|event| match event {
                Event::StepStarted(step) => Some(step),
                _ => None,
            })
            .expect("a step")
    }

    #[test]
    fn a_message_is_short_and_clean() {
        let masker = Masker::new();
        masker.add("addition").expect("long enough");
        let step =
            Step { line: Sensitive::new(format!("echo addition\u{1b} {}", "x".repeat(99))), ..(*step()).clone() };
        let note = ("half\nway".to_owned(), Some(0.5));
        let text = message(&step, Duration::from_millis(61_900), Some(&note), &masker);
        assert!(text.starts_with("1m1s  line 1: echo ***"), "{text}");
        assert!(text.ends_with("x…  50 %  half…") && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn it_ends_at_once() {
        let progress = Progress::start(Arc::new(Masker::new()));
        progress.observe(&Event::StepStarted(step()));
        assert_eq!(progress.pause(|| 7), 7);
        drop(progress);
    }
}
