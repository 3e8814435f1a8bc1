//! A program that is tuned: its computations, the space of their schedules, and what it is known by.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use mdh_compiler::error::{Error, Result};
use mdh_compiler::formed::Formed;
use mdh_compiler::select::function;
use mdh_compiler::source::Source;
use mdh_compiler::{compile, diagnostics};
use mdh_dialect::ir::{self, Op};
use mdh_dialect::script::{OpenKnob, Plans};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{ops, schedule};
use mdh_passes::tile;
use mdh_schedule::asm::Asm;
use mdh_schedule::gpu::Gpu;
use mdh_schedule::{Knob, Knobs, MIN_GRAIN, Schedule, Schedules, SearchedParts};
use melior::Context;
use sha2::{Digest, Sha256};

use super::digest;
use super::fusion::Fusion;
use super::lowering::FormedText;
use super::nearest_schedule;
use super::options::Fix;
use super::script::{self, KnobScript};
use crate::db::Sizes;
use crate::space::constraint::Constraint;
use crate::space::parameter::Parameter;
use crate::space::value::{Configuration, Value};
use crate::space::{Builder, Space};

/// The rule that values of a script's knobs follow, for messages.
const SCRIPT_RULES: &str = "its schedules keep all rules";

/// A computation whose schedule is searched.
#[derive(Clone)]
pub(crate) struct Searched {
    /// Its position in the function.
    pub(crate) position: usize,
    /// Its key among schedules: its position in the program, or its name if the compiler makes it.
    pub(crate) key: String,
    /// Its first output.
    pub(crate) name: String,
    /// The start of its parameters' names: empty if it is the only one.
    pub(crate) prefix: String,
    pub(crate) space: Arc<dyn Knobs>,
}

/// The schedules of a program's computations.
pub struct SearchedProgram {
    pub(crate) searched: Vec<Searched>,
    /// The loops that some of them may be computed in.
    pub(crate) fusion: Option<Arc<Fusion>>,
    /// Those of the program itself, and others, where the model chooses for other ones.
    pub(crate) formed: Option<(Vec<Searched>, Vec<String>)>,
    /// The parts of dimensions in its spaces.
    pub(crate) parts: SearchedParts,
    /// A script whose open knobs are searched, and the positions of what it gives schedules to.
    pub(crate) script: Option<(Arc<KnobScript>, BTreeSet<usize>)>,
    /// Computations that have a schedule of their own, or no space.
    pub others: Vec<String>,
    /// A digest by which it is known, whatever its sizes are.
    pub digest: String,
    /// The sizes, by the positions of computations.
    pub sizes: Sizes,
    /// The types of the inputs' elements.
    pub types: BTreeSet<String>,
}

impl SearchedProgram {
    /// Reads a program and forms its computations, for a machine, with these parts of dimensions in its spaces.
    pub fn read(
        context: &Context,
        source: &Source,
        entry: Option<&str>,
        asm: &Asm,
        parts: SearchedParts,
    ) -> Result<SearchedProgram> {
        diagnostics::show(context, source);
        let formed = Formed::new(context, source, entry)?;
        let module = compile::operation(&formed.module);
        let function = function(module, &formed.function)?;
        let computations = ir::find_all(function, &[ops::mdh::COMPUTE]);
        SearchedProgram::new(&computations, asm, parts)?.with_chains(&computations, asm)
    }

    /// The same for computations that are formed, as if none were computed in loops of others.
    pub fn new(computations: &[Op], asm: &Asm, parts: SearchedParts) -> Result<SearchedProgram> {
        let failed = |errors: Vec<String>| Error::bug(errors.join("; "));
        let formed = computations.iter().map(|op| digest::Formed::read(*op));
        let formed = formed.collect::<std::result::Result<Vec<_>, _>>();
        let formed = formed.map_err(failed)?;
        let (mut sizes, mut types) = (BTreeMap::new(), BTreeSet::new());
        for (position, formed) in formed.iter().enumerate() {
            let inputs = formed.computation.inputs.iter();
            types.extend(inputs.map(|input| input.element.to_string()));
            let extents = digest::sizes(formed).into_iter();
            sizes.extend(extents.map(|(name, size)| (format!("{position}.{name}"), size)));
        }
        let (searched, others) = searched(computations, asm, parts)?;
        Ok(SearchedProgram {
            fusion: None,
            formed: None,
            parts,
            searched,
            script: None,
            others,
            digest: digest::digest(&formed),
            sizes: Sizes(sizes),
            types,
        })
    }

