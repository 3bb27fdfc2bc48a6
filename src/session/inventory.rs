//! What a server lists: all pages of a list, and the tools with their schemas.
//!
//! Owns: [`ListKind`], [`Tools`], [`Tool`]. May use: `json`. Must not: send anything.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::call::Exchange;
use super::findings::{Finding, TOOL_NAME_UNIQUE, X_MCP_HEADER, preview};
use super::headers::annotated;
use super::pages::Pages;
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
    /// Reads the tools out of a list's pages; `mirrors` says that their arguments may travel as headers. Comes with what is wrong
    /// with the list.
    pub(super) fn read(pages: Pages, mirrors: bool) -> (Self, Vec<Finding>) {
        let mut findings = Vec::new();
        let mut list: Vec<Arc<Tool>> = Vec::with_capacity(pages.items.len());
        let mut by_name: HashMap<String, usize> = HashMap::with_capacity(pages.items.len());
        for (at, raw) in pages.items.into_iter().enumerate() {
            let schema = raw.get("inputSchema").filter(|_| mirrors);
            let (params, excluded) = match schema.as_ref().map(annotated) {
                None => (Vec::new(), None),
                Some(Ok(params)) => (params, None),
                Some(Err(why)) => (Vec::new(), Some(why)),
            };
            let tool = Tool::new(raw, params, excluded);
            let shown = preview(&tool.name, 100);
            if let Some(why) = &tool.excluded {
                let message = format!("clients over HTTP must not show the tool `{shown}`: {why}");
                findings.push(Finding::new(X_MCP_HEADER, message));
            }
            match by_name.get(&tool.name) {
                // That it has no name is another matter.
                Some(_) if tool.name.is_empty() => {}
                Some(first) => {
                    let place = |at| place(&pages.counts, at);
                    let (first, second) = (place(*first), place(at));
                    let message =
                        format!("the tool `{shown}` is listed twice: {first}, and {second}; calls use the first");
                    findings.push(Finding::new(TOOL_NAME_UNIQUE, message));
                }
                None => _ = by_name.insert(tool.name.clone(), at),
            }
            list.push(Arc::new(tool));
        }
        (Self { list, by_name, listing: pages.listing }, findings)
    }

    /// The tool called `name`; of several the first.
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.by_name.get(name).and_then(|at| self.list.get(*at))
    }
}

/// Where an item stands, counted as people do.
fn place(counts: &[usize], at: usize) -> String {
    let mut before = 0;
    for (page, count) in counts.iter().enumerate() {
        if at < before + count {
            return format!("as number {} on page {}", at - before + 1, page + 1);
        }
        before += count;
    }
    format!("as number {}", at + 1)
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Tools;
    use crate::json::Raw;
    use crate::session::call::Exchange;
    use crate::session::pages::Pages;

    fn pages(tools: &str) -> Pages {
        let listed = Raw::parse(tools).expect(tools);
        let listing = Exchange {
            method: "tools/list".into(),
            request: "{}".into(),
            outcome: Ok(listed.clone()),
            duration: Duration::ZERO,
            notices: Vec::new(),
        };
        Pages { items: listed.elements().collect(), counts: vec![listed.len()], listing }
    }

    #[test]
    fn annotations_matter_only_where_arguments_travel_as_headers() {
        let listed = r#"[
            {"name":"good","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}},
            {"name":"bad","inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}}
        ]"#;
        let (tools, findings) = Tools::read(pages(listed), true);
        let headers = tools.get("good").map(|tool| tool.header_params.clone()).unwrap_or_default();
        assert_eq!((headers.len(), headers[0].header.as_str()), (1, "Mcp-Param-A"));
        let bad = tools.get("bad").expect("a tester still sees it");
        assert!(bad.excluded.as_deref().is_some_and(|why| why.contains("needs the type")), "{bad:?}");
        assert_eq!(findings.iter().map(|finding| finding.id).collect::<Vec<_>>(), ["tool-x-mcp-header-valid"]);
        let (tools, findings) = Tools::read(pages(listed), false);
        assert!(findings.is_empty() && tools.list.iter().all(|tool| tool.excluded.is_none()));
    }
}
