//! From the syntax tree to the plan: commands are looked up, words bound to parameters, and every static error of a
//! script reported at once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bind::Binder;
use super::cx::Files;
use super::plan::{Item, Op, Plan, Prefix, Step, Test};
use super::prefix;
use super::spec::{Arity, CommandSpec, Kind, PrefixKind, Registry, Role, StructureKind};
use crate::diagnostic::{Diagnostic, Severity, suggest};
use crate::event;
use crate::sensitive::Sensitive;
use crate::source::{Origin, Source};
use crate::syntax::ast::{Script, Statement, Word};
use crate::syntax::parse;

/// Files may be included this deep.
const INCLUDE_DEPTH: usize = 16;

/// What lowering needs to know beside the script.
pub struct LowerCx<'a> {
    /// The commands.
    pub registry: &'a Registry,
    /// Reads included files.
    pub files: &'a dyn Files,
    /// Names of variables given from outside.
    pub presets: Vec<Arc<str>>,
    /// Where the script lies; paths in it start from its folder.
    pub path: Option<PathBuf>,
}

/// A lowered script with everything that was noticed.
#[derive(Debug)]
pub struct Lowered {
    /// The plan; none where there is an error.
    pub plan: Option<Plan>,
    /// Errors and warnings, in file order.
    pub problems: Vec<Diagnostic>,
}

/// Who sets a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setter {
    /// An option, a file, a profile.
    Outside,
    /// A line of the script.
    Line(u32),
}

/// Parses and lowers a source.
pub fn lower_source(source: &Arc<Source>, cx: &LowerCx<'_>) -> Lowered {
    let parsed = parse(source);
    let mut lowered = lower(&parsed.script, cx);
    let refused = parsed.errors.iter().any(|problem| problem.severity == Severity::Error);
    lowered.problems.extend(parsed.errors);
    lowered.problems.sort_by_key(|problem| problem.place().map(|(_, position)| position));
    if refused {
        lowered.plan = None;
    }
    lowered
}

/// Lowers a parsed script.
pub fn lower(script: &Script, cx: &LowerCx<'_>) -> Lowered {
    let folder = cx.path.as_deref().and_then(Path::parent).map_or_else(PathBuf::new, Path::to_path_buf);
    let mut lowerer = Lowerer {
        cx,
        known: cx.presets.iter().map(|name| (name.clone(), Setter::Outside)).collect(),
        problems: Vec::new(),
        building: Building::default(),
        steps: 0,
        open_files: cx.path.iter().map(|path| cx.files.canonical(path)).collect(),
    };
    lowerer.script(script, &folder, None);
    let Lowerer { problems, mut building, .. } = lowerer;
    building.close_test();
    let broken = problems.iter().any(|problem| problem.severity == Severity::Error);
    let plan = (!broken).then(|| Plan {
        file: script.source.name().into(),
        folder,
        source: script.source.clone(),
        items: building.items,
        finally: building.finally,
    });
    Lowered { plan, problems }
}

/// Where the next step goes.
#[derive(Default)]
struct Building {
    items: Vec<Item>,
    finally: Vec<Step>,
    test: Option<Test>,
    in_finally: bool,
}

impl Building {
    fn close_test(&mut self) {
        if let Some(test) = self.test.take() {
            self.items.push(Item::Test(test));
        }
        self.in_finally = false;
    }

    fn push(&mut self, step: Step) {
        match (&mut self.test, self.in_finally) {
            (Some(test), true) => test.finally.push(step),
            (Some(test), false) => test.steps.push(step),
            (None, true) => self.finally.push(step),
            (None, false) => self.items.push(Item::Step(step)),
        }
    }
}

struct Lowerer<'a> {
    cx: &'a LowerCx<'a>,
    known: HashMap<Arc<str>, Setter>,
    problems: Vec<Diagnostic>,
    building: Building,
    steps: usize,
    open_files: Vec<PathBuf>,
}

