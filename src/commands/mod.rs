//! The vocabulary of the language: one file per family, each ending with its slice of the command table.
//!
//! Owns: what each command does. May use: `engine`, `session`, `rpc`, `verify`, `json`, `event`, `diagnostic`, `source`,
//! `sensitive`. Must not: know tokens of the syntax, transports or reports.

mod assert_json;
mod assert_number;
mod assert_run;
mod assert_text;
mod call;
mod expect;
mod lists;
mod look;
mod output;
mod prefixes;
mod protocol;
pub mod reference;
mod show;
mod structure;
mod vars;

use std::sync::OnceLock;

use crate::engine::spec::Registry;

/// All commands.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        Registry::new(&[
            output::FAMILY,
            call::FAMILY,
            lists::FAMILY,
            protocol::FAMILY,
            vars::FAMILY,
            prefixes::FAMILY,
            expect::FAMILY,
            assert_text::FAMILY,
            assert_number::FAMILY,
            assert_json::FAMILY,
            assert_run::FAMILY,
            structure::FAMILY,
        ])
    })
}
