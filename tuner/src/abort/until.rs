//! Conditions as text:
//!
//! ```text
//! condition ::= all (`or` all)*
//! all       ::= one (`and` one)*
//! one       ::= `(` condition `)`
//!             | `time` TIME             so much time has passed: 60s, 2m, 1h or 500ms
//!             | `evaluations` N         so many configurations have been evaluated
//!             | `fraction` N [`%`]      that part of the space has been evaluated
//!             | `cost` COST             a cost of at most this has been found
//!             | `speed-up` N [`x`]      the best is so many times as fast as the start
//!             | `no-better-for` N       so many evaluations have found nothing better
//! ```

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use logos::Logos;

use super::Abort;
use crate::error::did_you_mean;

/// The words that a condition begins with.
const CONDITIONS: [&str; 6] = [
    "time",
    "evaluations",
    "fraction",
    "cost",
    "speed-up",
    "no-better-for",
];

/// Units of time, in microseconds: whole numbers, so that no digit is lost.
const UNITS: [(&str, f64); 5] = [
    ("us", 1.0),
    ("ms", 1e3),
    ("s", 1e6),
    ("m", 6e7),
    ("h", 3.6e9),
];

/// The deepest nesting of parentheses.
const DEEPEST: usize = 100;

/// Unit of the costs of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Costs are numbers without a unit.
    None,
}

impl CostUnit {
    /// Its name, empty if there is none.
    pub fn name(self) -> &'static str {
        match self {
            CostUnit::Seconds => "s",
            CostUnit::Milliseconds => "ms",
            CostUnit::None => "",
        }
    }
}

/// Reads `60s`, `2m`, `1h` or `500ms`.
///
/// # Errors
/// If it is no time, says what was found and expected.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let number = digits.trim().parse().ok();
    let seconds = number.and_then(|number: f64| seconds(number, unit));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("found '{text}', expected a time such as 60s, 2m or 500ms"))
}

/// A time in seconds; none if there is no such unit, or no clock that would tell it.
fn seconds(number: f64, unit: &str) -> Option<f64> {
    let seconds = number * scale(unit)? / 1e6;
    Some(seconds).filter(|seconds| *seconds > 0.0 && *seconds < 1e9)
}

/// The microseconds of a unit.
fn scale(unit: &str) -> Option<f64> {
    let found = UNITS.iter().find(|(name, _)| *name == unit);
    found.map(|(_, scale)| *scale)
}

/// Reads a condition, for costs of that unit.
///
/// # Errors
/// If it is none, says what was found at which column, and what was expected.
pub fn parse(text: &str, unit: CostUnit) -> Result<Abort, String> {
    let mut reader = Reader {
        text,
        words: Vec::new(),
        at: 0,
        depth: 0,
        unit,
    };
    for (word, span) in Word::lexer(text).spanned() {
        let word = word.map_err(|()| reader.wrong(&span, "a condition"))?;
        reader.words.push((word, span));
    }
    let condition = reader.any()?;
    match reader.words.get(reader.at) {
        None => Ok(condition),
        Some((_, span)) => Err(reader.wrong(&span.clone(), "'and', 'or' or the end")),
    }
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n]+")]
enum Word {
    #[regex("[A-Za-z][A-Za-z-]*")]
    Name,
    #[regex(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    #[token("%")]
    Percent,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
}

/// Words that are read one after the other.
struct Reader<'t> {
    text: &'t str,
    words: Vec<(Word, Range<usize>)>,
    at: usize,
    depth: usize,
    unit: CostUnit,
}

