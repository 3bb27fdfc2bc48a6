//! Answers `completion/complete` for the arguments of prompts and templates.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};

use super::resources::{DOCS, ITEMS};
use super::state::Shared;

const LANGUAGES: [(&str, &[&str]); 7] = [
    ("c", &[]),
    ("golang", &["echo", "gin"]),
    ("groovy", &["grails"]),
    ("java", &["quarkus", "spring"]),
    ("python", &["django", "fastapi", "flask"]),
    ("rust", &["actix", "axum", "tokio"]),
    ("typescript", &["angular", "react", "vue"]),
];
const NAMES: [&str; 4] = ["Ada", "Alan", "Grace", "Linus"];
const TONES: [&str; 2] = ["friendly", "strict"];

/// The values that begin with what was typed; an argument nobody knows is -32602.
pub(super) fn complete(params: &CompleteRequestParams, shared: &Shared) -> Result<CompleteResult, ErrorData> {
    let argument = params.argument.name.as_str();
    let context = |name: &str| params.context.as_ref().and_then(|context| context.get_argument(name));
    let all: Vec<String> = match (place(&params.r#ref), argument) {
        ("greet", "name") => owned(&NAMES),
        ("persona_developer", "language") => LANGUAGES.iter().map(|(language, _)| (*language).to_owned()).collect(),
        ("persona_developer", "framework") => depending(&LANGUAGES, context("language")),
        ("review", "tone") => owned(&TONES),
        ("review", "code") => Vec::new(),
        ("demo://item/{id}", "id") => (1..=ITEMS).map(|id| id.to_string()).collect(),
        ("users://{id}/profile", "id") => shared.user_ids().iter().map(u64::to_string).collect(),
        ("demo://docs/{section}/{page}", "section") => DOCS.iter().map(|(section, _)| (*section).to_owned()).collect(),
        ("demo://docs/{section}/{page}", "page") => depending(&DOCS, context("section")),
        (place, _) => {
            return Err(ErrorData::invalid_params(
                format!("Nothing to complete: argument {argument} of {place}"),
                None,
            ));
        }
    };
    let typed = params.argument.value.as_str();
    let mut found: Vec<String> = all.into_iter().filter(|value| value.starts_with(typed)).collect();
    let total = found.len();
    found.truncate(CompletionInfo::MAX_VALUES);
    let more = total > found.len();
    let info = CompletionInfo::with_pagination(found, u32::try_from(total).ok(), more)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

fn place(reference: &Reference) -> &str {
    match reference {
        Reference::Prompt(prompt) => &prompt.name,
        Reference::Resource(template) => &template.uri,
        _ => "an unknown kind of reference",
    }
}

fn owned(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

/// The values that go with the argument chosen before, or those of all choices while it is open.
fn depending(table: &[(&str, &[&str])], chosen: Option<&String>) -> Vec<String> {
    let fits = |key: &str| chosen.is_none_or(|chosen| chosen == key);
    table.iter().filter(|(key, _)| fits(key)).flat_map(|(_, values)| owned(values)).collect()
}
