//! A schedule that a search starts from: the nearest one that a space can write down.
//!
//! Spaces make schedules of values, and have no way back. So values are changed one at a time, or two, the
//! later ones mended where they are not allowed any more, as long as the schedule comes nearer to the
//! wanted one; from each value of the first knob, which decides most about the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use mdh_bench::ours;
use mdh_compiler::compile;
use mdh_compiler::error::{Error, Result, say};
use mdh_compiler::select::function;
use mdh_compiler::source::Source;
use mdh_dialect::ir::Op;
use mdh_dialect::{context, schedule};
use mdh_schedule::{Knobs, Schedule, Schedules};
use mdh_tuner::space::Space;
use mdh_tuner::space::value::Configuration;
use serde_json::Value;

use crate::options::Fix;
use crate::program::Program;

/// Time after which the nearest schedule that was found is good enough.
const PATIENCE: Duration = Duration::from_secs(5);

/// The start of a search: the schedules of a file, and the configuration that is the nearest to them.
pub struct Start {
    schedules: Schedules,
    pub nearest: Option<Configuration>,
}

impl Start {
    /// Reads the schedules of a file, which have to be the program's.
    pub fn read(
        program: &Program,
        source: &Source,
        entry: Option<&str>,
        path: &Path,
    ) -> Result<Start> {
        let context = context::program_context();
        let formed = ours::formed(&context, source, entry, Some(path))?;
        let function = function(compile::operation(&formed.module), &formed.function)?;
        let mut schedules = Schedules::default();
        for (position, op) in schedule::computations(function).into_iter().enumerate() {
            let own = schedule::read(op).map_err(|errors| Error::input(errors.join("\n  ")))?;
            let own = own.map(|own| (position.to_string(), own));
            schedules.computations.extend(own);
        }
        add_named(&mut schedules, function)?;
        say_shared(program, &schedules);
        Ok(Start {
            nearest: program.nearest(&schedules),
            schedules,
        })
    }

    /// The same in a space, which may have less. A note says so if it stands for other schedules.
    pub fn configuration(&self, program: &Program, space: &Space) -> Result<Option<Configuration>> {
        let Some(nearest) = &self.nearest else {
            return Ok(None);
        };
        let Some(found) = space.nearest(nearest).map_err(crate::failed)? else {
            let what = "note: no schedule with what --fix says is near to the start schedule\n";
            say(what);
            return Ok(None);
        };
        let found = space.configuration(&found);
        let why = match found == *nearest {
            true => "the search has no parameters for all of",
            false => "--fix changes",
        };
        let made = program.schedules(&found).unwrap_or_default();
        for (position, made) in &made.computations {
            let asked = self.schedules.computations.get(position);
            if asked.is_some_and(|asked| parts(asked) != parts(made)) {
                say(&format!(
                    "note: {why} the start schedule of computation {position}; the search starts \
                     from {made}\n"
                ));
            }
        }
        Ok(Some(found))
    }
}

/// The parameters that are fixed, with the values of a start schedule where none are given.
pub fn fixed(fixed: &[Fix], start: Option<&Start>) -> Result<Vec<Fix>> {
    let of = |fix: &Fix| {
        if fix.value.is_some() {
            return Ok(fix.clone());
        }
        let Some(start) = start else {
            return Err(Error::usage(format!(
                "--fix: found no value for {0}: expected {0}=VALUE, or a start schedule that has one \
                 (--schedule)",
                fix.name
            )));
        };
        let own = start.nearest.as_ref();
        let value = own.and_then(|own| own.get(&fix.name));
        // A name that there is not is said with all that there are.
        Ok(Fix {
            name: fix.name.clone(),
            value: Some(value.map_or(String::new(), ToString::to_string)),
        })
    };
    fixed.iter().map(of).collect()
}

/// Adds the schedules by name, of computations at their positions as others are.
fn add_named(wanted: &mut Schedules, function: Op) -> Result<()> {
    let all = schedule::computations(function);
    let named = schedule::named(function).map_err(|errors| Error::input(errors.join("\n  ")))?;
    for (name, own) in named {
        let position = all.iter().position(|op| schedule::name(*op) == name);
        let key = position.map_or(name, |position| position.to_string());
        wanted.computations.insert(key, own);
    }
    Ok(())
}

/// Says what the search computes once, and a start schedule several times.
fn say_shared(program: &Program, wanted: &Schedules) {
    for one in program.made() {
        if !wanted.computations.is_empty() && !wanted.computations.contains_key(&one.key) {
            say(&format!(
                "note: the start schedule evaluates '{}' in each computation that needs it; the search has a \
                 computation for it, as the model has\n",
                one.name
            ));
        }
    }
}

