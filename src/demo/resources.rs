//! Resources and templates, and how lists are cut into pages.

use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use rmcp::model::{
    Annotations, ErrorData, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::json;

use super::state::Shared;

/// Entries on one page of `resources/list` and `prompts/list`.
pub(super) const PAGE: usize = 3;
/// The resource that changes by itself while somebody is subscribed to it.
pub(super) const CLOCK_URI: &str = "mcp://time";
/// The binary resource.
pub(super) const LOGO_URI: &str = "demo://logo";
/// An 8 by 8 pixel chequerboard, as a PNG file in Base64.
pub(super) const LOGO_PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAFklEQVR42mN4AQT6QMCAhwEiQBw8DADoBCLhgQLw/gAAAABJRU5ErkJggg==";
/// Items run from 1 to this number.
pub(super) const ITEMS: u32 = 250;

const GREETING: &str = "Hello from the demo server.\n";
const GUIDE: &str = "# Demo server\n\nCall `create_user`, then `get_user`.\n\n- read `demo://item/7`\n- complete `users://{id}/profile`\n";

fn list() -> Vec<Resource> {
    let for_both = Annotations::default().with_audience(vec![Role::User, Role::Assistant]).with_priority(0.5);
    vec![
        Resource::new("demo://greeting", "greeting")
            .with_title("Greeting")
            .with_description("A friendly line.")
            .with_mime_type("text/plain")
            .with_size(GREETING.len() as u64)
            .with_annotations(for_both),
        Resource::new(LOGO_URI, "logo").with_description("A small image.").with_mime_type("image/png").with_size(79),
        Resource::new("demo://config", "config").with_description("Fixed JSON.").with_mime_type("application/json"),
        Resource::new("demo://status", "status")
            .with_description("Counters, as JSON.")
            .with_mime_type("application/json"),
        Resource::new("demo://guide", "guide").with_description("What to try.").with_mime_type("text/markdown"),
        Resource::new("demo://bundle", "bundle").with_description("Two contents in one answer."),
        Resource::new(CLOCK_URI, "time")
            .with_description("Seconds since 1970; changes twice a second while somebody is subscribed.")
            .with_mime_type("text/plain"),
    ]
}

fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("demo://item/{id}", "item")
            .with_title("Item")
            .with_description("One of 250 items.")
            .with_mime_type("application/json"),
        ResourceTemplate::new("users://{id}/profile", "profile")
            .with_title("Profile")
            .with_description("Profile of a user.")
            .with_mime_type("application/json"),
        ResourceTemplate::new("demo://docs/{section}/{page}", "docs")
            .with_description("Pages of a manual; the pages depend on the section.")
            .with_mime_type("text/markdown"),
    ]
}

/// Sections of the manual and their pages.
pub(super) const DOCS: [(&str, &[&str]); 3] = [
    ("guide", &["install", "introduction", "scripts"]),
    ("reference", &["commands", "errors", "options"]),
    ("tutorial", &["first-steps", "variables"]),
];

/// One page of `resources/list`.
pub(super) fn list_page(params: Option<&PaginatedRequestParams>) -> Result<ListResourcesResult, ErrorData> {
    let (items, next) = page(list(), params)?;
    let mut result = ListResourcesResult::with_all_items(items);
    result.next_cursor = next;
    Ok(result)
}

/// The only page of `resources/templates/list`.
pub(super) fn template_page(params: Option<&PaginatedRequestParams>) -> Result<ListResourceTemplatesResult, ErrorData> {
    let (items, next) = page(templates(), params)?;
    let mut result = ListResourceTemplatesResult::with_all_items(items);
    result.next_cursor = next;
    Ok(result)
}

/// Cuts a list into pages of [`PAGE`]; a cursor that we did not hand out is -32602.
pub(super) fn page<T>(
    items: Vec<T>,
    params: Option<&PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match params.and_then(|params| params.cursor.as_deref()) {
        None => 0,
        Some(cursor) => cursor
            .strip_prefix("page-")
            .and_then(|number| number.parse::<usize>().ok())
            .filter(|&number| number > 0 && cursor == cursor_for(number))
            .and_then(|number| number.checked_mul(PAGE))
            .filter(|&start| start < items.len())
            .ok_or_else(|| ErrorData::invalid_params("unknown cursor", Some(json!({"cursor": cursor}))))?,
    };
    let next = (start + PAGE < items.len()).then(|| cursor_for(start / PAGE + 1));
    Ok((items.into_iter().skip(start).take(PAGE).collect(), next))
}

/// Zero-padded numbers such as `page-01` must not work as well.
fn cursor_for(number: usize) -> String {
    format!("page-{number}")
}

/// Answers `resources/read`.
pub(super) fn read(uri: &str, shared: &Shared) -> Result<ReadResourceResult, ErrorData> {
    match contents(uri, shared) {
        Some(contents) => Ok(ReadResourceResult::new(contents)),
        None => Err(ErrorData::resource_not_found(format!("Resource not found: {uri}"), Some(json!({"uri": uri})))),
    }
}

/// Whether a URI can be read.
pub(super) fn exists(uri: &str, shared: &Shared) -> bool {
    contents(uri, shared).is_some()
}

fn contents(uri: &str, shared: &Shared) -> Option<Vec<ResourceContents>> {
    let text = |text: &str, mime: &str| ResourceContents::text(text, uri).with_mime_type(mime);
    let json = |value: serde_json::Value| text(&value.to_string(), "application/json");
    let content = match uri {
        "demo://greeting" => text(GREETING, "text/plain"),
        LOGO_URI => ResourceContents::blob(LOGO_PNG, uri).with_mime_type("image/png"),
        "demo://config" => json(json!({"name": "demo", "limits": {"users": 10_000}, "features": ["tools", "prompts"]})),
        "demo://status" => json(json!({
            "counter": shared.counter.load(Ordering::Relaxed),
            "touches": shared.touches.load(Ordering::Relaxed),
            "users": shared.user_ids().len()})),
        "demo://guide" => text(GUIDE, "text/markdown"),
        "demo://bundle" => {
            let blob = ResourceContents::blob(LOGO_PNG, "demo://bundle/logo").with_mime_type("image/png");
            return Some(vec![text("first of two", "text/plain"), blob]);
        }
        CLOCK_URI => {
            // A clock before 1970 shows 0.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            text(&now.as_secs().to_string(), "text/plain")
        }
        _ => return from_template(uri, shared).map(|content| vec![content]),
    };
    Some(vec![content])
}

fn from_template(uri: &str, shared: &Shared) -> Option<ResourceContents> {
    if let Some(id) = uri.strip_prefix("demo://item/") {
        let id = plain_number(id).filter(|&id| id <= u64::from(ITEMS))?;
        let item = json!({"id": id, "name": format!("Item {id}"), "even": id % 2 == 0});
        return Some(ResourceContents::text(item.to_string(), uri).with_mime_type("application/json"));
    }
    if let Some(id) = uri.strip_prefix("users://").and_then(|rest| rest.strip_suffix("/profile")) {
        let user = shared.user(plain_number(id)?)?;
        return Some(ResourceContents::text(json!(user).to_string(), uri).with_mime_type("application/json"));
    }
    let (section, page) = uri.strip_prefix("demo://docs/")?.split_once('/')?;
    let (_, pages) = DOCS.iter().find(|(name, _)| *name == section)?;
    pages.contains(&page).then(|| {
        ResourceContents::text(format!("# {page}\n\nPart of {section}.\n"), uri).with_mime_type("text/markdown")
    })
}

/// A positive number without sign or leading zeros: one item has one URI.
fn plain_number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| *number > 0 && number.to_string() == text)
}
