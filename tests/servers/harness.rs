//! Owns the look of a test program: its arguments, one line a test, the failures, and the closing line, as the standard
//! harness has them. May use the standard library only. Must not know what a test does.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, mpsc};
use std::time::Instant;

/// How one test ended.
pub enum Verdict {
    Passed,
    Failed(String),
    Ignored(String),
}

/// What a job says of each of its tests.
pub type Report<'a> = &'a mut dyn FnMut(&str, Verdict);

/// Does the tests of these names, one after the other.
pub type Work = Box<dyn FnOnce(&[String], Report<'_>) + Send>;

/// Some tests that are done one after the other, as they share something. It reports each by name.
pub struct Job {
    pub tests: Vec<String>,
    pub work: Work,
}

/// What `cargo test` passes on.
pub struct Arguments {
    filters: Vec<String>,
    skip: Vec<String>,
    exact: bool,
    list: bool,
    threads: usize,
}

impl Arguments {
    pub fn read() -> Arguments {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // Starting servers is half waiting.
        let mut read = Arguments { filters: vec![], skip: vec![], exact: false, list: false, threads: cores * 2 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.split_once('=').map_or((word.as_str(), None), |(key, value)| (key, Some(value.to_owned()))) {
                ("--test-threads", value) => {
                    let count = value.or_else(|| words.next()).and_then(|count| count.parse().ok());
                    read.threads = count.unwrap_or(read.threads).max(1);
                }
                ("--skip", value) => read.skip.extend(value.or_else(|| words.next())),
                ("--exact", _) => read.exact = true,
                ("--list", _) => read.list = true,
                ("--color" | "--format" | "-Z" | "--logfile", None) => drop(words.next()),
                (flag, _) if flag.starts_with('-') => {}
                _ => read.filters.push(word),
            }
        }
        read
    }

    fn wants(&self, test: &str) -> bool {
        let hit = |filter: &String| if self.exact { test == filter } else { test.contains(filter.as_str()) };
        (self.filters.is_empty() || self.filters.iter().any(hit)) && !self.skip.iter().any(hit)
    }
}

/// Runs the tests that the arguments ask for, prints as the standard harness does, and returns what failed or not.
pub fn run(arguments: &Arguments, jobs: Vec<Job>) -> ExitCode {
    let mut filtered = 0;
    let wanted = jobs.into_iter().filter_map(|mut job| {
        let all = job.tests.len();
        job.tests.retain(|test| arguments.wants(test));
        filtered += all - job.tests.len();
        (!job.tests.is_empty()).then_some(job)
    });
    let jobs: VecDeque<Job> = wanted.collect();
    let count: usize = jobs.iter().map(|job| job.tests.len()).sum();
    if arguments.list {
        jobs.iter().flat_map(|job| &job.tests).for_each(|test| println!("{test}: test"));
        println!("\n{count} tests, 0 benchmarks");
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {count} tests");
    let start = Instant::now();
    let verdicts = all(arguments.threads, jobs, |test, verdict, seconds| match verdict {
        Verdict::Passed => println!("test {test} ... ok ({seconds:.1}s)"),
        Verdict::Failed(_) => println!("test {test} ... FAILED"),
        Verdict::Ignored(why) => println!("test {test} ... ignored, {why}"),
    });

    let failed: Vec<(&String, &String)> = verdicts
        .iter()
        .filter_map(|(test, verdict)| if let Verdict::Failed(why) = verdict { Some((test, why)) } else { None })
        .collect();
    if !failed.is_empty() {
        println!("\nfailures:\n");
        failed.iter().for_each(|(test, why)| println!("---- {test} ----\n{why}\n"));
        println!("failures:");
        failed.iter().for_each(|(test, _)| println!("    {test}"));
    }
    let ignored = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Ignored(_))).count();
    println!(
        "\ntest result: {}. {} passed; {} failed; {ignored} ignored; 0 measured; {filtered} filtered out; finished in {:.2}s\n",
        if failed.is_empty() { "ok" } else { "FAILED" },
        verdicts.len() - failed.len() - ignored,
        failed.len(),
        start.elapsed().as_secs_f64()
    );
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(101) }
}

/// Does all jobs on some threads, and shows each verdict as it comes.
fn all(threads: usize, jobs: VecDeque<Job>, show: impl Fn(&str, &Verdict, f64)) -> Vec<(String, Verdict)> {
    let queue = Mutex::new(jobs);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (send, queue) = (send.clone(), &queue);
            scope.spawn(move || {
                while let Some(job) = lock(queue).pop_front() {
                    let mut since = Instant::now();
                    (job.work)(&job.tests, &mut |test, verdict| {
                        let seconds = since.elapsed().as_secs_f64();
                        since = Instant::now();
                        // The receiver lives until all senders are gone.
                        send.send((test.to_owned(), verdict, seconds)).ok();
                    });
                }
            });
        }
        drop(send);
        let shown = receive.into_iter().map(|(test, verdict, seconds)| {
            show(&test, &verdict, seconds);
            (test, verdict)
        });
        shown.collect()
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
