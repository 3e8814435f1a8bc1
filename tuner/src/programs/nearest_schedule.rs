//! The nearest configuration of a space to a schedule that is given, from which a search starts.
//!
//! Spaces make schedules of values, and have no way back: so values are moved as long as their schedule comes
//! nearer to the wanted one ([`Space::closest`]).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mdh_bench::ours;
use mdh_compiler::compile;
use mdh_compiler::error::{Error, Result, say};
use mdh_compiler::select::function;
use mdh_compiler::source::Source;
use mdh_dialect::ir::Op;
use mdh_dialect::{context, schedule};
use mdh_schedule::{Schedule, Schedules};
use serde_json::Value;

use super::options::Fix;
use super::program::{Searched, SearchedProgram};
use crate::space::value::Configuration;
use crate::space::{Point, Space};

/// The points that are moved from without finding a nearer schedule: of each valley, and at last.
const VALLEY: usize = 1;
const PATIENCE: usize = 200;

/// The schedules of a file that a search starts from, and the configuration that is the nearest to them.
pub struct StartSchedule {
    schedules: Schedules,
    pub nearest: Option<Configuration>,
}

impl StartSchedule {
    /// Reads the schedules of a file, which have to be the program's.
    pub fn read(
        program: &SearchedProgram,
        source: &Source,
        entry: Option<&str>,
        path: &Path,
    ) -> Result<StartSchedule> {
        let context = context::program_context();
        let formed = ours::formed(&context, source, entry, Some(path))?;
        let function = function(compile::operation(&formed.module), &formed.function)?;
        let mut schedules = Schedules::default();
        for (position, op) in schedule::computations(function).into_iter().enumerate() {
            let written = schedule::read(op).map_err(|errors| Error::input(errors.join("\n  ")))?;
            let written = written.map(|written| (position.to_string(), written));
            schedules.computations.extend(written);
        }
        add_named(&mut schedules, function)?;
        say_shared(program, &schedules);
        Ok(StartSchedule {
            nearest: program.nearest(&schedules),
            schedules,
        })
    }

    /// The same in a space, which may have less. A note says so if it stands for other schedules.
    pub fn configuration(&self, program: &SearchedProgram, space: &Space) -> Option<Configuration> {
        let nearest = self.nearest.as_ref()?;
        let Some(point) = space.nearest(nearest) else {
            say("note: no schedule with what --fix says is near to the start schedule\n");
            return None;
        };
        let configuration = space.configuration(&point);
        let why = match configuration == *nearest {
            true => "the search has no parameters for all of",
            false => "--fix changes",
        };
        let made = program.schedules(&configuration).unwrap_or_default();
        for (position, made) in &made.computations {
            let asked = self.schedules.computations.get(position);
            if asked.is_some_and(|asked| entries(asked) != entries(made)) {
                say(&format!(
                    "note: {why} the start schedule of computation {position}; the search starts \
                     from {made}\n"
                ));
            }
        }
        Some(configuration)
    }
}

/// The parameters that are fixed, with the values of a start schedule where none are given.
pub fn fixed(fixed: &[Fix], start: Option<&StartSchedule>) -> Result<Vec<Fix>> {
    let with_value = |fix: &Fix| {
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
        let nearest = start.nearest.as_ref();
        let value = nearest.and_then(|nearest| nearest.get(&fix.name));
        // A name that there is not is said with all that there are.
        Ok(Fix {
            name: fix.name.clone(),
            value: Some(value.map_or(String::new(), ToString::to_string)),
        })
    };
    fixed.iter().map(with_value).collect()
}

/// Adds the schedules by name, of computations at their positions as others are.
fn add_named(wanted: &mut Schedules, function: Op) -> Result<()> {
    let computations = schedule::computations(function);
    let named = schedule::named(function).map_err(|errors| Error::input(errors.join("\n  ")))?;
    for (name, own) in named {
        let position = computations
            .iter()
            .position(|op| schedule::name(*op) == name);
        let key = position.map_or(name, |position| position.to_string());
        wanted.computations.insert(key, own);
    }
    Ok(())
}

/// Says what the search computes once, and a start schedule several times.
fn say_shared(program: &SearchedProgram, wanted: &Schedules) {
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
pub fn nearest(one: &Searched, wanted: &Schedule) -> Option<Vec<usize>> {
    let default = one.space.default()?.values;
    let space = one.alone().ok()?;
    let values = |point: &Point| one.values(&space.configuration(point));
    let wanted = entries(wanted);
    let distance = |point: &Point| {
        let schedule = values(point).map(|values| one.space.schedule(&values));
        schedule.map_or(usize::MAX, |own| far(&entries(&own), &wanted))
    };
    let pairs = one.pairs(&default);
    let pairs = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()));
    let first = space.repaired_to(&Configuration::from_pairs(pairs));
    // The first parameter decides most about the others: each of its values has a valley of its own.
    let firsts = (0..space.extent(0)).filter_map(|rank| space.moved(&first, 0, rank as f64));
    let mut valleys = Vec::new();
    for start in firsts.chain([first.clone()]) {
        valleys.extend(space.closest(start, VALLEY, &distance));
    }
    let lowest = valleys.into_iter().min_by_key(&distance)?;
    let closest = space.closest(lowest, PATIENCE, &distance);
    Some(closest.and_then(|point| values(&point)).unwrap_or(default))
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

fn entries(schedule: &Schedule) -> Entries {
    // Without a machine it is for any, and so for this one.
    let portable = Schedule {
        asm: None,
        ..schedule.clone()
    };
    let mut entries = Entries {
        values: BTreeSet::new(),
        order: BTreeSet::new(),
    };
    let value = serde_json::to_value(portable).unwrap_or_default();
    collect("", &value, &mut entries);
    entries
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

    fn program() -> SearchedProgram {
        mdh_passes::register_all();
        let context = context::program_context();
        let source = Source::from_text("f.mlir", PROGRAM);
        let asm = mdh_machine::this().unwrap();
        SearchedProgram::read(&context, &source, None, &asm, SearchedParts::Model).unwrap()
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
            let configuration = program.nearest(&wanted).unwrap();
            assert!(program.fitting(&configuration).is_some(), "{configuration}");
            same += usize::from(program.schedules(&configuration).as_ref() == Some(&wanted));
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
        let json = program.nearest(&wanted).unwrap().to_json();
        assert_eq!(json["block.i"], 3, "{json}");
    }

    /// Checks: what belongs to another program is none of this one's, even where it has all names.
    #[test]
    fn configurations_of_others_do_not_fit() {
        let program = program();
        let default = program.default().unwrap();
        assert!(program.fitting(&default).is_some());
        let with = |name: &str, value: i64| {
            let pairs = default.pairs().filter(|(other, _)| *other != name);
            let pairs = pairs.map(|(other, value)| (other, value.clone()));
            Configuration::from_pairs(pairs.chain([(name, value.into())]))
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
        assert!(space.find(&program.default().unwrap()).is_none());
        let wrong = ["cores=2", "lanes=7"].map(|text| program.space(&[fix(text)]).unwrap_err());
        for (error, expected) in wrong
            .iter()
            .zip(["found no parameter 'cores'", "found '7' for lanes"])
        {
            assert!(error.message().contains(expected), "{}", error.message());
        }
    }
}
