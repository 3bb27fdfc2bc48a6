//! What the client says it can do, as each revision spells it.
//!
//! Owns: [`ClientDeclares`], [`Root`] and their JSON. May use: `rpc` for quoting. Must not: answer anything.

use super::version::Revision;
use crate::rpc::push_quoted;

/// A folder that the client shows to servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// A `file://` URI.
    pub uri: String,
    /// A name for people.
    pub name: Option<String>,
}

/// The client's capabilities. Each revision is told only what it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientDeclares {
    /// Folders; none means that roots are not declared.
    pub roots: Option<Vec<Root>>,
    /// Answers `elicitation/create` (2025-06-18 and later).
    pub elicitation: bool,
    /// Answers `sampling/createMessage`.
    pub sampling: bool,
    /// Shows MCP Apps (extension `io.modelcontextprotocol/ui`).
    pub ui: bool,
}

impl Default for ClientDeclares {
    /// Elicitation, sampling and apps; no roots.
    fn default() -> Self {
        Self { roots: None, elicitation: true, sampling: true, ui: true }
    }
}

/// The extension MCP Apps and its one setting.
const UI: &str = r#""io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}"#;
/// The tasks extension of 2026-07-28; it has no settings.
const TASKS: &str = r#""io.modelcontextprotocol/tasks":{}"#;

impl ClientDeclares {
    /// The capability object for `revision`; `tasks` adds the tasks extension, which is declared request by request (2026-07-28).
    pub fn capabilities(&self, revision: Revision, tasks: bool) -> String {
        let features = revision.features();
        let mut members: Vec<String> = Vec::new();
        if self.roots.is_some() {
            members.push(
                if revision.is_modern() { r#""roots":{}"# } else { r#""roots":{"listChanged":true}"# }.to_owned(),
            );
        }
        if self.sampling {
            members.push(if features.modes { r#""sampling":{"tools":{}}"# } else { r#""sampling":{}"# }.to_owned());
        }
        if self.elicitation && features.elicitation {
            members.push(
                if features.modes { r#""elicitation":{"form":{},"url":{}}"# } else { r#""elicitation":{}"# }.to_owned(),
            );
        }
        let extensions = [(self.ui, UI), (tasks && revision.is_modern(), TASKS)];
        let extensions: Vec<&str> =
            extensions.into_iter().filter_map(|(wanted, text)| wanted.then_some(text)).collect();
        if !extensions.is_empty() {
            members.push(format!("\"extensions\":{{{}}}", extensions.join(",")));
        }
        format!("{{{}}}", members.join(","))
    }
}

/// The result of `roots/list`.
pub(super) fn roots_result(roots: &[Root]) -> String {
    let mut out = String::from("{\"roots\":[");
    for (at, root) in roots.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str("{\"uri\":");
        push_quoted(&root.uri, &mut out);
        if let Some(name) = &root.name {
            out.push_str(",\"name\":");
            push_quoted(name, &mut out);
        }
        out.push('}');
    }
    out.push_str("]}");
    out
}

#[cfg(test)]
mod tests {
    use super::{ClientDeclares, Root, roots_result};
    use crate::session::version::Revision;

    #[test]
    fn each_revision_hears_only_what_it_knows() {
        let declares = ClientDeclares { roots: Some(Vec::new()), ui: false, ..ClientDeclares::default() };
        let told = |revision| declares.capabilities(revision, true);
        assert_eq!(told(Revision::V2024_11_05), r#"{"roots":{"listChanged":true},"sampling":{}}"#);
        assert_eq!(told(Revision::V2025_06_18), r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#);
        assert_eq!(
            told(Revision::V2025_11_25),
            r#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#
        );
        assert_eq!(
            told(Revision::V2026_07_28),
            r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#
        );
        let nothing = ClientDeclares { roots: None, elicitation: false, sampling: false, ui: false };
        assert_eq!(nothing.capabilities(Revision::V2026_07_28, false), "{}");
    }

    #[test]
    fn roots_are_quoted() {
        let roots = [
            Root { uri: "file:///a\"b".to_owned(), name: None },
            Root { uri: "file:///c".to_owned(), name: Some("C".to_owned()) },
        ];
        assert_eq!(roots_result(&roots), r#"{"roots":[{"uri":"file:///a\"b"},{"uri":"file:///c","name":"C"}]}"#);
        assert_eq!(roots_result(&[]), r#"{"roots":[]}"#);
    }
}
