//! What a server lists: all pages of a list, and the tools with their schemas.
//!
//! Owns: [`ListKind`], [`Tools`], [`Tool`]. May use: `json`. Must not: send anything.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::call::Exchange;
use crate::json::Raw;
use crate::json::coerce::ToolSchema;
use crate::json::schema::{SchemaError, Validator};

/// A paged list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
    /// `prompts/list`.
    Prompts,
    /// `tasks/list` (2025-11-25).
    Tasks,
}

impl ListKind {
    /// The method that lists.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
            Self::Tasks => "tasks/list",
        }
    }

    /// The result's member that holds the items.
    pub const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
            Self::Tasks => "tasks",
        }
    }
}

/// The tools of a server, as it listed them.
#[derive(Clone, Debug)]
pub struct Tools {
    /// In the server's order.
    pub list: Vec<Arc<Tool>>,
    by_name: HashMap<String, usize>,
    /// The listing itself; where a page failed its outcome is that error, and `list` holds what came before.
    pub listing: Exchange,
}

impl Tools {
    /// The tool called `name`; of several the first.
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.by_name.get(name).and_then(|at| self.list.get(*at))
    }
}

/// A tool as listed.
#[derive(Debug)]
pub struct Tool {
    /// Its name; empty where it has none.
    pub name: String,
    /// The whole entry.
    pub raw: Raw,
    /// `inputSchema`.
    pub input_schema: Option<Raw>,
    /// `outputSchema`.
    pub output_schema: Option<Raw>,
    /// Arguments that travel as headers too (2026-07-28 over HTTP).
    pub header_params: Vec<HeaderParam>,
    /// Why a client over HTTP must not show this tool (2026-07-28, a broken `x-mcp-header`).
    pub excluded: Option<String>,
    input: OnceLock<ToolSchema>,
    output: OnceLock<Result<Validator, SchemaError>>,
}

impl Tool {
    /// Reads an entry of `tools/list`; what is missing stays missing.
    pub fn new(raw: Raw, header_params: Vec<HeaderParam>, excluded: Option<String>) -> Self {
        Self {
            name: raw.get("name").and_then(|name| name.string().map(Cow::into_owned)).unwrap_or_default(),
            input_schema: raw.get("inputSchema"),
            output_schema: raw.get("outputSchema"),
            raw,
            header_params,
            excluded,
            input: OnceLock::new(),
            output: OnceLock::new(),
        }
    }

    /// The `inputSchema`, read at the first call; without one every argument is allowed.
    pub fn input(&self) -> &ToolSchema {
        self.input.get_or_init(|| ToolSchema::new(&self.input_schema.as_ref().map(Raw::to_json).unwrap_or_default()))
    }

    /// The `outputSchema`, compiled at the first call; none where the tool declares none.
    pub fn output(&self) -> Option<Result<&Validator, &SchemaError>> {
        let schema = self.output_schema.as_ref().filter(|schema| !schema.is_null())?;
        Some(self.output.get_or_init(|| Validator::compile(schema)).as_ref())
    }
}

/// An argument that travels as a header too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParam {
    /// The names of the properties that lead to it.
    pub path: Vec<String>,
    /// The header's name, with `Mcp-Param-` before it.
    pub header: String,
}
