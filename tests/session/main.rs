//! The session against scripted peers: both eras, the probe and its fallbacks, deadlines, findings, lists.

mod deadlines;
mod eras;
#[path = "../support/fault.rs"]
mod fault;
mod http;
mod lists;
mod peer;
mod requests;
mod stdio;
mod wire;
