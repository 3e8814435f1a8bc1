//! The calls of layouts in a template, found before the template engine reads it.
//!
//! What stands between the parentheses of `A.apply(pid, 2*k + 1, :)` is the target's or the
//! algebra's, not the engine's: its names are variables of the kernel, and `:` is no expression. So
//! each call becomes one by number, `A.apply(0, pid, k)`, which carries out what the engine knows
//! under the names that occur. Everything else is the engine's, at the same line.

use std::collections::HashSet;
use std::ops::Range;

use super::text::Finding;

/// A template as the engine reads it.
#[derive(Debug)]
pub struct Placeholders {
    /// Its text.
    pub text: String,
    /// The calls, by number.
    pub sites: Vec<Site>,
    /// The words that stand outside of what the engine replaces.
    pub words: HashSet<String>,
    /// Replaced text: positions here, and in the file.
    moved: Vec<(Range<usize>, Range<usize>)>,
}

/// One call of a layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Its position, parentheses included.
    pub span: Range<usize>,
    /// The text between the parentheses, and its position.
    pub arguments: Vec<(String, Range<usize>)>,
    /// The names that occur there, in the order in which their values are carried out.
    pub names: Vec<String>,
    /// Destination of its result.
    pub place: CallPosition,
}

/// Destination of a call's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallPosition {
    /// Alone between brackets, commas or the end of a statement.
    Alone,
    /// An operand, possibly beside other operators.
    Operand,
    /// `{{ i, j = A.inv(p) }}`: statements in lines of their own, with this in front.
    Statements {
        /// The variables.
        targets: Vec<String>,
        /// The blanks in front of the line.
        indent: String,
    },
}

/// Methods that take indices or an offset.
const METHODS: [&str; 3] = ["apply", "inv", "mask"];

/// Finds the calls in a template.
pub fn scan(source: &str) -> Result<Placeholders, Finding> {
    let mut placeholders = Placeholders {
        text: String::with_capacity(source.len()),
        sites: vec![],
        words: HashSet::new(),
        moved: vec![],
    };
    let mut at = 0;
    while let Some((start, kind)) = next_tag(source, at) {
        placeholders.plain(&source[at..start]);
        let end = match kind {
            "{#" => source[start..].find("#}").map(|n| start + n + 2),
            _ => end_of_tag(source, start),
        };
        let Some(end) = end else {
            let message = format!("'{kind}' is not closed");
            return Err(Finding::new(start..start + 2, message));
        };
        let tag = start..end;
        at = end;
        match kind {
            "{#" => placeholders.text.push_str(&source[tag]),
            "{%" if inner(source, &tag).trim() == "raw" => {
                let rest = &source[end..];
                at = end + rest.find("endraw").unwrap_or(rest.len());
                at = source[at..].find("%}").map_or(source.len(), |n| at + n + 2);
                placeholders.plain(&source[start..at]);
            }
            _ => placeholders.tag(source, tag)?,
        }
    }
    placeholders.plain(&source[at..]);
    Ok(placeholders)
}

/// Finds the next tag, and its opening.
fn next_tag(source: &str, at: usize) -> Option<(usize, &str)> {
    let opens = |(n, _): &(usize, &str)| {
        let next = source.as_bytes().get(at + n + 1);
        next.is_some_and(|b| b"{%#".contains(b))
    };
    let (n, _) = source[at..].match_indices('{').find(opens)?;
    Some((at + n, &source[at + n..at + n + 2]))
}

/// The end of a tag: quotes and brackets in it may hold anything.
fn end_of_tag(source: &str, start: usize) -> Option<usize> {
    let closing = match &source[start..start + 2] {
        "{{" => "}}",
        _ => "%}",
    };
    let (mut quote, mut depth, mut escaped) = (None, 0, false);
    for (n, c) in source[start + 2..].char_indices() {
        let here = start + 2 + n;
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, _) if depth == 0 && source[here..].starts_with(closing) => {
                return Some(here + 2);
            }
            (None, '{') => depth += 1,
            (None, '}') => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the text in a tag, without the signs that trim blanks.
fn inner<'a>(source: &'a str, tag: &Range<usize>) -> &'a str {
    let inner = &source[tag.start + 2..tag.end - 2];
    inner
        .trim_start_matches(['-', '+'])
        .trim_end_matches(['-', '+'])
}

