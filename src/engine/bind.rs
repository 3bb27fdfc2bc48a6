//! Binds the words of one line to the parameters of a command.

use std::collections::HashMap;
use std::sync::Arc;

use super::args::{Argument, ArgumentValue};
use super::datum::{Datum, read};
use super::lower::Setter;
use super::operand::{Filled, Insert, JsonPlace, Piece, Template};
use super::plan::{Op, Operand};
use super::spec::{Arity, CommandSpec, Form, Kind, Slot};
use crate::diagnostic::{Diagnostic, suggest};
use crate::json::Raw;
use crate::source::{Origin, Span};
use crate::syntax::ast::{Part, PartKind, Quote, Script, Word};

/// Binds the words of one line.
pub(super) struct Binder<'a> {
    pub script: &'a Script,
    pub origin: &'a Origin,
    pub known: &'a HashMap<Arc<str>, Setter>,
    pub problems: &'a mut Vec<Diagnostic>,
}

/// A word and the parameter it is for.
type Pair<'w> = (&'static Slot, &'w Word);

impl Binder<'_> {
    /// The command with its words, or none after an error was noted.
    pub fn bind(&mut self, spec: &'static CommandSpec, name: &Word, words: &[Word]) -> Option<Op> {
        let fitting: Vec<(&'static Form, Vec<Pair<'_>>)> =
            spec.forms.iter().filter_map(|form| assign(self.script, form, words).map(|pairs| (form, pairs))).collect();
        if fitting.is_empty() {
            self.wrong_count(spec, name, words);
            return None;
        }
        let chosen = fitting.iter().position(|(form, pairs)| self.reads(form, pairs)).unwrap_or(0);
        let (form, pairs) = fitting.into_iter().nth(chosen)?;
        let before = self.problems.len();
        let mut operands = Vec::with_capacity(pairs.len());
        for (slot, word) in pairs {
            operands.extend(self.operand(slot, word));
        }
        self.same_name_twice(&operands);
        (self.problems.len() == before).then_some(Op { spec, form, operands, span: name.span })
    }

    /// True where every literal word reads as its parameter's kind.
    fn reads(&self, form: &Form, pairs: &[Pair<'_>]) -> bool {
        pairs.iter().all(|(slot, word)| {
            let parts = self.value_parts(form, slot, word);
            if slot.kind == Kind::Argument || parts.iter().any(|part| part.kind == PartKind::Var) {
                return true;
            }
            let text: String = parts.iter().map(|part| self.script.text(part)).collect();
            read(slot.kind, Filled::Text(text.into()), is_bare(parts)).is_ok()
        })
    }

    fn value_parts<'w>(&'w self, form: &Form, slot: &Slot, word: &'w Word) -> &'w [Part] {
        let named = slot.arity == Arity::Named || (slot.kind == Kind::Argument && form.takes_names());
        if named { self.script.value_parts(word) } else { self.script.parts(word) }
    }

    fn operand(&mut self, slot: &'static Slot, word: &Word) -> Option<Operand> {
        let script = self.script;
        let named = slot.arity == Arity::Named || slot.kind == Kind::Argument;
        let name = script.name(word).filter(|_| named);
        let parts = if name.is_some() { script.value_parts(word) } else { script.parts(word) };
        if let Some(name) = name.filter(|_| parts.is_empty()) {
            self.problems.push(
                Diagnostic::error("mcp::script::no_value", format!("nothing follows `{name}:`"))
                    .at_origin(&self.origin.at(word.span), "the value must be glued to the colon")
                    .help(format!("write {0}:\"\" for an empty text, or {0}:value without a space", name)),
            );
            return None;
        }
        let template = self.template(slot.kind, word, parts)?;
        if slot.kind == Kind::NewVariable && template.literal().is_none() {
            self.problems.push(
                Diagnostic::error("mcp::script::name_not_literal", "the variable to set must be named by itself")
                    .at_origin(&self.origin.at(word.span), "this is a variable's value")
                    .help("write the name without $, such as `set_var id $.id`"),
            );
            return None;
        }
        let name: Option<Arc<str>> = name.map(Into::into);
        let literal = match template.literal() {
            None => None,
            Some(text) if slot.kind == Kind::Argument => {
                let text: Arc<str> = text.as_ref().into();
                let value = if template.bare { ArgumentValue::Bare(text) } else { ArgumentValue::Quoted(text) };
                Some(Datum::Argument(Argument { name: name.clone(), value, span: template.span }))
            }
            Some(text) => match read(slot.kind, Filled::Text(text), template.bare) {
                Ok(datum) => Some(datum),
                Err(error) => {
                    self.problems.push(
                        Diagnostic::error(error.code, error.title)
                            .at_origin(&self.origin.at(word.span), error.label)
                            .help(error.help),
                    );
                    return None;
                }
            },
        };
        Some(Operand { slot, kind: slot.kind, name, template, literal })
    }

    fn template(&mut self, kind: Kind, word: &Word, parts: &[Part]) -> Option<Template> {
        let json = self.is_json(kind, parts);
        let mut place = JsonPlace::default();
        let mut pieces: Vec<Piece> = Vec::with_capacity(parts.len());
        let mut good = true;
        for part in parts {
            let text = self.script.text(part);
            let insert = match (&part.kind, json) {
                (PartKind::Var, true) => place.insert(),
                (PartKind::Var, false) => Some(Insert::Text),
                _ => None,
            };
            let variable = insert.and_then(|insert| {
                let name = &text[1..];
                match self.known.get_key_value(name) {
                    Some((name, _)) => Some(Piece::Variable { name: name.clone(), insert }),
                    None if matches!(part.quote, Quote::Bare | Quote::Double) => {
                        self.unknown_variable(name, part.span);
                        good = false;
                        None
                    }
                    None => None,
                }
            });
            match variable {
                Some(piece) => pieces.push(piece),
                None => {
                    place.advance(text);
                    match pieces.last_mut() {
                        Some(Piece::Text(last)) => *last = format!("{last}{text}").into(),
                        _ => pieces.push(Piece::Text(text.into())),
                    }
                }
            }
        }
        let bare = is_bare(parts);
        let template = Template { pieces, bare, span: word.span };
        if good && kind == Kind::Json && template.literal().is_none() && !is_whole_variable(&template) {
            let sample = sample(&template.pieces);
            if let Err(error) = Raw::parse(&sample) {
                self.problems.push(
                    Diagnostic::error("mcp::word::not_json", "this is not JSON")
                        .at_origin(&self.origin.at(word.span), error.to_string())
                        .help("write it in single quotes, such as '{\"id\": $id, \"name\": \"$name\"}'"),
                );
                good = false;
            }
        }
        good.then_some(template)
    }

    /// True where variables go in as JSON: JSON parameters, and single-quoted words or heredocs that are an object
    /// or array.
    fn is_json(&self, kind: Kind, parts: &[Part]) -> bool {
        if kind == Kind::Json {
            return true;
        }
        let quoted = parts.iter().all(|part| matches!(part.quote, Quote::Single | Quote::Heredoc));
        let opens = parts.first().is_some_and(|part| self.script.text(part).trim_start().starts_with(['{', '[']));
        if !opens || !(quoted || kind == Kind::JsonOrFile) {
            return false;
        }
        let mut place = JsonPlace::default();
        let mut text = String::new();
        for part in parts {
            let raw = self.script.text(part);
            match (&part.kind, place.insert()) {
                (PartKind::Var, Some(Insert::AsJson)) => text.push('0'),
                (PartKind::Var, Some(_)) => {}
                _ => {
                    place.advance(raw);
                    text.push_str(raw);
                }
            }
        }
        Raw::parse(&text).is_ok()
    }

    fn unknown_variable(&mut self, name: &str, span: Span) {
        let near = suggest(name, self.known.keys().map(|known| &**known));
        let mut help = near.map(|near| format!("did you mean `${near}`? ")).unwrap_or_default();
        help.push_str("a line above must set it, or `--var` on the command line; 'single quotes' keep it as text");
        self.problems.push(
            Diagnostic::error("mcp::script::unknown_variable", format!("unknown variable `${name}`"))
                .at_origin(&self.origin.at(span), "nothing sets it before this line")
                .help(help),
        );
    }

    fn same_name_twice(&mut self, operands: &[Operand]) {
        for (at, operand) in operands.iter().enumerate() {
            let Some(name) = &operand.name else { continue };
            if let Some(first) = operands[..at].iter().find(|other| other.name.as_ref() == Some(name)) {
                self.problems.push(
                    Diagnostic::error("mcp::script::same_name", format!("`{name}` is given twice"))
                        .at_origin(&self.origin.at(operand.template.span), "the second one")
                        .and(&self.origin.source, first.template.span, "the first one")
                        .help("leave one of them out"),
                );
            }
        }
    }

    fn wrong_count(&mut self, spec: &'static CommandSpec, name: &Word, words: &[Word]) {
        let forms: Vec<String> = spec.forms.iter().map(|form| form.signature(spec.name)).collect();
        let most = spec.forms.iter().map(|form| limits(form).1).max().unwrap_or(0);
        let missing = spec
            .forms
            .iter()
            .filter(|form| words.len() < limits(form).0)
            .flat_map(|form| form.slots.iter().filter(|slot| slot.arity == Arity::Required).nth(words.len()))
            .map(|slot| slot.name)
            .next();
        let (span, label) = match words.get(most) {
            Some(extra) => (extra.span, "one word too many".to_owned()),
            None => (
                name.span,
                missing.map_or_else(|| "words do not fit".to_owned(), |slot| format!("`{slot}` is missing")),
            ),
        };
        let mut help = format!("it is written `{}`", forms.join("` or `"));
        if words.len() < most && self.comment_follows() {
            help.push_str("; what follows # or // is a comment here: put it in quotes");
        } else if words.len() > most {
            help.push_str("; put text with spaces in quotes");
        }
        self.problems.push(
            Diagnostic::error("mcp::script::wrong_words", format!("`{}` is given {}", spec.name, count(words.len())))
                .at_origin(&self.origin.at(span), label)
                .help(help),
        );
    }

    fn comment_follows(&self) -> bool {
        let line = self.origin.source.position(self.origin.span.end).line;
        let end = self.origin.source.line_span(line).end;
        self.script.comments.iter().any(|comment| comment.start >= self.origin.span.end && comment.start < end)
    }
}

