//! Report of a run, for people and as JSON.

use std::fmt;

use serde::Serialize;

use mdh_dialect::ir::count;
use mdh_jit::Times;

use crate::error::Error;
use crate::tuned::Taken;
use crate::values::Tensor;

/// The outcome of one `mdh run`: exactly the object that `--json` prints. What could not be
/// measured is `null` there and absent for people; so are numbers that are not finite.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The function that was run.
    pub function: String,
    /// Its arguments, in order.
    pub inputs: Vec<ReportedValue>,
    /// Its results, in order.
    pub outputs: Vec<ReportedValue>,
    /// The time of a run.
    pub time_ms: Milliseconds,
    /// From the parsed program to loaded machine code.
    pub compile_ms: f64,
    /// Billions of the program's own operations in a second of the median run.
    pub gflops: Option<f64>,
    /// Billions of bytes, each buffer counted once, in a second of the median run.
    pub gbps: Option<f64>,
    /// The comparison with the definition, if it was asked for.
    pub check: Option<Check>,
    /// The laws that were tested and hold, if it was asked for.
    pub laws: Option<Laws>,
    /// Findings of the simulator of a GPU, if it was asked for.
    pub simulation: Option<Simulation>,
    /// Kernels that ran on a GPU.
    pub gpu: Option<Kernels>,
    /// The schedule that was tuned, or why there is none, if it was asked for.
    pub tuned: Option<Taken>,
}

/// Kernels of a run on a GPU.
#[derive(Clone, Debug, Serialize)]
pub struct Kernels {
    /// The device's name.
    pub device: String,
    /// Kernels that a run launches.
    pub launches: usize,
    /// Their time, without transfers, in milliseconds: they are launched again on what is in the
    /// device's memory.
    pub time_ms: Milliseconds,
}

impl fmt::Display for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let launches = count(self.launches, "launch").replace("launchs", "launches");
        let Milliseconds {
            min, median, max, ..
        } = self.time_ms;
        writeln!(
            f,
            "  gpu    {}, {launches}: min {min:.4} ms, median {median:.4} ms, max {max:.4} ms",
            self.device
        )
    }
}

/// Findings of the simulator about kernels.
#[derive(Clone, Debug, Serialize)]
pub struct Simulation {
    /// Kernels that were launched.
    pub launches: u64,
    /// Blocks that ran.
    pub blocks: u64,
    /// Mistakes, with the place of each.
    pub findings: Vec<String>,
    /// Costs of accesses of warps, with the place of each.
    pub counters: Vec<String>,
}

impl fmt::Display for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (launches, blocks) = (self.launches, self.blocks);
        let launches = count(launches as usize, "launch").replace("launchs", "launches");
        writeln!(
            f,
            "  sim    {launches}, {}",
            count(blocks as usize, "block")
        )?;
        if self.findings.is_empty() {
            writeln!(f, "         no mistakes found")?;
        }
        for line in self.findings.iter().chain(&self.counters) {
            writeln!(f, "         {line}")?;
        }
        Ok(())
    }
}

impl From<mdh_simulator::report::Report> for Simulation {
    fn from(report: mdh_simulator::report::Report) -> Simulation {
        Simulation {
            launches: report.launches,
            blocks: report.blocks,
            findings: report.mistakes(),
            counters: report.costs(),
        }
    }
}

/// Declared laws of combine operators (associativity, commutativity, neutral elements from the left
/// and from the right) that were tested and hold.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Laws {
    /// Number of operators of the function, built-in ones too.
    pub operators: usize,
    /// Number of laws that they declare, all together.
    pub laws: usize,
    /// On how many random tuples each was tested.
    pub tuples: usize,
    /// True if NaN, infinities and -0.0 were among them.
    pub special: bool,
}

/// An argument or a result.
#[derive(Clone, Debug, Serialize)]
pub struct ReportedValue {
    /// Its name.
    pub name: String,
    /// Its extents; none for a scalar.
    pub shape: Vec<i64>,
    /// Its element type, by MLIR's name.
    pub dtype: String,
    /// The fingerprint of its contents, see [`Tensor::digest`].
    pub digest: String,
}

/// Times of the runs, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Milliseconds {
    /// The fastest.
    pub min: f64,
    /// The middle one.
    pub median: f64,
    /// The slowest.
    pub max: f64,
    /// Number of timed runs.
    pub runs: u32,
}

