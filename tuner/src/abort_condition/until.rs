//! Conditions as text:
//!
//! ```text
//! condition ::= all (`or` all)*
//! all       ::= one (`and` one)*
//! one       ::= `(` condition `)`
//!             | `time` TIME             so much time has passed: 60s, 2m, 1h or 500ms
//!             | `evaluations` N         so many configurations have been evaluated
//!             | `fraction` N[`%`]       that part of the space has been evaluated
//!             | `cost` COST             a cost of at most this has been found
//!             | `speed-up` N[`x`]       the best is so many times as fast as the start
//!             | `no-better-for` N       so many evaluations have found nothing better
//! ```

use std::time::Duration;

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

/// Reads `60s`, `2m`, `1h` or `500ms`.
///
/// # Errors
/// If it is no time, says what was found and expected.
pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds = number(text).and_then(|(number, unit)| Some(number * scale(unit)? / 1e6));
    // No clock would tell a longer time.
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds < 1e9);
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("found '{text}', expected a time such as 60s, 2m or 500ms"))
}

/// A finite number and the letters behind it.
fn number(text: &str) -> Option<(f64, &str)> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let number = digits
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite());
    Some((number?, &text[digits.len()..]))
}

/// The microseconds of a unit.
fn scale(unit: &str) -> Option<f64> {
    let row = UNITS.iter().find(|(name, _)| *name == unit);
    row.map(|(_, scale)| *scale)
}

/// The cost in milliseconds that a text gives.
fn cost(text: &str) -> Option<f64> {
    let (number, unit) = number(text)?;
    Some(number * scale(unit)? / 1e3).filter(|cost| *cost > 0.0)
}

/// Reads a condition, for costs in milliseconds.
///
/// # Errors
/// If it is none, says what was found at which column, and what was expected.
pub fn parse(text: &str) -> Result<Abort, String> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let condition = reader.any()?;
    match reader.next() {
        "" => Ok(condition),
        found => Err(reader.wrong(found, "'and', 'or' or the end")),
    }
}

/// Words that are read one after the other.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn any(&mut self) -> Result<Abort, String> {
        self.joined("or", Reader::all, Abort::Or)
    }

    fn all(&mut self) -> Result<Abort, String> {
        self.joined("and", Reader::one, Abort::And)
    }

    /// Reads conditions with a word between them.
    fn joined(
        &mut self,
        word: &str,
        read: fn(&mut Self) -> Result<Abort, String>,
        join: fn(Vec<Abort>) -> Abort,
    ) -> Result<Abort, String> {
        let mut parts = vec![read(self)?];
        loop {
            let before = self.at;
            if self.next() != word {
                self.at = before;
                break;
            }
            parts.push(read(self)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => join(parts),
        })
    }

    fn one(&mut self) -> Result<Abort, String> {
        match self.next() {
            "" => Err(self.wrong("", "a condition")),
            "(" => self.nested(),
            name if CONDITIONS.contains(&name) => {
                let value = self.next();
                let (abort, expected) = condition(name, value);
                abort.ok_or_else(|| self.wrong(value, expected))
            }
            found => {
                let help = did_you_mean(found, CONDITIONS);
                let expected = format!("one of {} or '('", CONDITIONS.join(", "));
                let help = help.map_or(String::new(), |help| format!("\n  {help}"));
                Err(self.wrong(found, &expected) + &help)
            }
        }
    }

    fn nested(&mut self) -> Result<Abort, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("(", &format!("at most {DEEPEST} in each other")));
        }
        let condition = self.any()?;
        self.depth -= 1;
        match self.next() {
            ")" => Ok(condition),
            found => Err(self.wrong(found, "')', 'and' or 'or'")),
        }
    }

    /// The next word, which a blank or a parenthesis ends; "" at the end.
    fn next(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        let ends = |c: char| c.is_whitespace() || "()".contains(c);
        let end = match rest.starts_with(['(', ')']) {
            true => 1,
            false => rest.find(ends).unwrap_or(rest.len()),
        };
        self.at += end;
        &rest[..end]
    }

    /// The error about the last word.
    fn wrong(&self, token: &str, expected: &str) -> String {
        let before = self.text[..self.at - token.len()].chars().count();
        let token = match token {
            "" => "the end".to_string(),
            token => format!("'{token}'"),
        };
        format!(
            "found {token} at column {}, expected {expected}:\n  {}\n  {}^",
            before + 1,
            self.text,
            " ".repeat(before)
        )
    }
}

/// The condition of that name with a value, and what is expected of the value.
fn condition(name: &str, value: &str) -> (Option<Abort>, &'static str) {
    let count = || value.parse().ok().filter(|count: &u64| *count > 0);
    let share = |unit: &str, parts: f64| {
        let (number, given) = number(value)?;
        let parts = if given == unit { Some(parts) } else { None };
        let parts = parts.or(given.is_empty().then_some(1.0))?;
        Some(number / parts).filter(|number| *number > 0.0)
    };
    match name {
        "time" => (
            duration(value).ok().map(Abort::Duration),
            "a time such as 60s, 2m or 500ms",
        ),
        "fraction" => (
            share("%", 100.0)
                .filter(|share| *share <= 1.0)
                .map(Abort::Fraction),
            "a part of the space, such as 10% or 0.1",
        ),
        "speed-up" => (
            share("x", 1.0).map(Abort::Speedup),
            "a number above 0, such as 2 or 1.5x",
        ),
        "cost" => (cost(value).map(Abort::Cost), "a time such as 1.5ms or 2s"),
        _ => {
            let join = match name {
                "evaluations" => Abort::Evaluations,
                _ => Abort::NoBetter,
            };
            (count().map(join), "a number of evaluations, from 1 on")
        }
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
cost -1ms => found '-1ms' at column 6, expected a time such as 1.5ms
speed-up -2 => found '-2' at column 10, expected a number above 0
speed-up 2y => found '2y' at column 10, expected a number above 0
speedup 2 => found 'speedup' at column 1, expected one of time, evaluations
speedup 2 => did you mean 'speed-up'?
time 1s time 2s => found 'time' at column 9, expected 'and', 'or' or the end
(time 1s => found the end at column 9, expected ')'
(time 1s time 2s) => found 'time' at column 10, expected ')', 'and' or 'or'
time 1s) => found ')' at column 8, expected 'and', 'or' or the end
time 1s or => found the end at column 11, expected a condition
time 1s || time 2s => found '||' at column 9, expected 'and', 'or' or the end
é => found 'é' at column 1, expected one of time, evaluations
";

    fn read(text: &str) -> Abort {
        parse(text).unwrap()
    }

    fn refused(text: &str) -> String {
        parse(text).unwrap_err()
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
            let said = refused(text.trim_end());
            assert!(said.contains(expected), "{text}: {said}");
        }
        let said = refused("time 1s or cots 2ms");
        assert!(
            said.contains(":\n  time 1s or cots 2ms\n             ^\n  did you mean 'cost'?"),
            "{said}"
        );
        let deep = "(".repeat(10_000);
        assert!(refused(&deep).contains("at most 100 in each other"));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in r"[ ()%a-z0-9.é-]{0,40}", words in proptest::collection::vec(0usize..10, 0..12)) {
            let known = ["time", "1s", "or", "and", "(", ")", "cost", "2ms", "fraction", "10%"];
            let joined: Vec<&str> = words.into_iter().map(|n| known[n]).collect();
            for text in [text, joined.join(" ")] {
                let _ = parse(&text);
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
