//! A small reader of ISO/IEC 14977 grammars: it recognises texts and derives random ones.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the right side of a production is made of.
#[derive(Clone, Debug)]
pub enum Expr {
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Optional(Box<Expr>),
    Repeat(Box<Expr>),
    But(Box<Expr>, Box<Expr>),
    Text(String),
    Kind(String),
    Name(String),
}

/// A grammar: its productions by name, and their text.
pub struct Grammar {
    rules: BTreeMap<String, Expr>,
    texts: Vec<String>,
}

/// A production with every run of white space made one space.
pub fn normalized(production: impl AsRef<str>) -> String {
    production.as_ref().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The characters of a kind (`? … ?`).
fn is_kind(kind: &str, c: char) -> bool {
    let is_wide = matches!(
        c,
        '\u{A0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200A}' | '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}'
    );
    let is_invisible = matches!(c, '\u{61C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'
        | '\u{2066}'..='\u{2069}' | '\u{FEFF}');
    match kind {
        "any character" => true,
        "character" => c != '\n',
        "comment character" => c == '\t' || !c.is_control(),
        "bare character" => {
            let is_quote = matches!(c, '"' | '\'' | '\u{2018}'..='\u{201F}');
            !(c == ' ' || is_quote || c.is_control() || is_wide || is_invisible)
        }
        "ASCII letter" => c.is_ascii_alphabetic(),
        "digit" => c.is_ascii_digit(),
        // Close enough to the categories L and N for the characters the tests use.
        "letter" => c.is_alphabetic(),
        "number" => c.is_numeric(),
        "tab" => c == '\t',
        "CR" => c == '\r',
        "LF" => c == '\n',
        "U+FEFF" => c == '\u{FEFF}',
        _ => panic!("the grammar uses ? {kind} ? and the test does not know it"),
    }
}

/// Characters that derivations are made of, tried against a kind.
const ALPHABET: &str =
    "abcxyzEOF019_-.:/\\#$<>{}[](),;=*?!&|~^%@+ \t\"'`\r\n\u{FEFF}éßжש名前ÅΩ²½٣🙂\u{A0}\u{201C}\u{200B}\u{7}\u{301}";

impl Grammar {
    /// Reads a grammar; panics on what is not one.
    pub fn read(text: &str) -> Self {
        let mut reader = Reader { rest: text };
        let (mut rules, mut texts) = (BTreeMap::new(), Vec::new());
        loop {
            reader.space();
            if reader.rest.is_empty() {
                return Self { rules, texts };
            }
            let start = reader.rest;
            let name = reader.name();
            reader.expect("=");
            let expr = reader.choice();
            reader.expect(";");
            texts.push(start[..start.len() - reader.rest.len()].to_owned());
            assert!(rules.insert(name.clone(), expr).is_none(), "{name} is defined twice");
        }
    }

    /// The text of each production.
    pub fn productions(&self) -> impl Iterator<Item = &String> {
        self.texts.iter()
    }

    /// The names that are defined and those that are used.
    pub fn names(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        fn collect(expr: &Expr, names: &mut BTreeSet<String>) {
            match expr {
                Expr::Sequence(list) | Expr::Choice(list) => list.iter().for_each(|expr| collect(expr, names)),
                Expr::Optional(inner) | Expr::Repeat(inner) => collect(inner, names),
                Expr::But(left, right) => {
                    collect(left, names);
                    collect(right, names);
                }
                Expr::Name(name) => {
                    names.insert(name.clone());
                }
                Expr::Text(_) | Expr::Kind(_) => {}
            }
        }
        let mut used = BTreeSet::new();
        self.rules.values().for_each(|expr| collect(expr, &mut used));
        (self.rules.keys().cloned().collect(), used)
    }

    /// Whether all of `text` reads as `rule`.
    pub fn matches(&self, rule: &str, text: &str) -> bool {
        let matcher = Matcher { grammar: self, text, seen: RefCell::default() };
        matcher.named(rule, 0).contains(&text.len())
    }

    fn is_match(&self, expr: &Expr, text: &str) -> bool {
        let matcher = Matcher { grammar: self, text, seen: RefCell::default() };
        matcher.ends(expr, 0).contains(&text.len())
    }
}

/// Finds every place where a text that starts somewhere can end.
struct Matcher<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    seen: RefCell<HashMap<(String, usize), BTreeSet<usize>>>,
}

impl Matcher<'_> {
    fn named(&self, name: &str, at: usize) -> BTreeSet<usize> {
        let key = (name.to_owned(), at);
        if let Some(known) = self.seen.borrow().get(&key) {
            return known.clone();
        }
        let found = self.ends(&self.grammar.rules[name], at);
        self.seen.borrow_mut().insert(key, found.clone());
        found
    }

    fn ends(&self, expr: &Expr, at: usize) -> BTreeSet<usize> {
        match expr {
            Expr::Sequence(list) => list
                .iter()
                .fold(BTreeSet::from([at]), |from, expr| from.into_iter().flat_map(|at| self.ends(expr, at)).collect()),
            Expr::Choice(list) => list.iter().flat_map(|expr| self.ends(expr, at)).collect(),
            Expr::Optional(inner) => {
                let mut ends = self.ends(inner, at);
                ends.insert(at);
                ends
            }
            Expr::Repeat(inner) => {
                let (mut all, mut fresh) = (BTreeSet::from([at]), vec![at]);
                while let Some(at) = fresh.pop() {
                    fresh.extend(self.ends(inner, at).into_iter().filter(|end| all.insert(*end)));
                }
                all
            }
            Expr::But(left, right) => {
                let (left, right) = (self.ends(left, at), self.ends(right, at));
                left.difference(&right).copied().collect()
            }
            Expr::Text(text) => {
                self.text[at..].starts_with(text.as_str()).then(|| at + text.len()).into_iter().collect()
            }
            Expr::Kind(kind) => {
                let first = self.text[at..].chars().next().filter(|c| is_kind(kind, *c));
                first.map(|c| at + c.len_utf8()).into_iter().collect()
            }
            Expr::Name(name) => self.named(name, at),
        }
    }
}