/// A comparison of all outputs with the definition.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// True if every compared element is within its bound.
    pub passed: bool,
    /// The largest difference.
    pub max_abs_error: f64,
    /// The largest difference relative to the expected value; infinite where that is 0.
    pub max_rel_error: f64,
    /// Number of compared elements.
    pub compared: u64,
    /// Of how many of these the bound tells what is right from zero.
    pub told: u64,
    /// The outputs of which it does not of most elements: results of zeros would pass.
    pub weak: Vec<String>,
    /// True if all of these are of integers, which are zero then and no sums that cancel.
    #[serde(skip)]
    pub weak_integers: bool,
    /// Number of elements of the outputs.
    pub elements: u64,
}

impl ReportedValue {
    /// Returns the report on an array.
    pub fn new(name: &str, tensor: &Tensor) -> ReportedValue {
        ReportedValue {
            name: name.to_string(),
            shape: tensor.shape().to_vec(),
            dtype: tensor.element().to_string(),
            digest: tensor.digest(),
        }
    }
}

impl From<Times> for Milliseconds {
    fn from(times: Times) -> Milliseconds {
        let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        Milliseconds {
            min: ms(times.min),
            median: ms(times.median),
            max: ms(times.max),
            runs: times.runs.get(),
        }
    }
}

/// Returns the text of `--json` where a check fails before there is a result: `{"error": "..."}`.
pub fn failure(error: &Error) -> String {
    serde_json::json!({ "error": error.message() }).to_string() + "\n"
}