    /// The same with chains of computations of a module that has come to some stage.
    pub(crate) fn chained(
        mut self,
        computations: &[Op],
        asm: &Asm,
        stage: &'static str,
    ) -> Result<SearchedProgram> {
        let read = computations
            .iter()
            .map(|op| translate::both(*op, Depth::Signatures));
        let read = read.collect::<std::result::Result<Vec<_>, _>>();
        let read = read.map_err(|errors| Error::bug(errors.join("; ")))?;
        let program = FormedText::without_computations(asm, stage);
        self.fusion = Fusion::new(&self.searched, computations, &read, program).map(Arc::new);
        Ok(self)
    }

    /// Checks: chains can be asked about, if there are any. Else all of them would be left out silently.
    pub fn expect_chains(&self) -> Result<()> {
        let checked = self.fusion.iter().try_for_each(|own| own.expect_lowered());
        checked.map_err(Error::bug)
    }

    /// The same program, of which a search decides what a script leaves open, and what it gives no
    /// schedule to. What is measured so is kept for this script.
    pub fn with_script(mut self, script: KnobScript) -> Result<SearchedProgram> {
        // What has schedules of the script has nothing in common with others.
        if let Some((searched, others)) = &self.formed {
            self.searched.clone_from(searched);
            self.others.clone_from(others);
        }
        let plans = script.plans(&script.first());
        let given = |one: &&Searched| plans.as_ref().is_some_and(|p| one.given(p).is_some());
        let covered: BTreeSet<usize> = self
            .searched
            .iter()
            .filter(given)
            .map(|o| o.position)
            .collect();
        let wanted = match &plans {
            Some(Plans::Several(plans)) => plans.len(),
            _ => self.searched.len() + self.others.len(),
        };
        if covered.len() != wanted {
            let names: Vec<String> = self.searched.iter().map(Searched::both_names).collect();
            return Err(Error::input(format!(
                "the script gives schedules to {wanted} computations, of which {} can be searched: \
                 expected those of {}, which have none of their own",
                covered.len(),
                names.join(", ")
            )));
        }
        self.digest = format!(
            "{:x}",
            Sha256::digest(format!("{}\n{}", self.digest, script.text()))
        );
        self.script = Some((Arc::new(script), covered));
        self.fusion = None;
        Ok(self)
    }

    /// The computations whose own parameters are searched.
    fn free(&self) -> impl Iterator<Item = &Searched> {
        self.searched.iter().filter(|one| !self.is_covered(one))
    }

    /// The computations that the script gives schedules to.
    fn covered(&self) -> impl Iterator<Item = &Searched> {
        self.searched.iter().filter(|one| self.is_covered(one))
    }

    fn is_covered(&self, one: &Searched) -> bool {
        let script = self.script.as_ref();
        script.is_some_and(|(_, covered)| covered.contains(&one.position))
    }

