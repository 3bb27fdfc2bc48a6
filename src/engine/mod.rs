//! The evaluator: from the syntax tree to a plan, and from the plan to events.
//!
//! Owns: command declarations as a shape, lowering, variables, the last response, prefixes, running.
//! May use: `syntax`, `session`, `rpc`, `json`, `event`, `diagnostic`, `source`, `sensitive`.
//! Must not: know any single command or any report.

pub mod args;
mod bind;
pub mod cx;
pub mod datum;
pub mod last;
pub mod lower;
pub mod operand;
pub mod outcome;
pub mod plan;
mod prefix;
pub mod request;
pub mod run;
pub mod spec;
mod step;
pub mod vars;

pub use prefix::ERROR_KINDS;
pub use step::Stepper;
