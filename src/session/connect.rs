//! Opens a connection: asks the server for its era, falls back, or speaks the revision that was asked for.
//!
//! Owns: the order of the opening's messages (2026-07-28, "Versioning"; 2025-11-25, "Lifecycle"). May use: what `session` has.
//! Must not: call a tool, or repeat anything that the server may have done.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::Observer;
use super::declares::ClientDeclares;
use super::dialect::{Dialect, Wire};
use super::error::CallError;
use super::findings::{DISCOVER_IMPLEMENTED, Finding, INIT_COUNTER, preview};
use super::greeting::{Greeting, greeting};
use super::handshake::{Handshake, initialize};
use super::link::{Answered, Link, Waiting};
use super::open_error::OpenError;
use super::opening::{discover_flaws, initialize_flaws, lacks};
use super::probe::{DISCOVER, METHOD_NOT_FOUND, Probe, UNSUPPORTED_VERSION, Verdict, is_modern, judge, supported};
use super::stateless::Stateless;
use super::table::WaitKind;
use super::target::{Endpoint, HttpFlavor, ProtocolChoice, Target};
use super::version::{Era, Revision};
use super::views::{Identity, strings, text};
use crate::json::Raw;
use crate::rpc::{Id, notification};

/// Who we are, as servers see it.
const CLIENT: &str = concat!("{\"name\":\"mcp-tester\",\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}");
/// The id of the first probe; requests count from 1.
const PROBE_ID: &str = "probe-1";
/// The id of a probe at a version that the server asked for.
const SECOND_PROBE_ID: &str = "probe-2";
/// The id of a probe after `initialize` was refused by a modern server.
const LATE_PROBE_ID: &str = "probe-3";
/// The handshake's request.
pub(super) const INITIALIZE: &str = "initialize";

/// An open connection.
pub(super) struct Opened {
    pub link: Link,
    pub dialect: Arc<dyn Dialect>,
    pub identity: Identity,
    /// The result of `initialize` or `server/discover`.
    pub opening: Option<Raw>,
    /// Why this revision.
    pub why: String,
    /// The first id that is free.
    pub next_id: i64,
}

/// Connects and opens.
pub(super) async fn open(
    target: &Target,
    declares: &ClientDeclares,
    observer: &Arc<dyn Observer>,
) -> Result<Opened, OpenError> {
    let opener = Opener { target, declares, observer, started: Instant::now() };
    match (target.protocol, opener.flavor()) {
        (ProtocolChoice::Exact(revision), flavor) if revision.is_modern() => {
            opener.forced(opener.connect(flavor)?, revision, PROBE_ID).await
        }
        (ProtocolChoice::Exact(revision), flavor) => {
            opener.handshake(opener.connect(flavor)?, revision, "it was asked for".to_owned(), None).await
        }
        // That transport is older than the probe.
        (ProtocolChoice::Auto, HttpFlavor::Sse) => {
            let why = "HTTP+SSE opens with initialize".to_owned();
            opener.handshake(opener.connect(HttpFlavor::Sse)?, Revision::LATEST_LEGACY, why, None).await
        }
        (ProtocolChoice::Auto, flavor) => opener.auto(flavor).await,
    }
}

/// What was asked and offered while opening, for messages.
struct Opener<'a> {
    target: &'a Target,
    declares: &'a ClientDeclares,
    observer: &'a Arc<dyn Observer>,
    started: Instant,
}

