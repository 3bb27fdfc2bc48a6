//! Ctrl-C and TERM: the first asks the run to stop, the second ends it at once.

use std::io;

use super::exit::Exit;

/// Listens for signals from its creation on.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

/// A signal that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Its name.
    pub name: &'static str,
    /// How the program ends because of it.
    pub exit: Exit,
}

const INTERRUPT: Arrived = Arrived { name: "SIGINT", exit: Exit::Interrupted };

impl Signals {
    /// Starts listening; needs a runtime. From now on Ctrl-C does not end the process by itself.
    ///
    /// # Errors
    /// Where the system refuses the handler.
    #[cfg(unix)]
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Starts listening; needs a runtime.
    ///
    /// # Errors
    /// None here.
    #[cfg(not(unix))]
    pub fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The next signal. Can be dropped and called again without losing one.
    #[cfg(unix)]
    pub async fn next(&mut self) -> Arrived {
        tokio::select! {
            _ = self.interrupt.recv() => INTERRUPT,
            _ = self.terminate.recv() => Arrived { name: "SIGTERM", exit: Exit::Terminated },
        }
    }

    /// The next signal.
    #[cfg(not(unix))]
    pub async fn next(&mut self) -> Arrived {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        INTERRUPT
    }
}
