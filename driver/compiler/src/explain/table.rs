//! Explanation for people: a table of all computations, and a few lines about each.
//!
//! ```text
//! matmul: 1 computation
//!
//!   computation  operations     bytes     bound by        cycles         of the limit
//!   0 C          520 thousand   48.0 KiB  moving from L1  16.5 thousand  25 %
//!
//! computation 0: C (matmul.mlir:9)
//!   schedule: chosen by the model for 'cpu'
//!     core {i: 2}, L1 {i: *, k: *}, register {i: 4}, simd {j: 16}
//!     - 2 cores share dimension 'i'
//!     - lanes along 'j' cost 0.06 accesses a point
//!   most to gain: 4.00x by tiles of register that keep 'B', which comes 16 times from L1
//! ```

use std::iter;

use mdh_algebra::amounts::{bytes, count};
use mdh_dialect::ir;

use super::cost::Unit;
use super::loops;
use super::reasons;
use super::summary::{Explanation, Origin, Summary};

/// The most columns of a line.
const WIDTH: usize = 100;
/// The most columns of a name.
const NAME: usize = 20;
/// The reasons that are said.
const REASONS: usize = 2;

impl Explanation {
    /// The table, the line about all statements, and at most six lines for each computation.
    pub fn brief(&self) -> String {
        let lines = self.computations.iter().map(Summary::brief);
        let statements = self
            .statements
            .as_ref()
            .and_then(|text| text.lines().next());
        let statements = statements.map(|line| format!("\n{line}\n"));
        self.head() + &self.table() + &statements.unwrap_or_default() + &lines.collect::<String>()
    }

    /// The number of computations, and the versions of the function.
    pub fn head(&self) -> String {
        let made = self.computations.iter();
        let made = made.filter(|own| own.position.is_none()).count();
        let text = format!(
            "{}: {}",
            self.function,
            ir::count(self.computations.len() - made, "computation")
        );
        let made = match made {
            0 => String::new(),
            made => format!(", and {made} that the compiler made of parts of them"),
        };
        text + &made + "\n" + self.version.as_deref().unwrap_or_default()
    }

    /// The names of the table's columns.
    pub fn columns(&self) -> [String; 6] {
        let mut costs = self.computations.iter().filter_map(|own| own.cost.as_ref());
        let unit = costs.next().map_or(Unit::Cycles, |cost| cost.unit);
        let names = [
            "computation",
            "operations",
            "bytes",
            "bound by",
            unit.name(),
            "of the limit",
        ];
        names.map(str::to_string)
    }

    /// The table: a row for each computation.
    pub fn table(&self) -> String {
        let rows = self.computations.iter().map(Summary::row);
        let rows: Vec<[String; 6]> = iter::once(self.columns()).chain(rows).collect();
        let width = |n: usize| rows.iter().map(|row| row[n].chars().count()).max();
        let widths: Vec<usize> = (0..6).filter_map(width).collect();
        let line = |row: &[String; 6]| {
            let cells = row.iter().zip(&widths);
            let cells: String = cells.map(|(text, &n)| format!("  {text:<n$}")).collect();
            cells.trim_end().to_string() + "\n"
        };
        "\n".to_string() + &rows.iter().map(line).collect::<String>()
    }
}

impl Summary {
    /// Its row of the table.
    pub fn row(&self) -> [String; 6] {
        let position = self.position.map_or("-".to_string(), |n| n.to_string());
        let unknown = || "?".to_string();
        let bound = match (&self.within, &self.cost) {
            (Some(at), _) => format!("in tiles of {}", cut(&at.consumer, NAME - 12)),
            (None, Some(cost)) => cost.bound.clone(),
            (None, None) => unknown(),
        };
        let part = |text: fn(&Summary) -> Option<String>| match self.within {
            Some(_) => String::new(),
            None => text(self).unwrap_or_else(unknown),
        };
        [
            format!("{position} {}", cut(&self.name, NAME)),
            self.work.operations.map_or_else(unknown, count),
            self.work.bytes.map_or_else(unknown, bytes),
            bound,
            part(|own| own.cost.as_ref().map(|cost| cost.unit.text(cost.time))),
            part(|own| own.cost.as_ref().map(|cost| percent(cost.share))),
        ]
    }

