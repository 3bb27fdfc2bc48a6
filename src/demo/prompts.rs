//! Prompts of the demo server.

use rmcp::model::{
    ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsResult,
    PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, ResourceContents, Role,
};
use serde_json::{Value, json};

use super::resources::{LOGO_PNG, page};

fn list() -> Vec<Prompt> {
    let needed = |name: &str, about: &str| PromptArgument::new(name).with_description(about).with_required(true);
    let optional = |name: &str, about: &str| PromptArgument::new(name).with_description(about).with_required(false);
    vec![
        Prompt::new("greet", Some("Greets somebody."), Some(vec![needed("name", "Who is greeted.")]))
            .with_title("Greet"),
        Prompt::new(
            "persona_developer",
            Some("Makes the model a developer in a language."),
            Some(vec![needed("language", "Programming language."), optional("framework", "Depends on the language.")]),
        )
        .with_title("Developer"),
        Prompt::new(
            "review",
            Some("Several messages with an image and a resource."),
            Some(vec![needed("code", "The code to look at."), optional("tone", "friendly or strict.")]),
        ),
        Prompt::new("plain", Some("Takes no arguments."), None::<Vec<PromptArgument>>),
    ]
}

/// One page of `prompts/list`.
pub(super) fn list_page(params: Option<&PaginatedRequestParams>) -> Result<ListPromptsResult, ErrorData> {
    let (items, next) = page(list(), params)?;
    let mut result = ListPromptsResult::with_all_items(items);
    result.next_cursor = next;
    Ok(result)
}

/// Answers `prompts/get`; an unknown prompt and unusable arguments are -32602.
pub(super) fn get(params: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let unknown = || ErrorData::invalid_params(format!("Unknown prompt: {}", params.name), None);
    let prompt = list().into_iter().find(|prompt| prompt.name == params.name).ok_or_else(unknown)?;
    let nothing = JsonObject::new();
    let args = params.arguments.as_ref().unwrap_or(&nothing);
    check(&prompt, args)?;

    let arg = |name: &str| args.get(name).and_then(Value::as_str);
    let user = |text: String| PromptMessage::new_text(Role::User, text);
    let messages = match prompt.name.as_str() {
        "greet" => vec![user(format!("Please greet {}.", arg("name").unwrap_or_default()))],
        "persona_developer" => {
            let language = arg("language").unwrap_or_default();
            let with = arg("framework").map(|framework| format!(" with {framework}")).unwrap_or_default();
            vec![user(format!("You are an experienced {language} developer{with}. Answer with code."))]
        }
        "review" => review(arg("code").unwrap_or_default(), arg("tone").unwrap_or("friendly")),
        _ => vec![user("Say something.".to_owned())],
    };
    let result = GetPromptResult::new(messages);
    Ok(match prompt.description {
        Some(description) => result.with_description(description),
        None => result,
    })
}

fn review(code: &str, tone: &str) -> Vec<PromptMessage> {
    let source = ResourceContents::text(code, "demo://review/code").with_mime_type("text/plain");
    vec![
        PromptMessage::new_text(Role::User, format!("Review this code in a {tone} tone.")),
        PromptMessage::new(Role::User, ContentBlock::resource(source)),
        PromptMessage::new(Role::User, ContentBlock::image(LOGO_PNG, "image/png")),
        PromptMessage::new_text(Role::Assistant, "I have read it. Where shall I begin?"),
    ]
}

fn check(prompt: &Prompt, args: &JsonObject) -> Result<(), ErrorData> {
    let refuse = |text: String, name: &str| Err(ErrorData::invalid_params(text, Some(json!({"argument": name}))));
    let known = prompt.arguments.as_deref().unwrap_or_default();
    for argument in known {
        match args.get(&argument.name) {
            None if argument.required == Some(true) => {
                return refuse(format!("Missing argument {} of prompt {}", argument.name, prompt.name), &argument.name);
            }
            Some(value) if !value.is_string() => {
                return refuse(format!("Argument {} must be of type string", argument.name), &argument.name);
            }
            _ => {}
        }
    }
    match args.keys().find(|name| known.iter().all(|argument| argument.name != **name)) {
        Some(name) => refuse(format!("Unknown argument {name} of prompt {}", prompt.name), name),
        None => Ok(()),
    }
}