impl Placeholders {
    /// Text that stays.
    fn plain(&mut self, text: &str) {
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        self.words
            .extend(words.filter(|w| !w.is_empty()).map(str::to_string));
        self.text.push_str(text);
    }

    /// The place in the file of a place in what the engine reads.
    pub fn in_file(&self, place: Range<usize>) -> Range<usize> {
        let offset = |at: usize, end: bool| {
            let before = self.moved.iter().rev().find(|(here, _)| here.start <= at);
            match before {
                None => at,
                Some((here, there)) if at < here.end => {
                    if end {
                        there.end
                    } else {
                        there.start
                    }
                }
                Some((here, there)) => there.end + (at - here.end),
            }
        };
        offset(place.start, false)..offset(place.end, true)
    }

    /// A tag, whose calls are numbered.
    fn tag(&mut self, source: &str, tag: Range<usize>) -> Result<(), Finding> {
        let mut at = tag.start;
        if let Some((targets, skipped)) = assignment(source, &tag) {
            let Some(indent) = own_line(source, &tag) else {
                let message = "expected statements to stand in a line of their own";
                return Err(Finding::new(tag, message));
            };
            self.text.push_str(&source[tag.start..tag.start + 2]);
            let start = self.text.len();
            self.text.push(' ');
            self.moved.push((start..start + 1, tag.start + 2..skipped));
            at = skipped;
            let call = self.calls(source, at..tag.end, &tag)?;
            self.words.extend(targets.iter().cloned());
            let place = CallPosition::Statements { targets, indent };
            match self.sites.last_mut() {
                Some(site) if call => site.place = place,
                _ => {
                    let message = "expected '=' to be followed by a call of a layout";
                    return Err(Finding::new(tag, message));
                }
            }
            return Ok(());
        }
        self.calls(source, at..tag.end, &tag).map(drop)
    }

    /// The rest of a tag. Says whether it is one call and nothing else.
    fn calls(
        &mut self,
        source: &str,
        rest: Range<usize>,
        tag: &Range<usize>,
    ) -> Result<bool, Finding> {
        let (mut at, mut only) = (rest.start, false);
        while let Some((name, open)) = next_call(source, at..rest.end) {
            let Some((arguments, close)) = arguments(source, open, rest.end - 2) else {
                let message = "this parenthesis is not closed";
                return Err(Finding::new(open..open + 1, message));
            };
            let head = receiver(source, rest.start, name);
            only = inner(source, tag).trim().ends_with(&source[head..close])
                && source[rest.start..head]
                    .trim_start_matches(['{', '-', '+'])
                    .trim()
                    .is_empty();
            let place = match only && is_alone(source, tag) {
                true => CallPosition::Alone,
                false => CallPosition::Operand,
            };
            let names = names(&arguments);
            let number = self.sites.len();
            let call = std::iter::once(number.to_string()).chain(names.iter().cloned());
            let call = call.collect::<Vec<_>>().join(", ");
            self.text.push_str(&source[at..=open]);
            let start = self.text.len();
            self.text.push_str(&call);
            // The lines stay where they are.
            let lines = source[open..close].matches('\n').count();
            self.text.push_str(&"\n".repeat(lines));
            self.moved
                .push((start..self.text.len(), open + 1..close - 1));
            at = close - 1;
            let span = head..close;
            self.sites.push(Site {
                span,
                arguments,
                names,
                place,
            });
        }
        self.text.push_str(&source[at..rest.end]);
        Ok(only)
    }
}

/// `i, j =` at the beginning of `{{ i, j = A.inv(p) }}`, and where it ends.
fn assignment(source: &str, tag: &Range<usize>) -> Option<(Vec<String>, usize)> {
    let text = source[tag.clone()].strip_prefix("{{")?;
    let (left, right) = text.split_once('=')?;
    if right.starts_with('=') {
        return None;
    }
    let targets: Vec<&str> = left.split(',').map(str::trim).collect();
    let is_name = |t: &&str| {
        let mut characters = t.chars();
        characters
            .next()
            .is_some_and(|c| c.is_alphabetic() || c == '_')
            && characters.all(|c| c.is_alphanumeric() || c == '_')
    };
    let targets: Option<Vec<String>> = targets
        .into_iter()
        .map(|t| is_name(&t).then(|| t.to_string()))
        .collect();
    Some((targets?, tag.start + 2 + left.len() + 1))
}

