//! `mcp_script`: the `.mcp` test language for Model Context Protocol servers, its evaluator and its wire client.
//!
//! The binary `mcp-tester` is a thin shell around this crate.

pub mod cli;
pub mod commands;
#[cfg(feature = "demo")]
pub mod demo;
pub mod diagnostic;
pub mod duration;
pub mod engine;
pub mod event;
pub mod json;
pub mod near;
pub mod report;
pub mod rpc;
pub mod sensitive;
pub mod session;
pub mod source;
pub mod syntax;
pub mod transport;