impl Report {
    /// One JSON object on one line, with its end.
    pub fn json(&self) -> String {
        // Strings, numbers and lists of them: nothing here can fail to be printed.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Sets both rates from the work of one run: operations, and bytes moved. Nothing done, or too
    /// short for the clock, gives no rate.
    pub fn set_rates(&mut self, operations: f64, bytes: f64) {
        let rate = |amount: f64| {
            let rate = amount / (self.time_ms.median * 1e6);
            (amount > 0.0 && rate.is_finite()).then_some(rate)
        };
        (self.gflops, self.gbps) = (rate(operations), rate(bytes));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.function)?;
        let values = || self.inputs.iter().chain(&self.outputs);
        let names = values().map(|value| value.name.len()).max().unwrap_or(0);
        let types = values()
            .map(|value| value.type_text().len())
            .max()
            .unwrap_or(0);
        for (kind, list) in [("in", &self.inputs), ("out", &self.outputs)] {
            for value in list {
                let (ReportedValue { name, digest, .. }, ty) = (value, value.type_text());
                writeln!(f, "  {kind:<6} {name:<names$}  {ty:<types$}  {digest}")?;
            }
        }
        let Milliseconds {
            min,
            median,
            max,
            runs,
        } = self.time_ms;
        write!(f, "  time   {} ms", Short(median))?;
        if runs > 1 {
            write!(f, " (min {}, max {}, {runs} runs)", Short(min), Short(max))?;
        }
        writeln!(f, ", compiled in {} ms", Short(self.compile_ms))?;
        let rates = [(self.gflops, "GFLOP/s"), (self.gbps, "GB/s")];
        let rates = rates
            .into_iter()
            .filter_map(|(rate, unit)| Some((rate?, unit)));
        let rates: Vec<String> = rates
            .map(|(rate, unit)| format!("{} {unit}", Short(rate)))
            .collect();
        if !rates.is_empty() {
            writeln!(f, "  speed  {}", rates.join(", "))?;
        }
        if let Some(laws) = &self.laws {
            writeln!(f, "  laws   {laws}")?;
        }
        if let Some(gpu) = &self.gpu {
            write!(f, "{gpu}")?;
        }
        if let Some(found) = &self.simulation {
            write!(f, "{found}")?;
        }
        match &self.check {
            Some(check) => writeln!(f, "  check  {check}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Laws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Laws {
            operators,
            laws,
            tuples,
            special,
        } = self;
        let kind = match special {
            true => "random tuples with NaN and infinities",
            false => "random tuples of finite numbers",
        };
        match laws {
            0 => f.write_str("none is declared"),
            _ => write!(
                f,
                "hold: {} of {} tested on {tuples} {kind}",
                count(*laws, "law"),
                count(*operators, "operator"),
            ),
        }
    }
}

impl ReportedValue {
    /// Shape and type as MLIR writes them.
    fn type_text(&self) -> String {
        let extents: String = self
            .shape
            .iter()
            .map(|extent| format!("{extent}x"))
            .collect();
        extents + &self.dtype
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.passed { "passed" } else { "FAILED" };
        let Check {
            compared,
            elements,
            told,
            ..
        } = self;
        write!(f, "{outcome}: {compared} of {elements} elements compared, ")?;
        match self.max_abs_error == 0.0 {
            true => f.write_str("no difference")?,
            false => write!(
                f,
                "largest error {:.3e} absolute, {:.3e} relative",
                self.max_abs_error, self.max_rel_error
            )?,
        }
        write!(f, "; {told} told from zero")?;
        if compared < elements {
            write!(
                f,
                "\n         a sample: '--check all' compares every element"
            )?;
        }
        if !self.weak.is_empty() {
            let names: Vec<String> = self.weak.iter().map(|name| format!("'{name}'")).collect();
            let inputs = match self.weak_integers {
                true => {
                    "for which fewer are zero: products of even integers vanish, those of odd ones do not"
                }
                false => "whose sums do not cancel, such as '--range 0.5..1.5'",
            };
            write!(
                f,
                "\n         weak: zeros would pass as most elements of {}; give inputs {inputs}",
                names.join(", ")
            )?;
        }
        Ok(())
    }
}

/// A number with about four significant digits.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = match self.0 {
            x if x >= 1000.0 => 0,
            x if x >= 100.0 => 1,
            x if x >= 10.0 => 2,
            x if x >= 1.0 => 3,
            _ => 5,
        };
        write!(f, "{:.decimals$}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let value = |name: &str, shape: &[i64], dtype: &str| ReportedValue {
            name: name.to_string(),
            shape: shape.to_vec(),
            dtype: dtype.to_string(),
            digest: "0123456789abcdef".to_string(),
        };
        Report {
            function: "matvec".to_string(),
            inputs: vec![
                value("M", &[8, 5], "f32"),
                value("v", &[5], "f32"),
                value("alpha", &[], "f16"),
            ],
            outputs: vec![value("w", &[8], "f32")],
            time_ms: Milliseconds {
                min: 0.0015,
                median: 0.002,
                max: 12.3456,
                runs: 3,
            },
            compile_ms: 1234.5,
            gflops: None,
            gbps: None,
            check: None,
            laws: None,
            simulation: None,
            gpu: None,
            tuned: None,
        }
    }

    #[test]
    fn for_people() {
        let mut report = report();
        report.set_rates(80.0, 212.0);
        report.check = Some(Check {
            passed: true,
            max_abs_error: 1.2e-7,
            max_rel_error: 3e-8,
            compared: 8,
            told: 8,
            weak: Vec::new(),
            weak_integers: false,
            elements: 8,
        });
        report.laws = Some(Laws {
            operators: 2,
            laws: 5,
            tuples: 1000,
            special: false,
        });
        insta::assert_snapshot!(report);
    }

    #[test]
    fn little_is_known() {
        let mut report = report();
        report.inputs.clear();
        report.time_ms.runs = 1;
        report.check = Some(Check {
            passed: false,
            max_abs_error: 0.0,
            max_rel_error: 0.0,
            compared: 3,
            told: 1,
            weak: vec!["w".to_string()],
            weak_integers: false,
            elements: 8,
        });
        insta::assert_snapshot!(report);
    }

    #[test]
    fn for_programs() {
        let mut report = report();
        report.set_rates(80.0, 212.0);
        report.check = Some(Check {
            passed: false,
            max_abs_error: 0.5,
            max_rel_error: f64::INFINITY,
            compared: 8,
            told: 8,
            weak: Vec::new(),
            weak_integers: false,
            elements: 8,
        });
        insta::assert_snapshot!(report.json());
    }

    #[test]
    fn a_run_of_no_time_has_no_rate() {
        let mut report = report();
        report.time_ms.median = 0.0;
        report.set_rates(80.0, 0.0);
        assert_eq!((report.gflops, report.gbps), (None, None));
    }
}
