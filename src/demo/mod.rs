//! The built-in demo server behind `mcp-tester demo-server`.
//!
//! Owns a complete MCP server on the official Rust SDK (`rmcp`): tools, resources, prompts, completion, logging and
//! change notifications. May use rmcp, axum, schemars and jsonschema; must not use anything else of this crate and must
//! not print, so that it stays an independent partner for our own client. It is the server of the quick start and the
//! fixture of the test suite.
//!
//! # Protocol
//!
//! Both eras are answered by the same process or endpoint: the handshake (`initialize`, revisions 2024-11-05,
//! 2025-03-26, 2025-06-18 and 2025-11-25) and the stateless protocol of 2026-07-28. Over HTTP the handshake era gets
//! sessions and event streams, the stateless era gets plain JSON unless a notification has to travel along.
//!
//! # What it offers
//!
//! | Family | Tools | For |
//! | --- | --- | --- |
//! | users | `create_user`, `get_user`, `assign_roles` | a workflow with state and output schemas |
//! | basics | `add`, `echo`, `echo_json`, `fail`, `rpc_error`, `execute_script`, `validate_script`, `counter`, `flaky`, … | results, both kinds of error, state |
//! | zoo | `schema_zoo`, `zoo_union`, `zoo_refs`, `zoo_maps`, … | every shape of input schema; arguments come back untouched |
//! | content | `image`, `audio`, `resource_link`, `embedded`, `mixed`, `unicode`, `big`, … | kinds and sizes of content |
//! | output | `weather`, `bad_output` | output schemas that hold, and one that is broken on request |
//! | flow | `slow`, `log`, `header_echo`, `touch`, `announce` | progress, cancellation, log messages, `Mcp-Param-*` headers, change notifications |
//! | questions | `confirm_delete`, `interview`, `summarize`, `show_roots` | elicitation, sampling and roots, by server request or by multi round trip |
//! | tasks | `long_job`, `long_failure`, `long_question` | the tasks extension of 2026-07-28 |
//!
//! Arguments are checked against the tool's input schema first; what does not fit is answered with `isError: true` and
//! a text that names the argument. An unknown tool is the protocol error -32602 on every revision.
//!
//! # State
//!
//! Users, counters and the like live as long as the process and are shared by all connections, because a stateless
//! request has no connection to keep them in. The log level and the resource subscriptions of the handshake era belong
//! to one connection.

mod completion;
mod prompts;
mod resources;
mod serve;
mod server;
mod state;
mod tool;
mod tools_ask;
mod tools_basic;
mod tools_content;
mod tools_flow;
mod tools_log;
mod tools_output;
mod tools_tasks;
mod tools_users;
mod tools_zoo;
mod zoo_schemas;

pub use serve::{DemoError, serve_http, serve_pipe, serve_stdio};
