//! Masks a diagnostic before it is cut, drawn or written.

use std::borrow::Cow;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Label};
use crate::sensitive::Masker;
use crate::source::Source;

/// Masks diagnostics, and remembers the last source that it masked: failures come in rows from one script.
#[derive(Debug, Default)]
pub struct DiagnosticMasker {
    last: Option<Remembered>,
}

#[derive(Debug)]
struct Remembered {
    /// How many forms of secrets were known then; `secret` in a script adds some.
    forms: usize,
    source: Arc<Source>,
    masked: Arc<Source>,
}

impl DiagnosticMasker {
    /// The diagnostic without secrets. In sources every byte of one becomes `*`, so that the spans hold.
    pub fn mask<'a>(&mut self, diagnostic: &'a Diagnostic, masker: &Masker) -> Cow<'a, Diagnostic> {
        if masker.is_empty() {
            return Cow::Borrowed(diagnostic);
        }
        let text = |text: &String| masker.mask(text).into_owned();
        let mut masked = diagnostic.clone();
        masked.title = text(&diagnostic.title);
        masked.help = diagnostic.help.as_ref().map(text);
        masked.detail = diagnostic.detail.as_ref().map(text);
        for label in [&mut masked.label, &mut masked.second].into_iter().flatten() {
            *label = Label { source: self.source(&label.source, masker), span: label.span, text: text(&label.text) };
        }
        Cow::Owned(masked)
    }

    fn source(&mut self, source: &Arc<Source>, masker: &Masker) -> Arc<Source> {
        let forms = masker.forms();
        if let Some(last) = &self.last
            && last.forms == forms
            && Arc::ptr_eq(&last.source, source)
        {
            return last.masked.clone();
        }
        let masked = match masker.blank(source.text()) {
            Cow::Borrowed(_) => source.clone(),
            Cow::Owned(text) => Source::new(masker.mask(source.name()), text),
        };
        self.last = Some(Remembered { forms, source: source.clone(), masked: masked.clone() });
        masked
    }
}

#[cfg(test)]
mod tests {
    use super::DiagnosticMasker;
    use crate::diagnostic::Diagnostic;
    use crate::sensitive::Masker;
    use crate::source::{Source, Span};

    #[test]
    fn every_text_is_masked_and_places_hold() {
        let source = Source::new("s.mcp", "echo tök3n\necho tök3n!");
        let diagnostic = Diagnostic::error("mcp::x", "tök3n")
            .at(&source, Span::new(17, 24), "a tök3n")
            .help("tök3n")
            .detail("tök3n");
        let masker = Masker::new();
        let mut diagnostics = DiagnosticMasker::default();
        assert_eq!(diagnostics.mask(&diagnostic, &masker).title, "tök3n");
        masker.add("unrelated").expect("long enough");
        assert_eq!(diagnostics.mask(&diagnostic, &masker).title, "tök3n");
        masker.add("tök3n").expect("long enough");
        let masked = diagnostics.mask(&diagnostic, &masker).into_owned();
        assert_eq!(
            (masked.title.as_str(), masked.help.as_deref(), masked.detail.as_deref()),
            ("***", Some("***"), Some("***"))
        );
        let label = masked.label.as_ref().expect("a label");
        assert_eq!(label.source.text(), "echo ******\necho ******!");
        assert_eq!(masked.place(), diagnostic.place());
    }
}
