//! The variables of a run, by strength of their source.

use std::collections::HashMap;
use std::sync::Arc;

use crate::json::Json;

/// A variable given from outside the script.
#[derive(Clone, Debug)]
pub struct Preset {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Json,
}

/// The variables of a run.
#[derive(Debug, Default)]
pub struct Vars {
    values: HashMap<Arc<str>, Json>,
    unset: HashMap<Arc<str>, u32>,
    outside: Vec<Arc<str>>,
}

impl Vars {
    /// Starts with what was given from outside, weakest first: later ones win.
    pub fn new(presets: &[Preset]) -> Self {
        let mut vars = Self::default();
        for preset in presets {
            let name: Arc<str> = preset.name.as_str().into();
            vars.values.insert(name.clone(), preset.value.clone());
            vars.outside.push(name);
        }
        vars
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.values.get(name)
    }

    /// True where the value came from an option, a file or a profile.
    pub fn is_outside(&self, name: &str) -> bool {
        self.outside.iter().any(|known| &**known == name)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &Arc<str>, value: Json) {
        if !self.unset.is_empty() {
            self.unset.remove(name);
        }
        self.values.insert(name.clone(), value);
    }

    /// Remembers that `line` should have set `name` and did not: an older value counts no more.
    pub fn mark_unset(&mut self, name: &Arc<str>, line: u32) {
        self.values.remove(name);
        self.unset.insert(name.clone(), line);
    }

    /// The line that should have set `name` and did not.
    pub fn unset_by(&self, name: &str) -> Option<u32> {
        self.unset.get(name).copied()
    }
}
