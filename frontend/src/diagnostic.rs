//! Diagnostics: a mistake, its position, and advice; as text with the lines it is about.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::Span;

/// A part of the text, and what is to be said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The part.
    pub span: Span,
    /// Its text; nothing if empty.
    pub text: String,
}

/// Something that is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Found and expected.
    pub message: String,
    /// Its position.
    pub at: Label,
    /// Other places that it has to do with.
    pub others: Vec<Label>,
    /// Advice.
    pub help: Option<String>,
}

/// A message and its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The program is wrong.
    Error,
    /// The program is right, and this is said of it.
    Note,
}

impl Diagnostic {
    /// An error, and what is said of its place.
    pub fn new(message: impl Into<String>, span: Span, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        Diagnostic {
            message: message.into(),
            at: Label { span, text },
            others: Vec::new(),
            help: None,
        }
    }

    /// The same, with another place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        self.others.push(Label { span, text });
        self
    }

    /// The same, with what can be done.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Returns its position.
    pub fn place(&self) -> &Span {
        &self.at.span
    }

    /// The message, `file:line:column`, and the lines with carets.
    pub fn render(&self, file: &str, text: &str, severity: Severity) -> String {
        let level = match severity {
            Severity::Error => Level::ERROR,
            Severity::Note => Level::NOTE,
        };
        let labels = || self.others.iter().chain([&self.at]);
        // Only the lines from the first to the last place: a file may be long, its messages many.
        let first = labels().map(|label| label.span.start).min().unwrap_or(0);
        let last = labels().map(|label| label.span.end).max().unwrap_or(0);
        let start = text[..first].rfind('\n').map_or(0, |end| end + 1);
        let end = text[last..].find('\n').map_or(text.len(), |end| last + end);
        let line = 1 + text[..start].matches('\n').count();
        let mut snippet = Snippet::source(&text[start..end])
            .path(file)
            .line_start(line);
        for label in labels() {
            let kind = match std::ptr::eq(label, &self.at) {
                true => AnnotationKind::Primary,
                false => AnnotationKind::Context,
            };
            let span = label.span.start - start..label.span.end - start;
            let said = (!label.text.is_empty()).then_some(label.text.as_str());
            snippet = snippet.annotation(kind.span(span).label(said));
        }
        let mut group = level.primary_title(&self.message).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        Renderer::plain().render(&[group]) + "\n"
    }
}

/// Errors are shown up to this number: who has more mends these first.
pub const MOST_SHOWN: usize = 100;

/// All errors as text.
pub fn render_all(diagnostics: &[Diagnostic], file: &str, text: &str) -> String {
    let shown = &diagnostics[..diagnostics.len().min(MOST_SHOWN)];
    let mut rendered: String = shown
        .iter()
        .map(|diagnostic| diagnostic.render(file, text, Severity::Error) + "\n")
        .collect();
    if diagnostics.len() > shown.len() {
        let more = diagnostics.len() - shown.len();
        rendered.push_str(&format!("error: {file} has {more} more errors\n"));
    }
    rendered
}

/// Line and column (in characters) of a byte, from 1.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = 1 + before.matches('\n').count();
    (line, 1 + before[start..].chars().count())
}