impl Reader<'_> {
    fn any(&mut self) -> Result<Abort, String> {
        let first = self.all()?;
        let mut any = vec![first];
        while self.takes("or") {
            any.push(self.all()?);
        }
        Ok(joined(any, Abort::Or))
    }

    fn all(&mut self) -> Result<Abort, String> {
        let first = self.one()?;
        let mut all = vec![first];
        while self.takes("and") {
            all.push(self.one()?);
        }
        Ok(joined(all, Abort::And))
    }

    fn one(&mut self) -> Result<Abort, String> {
        let (word, span) = self.next("a condition")?;
        match (word, &self.text[span.clone()]) {
            (Word::Open, _) => self.nested(&span),
            (Word::Name, "time") => self.time().map(Abort::Duration),
            (Word::Name, "evaluations") => self.count().map(Abort::Evaluations),
            (Word::Name, "fraction") => self.fraction().map(Abort::Fraction),
            (Word::Name, "cost") => self.cost().map(Abort::Cost),
            (Word::Name, "speed-up") => self.speed_up().map(Abort::Speedup),
            (Word::Name, "no-better-for") => self.count().map(Abort::NoBetter),
            (_, found) => {
                let help = did_you_mean(found, CONDITIONS);
                let expected = format!("one of {} or '('", CONDITIONS.join(", "));
                let wrong = self.wrong(&span, expected);
                Err(help.map_or(wrong.clone(), |help| format!("{wrong}\n  {help}")))
            }
        }
    }

    fn nested(&mut self, open: &Range<usize>) -> Result<Abort, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let expected = format!("at most {DEEPEST} in each other");
            return Err(self.wrong(open, expected));
        }
        let condition = self.any()?;
        let (word, span) = self.next("')'")?;
        self.depth -= 1;
        match word {
            Word::Close => Ok(condition),
            _ => Err(self.wrong(&span, "')', 'and' or 'or'")),
        }
    }

    fn time(&mut self) -> Result<Duration, String> {
        let expected = "a time such as 60s, 2m or 500ms";
        let (number, span) = self.number(expected)?;
        let unit = self.unit_behind();
        let seconds = seconds(number, unit.as_deref().unwrap_or_default());
        let seconds = seconds.ok_or_else(|| self.wrong(&self.to_here(&span), expected))?;
        Ok(Duration::from_secs_f64(seconds))
    }

    fn count(&mut self) -> Result<u64, String> {
        let expected = "a number of evaluations, from 1 on";
        let (_, span) = self.number(expected)?;
        let count = self.text[span.clone()].parse::<u64>().ok();
        let count = count.filter(|n| *n > 0);
        count.ok_or_else(|| self.wrong(&span, expected))
    }

    fn fraction(&mut self) -> Result<f64, String> {
        let expected = "a part of the space, such as 10% or 0.1";
        let (number, span) = self.number(expected)?;
        let is_percent = matches!(self.words.get(self.at), Some((Word::Percent, _)));
        self.at += usize::from(is_percent);
        let fraction = if is_percent { number / 100.0 } else { number };
        match fraction > 0.0 && fraction <= 1.0 {
            true => Ok(fraction),
            false => Err(self.wrong(&self.to_here(&span), expected)),
        }
    }

    fn cost(&mut self) -> Result<f64, String> {
        let expected = match self.unit {
            CostUnit::None => "a number without a unit, as the command prints it",
            _ => "a time such as 1.5ms or 2s",
        };
        let (number, span) = self.number(expected)?;
        let given = self.unit_behind();
        let cost = match (&given, scale(self.unit.name())) {
            (None, None) => Some(number),
            (Some(given), Some(own)) => scale(given).map(|given| number * given / own),
            _ => None,
        };
        let is_right =
            |cost: &f64| cost.is_finite() && (self.unit == CostUnit::None || *cost > 0.0);
        cost.filter(is_right)
            .ok_or_else(|| self.wrong(&self.to_here(&span), expected))
    }

    fn speed_up(&mut self) -> Result<f64, String> {
        let expected = "a number above 0, such as 2 or 1.5x";
        let (number, span) = self.number(expected)?;
        let unit = self.unit_behind();
        match number > 0.0 && number.is_finite() && unit.is_none_or(|unit| unit == "x") {
            true => Ok(number),
            false => Err(self.wrong(&self.to_here(&span), expected)),
        }
    }

    fn number(&mut self, expected: &str) -> Result<(f64, Range<usize>), String> {
        let (word, span) = self.next(expected)?;
        let number = self.text[span.clone()].parse::<f64>().ok();
        let number = number.filter(|_| word == Word::Number);
        let number = number.ok_or_else(|| self.wrong(&span, expected))?;
        Ok((number, span))
    }

    /// The name that follows the last word without a blank.
    fn unit_behind(&mut self) -> Option<String> {
        let before = self.words[self.at - 1].1.end;
        let (word, span) = self.words.get(self.at)?;
        let is_unit = *word == Word::Name && span.start == before;
        let unit = is_unit.then(|| self.text[span.clone()].to_string())?;
        self.at += 1;
        Some(unit)
    }

    /// Goes past a word, if it is the next.
    fn takes(&mut self, name: &str) -> bool {
        let next = self.words.get(self.at);
        let is_it = next.is_some_and(|(_, span)| &self.text[span.clone()] == name);
        self.at += usize::from(is_it);
        is_it
    }

    fn next(&mut self, expected: &str) -> Result<(Word, Range<usize>), String> {
        let end = self.text.len()..self.text.len();
        let next = self.words.get(self.at).cloned();
        let next = next.ok_or_else(|| self.wrong(&end, expected))?;
        self.at += 1;
        Ok(next)
    }

    /// From there to the end of the last word.
    fn to_here(&self, from: &Range<usize>) -> Range<usize> {
        from.start..self.words[self.at - 1].1.end
    }

    fn wrong(&self, span: &Range<usize>, expected: impl fmt::Display) -> String {
        let found = match &self.text[span.clone()] {
            "" => "the end".to_string(),
            found => format!("'{found}'"),
        };
        let before = self.text[..span.start].chars().count();
        format!(
            "found {found} at column {}, expected {expected}:\n  {}\n  {}^",
            before + 1,
            self.text,
            " ".repeat(before)
        )
    }
}