    /// The space of all schedules, or of those in which some parameters have one value; constraints
    /// that only a whole schedule can be asked about are filters.
    pub fn space(&self, fixed: &[Fix]) -> Result<Space> {
        self.check_fixed(fixed)?;
        let mut builder = Space::builder();
        for (number, one) in self.free().enumerate() {
            let names = one.names();
            let place = self.fusion.as_ref().map(|own| own.parameter(number, fixed));
            if let Some(place) = place.transpose()?.flatten() {
                builder = builder.parameter(place);
            }
            for (n, knob) in one.space.knobs().iter().enumerate() {
                let parameter = one.parameter(n, knob, &names, fixed)?;
                let chains = self
                    .fusion
                    .as_ref()
                    .and_then(|own| own.constraint(number, n));
                let constraints = chains.into_iter();
                builder = builder.parameter(constraints.fold(parameter, Parameter::constraint));
            }
            builder = builder.filter(one.filter());
        }
        let chains = self.fusion.iter().map(Fusion::filter);
        builder = chains.fold(builder, Builder::filter);
        if let Some((script, _)) = &self.script {
            for knob in &script.knobs {
                let options = knob.options.iter().copied();
                let values = options.filter(|n| Fix::allow(fixed, &knob.name, &n.to_string()));
                let parameter = Parameter::set(&knob.name, values)?;
                builder = builder.parameter(parameter);
            }
            let covered: Vec<Searched> = self.covered().cloned().collect();
            let script = script.clone();
            let names: Vec<String> = script.knobs.iter().map(|knob| knob.name.clone()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let keeps_rules = move |values: &[&Value]| {
                let values: Option<Vec<i64>> = values.iter().map(|value| value.integer()).collect();
                let plans = values.and_then(|values| script.plans(&values));
                plans.is_some_and(|plans| {
                    covered.iter().all(|one| one.objections(&plans).is_empty())
                })
            };
            builder = builder.filter(Constraint::new(SCRIPT_RULES, names, keeps_rules));
        }
        builder.build()
    }

    /// Checks: some values of the script's knobs, if there is one, keep all rules.
    pub fn expect_legal(&self, space: &Space) -> Result<()> {
        let Some((script, _)) = &self.script else {
            return Ok(());
        };
        if space.nearest(&Configuration::from_pairs([])).is_some() {
            return Ok(());
        }
        let first = script.first();
        let plans = script.plans(&first);
        let why: Vec<String> = self
            .covered()
            .flat_map(|one| plans.iter().flat_map(|p| one.objections(p)))
            .collect();
        let names = script.knobs.iter().zip(&first);
        let names: Vec<String> = names
            .map(|(knob, n)| format!("{} = {n}", knob.name))
            .collect();
        Err(Error::input(format!(
            "found no values of the script's knobs whose schedules keep all rules: with {}, {}",
            names.join(", "),
            why.join("; ")
        )))
    }

    /// Checks: each parameter that is fixed is there, is so once, and has that value.
    fn check_fixed(&self, fixed: &[Fix]) -> Result<()> {
        for (n, fix) in fixed.iter().enumerate() {
            let mut earlier = fixed[..n].iter().filter(|first| first.name == fix.name);
            if let Some(first) = earlier.find(|first| first.value != fix.value) {
                let [first, second] =
                    [first, fix].map(|one| one.value.as_deref().unwrap_or_default());
                return Err(Error::usage(format!(
                    "--fix: found two values of {}, '{first}' and '{second}', expected one",
                    fix.name
                )));
            }
        }
        let knobs_of = |entry: &Searched| {
            let values = entry.space.knobs().iter().map(|knob| knob.values.clone());
            entry.names().into_iter().zip(values.collect::<Vec<_>>())
        };
        let mut pairs: Vec<(String, Vec<String>)> = self.free().flat_map(knobs_of).collect();
        if let Some(fusion) = &self.fusion {
            let name = |n: usize| Some((fusion.name(n)?, fusion.values(n)));
            pairs.extend((0..self.searched.len()).filter_map(name));
        }
        for knob in self.script.iter().flat_map(|(script, _)| &script.knobs) {
            let values = knob.options.iter().map(i64::to_string);
            pairs.push((knob.name.clone(), values.collect()));
        }
        for fix in fixed {
            let Some((_, values)) = pairs.iter().find(|(name, _)| *name == fix.name) else {
                let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
                return Err(Error::usage(format!(
                    "--fix: found no parameter '{}', expected one of {}",
                    fix.name,
                    names.join(", ")
                )));
            };
            let value = fix.value.as_deref().unwrap_or_default();
            if !values.iter().any(|known| known == value) {
                return Err(Error::usage(format!(
                    "--fix: found '{value}' for {}, expected one of {}",
                    fix.name,
                    values.join(", ")
                )));
            }
        }
        Ok(())
    }

    /// The configuration whose schedules are the nearest to these, by position; the model's choice
    /// where there is none of a computation.
    pub fn nearest(&self, schedules: &Schedules) -> Option<Configuration> {
        let mut pairs: Vec<(String, Value)> = Vec::new();
        for (n, one) in self.searched.iter().enumerate() {
            let wanted = schedules.computations.get(&one.key);
            let (mut wanted, mut values) = match wanted {
                Some(wanted) => (wanted.clone(), Vec::new()),
                None => (Schedule::default(), one.space.default()?.values),
            };
            let at = wanted.compute_at.take();
            if values.is_empty() {
                values = nearest_schedule::nearest(one, &wanted)?;
            }
            let place = self
                .fusion
                .as_ref()
                .and_then(|own| own.pair(n, at.as_ref(), &mut values));
            pairs.extend(place.into_iter().chain(one.pairs(&values)));
        }
        let pairs = pairs.iter().map(|(name, v)| (name.as_str(), v.clone()));
        Some(Configuration::from_pairs(pairs))
    }

    /// The schedules of a configuration, by position.
    pub fn schedules(&self, configuration: &Configuration) -> Option<Schedules> {
        let plans = self.plans(configuration);
        let schedule = |(n, one): (usize, &Searched)| -> Option<(String, Schedule)> {
            let given = plans.as_ref().and_then(|plans| one.given(plans));
            let chosen = || Some(one.space.schedule(&one.values(configuration)?));
            let schedule = given.or_else(chosen)?;
            let schedule = match &self.fusion {
                Some(fusion) => fusion.placed(n, configuration, schedule)?,
                None => schedule,
            };
            Some((one.key.clone(), schedule))
        };
        let computations = self.searched.iter().enumerate().map(schedule);
        Some(Schedules {
            computations: computations.collect::<Option<_>>()?,
        })
    }

    /// The script's schedules for the values of a configuration; `None` if that has none of them, as the
    /// model's choice has not.
    fn plans(&self, configuration: &Configuration) -> Option<Plans> {
        let (script, _) = self.script.as_ref()?;
        let value = |knob: &OpenKnob| configuration.get(&knob.name)?.integer();
        let values: Option<Vec<i64>> = script.knobs.iter().map(value).collect();
        script.plans(&values?)
    }

    /// Estimated seconds of the schedules of a configuration on a GPU, all together; `None` where one
    /// is not estimated.
    pub fn estimate(&self, configuration: &Configuration, gpu: &Gpu) -> Option<f64> {
        self.estimate_of(&self.schedules(configuration)?, gpu)
    }

    /// The same of schedules by position.
    pub fn estimate_of(&self, schedules: &Schedules, gpu: &Gpu) -> Option<f64> {
        let estimate = |one: &Searched| {
            let schedule = schedules.computations.get(&one.key)?;
            one.space.estimate(schedule, gpu)
        };
        self.searched.iter().map(estimate).sum()
    }

    /// Checks: there is something to search in the program of that name.
    pub fn expect_some(&self, name: &str) -> Result<()> {
        match self.nothing() {
            None => Ok(()),
            Some(why) => Err(Error::input(format!("'{name}': {why}"))),
        }
    }

    /// The reason for which there is nothing to search, if there is nothing.
    pub fn nothing(&self) -> Option<String> {
        let why = match self.others.is_empty() {
            true => "it has no computation".to_string(),
            false => format!(
                "those of {} have schedules, or no space",
                self.others.join(", ")
            ),
        };
        let is_nothing = self.searched.is_empty();
        is_nothing.then(|| format!("there is nothing to tune: {why}"))
    }
}

/// Computations whose schedules are searched, and the names of the others.
pub(crate) fn searched(
    computations: &[Op],
    asm: &Asm,
    parts: SearchedParts,
) -> Result<(Vec<Searched>, Vec<String>)> {
    let failed = |errors: Vec<String>| Error::bug(errors.join("; "));
    let (mut searched, mut others) = (Vec::new(), Vec::new());
    for (position, op) in computations.iter().enumerate() {
        let name = schedule::name(*op);
        let space = match schedule::has_schedule(*op) {
            true => None,
            false => tile::schedule::space_with(*op, asm, MIN_GRAIN, parts).map_err(failed)?,
        };
        match space {
            Some(space) => searched.push(Searched {
                position,
                key: position.to_string(),
                prefix: name.clone(),
                name,
                space: Arc::from(space),
            }),
            None => others.push(name),
        }
    }
    make_prefixes(&mut searched);
    Ok((searched, others))
}

/// Names computations by their outputs, those with the same name by their positions too.
fn make_prefixes(searched: &mut [Searched]) {
    let names: Vec<String> = searched.iter().map(|one| one.prefix.clone()).collect();
    let is_alone = searched.len() == 1;
    for one in searched {
        let same = names.iter().filter(|name| **name == one.prefix).count();
        one.prefix = match (is_alone, same) {
            (true, _) => String::new(),
            (_, 1) => format!("{}/", one.prefix),
            _ => format!("{}#{}/", one.prefix, one.position),
        };
    }
}

impl Searched {
    /// The schedule that a script gives it.
    fn given(&self, plans: &Plans) -> Option<Schedule> {
        script::schedule(plans, self.position, &self.name)
    }

