//! The transports against servers that misbehave: each test talks to a transport directly.

#[path = "../support/fault.rs"]
mod fault;
mod recorder;
mod stdio;