/// The blanks in front of a tag that is all of its line.
fn own_line(source: &str, tag: &Range<usize>) -> Option<String> {
    let before = source[..tag.start].rsplit('\n').next().unwrap_or_default();
    let after = source[tag.end..].split('\n').next().unwrap_or_default();
    let blank = before.trim().is_empty() && after.trim().is_empty();
    blank.then(|| before.to_string())
}

/// The next `.apply(`: where the method's name begins, and the parenthesis.
fn next_call(source: &str, within: Range<usize>) -> Option<(usize, usize)> {
    let mut dots = source[within.clone()].match_indices('.');
    dots.find_map(|(n, _)| {
        let start = within.start + n + 1;
        let rest = &source[start..within.end];
        let method = METHODS.iter().find(|method| rest.starts_with(**method))?;
        let open = start + method.len();
        source[open..within.end]
            .starts_with('(')
            .then_some((start, open))
    })
}

/// Finds the start of the expression whose method is called: a name, as far as it is one.
fn receiver(source: &str, from: usize, method: usize) -> usize {
    let before = &source[from..method - 1];
    let name = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    from + name.len()
}

type Arguments = Vec<(String, Range<usize>)>;

/// Returns the texts between parentheses, by commas, and the position behind them.
fn arguments(source: &str, open: usize, limit: usize) -> Option<(Arguments, usize)> {
    let (mut depth, mut quote, mut start) = (0, None, open + 1);
    let mut arguments: Arguments = vec![];
    let argument = |range: Range<usize>| {
        let text = &source[range.clone()];
        let blank = text.len() - text.trim_start().len();
        let text = text.trim();
        let start = range.start + blank;
        (text.to_string(), start..start + text.len())
    };
    for (n, c) in source[open..limit].char_indices() {
        let here = open + n;
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => {
                depth -= 1;
                if depth == 0 {
                    let last = argument(start..here);
                    if !(arguments.is_empty() && last.0.is_empty()) {
                        arguments.push(last);
                    }
                    return Some((arguments, here + 1));
                }
            }
            (None, ',') if depth == 1 => {
                arguments.push(argument(start..here));
                start = here + 1;
            }
            _ => {}
        }
    }
    None
}

/// Words of the engine and of expressions that are no names.
const WORDS: [&str; 16] = [
    "let", "in", "if", "else", "not", "and", "or", "is", "true", "false", "none", "True", "False",
    "None", "min", "max",
];

/// The names that the engine may know: not those behind a dot.
fn names(arguments: &[(String, Range<usize>)]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for (text, _) in arguments {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut at = 0;
        while let Some(n) = text[at..].find(is_word) {
            let start = at + n;
            let rest = &text[start..];
            let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
            at = start + word.len();
            let first = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            let member = text[..start].ends_with('.');
            if first && !member && !WORDS.contains(&word) && !names.iter().any(|n| n == word) {
                names.push(word.to_string());
            }
        }
    }
    names
}

/// Returns whether nothing beside a tag can be an operator: brackets and commas, or a whole right side.
fn is_alone(source: &str, tag: &Range<usize>) -> bool {
    let before = source[..tag.start].trim_end_matches([' ', '\t']);
    let assigned = before.ends_with('=')
        && !["==", "!=", "<=", ">="]
            .iter()
            .any(|op| before.ends_with(op));
    let opened = before.ends_with(['(', '[', ',']) || assigned;
    let after = source[tag.end..].trim_start_matches([' ', '\t']);
    let next = after.trim_start().chars().next();
    let closed = after.starts_with([')', ']', ';', ',']) || after.is_empty();
    let next_line = after.starts_with(['\n', '\r'])
        && next.is_none_or(|c| c.is_alphanumeric() || "_@#\"')];,}{".contains(c));
    opened && (closed || next_line)
}

#[cfg(test)]
#[path = "placeholders_tests.rs"]
mod tests;
