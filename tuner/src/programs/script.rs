//! Transform scripts that leave knobs open: the search decides these, and nothing else of the
//! computations that the script gives schedules to.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mdh_compiler::error::{Error, Result};
use mdh_compiler::source::Source;
use mdh_compiler::{compile, diagnostics, schedules};
use mdh_dialect::context;
use mdh_dialect::ir;
use mdh_dialect::script::{self, OpenKnob, Plans};
use mdh_schedule::Schedule;

/// A script with open knobs.
pub struct KnobScript {
    text: String,
    /// Those without a value, in the order of the script.
    pub knobs: Vec<OpenKnob>,
    /// The schedules of values that were asked for.
    read: Mutex<HashMap<Vec<i64>, Option<Plans>>>,
}

impl KnobScript {
    /// The script of a file; `None` if it is none, or leaves nothing open.
    pub fn open(source: &Source) -> Result<Option<KnobScript>> {
        if !schedules::is_script(source) {
            return Ok(None);
        }
        let context = context::program_context();
        diagnostics::show(&context, source);
        let module = source.parse(&context)?;
        let sequence = schedules::sequence(source, compile::operation(&module))?;
        let knobs = script::open_knobs(sequence).map_err(schedules::refused)?;
        if knobs.is_empty() {
            return Ok(None);
        }
        let foreign = script::others(sequence);
        for other in &foreign {
            let what = "does more than change schedules, of which a search of open knobs knows \
                        nothing: expected it in a script of its own, run before";
            ir::error_at(*other, what);
        }
        if !foreign.is_empty() {
            return Err(Error::diagnosed());
        }
        // What is wrong with all values is said here, where it stands.
        let first = knobs
            .iter()
            .map(|knob| (knob.name.clone(), knob.options[0]));
        script::read_with(sequence, &first.collect()).map_err(schedules::refused)?;
        Ok(Some(KnobScript {
            text: source.text().to_string(),
            knobs,
            read: Mutex::default(),
        }))
    }

    /// The script's text, by which its evaluations are kept apart.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first option of each knob.
    pub fn first(&self) -> Vec<i64> {
        self.knobs.iter().map(|knob| knob.options[0]).collect()
    }

    /// The schedules for values of the knobs; `None` if there are none for these.
    pub fn plans(&self, values: &[i64]) -> Option<Plans> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(values) {
            return known.clone();
        }
        let plans = self.read(values);
        read.insert(values.to_vec(), plans.clone());
        plans
    }

    /// A context of its own, since those who ask may be of any thread.
    fn read(&self, values: &[i64]) -> Option<Plans> {
        let context = context::program_context();
        let source = Source::from_text("script", &self.text);
        let module = source.parse(&context).ok()?;
        let sequence = script::main(compile::operation(&module))?;
        let names = self.knobs.iter().map(|knob| knob.name.clone());
        let values = names.zip(values.iter().copied()).collect();
        script::read_with(sequence, &values).ok()
    }
}

/// The schedule that plans have for the computation at a position, with that name.
pub fn schedule(plans: &Plans, position: usize, name: &str) -> Option<Schedule> {
    match plans {
        Plans::One(plan) => Some((**plan).clone()),
        Plans::Several(plans) => {
            let plan = plans.get(&position.to_string()).or_else(|| plans.get(name));
            plan.cloned()
        }
    }
}
