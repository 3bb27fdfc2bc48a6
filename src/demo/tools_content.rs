//! Tools that return every kind and size of content.

use rmcp::model::{
    Annotations, ContentBlock, ImageContent, ProtocolVersion, Resource, ResourceContents, Role, TextContent,
};
use serde_json::json;

use super::resources::{LOGO_PNG, LOGO_URI};
use super::tool::{Call, Entry, Reply, blocks, failure, text};

/// Eight samples of a tone, as a WAV file in Base64.
const TONE_WAV: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAyP/IgDcANw==";
/// Sixteen characters that need no escape, repeated by `big`.
const BRICK: &str = "0123456789abcdef";

/// Text that a careless terminal, log or report gets wrong: escape sequences, other control characters, bidirectional
/// overrides, invisible characters, combining marks, joined emoji, wide and right-to-left script. No NUL.
const AWKWARD: &str = "plain\n\
    tab\there, bell \u{7}, backspace x\u{8}, carriage return \r, escape \u{1b}[31mred\u{1b}[0m, title \u{1b}]0;owned\u{7}\n\
    C1 \u{9b}32m, delete \u{7f}, line separator \u{2028}, next line \u{85}\n\
    override \u{202e}txt.exe\u{202c}, isolate \u{2066}abc\u{2069}, mark \u{200f}\n\
    zero width a\u{200b}b\u{200d}c\u{feff}d, soft hyphen co\u{ad}op, tag \u{e0041}\n\
    combining e\u{301} z\u{351}\u{36b}\u{343}, precomposed \u{e9}\n\
    emoji \u{1f600} \u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{1f1e9}\u{1f1ea} \u{1f44d}\u{1f3fd}\n\
    wide \u{6f22}\u{5b57}, right to left \u{5e9}\u{5dc}\u{5d5}\u{5dd}, noncharacter \u{fffe}, replacement \u{fffd}\n\
    </script><b>&amp;</b> ]]> ::error::x %0A ${jndi} `id` $(id)";

pub(super) fn tools() -> Vec<Entry> {
    let none = || json!({"type": "object", "additionalProperties": false});
    let big = json!({"type": "object", "additionalProperties": false, "required": ["kb"], "properties":
        {"kb": {"type": "integer", "minimum": 0, "maximum": 16384, "description": "Size of the text in KiB."}}});
    let many = json!({"type": "object", "additionalProperties": false, "required": ["count"], "properties":
        {"count": {"type": "integer", "minimum": 0, "maximum": 10000, "description": "Number of text blocks."}}});
    vec![
        Entry::now("image", "Returns a small PNG image.", none(), |_| Ok(blocks(vec![image()]))).read_only(),
        Entry::now("audio", "Returns a short WAV sound (2025-03-26 and newer).", none(), |call| {
            needs(&call, ProtocolVersion::V_2025_03_26, || vec![audio()])
        })
        .read_only(),
        Entry::now("resource_link", "Returns a link to a resource (2025-06-18 and newer).", none(), |call| {
            needs(&call, ProtocolVersion::V_2025_06_18, || vec![link()])
        })
        .read_only(),
        Entry::now("embedded", "Returns a text resource and a binary one inside the result.", none(), |_| {
            Ok(blocks(vec![embedded_text(), embedded_blob()]))
        })
        .read_only(),
        Entry::now("mixed", "Returns one block of every kind the revision knows.", none(), mixed).read_only(),
        Entry::now("annotated", "Returns text for the user and text for the assistant.", none(), |_| {
            Ok(blocks(vec![note("for the user", Role::User, 1.0), note("for the assistant", Role::Assistant, 0.5)]))
        })
        .read_only(),
        Entry::now("empty", "Returns no content at all.", none(), |_| Ok(blocks(Vec::new()))).read_only(),
        Entry::now("many", "Returns many numbered text blocks.", many, |call| {
            Ok(blocks((1..=call.whole("count", 0)).map(|n| ContentBlock::text(format!("block {n}"))).collect()))
        })
        .read_only(),
        Entry::now("big", "Returns a long text.", big, |call| Ok(text(long_text(call.whole("kb", 0))))).read_only(),
        Entry::now("unicode", "Returns control, bidirectional and other awkward characters.", none(), |_| {
            Ok(text(AWKWARD))
        })
        .read_only(),
    ]
}

/// A client of an older revision would not know the content: it gets a tool error instead.
fn needs(call: &Call, since: ProtocolVersion, content: fn() -> Vec<ContentBlock>) -> Reply {
    if call.revision() < since {
        return Ok(failure(format!("This content needs protocol revision {since} or newer")));
    }
    Ok(blocks(content()))
}

fn mixed(call: Call) -> Reply {
    let mut content = vec![ContentBlock::text("text"), image()];
    if call.revision() >= ProtocolVersion::V_2025_03_26 {
        content.push(audio());
    }
    if call.revision() >= ProtocolVersion::V_2025_06_18 {
        content.push(link());
    }
    content.push(embedded_text());
    content.push(embedded_blob());
    Ok(blocks(content))
}

fn image() -> ContentBlock {
    ContentBlock::Image(ImageContent::new(LOGO_PNG, "image/png"))
}

fn audio() -> ContentBlock {
    ContentBlock::audio(TONE_WAV, "audio/wav")
}

fn link() -> ContentBlock {
    ContentBlock::resource_link(
        Resource::new("demo://greeting", "greeting").with_description("A friendly line.").with_mime_type("text/plain"),
    )
}

fn embedded_text() -> ContentBlock {
    ContentBlock::resource(ResourceContents::text("# Embedded\n", "demo://embedded").with_mime_type("text/markdown"))
}

fn embedded_blob() -> ContentBlock {
    ContentBlock::resource(ResourceContents::blob(LOGO_PNG, LOGO_URI).with_mime_type("image/png"))
}

fn note(text: &str, reader: Role, priority: f32) -> ContentBlock {
    let annotations = Annotations::default().with_audience(vec![reader]).with_priority(priority);
    ContentBlock::Text(TextContent::new(text).with_annotations(annotations))
}

/// A text of `kb` KiB, in lines of 64 characters.
fn long_text(kb: u64) -> String {
    let line = format!("{}\n", &BRICK.repeat(4)[1..]);
    let lines = usize::try_from(kb * 16).unwrap_or_default();
    line.repeat(lines)
}
