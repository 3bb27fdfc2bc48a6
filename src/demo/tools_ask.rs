//! Tools that need the client's help: elicitation, sampling, roots.
//!
//! In the handshake era the server sends a request of its own and waits. Since 2026-07-28 it returns the questions, and
//! the client calls again with the answers (multi round-trip requests); the state of the rounds travels along.
#![expect(deprecated, reason = "the SDK marks sampling and roots as deprecated; every revision still has them")]

use rmcp::ErrorData;
use rmcp::handler::server::common::schema_for_type;
use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ListRootsRequest, SamplingMessage,
    ToolAnnotations,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::tool::{Call, Entry, Reply, failure, is_modern, structured, text};

/// Name of the only question in a round.
const QUESTION: &str = "question";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConfirmDelete {
    /// What would be deleted.
    #[schemars(length(min = 1, max = 200))]
    item: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Summarize {
    /// The text that the client's model shall summarize.
    text: String,
}

/// What the client has to provide.
pub(super) enum Question {
    /// A form for the user; the schema is the restricted kind that elicitation allows.
    Form { message: String, schema: Value },
    /// A prompt for the client's model.
    Sample(String),
    /// The list of roots.
    Roots,
}

/// How an attempt to get an answer ended.
pub(super) enum Asked {
    /// The client's result.
    Answer(Value),
    /// The tool has to return this and will be called again, or cannot go on.
    Return(Reply),
}

pub(super) fn tools() -> Vec<Entry> {
    let interview = json!({"type": "object", "additionalProperties": false, "required": ["questions"], "properties":
        {"questions": {"type": "integer", "minimum": 0, "maximum": 20, "description": "How many questions to ask."}}});
    let delete = schema_for_type::<ConfirmDelete>();
    let summarize = schema_for_type::<Summarize>();
    vec![
        Entry::later(
            "confirm_delete",
            "Asks the user before it pretends to delete something.",
            json!(*delete),
            |call| Box::pin(confirm_delete(call)),
        )
        .titled("Delete with confirmation")
        .hints(ToolAnnotations::new().read_only(false).destructive(true).idempotent(true).open_world(false)),
        Entry::later("interview", "Asks the user several questions, one after the other.", interview, |call| {
            Box::pin(run_interview(call))
        })
        .read_only(),
        Entry::later("summarize", "Has the client's model summarize a text (sampling).", json!(*summarize), |call| {
            Box::pin(run_summarize(call))
        })
        .read_only(),
        Entry::later(
            "show_roots",
            "Shows which roots the client offers.",
            json!({"type": "object", "additionalProperties": false}),
            |call| Box::pin(show_roots(call)),
        )
        .read_only(),
    ]
}

async fn confirm_delete(mut call: Call) -> Reply {
    let ConfirmDelete { item } = call.typed()?;
    let schema = json!({"type": "object", "required": ["confirm"], "properties":
        {"confirm": {"type": "boolean", "title": "Really delete it?"}}});
    let state = format!("confirm_delete {item}");
    let question = Question::Form { message: format!("Delete {item}?"), schema };
    let answer = match call.ask(question, &state).await {
        Asked::Answer(answer) => answer,
        Asked::Return(reply) => return reply,
    };
    let action = answer["action"].as_str().unwrap_or_default();
    Ok(text(match (action, &answer["content"]["confirm"]) {
        ("accept", Value::Bool(true)) => format!("Deleted {item}"),
        ("accept", Value::Bool(false)) => format!("Kept {item}: not confirmed"),
        ("accept", _) => return Ok(failure("The answer has no boolean \"confirm\"")),
        ("decline", _) => format!("Kept {item}: declined"),
        _ => format!("Kept {item}: cancelled"),
    }))
}

async fn run_interview(mut call: Call) -> Reply {
    let questions = call.whole("questions", 0);
    // The answers so far are the state of the rounds.
    let mut answers: Vec<Value> = match call.request_state.as_deref().map(serde_json::from_str) {
        Some(Ok(answers)) => answers,
        Some(Err(_)) => return Err(foreign_state()),
        None => Vec::new(),
    };
    while (answers.len() as u64) < questions {
        let number = answers.len() + 1;
        let schema = json!({"type": "object", "required": ["answer"], "properties":
            {"answer": {"type": "string", "minLength": 1, "title": format!("Answer {number}")}}});
        let question = Question::Form { message: format!("Question {number} of {questions}"), schema };
        let state = json!(answers).to_string();
        match call.ask(question, &state).await {
            Asked::Answer(answer) if answer["action"] == "accept" => answers.push(answer["content"]["answer"].clone()),
            Asked::Answer(_) => return Ok(text(format!("Stopped at question {number}"))),
            Asked::Return(reply) => return reply,
        }
        call.request_state = Some(json!(answers).to_string());
    }
    structured(format!("{} answers: {}", answers.len(), json!(answers)), &json!({"answers": answers}))
}

async fn run_summarize(mut call: Call) -> Reply {
    let Summarize { text: long } = call.typed()?;
    let question = Question::Sample(format!("Summarize in one sentence:\n{long}"));
    match call.ask(question, "summarize").await {
        Asked::Answer(answer) => {
            // 2025-11-25 allows a list of blocks where the others have one block.
            let content = &answer["content"];
            let said = content["text"].as_str().or_else(|| content[0]["text"].as_str()).unwrap_or("(no text)");
            Ok(text(format!("Summary: {said}")))
        }
        Asked::Return(reply) => reply,
    }
}

async fn show_roots(mut call: Call) -> Reply {
    match call.ask(Question::Roots, "show_roots").await {
        Asked::Answer(answer) => {
            let roots = answer["roots"].as_array().cloned().unwrap_or_default();
            let uris: Vec<&str> = roots.iter().filter_map(|root| root["uri"].as_str()).collect();
            let shown = if uris.is_empty() { "none".to_owned() } else { uris.join("\n") };
            structured(format!("Roots: {shown}"), &json!({"roots": roots}))
        }
        Asked::Return(reply) => reply,
    }
}

impl Call {
    /// Gets the client's answer to a question, by the means of the era.
    ///
    /// An answer that came with the request is used once; `state` must then be what the client handed back.
    pub(super) async fn ask(&mut self, question: Question, state: &str) -> Asked {
        let offered = self.cx.client_capabilities().unwrap_or_default();
        let (has, needed, feature) = match question {
            Question::Form { .. } => (
                offered.elicitation.is_some(),
                ClientCapabilities::builder().enable_elicitation().build(),
                "elicitation",
            ),
            Question::Sample(_) => {
                (offered.sampling.is_some(), ClientCapabilities::builder().enable_sampling().build(), "sampling")
            }
            Question::Roots => (offered.roots.is_some(), ClientCapabilities::builder().enable_roots().build(), "roots"),
        };
        if !is_modern(&self.cx) {
            if !has {
                return Asked::Return(Ok(failure(format!("The client has not declared the capability {feature}"))));
            }
            return match self.request(question).await {
                Ok(answer) => Asked::Answer(answer),
                Err(error) => Asked::Return(Ok(failure(format!("The client refused: {error}")))),
            };
        }
        if !has {
            return Asked::Return(Err(ErrorData::missing_required_client_capability(needed)));
        }
        if let Some(answer) = self.input_responses.as_mut().and_then(|responses| responses.remove(QUESTION)) {
            if self.request_state.as_deref() != Some(state) {
                return Asked::Return(Err(foreign_state()));
            }
            return Asked::Answer(answer);
        }
        Asked::Return(question.into_input_request().map(|request| {
            let requests = InputRequests::from([(QUESTION.to_owned(), request)]);
            InputRequiredResult::new(Some(requests), Some(state.to_owned())).into()
        }))
    }

    /// Sends the question as a request of the server (handshake era).
    async fn request(&self, question: Question) -> Result<Value, String> {
        let peer = &self.cx.peer;
        let written = match question {
            Question::Form { message, schema } => {
                let params = form(message, schema).map_err(|error| error.to_string())?;
                peer.create_elicitation(params).await.map(|result| json!(result))
            }
            Question::Sample(prompt) => peer.create_message(sample(prompt)).await.map(|result| json!(result)),
            Question::Roots => peer.list_roots().await.map(|result| json!(result)),
        };
        written.map_err(|error| error.to_string())
    }
}

impl Question {
    fn into_input_request(self) -> Result<InputRequest, ErrorData> {
        Ok(match self {
            Self::Form { message, schema } => InputRequest::Elicitation(ElicitRequest::new(form(message, schema)?)),
            Self::Sample(prompt) => InputRequest::CreateMessage(CreateMessageRequest::new(sample(prompt))),
            Self::Roots => InputRequest::ListRoots(ListRootsRequest::default()),
        })
    }
}

/// The parameters of a form elicitation.
pub(super) fn form(message: String, schema: Value) -> Result<ElicitRequestParams, ErrorData> {
    let requested_schema: ElicitationSchema = serde_json::from_value(schema)
        .map_err(|error| ErrorData::internal_error(format!("the form's schema is wrong: {error}"), None))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

fn sample(prompt: String) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 200)
        .with_system_prompt("You write short summaries.")
}

fn foreign_state() -> ErrorData {
    ErrorData::invalid_params("requestState is not what this tool handed out", None)
}