impl Lowerer<'_> {
    fn script(&mut self, script: &Script, folder: &Path, included_from: Option<&Arc<Origin>>) {
        for statement in &script.statements {
            let origin =
                Origin { source: script.source.clone(), span: statement.span, included_from: included_from.cloned() };
            self.statement(script, statement, &origin, folder);
        }
    }

    fn statement(&mut self, script: &Script, statement: &Statement, origin: &Origin, folder: &Path) {
        let words = script.words(statement);
        let mut rest = words;
        let mut prefixes: Vec<Prefix> = Vec::new();
        loop {
            let Some((first, after)) = rest.split_first() else {
                return self.no_command(&prefixes, origin);
            };
            let Some(spec) = self.command(script, first, origin) else { return };
            let Role::Prefix(kind) = spec.role else {
                return self.command_line(script, origin, folder, prefixes, (spec, first), after);
            };
            let taken = prefix_words(spec, after, script, self.cx.registry);
            let Some(op) = self.bind(script, origin, spec, first, &after[..taken]) else { return };
            rest = &after[taken..];
            prefixes.push(Prefix { kind, accepts: prefix::accepts(&op), op, overall: false });
        }
    }

    fn command(&mut self, script: &Script, word: &Word, origin: &Origin) -> Option<&'static CommandSpec> {
        let name: String = script.parts(word).iter().map(|part| script.text(part)).collect();
        if let Some(spec) = self.cx.registry.get(&name) {
            return Some(spec);
        }
        let near = suggest(&name, self.cx.registry.iter().map(|spec| spec.name));
        let help = match near {
            Some(near) => format!("did you mean `{near}`? `mcp-tester commands` lists them all"),
            None => "a line starts with a command, such as `call_tool`; `mcp-tester commands` lists them all".into(),
        };
        self.problems.push(
            Diagnostic::error("mcp::script::unknown_command", format!("unknown command `{name}`"))
                .at_origin(&origin.at(word.span), "no command has this name")
                .help(help),
        );
        None
    }

    fn no_command(&mut self, prefixes: &[Prefix], origin: &Origin) {
        let Some(last) = prefixes.last() else { return };
        self.problems.push(
            Diagnostic::error("mcp::script::no_command", format!("`{}` needs a command after it", last.op.spec.name))
                .at_origin(&origin.at(last.op.span), "nothing follows")
                .help(format!("write the command on the same line, such as `{}`", example_line(last.op.spec))),
        );
    }

    fn bind(
        &mut self,
        script: &Script,
        origin: &Origin,
        spec: &'static CommandSpec,
        name: &Word,
        words: &[Word],
    ) -> Option<Op> {
        let mut binder = Binder { script, origin, known: &self.known, problems: &mut self.problems };
        binder.bind(spec, name, words)
    }

    fn command_line(
        &mut self,
        script: &Script,
        origin: &Origin,
        folder: &Path,
        mut prefixes: Vec<Prefix>,
        (spec, name): (&'static CommandSpec, &Word),
        words: &[Word],
    ) {
        let Some(op) = self.bind(script, origin, spec, name, words) else { return };
        if let Some(problem) = prefix::check(&mut prefixes, &op, origin) {
            self.problems.push(problem);
            return;
        }
        let line = origin.position().line;
        for operand in op.operands.iter().filter(|operand| operand.kind == Kind::NewVariable) {
            if let Some(text) = operand.template.literal() {
                self.known.entry(text.as_ref().into()).or_insert(Setter::Line(line));
            }
        }
        if let Role::Structure(kind) = spec.role {
            return self.structure(kind, &op, origin, folder);
        }
        let info = Arc::new(event::Step {
            index: self.steps,
            origin: origin.clone(),
            command: spec.name,
            line: Sensitive::new(origin.source.slice(origin.span).to_owned()),
        });
        self.steps += 1;
        self.building.push(Step { info, line, prefixes, op });
    }

    fn structure(&mut self, kind: StructureKind, op: &Op, origin: &Origin, folder: &Path) {
        if origin.included_from.is_some() && kind != StructureKind::Include {
            self.problems.push(
                Diagnostic::error(
                    "mcp::script::structure_in_include",
                    format!("`{}` cannot stand in an included file", op.spec.name),
                )
                .at_origin(origin, "tests are made where they are run")
                .help("move this line to the script that includes the file"),
            );
            return;
        }
        match kind {
            StructureKind::Test => {
                self.building.close_test();
                let text = |at: usize| op.operands.get(at).and_then(|operand| operand.template.literal());
                let tags = text(1).map(|tags| {
                    tags.split(',').map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect()
                });
                self.building.test = Some(Test {
                    name: text(0).unwrap_or_default().as_ref().into(),
                    tags: tags.unwrap_or_default(),
                    origin: origin.clone(),
                    steps: Vec::new(),
                    finally: Vec::new(),
                });
            }
            StructureKind::Finally => self.building.in_finally = true,
            StructureKind::End => self.building.close_test(),
            StructureKind::Include => self.include(op, origin, folder),
        }
    }

    fn include(&mut self, op: &Op, origin: &Origin, folder: &Path) {
        let Some(name) = op.operands.first().and_then(|operand| operand.template.literal()) else { return };
        let place = origin.at(op.operands.first().map_or(op.span, |operand| operand.template.span));
        let path = folder.join(&*name);
        let canonical = self.cx.files.canonical(&path);
        let problem = if self.open_files.contains(&canonical) {
            Some((
                "mcp::script::include_cycle",
                format!("`{name}` includes itself"),
                "this file is already being read".to_owned(),
            ))
        } else if self.open_files.len() >= INCLUDE_DEPTH {
            Some((
                "mcp::script::include_depth",
                format!("files include each other more than {INCLUDE_DEPTH} deep"),
                "one too many".to_owned(),
            ))
        } else {
            None
        };
        if let Some((code, title, label)) = problem {
            self.problems.push(
                Diagnostic::error(code, title)
                    .at_origin(&place, label)
                    .help("break the circle: move what is shared to a file of its own"),
            );
            return;
        }
        let text = match self.cx.files.read_text(&path) {
            Ok(text) => text,
            Err(why) => {
                self.problems.push(
                    Diagnostic::error("mcp::script::include_unreadable", format!("cannot read `{}`", path.display()))
                        .at_origin(&place, why)
                        .help("the path starts from the folder of the file that includes"),
                );
                return;
            }
        };
        let source = Source::new(path.display().to_string(), text);
        let parsed = parse(&source);
        let from = Arc::new(place);
        self.problems.extend(parsed.errors.into_iter().map(|problem| match &problem.second {
            None => problem.and(&from.source, from.span, "included here"),
            Some(_) => problem,
        }));
        self.open_files.push(canonical);
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        self.script(&parsed.script, &folder, Some(&from));
        self.open_files.pop();
    }
}