    /// Everything against that.
    fn objections(&self, plans: &Plans) -> Vec<String> {
        let given = self.given(plans);
        given.map_or(Vec::new(), |given| self.space.objections(&given))
    }

    /// The space of its schedules alone.
    pub(crate) fn alone(&self) -> Result<Space> {
        let (mut builder, names) = (Space::builder(), self.names());
        for (n, knob) in self.space.knobs().iter().enumerate() {
            builder = builder.parameter(self.parameter(n, knob, &names, &[])?);
        }
        builder.filter(self.filter()).build()
    }

    /// The condition that only a whole schedule can be asked about.
    fn filter(&self) -> Constraint {
        let (names, one) = (self.names(), self.clone());
        let names = names.iter().map(String::as_str);
        Constraint::new("its schedule keeps all rules", names, move |values| {
            let values = one.positions(values);
            values.is_some_and(|v| one.space.objections(&one.space.schedule(&v)).is_empty())
        })
    }

    fn both_names(&self) -> String {
        format!("{} ({})", self.name, self.position)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let knobs = self.space.knobs().iter();
        knobs
            .map(|knob| format!("{}{}", self.prefix, knob.name))
            .collect()
    }

    /// Values of the knobs with their names.
    pub(crate) fn pairs(&self, values: &[usize]) -> Vec<(String, Value)> {
        let knobs = self.space.knobs().iter().zip(values);
        let named = self.names().into_iter().zip(knobs);
        named
            .map(|(name, (knob, n))| (name, value(&knob.values, *n)))
            .collect()
    }