fn count(words: usize) -> String {
    match words {
        0 => "no words".into(),
        1 => "1 word".into(),
        more => format!("{more} words"),
    }
}

/// Fewest and most words of a form, named ones left out of the first.
fn limits(form: &Form) -> (usize, usize) {
    let required = form.slots.iter().filter(|slot| slot.arity == Arity::Required && slot.kind != Kind::Command).count();
    let rest = form.slots.iter().any(|slot| slot.arity == Arity::Rest);
    let all = form.slots.iter().filter(|slot| slot.kind != Kind::Command).count();
    (required, if rest { usize::MAX } else { all })
}

/// Gives each word its parameter, or none where the number of words does not fit.
fn assign<'w>(script: &Script, form: &'static Form, words: &'w [Word]) -> Option<Vec<Pair<'w>>> {
    let slots: Vec<&'static Slot> = form.slots.iter().filter(|slot| slot.kind != Kind::Command).collect();
    let named = |word: &Word| {
        let name = script.name(word)?;
        slots.iter().copied().find(|slot| slot.arity == Arity::Named && slot.name == name)
    };
    let mut pairs = Vec::with_capacity(words.len());
    let mut positional = slots.iter().copied().filter(|slot| slot.arity != Arity::Named);
    let plain: usize = words.iter().filter(|word| named(word).is_none()).count();
    let required = slots.iter().filter(|slot| slot.arity == Arity::Required).count();
    let mut spare = plain.checked_sub(required)?;
    let mut rest: Option<&'static Slot> = None;
    for word in words {
        if let Some(slot) = named(word) {
            pairs.push((slot, word));
            continue;
        }
        let slot = loop {
            if let Some(slot) = rest {
                break slot;
            }
            let slot = positional.next()?;
            match slot.arity {
                Arity::Required | Arity::Named => break slot,
                Arity::Optional if spare > 0 => {
                    spare -= 1;
                    break slot;
                }
                Arity::Optional => {}
                Arity::Rest => rest = Some(slot),
            }
        };
        pairs.push((slot, word));
    }
    // Operands keep the order of the form, so that a command may read them by place.
    let order = |slot: &Slot| slots.iter().position(|known| std::ptr::eq(*known, slot));
    pairs.sort_by_key(|(slot, _)| order(slot));
    Some(pairs)
}

fn is_bare(parts: &[Part]) -> bool {
    parts.iter().all(|part| part.quote == Quote::Bare)
}

fn is_whole_variable(template: &Template) -> bool {
    template.bare && matches!(template.pieces.as_slice(), [Piece::Variable { .. }])
}

/// The text with stand-ins for variables: it is JSON exactly if every filled text is.
fn sample(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => &**text,
            Piece::Variable { insert: Insert::AsJson, .. } => "0",
            Piece::Variable { .. } => "",
        })
        .collect()
}