impl Opener<'_> {
    fn flavor(&self) -> HttpFlavor {
        match &self.target.endpoint {
            Endpoint::Http { flavor, .. } => *flavor,
            Endpoint::Command { .. } | Endpoint::Memory(_) => HttpFlavor::Auto,
        }
    }

    fn connect(&self, flavor: HttpFlavor) -> Result<Link, OpenError> {
        Link::connect(self.target, flavor, self.declares, self.observer)
    }

    /// What is left of the time to connect.
    fn left(&self) -> Duration {
        self.target.limits.connect_timeout.saturating_sub(self.started.elapsed()).max(Duration::from_millis(1))
    }

    fn stateless(&self, link: &Link, revision: Revision) -> Stateless {
        Stateless::new(revision, link.wire, self.declares, CLIENT)
    }

    /// Asks first, then falls back.
    async fn auto(&self, flavor: HttpFlavor) -> Result<Opened, OpenError> {
        let link = self.connect(flavor)?;
        let mut asked = Revision::LATEST;
        let mut probe = self.probe(&link, asked, PROBE_ID)?;
        let mut verdict = self.verdict(&link, asked, &mut probe).await;
        if let Verdict::Again(revision) = verdict {
            // Refused before it was executed: asking once more at a listed version repeats nothing.
            asked = revision;
            probe = self.probe(&link, asked, SECOND_PROBE_ID)?;
            verdict = self.verdict(&link, asked, &mut probe).await;
        }
        match verdict {
            Verdict::Modern(revision, result) => {
                drop(probe);
                let why = format!("the server answered {DISCOVER}");
                Ok(self.modern(link, revision, Some(result), why))
            }
            Verdict::Again(offered) => Err(OpenError::Version { asked, offered: vec![offered.to_string()] }),
            Verdict::Stop(error) => Err(error),
            Verdict::Legacy { revision, seen, ended } => {
                let restart = ended || (self.target.respawn && link.wire == Wire::Pipe);
                let why = format!("{seen}; so it was opened with {INITIALIZE}");
                let opened = if restart {
                    drop(probe);
                    drop(link);
                    self.handshake(self.connect(flavor)?, revision, why, None).await
                } else {
                    link.peer.cut_stderr();
                    let greeting = self.greet(&link, Id::Number(1), revision, Some((&mut probe, asked))).await;
                    drop(probe);
                    self.handshake(link, revision, why, Some(greeting)).await
                };
                opened.map_err(|cause| fallback(seen, cause))
            }
        }
    }

    fn probe<'l>(&self, link: &'l Link, revision: Revision, id: &str) -> Result<Waiting<'l>, OpenError> {
        let message = self.stateless(link, revision).discover(Id::Text(id.into()));
        Ok(link.start(message, Cow::Borrowed(DISCOVER), self.left(), WaitKind::Probe)?)
    }

    async fn verdict(&self, link: &Link, asked: Revision, probe: &mut Waiting<'_>) -> Verdict {
        let limit = match link.wire {
            Wire::Pipe => self.left().min(self.target.limits.connect_timeout / 2),
            Wire::Http => self.left(),
        };
        let came = match timeout(limit, probe.arrived()).await {
            Ok(Ok(Answered { outcome, status, .. })) => Probe::Reply(outcome, status),
            Ok(Err(error)) => Probe::Failed(error),
            Err(_) => Probe::Silent(limit),
        };
        judge(asked, link.wire, came)
    }

    /// Speaks a modern revision without asking whether the server does.
    async fn forced(&self, link: Link, revision: Revision, id: &str) -> Result<Opened, OpenError> {
        let probe = self.probe(&link, revision, id)?;
        let answer = probe.answer().await?;
        let (result, why) = match answer.outcome {
            Ok(result) if lacks(&result, revision) => {
                let offered = strings(&result, "supportedVersions").unwrap_or_default();
                return Err(OpenError::Version { asked: revision, offered });
            }
            Ok(result) => (Some(result), "it was asked for".to_owned()),
            Err(error) if error.code == Some(METHOD_NOT_FOUND) => {
                let said = preview(&error.to_string(), 200);
                link.peer.find([Finding::new(DISCOVER_IMPLEMENTED, format!("{DISCOVER} was refused: {said}"))]);
                (None, format!("it was asked for, though {DISCOVER} was refused: {said}"))
            }
            Err(error) if error.code == Some(UNSUPPORTED_VERSION) => {
                return Err(OpenError::Version { asked: revision, offered: supported(&error).unwrap_or_default() });
            }
            Err(error) => {
                let hint = (!is_modern(&error)).then(|| {
                    format!("the server seems not to speak {revision}; `--protocol auto` finds out what it does")
                });
                return Err(OpenError::Rpc { method: DISCOVER, error, hint });
            }
        };
        Ok(self.modern(link, revision, result, why))
    }

    /// A server of the modern era: nothing more has to be said.
    fn modern(&self, link: Link, revision: Revision, result: Option<Raw>, why: String) -> Opened {
        let dialect = Arc::new(self.stateless(&link, revision));
        let identity = match &result {
            Some(result) => {
                let identity = Identity::read(result, Era::Modern);
                link.peer.find(dialect.read(DISCOVER, false, result).findings);
                link.peer.find(discover_flaws(result, &identity));
                link.peer.knows(identity.capabilities.clone());
                identity
            }
            None => Identity::unknown(),
        };
        link.peer.speak(dialect.clone());
        Opened { link, dialect, identity, opening: result, why, next_id: 1 }
    }

    /// Opens with `initialize` at `revision`, or goes on from what came of it already.
    async fn handshake(
        &self,
        link: Link,
        revision: Revision,
        why: String,
        greeting: Option<Greeting>,
    ) -> Result<Opened, OpenError> {
        let exact = matches!(self.target.protocol, ProtocolChoice::Exact(_));
        let mut asked = revision;
        let mut next_id = 2;
        let mut greeting = match greeting {
            Some(greeting) => greeting,
            None => self.greet(&link, Id::Number(1), asked, None).await,
        };
        if let (Greeting::Counter(other), false) = (&greeting, exact) {
            let message =
                format!("{INITIALIZE} at {asked} was refused with an error instead of being answered with {other}");
            link.peer.find([Finding::new(INIT_COUNTER, message)]);
            asked = *other;
            greeting = self.greet(&link, Id::Number(2), asked, None).await;
            next_id = 3;
        }
        match greeting {
            Greeting::Agreed(result) => self.agreed(link, asked, result, why, next_id).await,
            Greeting::Modern(revision, _) if exact => {
                Err(OpenError::Version { asked, offered: vec![revision.to_string()] })
            }
            Greeting::Modern(revision, result) => {
                let why = format!("the server turned out to speak it after {INITIALIZE} had been sent");
                match result {
                    Some(result) => Ok(self.modern(link, revision, Some(result), why)),
                    None => {
                        let mut opened = self.forced(link, revision, LATE_PROBE_ID).await?;
                        opened.why = why;
                        Ok(opened)
                    }
                }
            }
            Greeting::Counter(other) => Err(OpenError::Version { asked, offered: vec![other.to_string()] }),
            Greeting::NotHere(error) if self.flavor() == HttpFlavor::Auto && link.wire == Wire::Http => {
                drop(link);
                self.old_transport(asked, error).await
            }
            Greeting::NotHere(error) | Greeting::Failed(error) => Err(error),
        }
    }

    /// Tries HTTP+SSE (2024-11-05) where Streamable HTTP is not spoken ("Transports", backwards compatibility).
    async fn old_transport(&self, asked: Revision, refusal: OpenError) -> Result<Opened, OpenError> {
        let link = self.connect(HttpFlavor::Sse)?;
        match self.greet(&link, Id::Number(1), asked, None).await {
            Greeting::Agreed(result) => {
                let seen = match refusal.http_status() {
                    Some(status) => format!("{INITIALIZE} was answered with HTTP {status}"),
                    None => refusal.to_string(),
                };
                let why = format!("{seen}; so it was opened over HTTP+SSE");
                self.agreed(link, asked, result, why, 2).await
            }
            Greeting::NotHere(error) | Greeting::Failed(error) => {
                // The first refusal is the cause; that the old transport is missing too is the normal case.
                Err(fallback(format!("HTTP+SSE was tried too: {error}"), refusal))
            }
            Greeting::Modern(revision, _) | Greeting::Counter(revision) => {
                Err(OpenError::Version { asked, offered: vec![revision.to_string()] })
            }
        }
    }

    /// Sends `initialize` and waits for its answer, or for a late one to the probe.
    async fn greet(
        &self,
        link: &Link,
        id: Id,
        revision: Revision,
        probe: Option<(&mut Waiting<'_>, Revision)>,
    ) -> Greeting {
        let message = initialize(id, revision, self.declares, CLIENT);
        let started = link.start(message, Cow::Borrowed(INITIALIZE), self.left(), WaitKind::Initialize);
        let mut waiting = match started {
            Ok(waiting) => waiting,
            Err(error) => return Greeting::Failed(error.into()),
        };
        let answer = match probe {
            Some((probe, asked)) if probe.is_open() => {
                tokio::select! {
                    biased;
                    answer = waiting.arrived() => answer,
                    late = probe.arrived() => {
                        let came = match late {
                            Ok(Answered { outcome, status, .. }) => Probe::Reply(outcome, status),
                            Err(error) => Probe::Failed(error),
                        };
                        match judge(asked, link.wire, came) {
                            Verdict::Modern(revision, result) => return Greeting::Modern(revision, Some(result)),
                            Verdict::Again(revision) => return Greeting::Modern(revision, None),
                            Verdict::Legacy { .. } | Verdict::Stop(_) => waiting.arrived().await,
                        }
                    }
                }
            }
            _ => waiting.arrived().await,
        };
        greeting(revision, answer)
    }

    /// Both sides agree on a legacy version.
    async fn agreed(
        &self,
        link: Link,
        asked: Revision,
        result: Raw,
        why: String,
        next_id: i64,
    ) -> Result<Opened, OpenError> {
        let Some(version) = text(&result, "protocolVersion") else {
            let why = "it has no protocolVersion".to_owned();
            return Err(OpenError::Shape { method: INITIALIZE, why });
        };
        let exact = matches!(self.target.protocol, ProtocolChoice::Exact(_));
        let revision = match Revision::parse(&version) {
            Some(revision) if !revision.is_modern() && (!exact || revision == asked) => revision,
            _ => return Err(OpenError::Version { asked, offered: vec![preview(&version, 100)] }),
        };
        let identity = Identity::read(&result, Era::Legacy);
        link.peer.find(initialize_flaws(&result, &identity));
        link.peer.knows(identity.capabilities.clone());
        // What the probe made a server write to stderr may come until here.
        if link.peer.stderr().is_some() {
            link.peer.cut_stderr();
        }
        let dialect: Arc<dyn Dialect> = Arc::new(Handshake::new(revision, link.wire));
        link.peer.speak(Arc::clone(&dialect));
        const INITIALIZED: &str = "notifications/initialized";
        let message = dialect.one_way(Some(INITIALIZED), notification(INITIALIZED, None));
        link.tell(INITIALIZED, message, self.left()).await?;
        link.transport.listen(dialect.headers());
        Ok(Opened { link, dialect, identity, opening: Some(result), why, next_id })
    }
}

/// Keeps what was seen before the failure that ended it all.
fn fallback(seen: String, cause: OpenError) -> OpenError {
    match cause {
        // It says all that the probe's end would.
        OpenError::Call(CallError::Closed { .. }) if seen.contains("ended on") => cause,
        OpenError::Target(_) => cause,
        cause => OpenError::Fallback { probe: seen, cause: Box::new(cause) },
    }
}