    /// The positions of a configuration's values among those of the knobs; none if one of them is no
    /// value, or is not there.
    pub(crate) fn values(&self, configuration: &Configuration) -> Option<Vec<usize>> {
        let names = self.names();
        let values: Option<Vec<&Value>> = names.iter().map(|n| configuration.get(n)).collect();
        self.positions(&values?)
    }

    /// The positions of values among those of the knobs; none if one of them is no value.
    fn positions(&self, values: &[&Value]) -> Option<Vec<usize>> {
        let pairs = self.space.knobs().iter().zip(values);
        let at = |(knob, value): (&Knob, &&Value)| {
            let text = value.to_string();
            knob.values.iter().position(|other| *other == text)
        };
        pairs.map(at).collect()
    }

    /// A knob as a parameter of the tuner.
    fn parameter(
        &self,
        n: usize,
        knob: &Knob,
        names: &[String],
        fixed: &[Fix],
    ) -> Result<Parameter> {
        let is_free = |at: &usize| Fix::allow(fixed, &names[n], &knob.values[*at]);
        let values = (0..knob.values.len()).filter(is_free);
        let values = values.map(|at| value(&knob.values, at));
        let parameter = Parameter::set(&names[n], values)?;
        if knob.constraint.is_empty() {
            return Ok(parameter);
        }
        let involved = self.involved(n);
        let positions = self.reader(&involved);
        let depends: Vec<&str> = involved.iter().map(|n| names[*n].as_str()).collect();
        let space = self.space.clone();
        let holds = move |values: &[&Value]| positions(values).is_some_and(|p| space.allows(&p));
        Ok(parameter.constraint(Constraint::new(knob.constraint, depends, holds)))
    }

    /// The knobs that constraints of one depend on, itself the last.
    pub(crate) fn involved(&self, n: usize) -> Vec<usize> {
        let before = self.space.knobs()[n].depends_on.iter().copied();
        before.chain([n]).collect()
    }

    /// Finds the positions of values of these knobs, where the others up to the last of them may be
    /// anything.
    pub(crate) fn reader(
        &self,
        involved: &[usize],
    ) -> impl Fn(&[&Value]) -> Option<Vec<usize>> + Send + Sync + use<> {
        let places = |n: &usize| {
            let values = &self.space.knobs()[*n].values;
            let places = (0..values.len()).map(|at| (value(values, at), at));
            (*n, places.collect())
        };
        let places: Vec<(usize, HashMap<Value, usize>)> = involved.iter().map(places).collect();
        let count = involved.last().map_or(0, |last| last + 1);
        move |values| {
            let mut positions = vec![0; count];
            for ((n, places), value) in places.iter().zip(values) {
                positions[*n] = *places.get(*value)?;
            }
            Some(positions)
        }
    }
}

/// A value of a knob: a number where all are.
fn value(values: &[String], at: usize) -> Value {
    let numbers: Option<Vec<i64>> = values.iter().map(|text| text.parse().ok()).collect();
    match numbers {
        Some(numbers) => Value::from(numbers[at]),
        None => Value::from(values[at].as_str()),
    }
}
