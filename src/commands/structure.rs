//! Test cases, included files, conditions, pauses.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::args::Args;
use crate::engine::cx::Cx;
use crate::engine::outcome::{Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Kind, Param, Role, Running, StructureKind};
use crate::session::Session;

const NAME: Param<Arc<str>> = Param::text("name", "the test's name");
const TAGS: Param<Arc<str>> = Param::text("tags", "words to choose tests by, joined by commas");
const FILE: Param<Arc<str>> =
    Param::word(Kind::File, "file", "path of a script, from the folder of the file that includes it");
const WHY: Param<Arc<str>> = Param::text("why", "the reason, for the report");
const NEEDED: &[&str] =
    &["tools", "resources", "prompts", "completions", "logging", "subscribe", "tasks", "skills", "apps"];
const CAPABILITY: Param<Arc<str>> = Param::word(
    Kind::Choice(NEEDED),
    "capability",
    "tools, resources, prompts, completions, logging, subscribe, tasks, skills or apps",
);
const PROTOCOL: Param<Arc<str>> = Param::word(Kind::Choice(&["protocol"]), "protocol", "the word protocol");
const REVISIONS: Param<Arc<str>> =
    Param::text("revisions", "a revision such as 2025-06-18, or a range such as 2025-06-18.. or ..2025-11-25");
const PAUSE: Param<Duration> = Param::duration("duration", "how long");

fn skip(_cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    Ok(Outcome::Leave(args.need(&WHY)?.to_string()))
}

fn sleep<'a>(_cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        tokio::time::sleep(args.need(&PAUSE)?).await;
        Ok(Outcome::Passed)
    })
}

fn require<'a>(cx: &'a mut Cx, args: &'a Args<'a>) -> Running<'a> {
    Box::pin(async move {
        let session = match cx.session().await {
            Ok(session) => session,
            Err(outcome) => return Ok(outcome),
        };
        if let Some(range) = args.get(&REVISIONS) {
            let revision = session.facts().revision;
            let inside = revision.within(&range).map_err(|why| {
                Fault::script("mcp::script::bad_range", format!("`{range}` is no range of revisions: {why}"))
                    .at(args.span(&REVISIONS), "not understood")
                    .help("write 2025-06-18, 2025-06-18.., ..2025-11-25 or 2025-03-26..2025-11-25")
            })?;
            return Ok(if inside {
                Outcome::Passed
            } else {
                Outcome::Leave(format!("it requires protocol {range}; this session speaks {}", revision.as_str()))
            });
        }
        let needed = args.need(&CAPABILITY)?;
        Ok(if offers(&session, &needed) {
            Outcome::Passed
        } else {
            Outcome::Leave(format!("it requires {needed}, which the server does not declare"))
        })
    })
}

fn offers(session: &Session, needed: &str) -> bool {
    let capabilities = &session.facts().capabilities;
    let extension = |id: &str| capabilities.get("extensions").is_some_and(|map| map.get(id).is_some());
    match needed {
        "subscribe" => {
            capabilities.get("resources").and_then(|resources| resources.get("subscribe")).and_then(|flag| flag.bool())
                == Some(true)
        }
        "tasks" => capabilities.get("tasks").is_some() || extension("io.modelcontextprotocol/tasks"),
        "skills" => extension("io.modelcontextprotocol/skills"),
        "apps" => extension("io.modelcontextprotocol/ui"),
        plain => capabilities.get(plain).is_some(),
    }
}

/// Commands that shape a script.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "test",
        group: Group::Structure,
        summary: "Starts a test case, up to the next test, end or the end of the file.",
        details: "The first failure in it skips its rest. Lines before the first test are set-up: if one fails, all tests are skipped.",
        forms: &[Form::new(&[NAME.required(), TAGS.named()])],
        example: "test \"addition works\" tags:math,fast\ncall_tool add a:1 b:2\nassert_contains \"3\"",
        role: Role::Structure(StructureKind::Test),
    },
    CommandSpec {
        name: "finally",
        group: Group::Structure,
        summary: "What follows runs in any case, also after a failure.",
        details: "Inside a test it belongs to the test; before any test or after end to the file.",
        forms: &[Form::new(&[])],
        example: "test \"with clean-up\"\ncall_tool echo text:work\nfinally\ncall_tool echo text:clean",
        role: Role::Structure(StructureKind::Finally),
    },
    CommandSpec {
        name: "end",
        group: Group::Structure,
        summary: "Ends a test case.",
        details: "",
        forms: &[Form::new(&[])],
        example: "test \"short\"\nping\nend",
        role: Role::Structure(StructureKind::End),
    },
    CommandSpec {
        name: "include",
        group: Group::Structure,
        summary: "Runs the lines of another file here.",
        details: "The path starts from the including file's folder. The file may hold no test and no finally. Failures show both places.",
        forms: &[Form::new(&[FILE.required()])],
        example: "include common.mcp",
        role: Role::Structure(StructureKind::Include),
    },
    CommandSpec {
        name: "skip",
        group: Group::Structure,
        summary: "Skips the rest of the test, or of the script where it stands outside a test.",
        details: "",
        forms: &[Form::new(&[WHY.required()])],
        example: "skip \"waits for issue 12\"",
        role: Role::Act(skip),
    },
    CommandSpec {
        name: "require",
        group: Group::Structure,
        summary: "Skips the rest unless the server declares a capability, or the session speaks one of some revisions.",
        details: "",
        forms: &[Form::new(&[CAPABILITY.required()]), Form::new(&[PROTOCOL.required(), REVISIONS.required()])],
        example: "require tools\nrequire protocol 2024-11-05..",
        role: Role::Wait(require),
    },
    CommandSpec {
        name: "sleep",
        group: Group::Structure,
        summary: "Waits.",
        details: "`retry` waits for a condition and is nearly always better.",
        forms: &[Form::new(&[PAUSE.required()])],
        example: "sleep 10ms",
        role: Role::Wait(sleep),
    },
];
