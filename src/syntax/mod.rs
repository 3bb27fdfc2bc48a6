//! The syntax of `.mcp` scripts: words, quotes, `$names`, comments and heredocs.
//!
//! Owns: tokens, the tree of a script, its parser, its errors, and colours for highlighting.
//! May use: `source`, `diagnostic`. Must not: know a command's name, a session, or what JSON means.

pub mod ast;
pub mod lexer;
pub mod paint;
pub mod token;

mod decode;
mod error;
mod heredoc;
mod json_word;
mod name;
mod parser;
mod parts;
mod version;

pub use decode::{DecodeError, decode};
pub use parser::{Completeness, Parsed, parse};
pub use version::LANGUAGE_VERSION;
