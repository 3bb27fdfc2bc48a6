//! What the results of the opening must hold (2026-07-28, "Discovery"; 2025-11-25, "Lifecycle").
//!
//! Owns: the findings about `server/discover` and `initialize`. May use: `json`. Must not: refuse a server.

use super::connect::INITIALIZE;
use super::findings::{DISCOVER_SHAPE, Finding, INIT_SHAPE, SERVER_INFO_META};
use super::probe::DISCOVER;
use super::version::Revision;
use super::views::{Identity, InfoPlace, object, strings, text};
use crate::json::Raw;

/// True where the server lists versions, and `revision` is none of them.
pub(super) fn lacks(result: &Raw, revision: Revision) -> bool {
    let listed = strings(result, "supportedVersions").unwrap_or_default();
    !listed.is_empty() && !listed.iter().any(|version| version == revision.as_str())
}

/// What is wrong with the result of `server/discover`.
pub(super) fn discover_flaws(result: &Raw, identity: &Identity) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut flaw = |what: &str| findings.push(Finding::new(DISCOVER_SHAPE, format!("the result of {DISCOVER} {what}")));
    if strings(result, "supportedVersions").is_none_or(|versions| versions.is_empty()) {
        flaw("lists no supportedVersions");
    }
    if object(result, "capabilities").is_none() {
        flaw("has no capabilities");
    }
    if result.get("ttlMs").and_then(|ttl| ttl.i64()).is_none_or(|ttl| ttl < 0) {
        flaw("has no ttlMs that is an integer of 0 or more");
    }
    if !matches!(text(result, "cacheScope").as_deref(), Some("public" | "private")) {
        flaw("has no cacheScope that is public or private");
    }
    match identity.info {
        InfoPlace::Meta => {}
        InfoPlace::Body => findings.push(Finding::new(
            SERVER_INFO_META,
            format!("the result of {DISCOVER} has its serverInfo in the body instead of in _meta"),
        )),
        InfoPlace::Nowhere => {
            findings.push(Finding::new(SERVER_INFO_META, format!("the result of {DISCOVER} does not name the server")));
        }
    }
    findings
}

/// What is wrong with the result of `initialize`.
pub(super) fn initialize_flaws(result: &Raw, identity: &Identity) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut flaw = |what: &str| findings.push(Finding::new(INIT_SHAPE, format!("the result of {INITIALIZE} {what}")));
    if object(result, "capabilities").is_none() {
        flaw("has no capabilities");
    }
    if object(result, "serverInfo").is_none() {
        flaw("has no serverInfo");
    } else if identity.name.is_none() || identity.version.is_none() {
        flaw("has a serverInfo without name and version");
    }
    findings
}
