//! What is wrong with a text, and where.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The bytes that are meant.
    pub span: Range<usize>,
    /// What was found, and what was expected.
    pub message: String,
    /// What stands beside the marks, if anything.
    pub label: String,
    /// Other places that matter, and why.
    pub others: Vec<(Range<usize>, String)>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake at these bytes.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            span,
            message: message.into(),
            label: String::new(),
            others: Vec::new(),
            help: None,
        }
    }

    /// With this beside the marks.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// With another place.
    pub fn other(mut self, span: Range<usize>, why: impl Into<String>) -> Diagnostic {
        self.others.push((span, why.into()));
        self
    }

    /// With what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// As people read it: the message, the lines of the text with marks below them, what to do.
    pub fn render(&self, name: &str, text: &str) -> String {
        self.render_as(Level::ERROR, name, text)
    }

    /// The same, where nothing is wrong.
    pub fn render_note(&self, name: &str, text: &str) -> String {
        self.render_as(Level::NOTE, name, text)
    }

    fn render_as(&self, level: Level<'_>, name: &str, text: &str) -> String {
        let here = AnnotationKind::Primary.span(self.span.clone());
        let here = match self.label.is_empty() {
            true => here,
            false => here.label(&self.label),
        };
        let others = self.others.iter().map(|(span, why)| {
            let other = AnnotationKind::Context.span(span.clone());
            other.label(why)
        });
        let snippet = Snippet::source(text).path(name).annotation(here);
        let snippet = others.fold(snippet, |snippet, other| snippet.annotation(other));
        let report = level.primary_title(&self.message).element(snippet);
        let report = match &self.help {
            Some(help) => report.element(Level::HELP.message(help)),
            None => report,
        };
        format!("{}\n", Renderer::plain().render(&[report]))
    }
}

/// Line and column (in characters) of a byte, both from 1.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[start..].chars().count() + 1)
}
