//! The demo server, spoken to in raw JSON: nothing of our own client takes part.
#![cfg(feature = "demo")]

mod ask;
mod changes;
mod features;
mod http;
mod tasks;
mod tools;
mod wire;
mod zoo;