/// A random text of a grammar. The one thing the grammar cannot say, which body belongs to which opener, is done here:
/// it keeps the marks of a line.
pub struct Derivation<'g> {
    grammar: &'g Grammar,
    state: u64,
    marks: Vec<String>,
}

impl<'g> Derivation<'g> {
    /// A derivation that is the same for the same seed.
    pub fn new(grammar: &'g Grammar, seed: u64) -> Self {
        Self { grammar, state: seed, marks: Vec::new() }
    }

    /// A text of `rule`.
    pub fn of(&mut self, rule: &str) -> String {
        self.expr(&Expr::Name(rule.to_owned()))
    }

    fn named(&mut self, name: &str) -> String {
        let grammar = self.grammar;
        self.expr(&grammar.rules[name])
    }

    /// A number below `limit`, by SplitMix64.
    fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Sequence(list) => list.iter().map(|expr| self.expr(expr)).collect(),
            Expr::Choice(list) => {
                let at = self.below(list.len());
                self.expr(&list[at])
            }
            Expr::Optional(inner) => {
                let wanted = if leads_to_bodies(inner) { !self.marks.is_empty() } else { self.below(2) == 0 };
                if wanted { self.expr(inner) } else { String::new() }
            }
            Expr::Repeat(inner) => (0..self.below(4)).map(|_| self.expr(inner)).collect(),
            Expr::But(left, right) => loop {
                let marks = self.marks.clone();
                let text = self.expr(left);
                if !self.grammar.is_match(right, &text) {
                    return text;
                }
                self.marks = marks;
            },
            Expr::Text(text) => text.clone(),
            Expr::Kind(kind) => {
                let fitting: Vec<char> = ALPHABET.chars().filter(|c| is_kind(kind, *c)).collect();
                fitting[self.below(fitting.len())].to_string()
            }
            Expr::Name(name) => match name.as_str() {
                "opener" => {
                    let text = self.named(name);
                    self.marks.push(text.trim_matches(['<', '-', '"', '\'']).to_owned());
                    text
                }
                "bodies" => self.bodies(),
                _ => self.named(name),
            },
        }
    }

    /// A body and its end for each opener of the line.
    fn bodies(&mut self) -> String {
        let mut out = String::new();
        for (at, mark) in std::mem::take(&mut self.marks).into_iter().enumerate() {
            if at > 0 {
                out.push_str(&self.of("newline"));
            }
            let body = loop {
                let body = self.of("body");
                if body.lines().all(|line| line.trim_matches([' ', '\t', '\r']) != mark) {
                    break body;
                }
            };
            out.push_str(&body);
            let end = self.of("end");
            let word = end.trim_matches([' ', '\t']).to_owned();
            out.push_str(&end.replacen(&word, &mark, 1));
        }
        out
    }
}

fn leads_to_bodies(expr: &Expr) -> bool {
    match expr {
        Expr::Sequence(list) => list.iter().any(leads_to_bodies),
        Expr::Name(name) => name == "bodies",
        _ => false,
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let Some(comment) = self.rest.strip_prefix("(*") else {
                return;
            };
            self.rest = &comment[comment.find("*)").expect("a comment is not closed") + 2..];
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        self.rest.strip_prefix(token).map(|rest| self.rest = rest).is_some()
    }

    fn expect(&mut self, token: &str) {
        assert!(self.take(token), "expected {token} before {:.40}", self.rest);
    }

    fn name(&mut self) -> String {
        self.space();
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        assert!(!name.is_empty(), "expected a name before {:.40}", self.rest);
        self.rest = rest;
        name.to_owned()
    }

    fn choice(&mut self) -> Expr {
        let mut list = vec![self.sequence()];
        while self.take("|") {
            list.push(self.sequence());
        }
        if list.len() == 1 { list.remove(0) } else { Expr::Choice(list) }
    }

    fn sequence(&mut self) -> Expr {
        let mut list = vec![self.but()];
        while self.take(",") {
            list.push(self.but());
        }
        if list.len() == 1 { list.remove(0) } else { Expr::Sequence(list) }
    }

    fn but(&mut self) -> Expr {
        let left = self.primary();
        if self.take("- ") { Expr::But(Box::new(left), Box::new(self.primary())) } else { left }
    }

    fn until(&mut self, close: &str) -> String {
        let end = self.rest.find(close).expect("a terminal is not closed");
        let text = self.rest[..end].to_owned();
        self.rest = &self.rest[end + close.len()..];
        text
    }

    fn primary(&mut self) -> Expr {
        if self.take("(") {
            let inner = self.choice();
            self.expect(")");
            return inner;
        }
        if self.take("[") {
            let inner = self.choice();
            self.expect("]");
            return Expr::Optional(Box::new(inner));
        }
        if self.take("{") {
            let inner = self.choice();
            self.expect("}");
            return Expr::Repeat(Box::new(inner));
        }
        if self.take("?") {
            return Expr::Kind(self.until("?").trim().to_owned());
        }
        if self.take("\"") {
            return Expr::Text(self.until("\""));
        }
        if self.take("'") {
            return Expr::Text(self.until("'"));
        }
        Expr::Name(self.name())
    }
}