fn joined(mut parts: Vec<Abort>, join: impl Fn(Vec<Abort>) -> Abort) -> Abort {
    match parts.len() {
        1 => parts.remove(0),
        _ => join(parts),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts that are no condition, and what is said of them.
    const WRONG: &str = "
=> found the end at column 1, expected a condition
evaluations => found the end at column 12, expected a number of evaluations
evaluations 0 => found '0' at column 13, expected a number of evaluations
evaluations 1.5 => found '1.5' at column 13, expected a number of evaluations
evaluations -1 => found '-1' at column 13, expected a number of evaluations
no-better-for 99999999999999999999 => expected a number of evaluations
time 60 => found '60' at column 6, expected a time such as 60s
time 60 s => found '60' at column 6, expected a time such as 60s
time 5d => found '5d' at column 6, expected a time such as 60s
fraction 110% => found '110%' at column 10, expected a part of the space
fraction 10 => found '10' at column 10, expected a part of the space
cost 5 => found '5' at column 6, expected a time such as 1.5ms
cost 5kg => found '5kg' at column 6, expected a time such as 1.5ms
speed-up -2 => found '-2' at column 10, expected a number above 0
speed-up 2y => found '2y' at column 10, expected a number above 0
speedup 2 => found 'speedup' at column 1, expected one of time, evaluations
speedup 2 => did you mean 'speed-up'?
time 1s time 2s => found 'time' at column 9, expected 'and', 'or' or the end
(time 1s => found the end at column 9, expected ')'
(time 1s time 2s) => found 'time' at column 10, expected ')', 'and' or 'or'
time 1s) => found ')' at column 8, expected 'and', 'or' or the end
time 1s or => found the end at column 11, expected a condition
time 1s || time 2s => found '|' at column 9, expected a condition
é => found 'é' at column 1, expected a condition
";

    fn read(text: &str) -> Abort {
        parse(text, CostUnit::Milliseconds).unwrap()
    }

    fn refused(text: &str, unit: CostUnit) -> String {
        parse(text, unit).unwrap_err()
    }

    #[test]
    fn all_conditions() {
        for (text, expected) in [
            ("time 1.5m", Abort::Duration(Duration::from_secs(90))),
            ("evaluations 200", Abort::Evaluations(200)),
            ("fraction 10%", Abort::Fraction(0.1)),
            ("fraction 0.25", Abort::Fraction(0.25)),
            ("cost 1.5ms", Abort::Cost(1.5)),
            ("cost 2e-3s", Abort::Cost(2.0)),
            ("cost 500us", Abort::Cost(0.5)),
            ("speed-up 2", Abort::Speedup(2.0)),
            ("speed-up 1.5x", Abort::Speedup(1.5)),
            ("no-better-for 50", Abort::NoBetter(50)),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let of = |text: &str, unit| parse(text, unit);
        assert_eq!(of("cost 2ms", CostUnit::Seconds), Ok(Abort::Cost(0.002)));
        assert_eq!(of("cost -3.5", CostUnit::None), Ok(Abort::Cost(-3.5)));
    }

    /// Checks: `and` binds closer than `or`, and parentheses closer than both.
    #[test]
    fn conditions_are_joined() {
        let [a, b, c] = [1, 2, 3].map(Abort::Evaluations);
        let text = "evaluations 1 or evaluations 2 and evaluations 3";
        let both = Abort::And(vec![b.clone(), c.clone()]);
        assert_eq!(read(text), Abort::Or(vec![a.clone(), both]));
        let text = "(evaluations 1 or evaluations 2)and evaluations 3";
        let either = Abort::Or(vec![a.clone(), b.clone()]);
        assert_eq!(read(text), Abort::And(vec![either, c.clone()]));
        let text = "((evaluations 1)) or evaluations 2 or evaluations 3";
        assert_eq!(read(text), Abort::Or(vec![a, b, c]));
        let text = "fraction 10% or (cost 1.5ms and no-better-for 50)";
        let said = "(10 % of the space was evaluated or (a cost of 1.5 was reached and \
                    50 evaluations found nothing better))";
        assert_eq!(read(text).to_string(), said);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for line in WRONG.trim_start_matches('\n').lines() {
            let (text, expected) = line.split_once("=> ").unwrap();
            let said = refused(text.trim_end(), CostUnit::Milliseconds);
            assert!(said.contains(expected), "{text}: {said}");
        }
        let said = refused("cost 1.5ms", CostUnit::None);
        assert!(said.contains("expected a number without a unit"), "{said}");
        let said = refused("time 1s or cots 2ms", CostUnit::Milliseconds);
        assert!(
            said.contains(":\n  time 1s or cots 2ms\n             ^\n  did you mean 'cost'?"),
            "{said}"
        );
        let deep = "(".repeat(10_000);
        assert!(refused(&deep, CostUnit::None).contains("at most 100 in each other"));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in r"[ ()%a-z0-9.é-]{0,40}", words in proptest::collection::vec(0usize..10, 0..12)) {
            let known = ["time", "1s", "or", "and", "(", ")", "cost", "2ms", "fraction", "10%"];
            let joined: Vec<&str> = words.into_iter().map(|n| known[n]).collect();
            for text in [text, joined.join(" ")] {
                let _ = parse(&text, CostUnit::Milliseconds);
            }
        }
    }

    #[test]
    fn times() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        for wrong in ["", "60", "-1s", "0s", "s", "1d", "1e99h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