/// How many of the words after a prefix belong to it.
fn prefix_words(spec: &CommandSpec, words: &[Word], script: &Script, registry: &Registry) -> usize {
    let Some(form) = spec.forms.first() else { return 0 };
    let text = |at: usize| -> Option<String> {
        words.get(at).map(|word| script.parts(word).iter().map(|part| script.text(part)).collect())
    };
    let is_command = |at: usize| text(at).is_some_and(|text| registry.get(&text).is_some());
    let mut taken = 0;
    for slot in form.slots.iter().filter(|slot| slot.kind != Kind::Command) {
        let Some(word) = text(taken) else { break };
        let fits = prefix::may_take(slot.kind, &word);
        // In `expect_error timeout call_tool` the word is a kind; in `expect_error timeout 5s call_tool` a prefix.
        let ends_here = if is_command(taken) { !fits || !is_command(taken + 1) } else { false };
        if ends_here || (slot.arity == Arity::Optional && !fits) {
            break;
        }
        taken += 1;
    }
    taken
}

/// The line of a command's example that shows it.
fn example_line(spec: &CommandSpec) -> &'static str {
    spec.example.lines().find(|line| line.contains(spec.name)).unwrap_or(spec.example)
}

/// True where a kind of prefix limits all tries when it stands left of it.
pub(super) fn repeats(kind: PrefixKind) -> bool {
    matches!(kind, PrefixKind::Retry | PrefixKind::Repeat)
}
