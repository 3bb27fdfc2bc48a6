//! The command line.
pub mod args;
pub mod argv;
pub mod exit;
pub mod interpolate;
pub mod profile;
pub mod vars;
pub mod words;
pub mod yaml;