/// The allowed values whose schedule is the nearest to a wanted one; `None` if the model chooses
/// nothing to begin with.
pub fn nearest(space: &dyn Knobs, wanted: &Schedule) -> Option<Vec<usize>> {
    let search = Nearest {
        space,
        wanted: parts(wanted),
        until: Instant::now() + PATIENCE,
    };
    let default = space.default()?.values;
    let firsts = 0..space.knobs().first().map_or(0, |knob| knob.values.len());
    let starts = firsts.filter_map(|first| changed(space, &default, 0, first));
    let ends = starts.map(|start| search.by_one(start));
    let ends = ends.filter(|(_, end)| space.objections(&space.schedule(end)).is_empty());
    let best = ends.min_by_key(|(distance, _)| *distance);
    let Some(best) = best.map(|best| search.by_two(best)) else {
        return Some(default);
    };
    Some(best)
}

/// The search for values whose schedule is a wanted one.
struct Nearest<'n> {
    space: &'n dyn Knobs,
    wanted: Entries,
    until: Instant,
}

impl Nearest<'_> {
    fn distance(&self, values: &[usize]) -> usize {
        far(&parts(&self.space.schedule(values)), &self.wanted)
    }

    /// Every other value of every knob but the first, with these.
    fn neighbours(&self, values: &[usize]) -> Vec<Vec<usize>> {
        let knobs = self.space.knobs().iter().enumerate().skip(1);
        let all = knobs.flat_map(|(n, knob)| (0..knob.values.len()).map(move |value| (n, value)));
        let others = all.filter(|(n, value)| values[*n] != *value);
        let others = others.filter_map(|(n, value)| changed(self.space, values, n, value));
        others.collect()
    }

    /// The end of a descent in which each step is the best change of one value, and its distance.
    fn by_one(&self, mut values: Vec<usize>) -> (usize, Vec<usize>) {
        let mut distance = self.distance(&values);
        while distance > 0 && Instant::now() < self.until {
            let others = self.neighbours(&values).into_iter();
            let others = others.map(|other| (self.distance(&other), other));
            match others.min_by_key(|(distance, _)| *distance) {
                Some(best) if best.0 < distance => (distance, values) = best,
                _ => break,
            }
        }
        (distance, values)
    }

    /// The same with changes of two values where those of one lead nowhere. What breaks a rule is
    /// passed over.
    fn by_two(&self, (mut distance, mut values): (usize, Vec<usize>)) -> Vec<usize> {
        'better: while distance > 0 {
            for one in self.neighbours(&values) {
                if Instant::now() > self.until {
                    break 'better;
                }
                for two in self.neighbours(&one) {
                    let schedule = self.space.schedule(&two);
                    let own = far(&parts(&schedule), &self.wanted);
                    if own < distance && self.space.objections(&schedule).is_empty() {
                        (distance, values) = (own, two);
                        continue 'better;
                    }
                }
            }
            break;
        }
        values
    }
}

/// Values with another one at a place, and the nearest that are allowed after it; `None` if it is not
/// allowed itself.
fn changed(space: &dyn Knobs, values: &[usize], n: usize, value: usize) -> Option<Vec<usize>> {
    let mut changed = values[..n].to_vec();
    changed.push(value);
    if !space.allows(&changed) {
        return None;
    }
    for (knob, wanted) in space.knobs().iter().zip(values).skip(n + 1) {
        let mut all: Vec<usize> = (0..knob.values.len()).collect();
        all.sort_by_key(|other| other.abs_diff(*wanted));
        changed.push(*wanted);
        let last = changed.len() - 1;
        let found = all.into_iter().find(|other| {
            changed[last] = *other;
            space.allows(&changed)
        });
        changed[last] = found?;
    }
    Some(changed)
}

/// The entries of a schedule as texts: who has many of them in common with another is near to it.
#[derive(PartialEq)]
struct Entries {
    /// Facts, each with its place.
    values: BTreeSet<String>,
    /// Pairs of loops, the outer one first.
    order: BTreeSet<String>,
}

/// The distance of a schedule from a wanted one. An order that is not wanted may be any.
fn far(own: &Entries, wanted: &Entries) -> usize {
    let values = own.values.symmetric_difference(&wanted.values).count();
    let order = match wanted.order.is_empty() {
        true => 0,
        false => own.order.symmetric_difference(&wanted.order).count(),
    };
    // Parts decide more than the order of their loops.
    values * 4 + order
}

fn parts(schedule: &Schedule) -> Entries {
    // Without a machine it is for any, and so for this one.
    let own = Schedule {
        asm: None,
        ..schedule.clone()
    };
    let mut found = Entries {
        values: BTreeSet::new(),
        order: BTreeSet::new(),
    };
    let value = serde_json::to_value(own).unwrap_or_default();
    collect("", &value, &mut found);
    found
}