    /// The line that names it, and the key by which schedules name it.
    pub fn heading(&self) -> String {
        let place = self.place.iter().map(|place| format!(" ({place})"));
        let outputs = self.work.writes.iter().map(|output| output.name.as_str());
        let names = outputs.collect::<Vec<_>>().join(", ") + &place.collect::<String>();
        let position = match (self.position, &self.key) {
            (Some(position), _) => return format!("\ncomputation {position}: {names}\n"),
            (None, Some(key)) => format!("--schedule knows it by its name '{key}'"),
            (None, None) => "--schedule does not know it".to_string(),
        };
        format!("\ncomputation of the compiler's: {names}\n  position: none, {position}\n")
    }

    /// Lines about its choice, the reasons for it, and the change that would gain most.
    fn brief(&self) -> String {
        let mut lines = vec![format!("  schedule: {}", self.by)];
        if let Some(schedule) = &self.schedule {
            lines.push(format!("    {}", loops::line(schedule)));
        }
        let findings = self.refusal.as_ref().map(|refusal| {
            lines[0] += &format!("; {}", refusal.by);
            refusal.findings.iter().map(String::as_str).collect()
        });
        let reasons = findings.unwrap_or_else(|| reasons::strongest(&self.reasons, REASONS));
        let most = REASONS - usize::from(self.position.is_none());
        let reasons = reasons.into_iter().take(most);
        lines.extend(reasons.map(|reason| format!("    - {reason}")));
        lines.extend(self.gain());
        let lines = lines.iter().enumerate().map(|(n, line)| match n {
            // A path is said in full.
            0 if self.origin == Origin::Given => format!("{line}\n"),
            _ => cut(line, WIDTH) + "\n",
        });
        self.heading() + &lines.collect::<String>()
    }

    /// The line about what would gain most.
    pub fn gain(&self) -> Option<String> {
        if self.within.is_some() {
            return None;
        }
        let Some(cost) = &self.cost else {
            return self.unknown().map(|why| format!("  bound: {why}"));
        };
        Some(match &cost.gain {
            Some(gain) => format!("  most to gain: {:.2}x by {}", gain.factor, gain.change),
            None => format!(
                "  most to gain: nothing by another schedule: {} of the limit",
                percent(cost.share)
            ),
        })
    }

    /// Reason for which no cost is known; none where no schedule has one, or that is why.
    pub fn unknown(&self) -> Option<String> {
        let wanted = self.work.wanted();
        let is_scheduled = self.schedule.is_some() || self.updates.is_some();
        if !is_scheduled || self.refusal.is_some() && wanted.is_empty() {
            return None;
        }
        Some(match self.memories {
            Some(_) => "not known: the machine's rates are not (--device knows GPUs)".to_string(),
            None => format!("not known before the sizes are{wanted}"),
        })
    }
}

/// A share in percent, rounded down: 100 % is the limit itself.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", (100.0 * share + 1e-9).floor())
}

/// A text of at most so many columns: what is longer ends with dots, at a blank if there is one.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let start: String = text.chars().take(width.saturating_sub(2)).collect();
    let end = start.trim_end().rfind(' ').filter(|at| *at > width / 2);
    match end {
        Some(at) => start[..at].to_string() + " ..",
        None => start + "..",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_end_at_a_blank() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("a text that is long", 16), "a text that ..");
        assert_eq!(cut("unbroken_name_of_something", 10), "unbroken..");
        let cut_at = cut("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", 4);
        assert_eq!(cut_at, "\u{e9}\u{e9}..");
    }

    #[test]
    fn only_the_limit_is_all_of_it() {
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.9999), "99 %");
        assert_eq!(percent(0.25), "25 %");
    }
}
