//! Spaces as tables: all configurations of a space, with what each has cost.
//!
//! ```text
//! cores.i  lanes  cost
//! 1        "i"    3.25
//! 2        "j"    crash
//! ```
//!
//! Columns are separated by tabs, values are JSON; the last column has a cost or the kind of a failure.

use std::collections::HashSet;
use std::sync::Arc;

use super::Recorded;
use crate::error::{Error, Result};
use crate::measure::{FailureKind, Outcome};
use crate::space::formula::Formula;
use crate::space::parameter::Parameter;
use crate::space::value::{Configuration, Value};
use crate::space::{Builder, Space};

/// The name of the last column.
const COST: &str = "cost";

/// All configurations of a space, with what each has cost.
#[derive(Debug)]
pub struct Table {
    space: Space,
    rows: Vec<(Configuration, Outcome)>,
}

impl Table {
    /// Reads a table. A wrong line is named.
    pub fn read(text: &str) -> Result<Table> {
        let mut lines = text.lines().enumerate();
        let header = lines.next().map(|(_, line)| line.split('\t').collect());
        let mut names: Vec<&str> = header.unwrap_or_default();
        if names.pop() != Some(COST) || names.is_empty() {
            return Err(Error::input(format!(
                "line 1: expected names of parameters, and '{COST}' as the last column"
            )));
        }
        let names: Arc<[String]> = names.into_iter().map(str::to_string).collect();
        let rows = lines.map(|(number, line)| {
            row(&names, line).map_err(|why| Error::input(format!("line {}: {why}", number + 1)))
        });
        let rows: Vec<(Configuration, Outcome)> = rows.collect::<Result<_>>()?;
        let space = listed(&names, rows.iter().map(|(of, _)| of.values()))?.build()?;
        Ok(Table { space, rows })
    }

    /// The space, whose valid configurations are those of the table.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The space with the outcomes of its configurations.
    pub fn recorded(&self) -> Result<Recorded<'_>> {
        Recorded::new(&self.space, self.rows.iter().cloned())
    }
}

/// Reads curves of another tuner, for `Recorded::rated`: JSON with a list for each seed, of the numbers of
/// evaluations (1, 2, ..) after which it had found something better, and these costs.
pub fn improvements(text: &str, evaluations: usize) -> Result<Vec<Vec<f64>>> {
    let all: Vec<Vec<(usize, f64)>> = serde_json::from_str(text)
        .map_err(|error| Error::input(format!("the curves are none: {error}")))?;
    let curve = |steps: Vec<(usize, f64)>| {
        let best = |n: usize| steps.iter().take_while(|(at, _)| *at <= n).last();
        let costs = (1..=evaluations).map(|n| best(n).map_or(f64::INFINITY, |(_, cost)| *cost));
        costs.collect()
    };
    Ok(all.into_iter().map(curve).collect())
}

/// The configuration and the outcome of a line.
fn row(names: &Arc<[String]>, line: &str) -> std::result::Result<(Configuration, Outcome), String> {
    let mut cells: Vec<&str> = line.split('\t').collect();
    let last = cells.pop().unwrap_or_default();
    if cells.len() != names.len() {
        return Err(format!(
            "found {} values, expected {} and the {COST}",
            cells.len(),
            names.len()
        ));
    }
    let value = |cell: &&str| {
        let json = serde_json::from_str(cell).ok();
        json.and_then(|json| Value::of_json(&json)).ok_or_else(|| {
            format!("found {cell}, expected a number, a text in quotes or a boolean")
        })
    };
    let values: Vec<Value> = cells
        .iter()
        .map(value)
        .collect::<std::result::Result<_, _>>()?;
    let cost = last.parse::<f64>().ok().filter(|cost| cost.is_finite());
    let outcome = match (cost, FailureKind::named(last)) {
        (Some(cost), _) => Outcome::of_cost(cost),
        (None, Some(kind)) => Outcome::failed(kind, ""),
        (None, None) => {
            let kinds = FailureKind::ALL.map(FailureKind::name).join(", ");
            return Err(format!(
                "found the {COST} '{last}', expected a number or one of {kinds}"
            ));
        }
    };
    Ok((Configuration::new(names.clone(), values), outcome))
}

/// A space whose valid configurations are these.
fn listed<'v>(
    names: &[String],
    rows: impl Iterator<Item = &'v [Value]> + Clone,
) -> Result<Builder> {
    let mut builder = Space::builder();
    for (place, name) in names.iter().enumerate() {
        let mut seen = HashSet::new();
        let values = rows.clone().map(|row| &row[place]);
        let values = values.filter(|value| seen.insert(*value)).cloned();
        let starts: HashSet<Vec<Value>> = rows.clone().map(|row| row[..=place].to_vec()).collect();
        let is_start = Formula::new(
            "it stands in the table",
            names[..=place].iter().map(String::as_str),
            move |values: &[&Value]| {
                let values: Vec<Value> = values.iter().map(|value| (*value).clone()).collect();
                starts.contains(&values)
            },
        );
        builder = builder.parameter(Parameter::set(name, values)?.constraint(is_start));
    }
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "a\tlanes\tcost\n1\t\"i\"\t3.5\n2\t\"i\"\tcrash\n2\t\"j\"\t1.25\n";

    #[test]
    fn the_rows_of_a_table_are_its_space() {
        let table = Table::read(TABLE).unwrap();
        assert_eq!(table.space().size().to_string(), "3");
        let recorded = table.recorded().unwrap();
        let curve = recorded.replay("exhaustive", 0, 3, None).unwrap();
        assert_eq!(curve, [3.5, 3.5, 1.25]);
    }

    #[test]
    fn curves_are_made_of_improvements() {
        let curves = improvements("[[[2, 5.0], [4, 3.5]], []]", 5).unwrap();
        let none = f64::INFINITY;
        assert_eq!(curves, [vec![none, 5.0, 5.0, 3.5, 3.5], vec![none; 5]]);
        assert!(improvements("[[2]]", 5).is_err());
    }

    #[test]
    fn wrong_lines_are_named() {
        let wrong = |text: &str| Table::read(text).unwrap_err().message;
        assert!(wrong("").starts_with("line 1: expected names"));
        assert!(wrong("a\tb\n1\t2\n").starts_with("line 1: expected names"));
        let two = |line: &str| wrong(&format!("{TABLE}{line}\n"));
        assert_eq!(
            two("1\t2"),
            "line 5: found 1 values, expected 2 and the cost"
        );
        assert!(two("1\tj\t2").starts_with("line 5: found j, expected a number, a text in quotes"));
        assert!(two("1\t\"j\"\tnan").starts_with("line 5: found the cost 'nan', expected"));
    }
}