fn collect(path: &str, value: &Value, found: &mut Entries) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                collect(&format!("{path}/{name}"), value, found);
            }
        }
        // Loops, outermost first.
        Value::Array(all) if all.iter().all(Value::is_string) => {
            for (n, later) in all.iter().enumerate() {
                let before = all[..n].iter();
                found
                    .order
                    .extend(before.map(|earlier| format!("{path}: {earlier} {later}")));
            }
        }
        // Layers; of those with the same name, the first is one and the second another.
        Value::Array(all) => {
            let mut counts: BTreeMap<Vec<&String>, usize> = BTreeMap::new();
            for one in all {
                let names = one.as_object().map(|one| one.keys().collect());
                let count = counts.entry(names.unwrap_or_default()).or_default();
                *count += 1;
                collect(&format!("{path}/{count}"), one, found);
            }
        }
        other => {
            found.values.insert(format!("{path} = {other}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use mdh_schedule::SearchedParts;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    const PROGRAM: &str = "\
func.func @f(%A: tensor<64x48xf32>, %B: tensor<48x80xf32>, %init: tensor<64x80xf32>) -> tensor<64x80xf32> {
  %C = mdh.compute (i = 64, j = 80, k = 48)
    out_view(C = %init[i, j] : tensor<64x80xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : tensor<64x48xf32>, B = %B[k, j] : tensor<48x80xf32>)
  return %C : tensor<64x80xf32>
}
";

    fn program() -> Program {
        mdh_passes::register_all();
        let context = context::program_context();
        let source = Source::from_text("f.mlir", PROGRAM);
        let asm = mdh_machine::this().unwrap();
        Program::read(&context, &source, None, &asm, SearchedParts::Model).unwrap()
    }

    /// Checks: most schedules that the space has made are found again, and what is found is legal.
    #[test]
    fn schedules_lead_back_to_their_values() {
        let program = program();
        let space = program.space(&[]).unwrap();
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut same = 0;
        for _ in 0..20 {
            let configuration = space.configuration(&space.sample(&mut random));
            let wanted = program.fitting(&configuration);
            let Some(wanted) = wanted else { continue };
            let found = program.nearest(&wanted).unwrap();
            assert!(program.fitting(&found).is_some(), "{found}");
            same += usize::from(program.schedules(&found).as_ref() == Some(&wanted));
        }
        assert!(same >= 14, "{same} of 20");
    }

    #[test]
    fn what_is_written_by_hand_has_a_neighbour() {
        let program = program();
        let text = "#mdh.schedule<layers = [core {j: 2}, register {i: 3}, simd {j: 16}]>";
        let wanted = [("0".to_string(), text.parse().unwrap())];
        let wanted = Schedules {
            computations: wanted.into_iter().collect(),
        };
        let found = program.nearest(&wanted).unwrap().to_json();
        assert_eq!(found["block.i"], 3, "{found}");
    }

    /// Checks: what belongs to another program is none of this one's, even where it has all names.
    #[test]
    fn configurations_of_others_do_not_fit() {
        let program = program();
        let own = program.default().unwrap();
        assert!(program.fitting(&own).is_some());
        let with = |name: &str, value: i64| {
            let pairs = own.pairs().filter(|(other, _)| *other != name);
            let pairs = pairs.map(|(other, value)| (other, value.clone()));
            Configuration::of(pairs.chain([(name, value.into())]))
        };
        assert!(program.fitting(&with("block.i", 3)).is_some());
        assert!(program.fitting(&with("block.i", 999)).is_none());
        assert!(program.fitting(&with("block.q", 1)).is_none());
    }

    #[test]
    fn what_is_fixed_is_not_searched() {
        let program = program();
        let fix = |text: &str| text.parse::<Fix>().unwrap();
        let space = program
            .space(&[fix("lanes=none"), fix("block.i=2")])
            .unwrap();
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for _ in 0..10 {
            let json = space.configuration(&space.sample(&mut random)).to_json();
            assert_eq!(
                (&json["lanes"], &json["block.i"]),
                (&"none".into(), &2.into())
            );
        }
        assert!(space.find(&program.default().unwrap()).is_err());
        let wrong = ["cores=2", "lanes=7"].map(|text| program.space(&[fix(text)]).unwrap_err());
        for (error, expected) in wrong
            .iter()
            .zip(["found no parameter 'cores'", "found '7' for lanes"])
        {
            assert!(error.message().contains(expected), "{}", error.message());
        }
    }
}
