//! JSON as it came: checked text first, trees only for what is touched.
//!
//! Owns: reading and checking JSON text, exact numbers, pointers, paths, comparison, schemas and the turning of words into values.
//! May use: `source`. Must not: know the protocol or scripts, do any input or output, or send a number through `f64`.

mod bytes;
pub mod coerce;
pub mod compare;
mod convert;
mod effort;
mod matching;
pub mod missing;
pub mod number;
pub mod path;
mod patterns;
pub mod pointer;
mod properties;
pub mod raw;
pub mod read;
mod references;
mod scan;
pub mod schema;
pub mod spanned;
mod text;
mod types;
pub mod value;

pub use compare::{Arrays, Difference};
pub use missing::Missing;
pub use number::Number;
pub use path::{Path, PathError, Root};
pub use pointer::Pointer;
pub use raw::Raw;
pub use read::{Limits, ReadError, Remark, RemarkKind};
pub use schema::{SchemaError, Validator, Violation};
pub use spanned::{Spanned, parse_spanned};
pub use value::{Json, JsonKind, Object};
