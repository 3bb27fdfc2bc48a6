//! A line's words as its command sees them: read by kind, tied to the Rust type of the parameter.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use regex::Regex;

use super::datum::{Datum, read};
use super::operand::{Filled, Template};
use super::outcome::Fault;
use super::plan::Op;
use super::spec::{Kind, Param};
use super::vars::Vars;
use crate::json::{Json, Number, Raw};
use crate::source::Span;

/// One argument of a tool or prompt.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The name, for `name:value`.
    pub name: Option<Arc<str>>,
    /// The value.
    pub value: ArgumentValue,
    /// The word as written.
    pub span: Span,
}

/// The value of an argument before the schema decides its type.
#[derive(Clone, Debug)]
pub enum ArgumentValue {
    /// Text without quotes.
    Bare(Arc<str>),
    /// Text with a quoted piece.
    Quoted(Arc<str>),
    /// A whole-word variable.
    Value(Json),
}

/// The words of a line, filled and read.
#[derive(Debug)]
pub struct Args<'a> {
    op: &'a Op,
    data: Vec<Cow<'a, Datum>>,
}

impl<'a> Args<'a> {
    /// Fills the words of a line and reads each by its kind.
    ///
    /// # Errors
    /// Where a variable has no value, or a filled word is not what its kind asks for.
    pub fn fill(op: &'a Op, vars: &Vars) -> Result<Self, Fault> {
        let mut data = Vec::with_capacity(op.operands.len());
        for operand in &op.operands {
            data.push(match &operand.literal {
                Some(datum) => Cow::Borrowed(datum),
                None => Cow::Owned(fill_one(operand.kind, &operand.name, &operand.template, vars)?),
            });
        }
        Ok(Self { op, data })
    }

    fn find<T>(&self, param: &Param<T>) -> Option<usize> {
        self.op
            .operands
            .iter()
            .position(|operand| std::ptr::eq(operand.slot.name, param.name) || operand.slot.name == param.name)
    }

    /// The value of a parameter; none where the line leaves it out.
    pub fn get<T: FromDatum>(&self, param: &Param<T>) -> Option<T> {
        self.find(param).and_then(|at| T::from_datum(&self.data[at]))
    }

    /// The value of the word at a place in the line; for prefixes, whose parameters the evaluator reads itself.
    pub fn nth<T: FromDatum>(&self, at: usize) -> Option<T> {
        self.data.get(at).and_then(|datum| T::from_datum(datum))
    }

    /// The value of a required parameter.
    ///
    /// # Errors
    /// Where the form that was chosen does not hold the parameter: our mistake, reported as such.
    pub fn need<T: FromDatum>(&self, param: &Param<T>) -> Result<T, Fault> {
        self.get(param).ok_or_else(|| {
            Fault::script(
                "mcp::internal",
                format!("`{}` was read without its parameter `{}`", self.op.spec.name, param.name),
            )
            .help("this is a mistake in mcp-tester: please report the line")
            .into()
        })
    }

    /// All values of a parameter that takes the words that are left.
    pub fn all<T: FromDatum>(&self, param: &Param<T>) -> Vec<T> {
        self.op
            .operands
            .iter()
            .zip(&self.data)
            .filter(|(operand, _)| operand.slot.name == param.name)
            .filter_map(|(_, datum)| T::from_datum(datum))
            .collect()
    }

    /// Where a parameter's word stands.
    pub fn span<T>(&self, param: &Param<T>) -> Option<Span> {
        self.find(param).map(|at| self.op.operands[at].template.span)
    }
}

fn fill_one(kind: Kind, name: &Option<Arc<str>>, template: &Template, vars: &Vars) -> Result<Datum, Fault> {
    let filled = template.fill(vars)?;
    if kind == Kind::Argument {
        let value = match filled {
            Filled::Value(value) => ArgumentValue::Value(value.clone()),
            Filled::Text(text) if template.bare => ArgumentValue::Bare(text.as_ref().into()),
            Filled::Text(text) => ArgumentValue::Quoted(text.as_ref().into()),
        };
        return Ok(Datum::Argument(Argument { name: name.clone(), value, span: template.span }));
    }
    read(kind, filled, template.bare).map_err(|error| {
        Fault::script(error.code, error.title).at(Some(template.span), error.label).help(error.help).into()
    })
}

/// Rust types that a parameter can be read as.
pub trait FromDatum: Sized {
    /// The value, where the datum is of this type.
    fn from_datum(datum: &Datum) -> Option<Self>;
}

impl FromDatum for Arc<str> {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromDatum for Json {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Value(value) => Some(value.clone()),
            _ => None,
        }
    }
}

impl FromDatum for Raw {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Json(raw) => Some(raw.clone()),
            _ => None,
        }
    }
}

impl FromDatum for Number {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Number(number) => Some(number.clone()),
            _ => None,
        }
    }
}

impl FromDatum for u64 {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Count(count) => Some(*count),
            _ => None,
        }
    }
}

impl FromDatum for Duration {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Duration(duration) => Some(*duration),
            _ => None,
        }
    }
}

impl FromDatum for Arc<Regex> {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Regex(regex) => Some(regex.clone()),
            _ => None,
        }
    }
}

impl FromDatum for Argument {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Argument(argument) => Some(argument.clone()),
            _ => None,
        }
    }
}
