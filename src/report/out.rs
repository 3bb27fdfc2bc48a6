//! Where text goes: stdout or stderr, each written whole, never panicking.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A place that takes text. After a failed write (the reader went away, as with `| head`) it swallows the rest
/// quietly; the exit code does not change.
#[derive(Debug)]
pub struct Out {
    to: To,
    closed: bool,
}

#[derive(Debug)]
enum To {
    Stdout,
    Stderr,
    Memory(Arc<Mutex<String>>),
}

impl Out {
    /// Standard output.
    pub const fn stdout() -> Self {
        Self { to: To::Stdout, closed: false }
    }

    /// Standard error.
    pub const fn stderr() -> Self {
        Self { to: To::Stderr, closed: false }
    }

    /// A text in memory, for tests and embedding.
    pub fn memory() -> (Self, Arc<Mutex<String>>) {
        let text = Arc::new(Mutex::new(String::new()));
        (Self { to: To::Memory(text.clone()), closed: false }, text)
    }

    /// Writes all of `text` at once.
    pub fn write(&mut self, text: &str) {
        if self.closed || text.is_empty() {
            return;
        }
        let written = match &self.to {
            To::Stdout => write_all(&mut io::stdout().lock(), text),
            To::Stderr => write_all(&mut io::stderr().lock(), text),
            To::Memory(memory) => {
                memory.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
                Ok(())
            }
        };
        self.closed = written.is_err();
    }
}

fn write_all(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
