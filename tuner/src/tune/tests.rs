//! Tests of the loop, with costs that are computed and a clock that is moved by hand.

use std::cell::Cell;
use std::rc::Rc;

use super::*;
use crate::measure::{Computed, Cost};
use crate::space::Builder;
use crate::space::constraint::Constraint;
use crate::space::parameter::Parameter;
use crate::technique::{NAMES, named};

mod confirm;
mod resumed;
mod sessions;

use resumed::resumed;

/// A clock that the measuring side moves.
#[derive(Clone, Default)]
struct Fake(Rc<Cell<u64>>);

impl Clock for Fake {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.get())
    }
}

/// A search of a space of 64 points, `a` and `b` from 1 to 8, of which (6, 3) has the least cost. Each evaluation takes
/// a second. At the number `interrupt_at` the user interrupts.
struct Setup<'s> {
    space: Space,
    cost: &'s dyn Fn(&Configuration) -> Outcome,
    abort: Abort,
    seeds: Vec<Seed>,
    resumed: Vec<Resumed>,
    technique: &'s str,
    interrupt_at: Option<usize>,
    batch: usize,
    confirmations: usize,
    pace: Option<Duration>,
}

/// Parameters `a` and `b`, from 1 to 8.
fn space() -> Builder {
    let parameter = |name| Parameter::set(name, 1..=8).unwrap();
    let builder = Space::builder();
    builder.parameter(parameter("a")).parameter(parameter("b"))
}

/// The same with a filter over `a` and `b`.
fn filtered(holds: fn([i64; 2]) -> bool) -> Space {
    let filter = Constraint::of_integers("filter", ["a", "b"], holds);
    space().filter(filter).build().unwrap()
}

fn pair(a: i64, b: i64) -> Configuration {
    Configuration::from_pairs([("a", a.into()), ("b", b.into())])
}

fn number(configuration: &Configuration, name: &str) -> f64 {
    configuration.get(name).unwrap().integer().unwrap() as f64
}

fn bowl(configuration: &Configuration) -> f64 {
    let (a, b) = (number(configuration, "a"), number(configuration, "b"));
    1.0 + (a - 6.0).powi(2) + (b - 3.0).powi(2)
}

fn measured(configuration: &Configuration) -> Outcome {
    Outcome::of_cost(bowl(configuration))
}

impl<'s> Setup<'s> {
    /// One that tries every point, from (8, 8).
    fn of_every_point(cost: &'s dyn Fn(&Configuration) -> Outcome) -> Self {
        Setup {
            cost,
            abort: Abort::Or(Vec::new()),
            technique: "exhaustive",
            seeds: vec![Seed {
                role: Role::Default,
                configuration: pair(8, 8),
            }],
            ..Setup::default()
        }
    }
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Setup {
            space: space().build().unwrap(),
            cost: &measured,
            abort: Abort::Evaluations(40),
            seeds: Vec::new(),
            resumed: Vec::new(),
            technique: "auto",
            interrupt_at: None,
            batch: 1,
            confirmations: 0,
            pace: None,
        }
    }
}

impl Tuned {
    /// A search of these evaluations that has ended after one, without a best.
    pub(crate) fn of_evaluations(evaluations: Vec<Evaluation>) -> Tuned {
        Tuned {
            evaluations,
            resumed: 0,
            best: None,
            default: None,
            paces: Vec::new(),
            stop: StopReason::Reached(Abort::Evaluations(1)),
            rejections: None,
            elapsed: Duration::ZERO,
            confirmation: Duration::ZERO,
        }
    }
}

/// Keeps evaluations until there is no more place.
struct Places(usize, Vec<Evaluation>);

impl Keep for Places {
    fn keep(&mut self, evaluation: &Evaluation) -> Result<()> {
        if self.1.len() >= self.0 {
            return Err(Error::resources("no space left"));
        }
        self.1.push(evaluation.clone());
        Ok(())
    }
}

impl Setup<'_> {
    fn run(self) -> Result<(Tuned, Vec<String>)> {
        self.run_with(&mut (), &mut ())
    }

    fn run_with(self, keep: &mut dyn Keep, watch: &mut dyn Watch) -> Result<(Tuned, Vec<String>)> {
        let (clock, interrupted) = (Fake::default(), AtomicBool::new(false));
        let mut measured = Vec::new();
        let mut measure = Computed::new(self.batch, |configuration| {
            clock.0.set(clock.0.get() + 1);
            measured.push(configuration.to_string());
            if self.interrupt_at == Some(measured.len()) {
                interrupted.store(true, Ordering::Relaxed);
            }
            (self.cost)(configuration)
        });
        let tuned = self.run_by(&mut measure, (&clock, &interrupted), keep, watch)?;
        Ok((tuned, measured))
    }

    /// The search as it is measured by another side, whose clock and interrupt these are.
    fn run_by(
        &self,
        measure: &mut dyn Measure,
        (clock, interrupted): (&Fake, &AtomicBool),
        keep: &mut dyn Keep,
        watch: &mut dyn Watch,
    ) -> Result<Tuned> {
        tune(Tuning {
            space: &self.space,
            technique: &mut *named(self.technique, 1)?,
            measure,
            abort: &self.abort,
            clock,
            interrupted,
            seeds: self.seeds.clone(),
            resumed: self.resumed.clone(),
            model: None,
            confidence: 0.95,
            confirmations: self.confirmations,
            pace: self.pace,
            keep,
            watch,
        })
    }
}

#[test]
fn the_best_is_found_and_all_is_recorded() {
    let (tuned, measured) = Setup::default().run().unwrap();
    let best = tuned.best().unwrap();
    assert_eq!(
        (best.configuration.clone(), best.outcome.cost()),
        (pair(6, 3), Some(1.0))
    );
    assert_eq!(tuned.stop, StopReason::Reached(Abort::Evaluations(40)));
    assert_eq!((tuned.evaluations.len(), measured.len()), (40, 40));
    let listed: Vec<String> = tuned
        .evaluations
        .iter()
        .map(|e| e.configuration.to_string())
        .collect();
    assert_eq!(listed, measured);
    assert_eq!(tuned.elapsed, Duration::from_secs(40));
    assert!(
        tuned
            .evaluations
            .iter()
            .all(|e| NAMES.contains(&e.technique.as_str()))
    );
}

/// Checks: a batch is no larger than what is left, and what confirms the best is counted apart.
#[test]
fn as_many_evaluations_as_asked_for() {
    for most in [1, 3, 4] {
        let either = Abort::Duration(Duration::from_secs(1000)) | Abort::Evaluations(most);
        let setup = Setup {
            abort: either,
            batch: 4,
            confirmations: 2,
            ..Setup::default()
        };
        let (tuned, measured) = setup.run().unwrap();
        assert_eq!(tuned.searched() as u64, most);
        assert!(tuned.repeated() >= 1);
        assert_eq!(measured.len(), tuned.searched() + tuned.repeated());
        assert_eq!(tuned.stop, StopReason::Reached(Abort::Evaluations(most)));
    }
}

#[test]
fn an_exhausted_space_ends_the_search() {
    let (tuned, measured) = Setup {
        abort: Abort::Or(Vec::new()),
        technique: "random",
        ..Setup::default()
    }
    .run()
    .unwrap();
    assert_eq!((tuned.stop, measured.len()), (StopReason::Exhausted, 64));
}

#[test]
fn seeds_come_first_and_are_measured_once() {
    let seed = |role, a, b| Seed {
        role,
        configuration: pair(a, b),
    };
    let setup = Setup {
        seeds: vec![
            seed(Role::Start, 2, 2),
            seed(Role::Default, 5, 5),
            seed(Role::Model, 2, 2),
            seed(Role::Nearest, 9, 9),
        ],
        abort: Abort::Evaluations(2),
        ..Setup::default()
    };
    let (tuned, measured) = setup.run().unwrap();
    assert_eq!(measured, ["a=2 b=2", "a=5 b=5"]);
    assert_eq!(tuned.default().unwrap().configuration, pair(5, 5));
    assert_eq!(tuned.evaluations[0].technique, "start");
    let setup = Setup {
        seeds: vec![seed(Role::Default, 9, 9)],
        ..Setup::default()
    };
    let error = setup.run().unwrap_err().to_string();
    assert!(
        error.contains("the default configuration is none of the space: a=9 b=9"),
        "{error}"
    );
}

#[test]
fn failures_are_never_chosen() {
    let cost = |configuration: &Configuration| match number(configuration, "a") as i64 {
        6 => Outcome::failed(FailureKind::WrongResult, "it is 0"),
        5 => Outcome::of_cost(f64::NAN),
        4 => Outcome::Measured(Cost {
            value: f64::NEG_INFINITY,
            ..Cost::new(vec![1.0])
        }),
        _ => measured(configuration),
    };
    let setup = Setup {
        cost: &cost,
        abort: Abort::Or(Vec::new()),
        ..Setup::default()
    };
    let (tuned, _) = setup.run().unwrap();
    assert_eq!(tuned.best().unwrap().configuration, pair(7, 3));
    let failed = tuned
        .evaluations
        .iter()
        .filter(|e| e.outcome.cost().is_none());
    assert_eq!(failed.count(), 24);
    let nothing = |_: &Configuration| Outcome::failed(FailureKind::Crash, "signal 11");
    let setup = Setup {
        cost: &nothing,
        ..Setup::default()
    };
    let (tuned, _) = setup.run().unwrap();
    assert_eq!((tuned.best, tuned.evaluations.len()), (None, 40));
}

#[test]
fn an_interruption_keeps_what_there_is() {
    for at in [1, 5, 6] {
        let setup = Setup {
            interrupt_at: Some(at),
            batch: 3,
            ..Setup::default()
        };
        let mut places = Places(100, Vec::new());
        let (tuned, _) = setup.run_with(&mut places, &mut ()).unwrap();
        assert_eq!(tuned.stop, StopReason::Interrupted);
        assert_eq!((tuned.evaluations.len(), places.1.len()), (at, at));
        assert_eq!(tuned.evaluations, places.1);
    }
}

/// The best is no other, and the end is the interrupt.
#[test]
fn an_interruption_of_the_confirmation() {
    let setup = Setup {
        seeds: vec![Seed {
            role: Role::Default,
            configuration: pair(8, 8),
        }],
        abort: Abort::Or(Vec::new()),
        technique: "exhaustive",
        interrupt_at: Some(65),
        confirmations: 5,
        ..Setup::default()
    };
    let (tuned, measured) = setup.run().unwrap();
    assert_eq!((measured.len(), tuned.evaluations.len()), (65, 65));
    assert_eq!(tuned.stop, StopReason::Interrupted);
    assert_eq!(tuned.best().unwrap().configuration, pair(6, 3));
}

#[test]
fn without_a_place_for_evaluations_the_search_ends() {
    let mut places = Places(7, Vec::new());
    let (tuned, _) = Setup::default().run_with(&mut places, &mut ()).unwrap();
    let StopReason::NotKept(error) = &tuned.stop else {
        panic!("{:?}", tuned.stop)
    };
    assert_eq!(error.message(), "no space left");
    assert_eq!((tuned.evaluations.len(), places.1.len()), (8, 7));
    assert!(tuned.best().is_some());
}

#[test]
fn filters_are_asked_before_measuring() {
    let setup = Setup {
        space: filtered(|[a, b]| (a + b) % 4 != 0),
        abort: Abort::Or(Vec::new()),
        ..Setup::default()
    };
    let (tuned, measured) = setup.run().unwrap();
    assert_eq!(
        (measured.len(), tuned.rejections.unwrap().share()),
        (48, 0.25)
    );
    let setup = Setup {
        space: filtered(|[a, _]| a > 8),
        ..Setup::default()
    };
    let (tuned, measured) = setup.run().unwrap();
    assert_eq!((measured.len(), tuned.stop), (0, StopReason::Exhausted));
    let rejections = tuned.rejections.unwrap();
    assert!(rejections.are_all());
    assert_eq!(rejections.asked, 64);
}

#[test]
fn time_and_cost_end_it() {
    let run = |abort: Abort| {
        Setup {
            seeds: vec![Seed {
                role: Role::Start,
                configuration: pair(1, 8),
            }],
            abort,
            ..Setup::default()
        }
        .run()
        .unwrap()
        .0
    };
    assert_eq!(
        run(Abort::Duration(Duration::from_secs(9)))
            .evaluations
            .len(),
        9
    );
    assert_eq!(run(Abort::Fraction(0.25)).evaluations.len(), 16);
    assert!(
        run(Abort::Cost(3.0))
            .best()
            .unwrap()
            .outcome
            .cost()
            .unwrap()
            <= 3.0
    );
    // The start costs 51.
    assert!(
        run(Abort::Speedup(10.0))
            .best()
            .unwrap()
            .outcome
            .cost()
            .unwrap()
            <= 5.1
    );
    let patient = run(Abort::NoBetter(12));
    assert_eq!(patient.evaluations.len() - patient.best.unwrap(), 13);
}

#[test]
fn what_is_not_told_is_a_failure() {
    struct Silent;
    impl Measure for Silent {
        fn measure(
            &mut self,
            _: &[Configuration],
            _: &Race<'_>,
            _: &mut dyn FnMut(usize, Outcome),
        ) {
        }
    }
    let setup = Setup {
        abort: Abort::Evaluations(3),
        ..Setup::default()
    };
    let (clock, interrupted) = (Fake::default(), AtomicBool::new(false));
    let tuned = setup.run_by(&mut Silent, (&clock, &interrupted), &mut (), &mut ());
    assert_eq!(tuned.unwrap().best, None);
}

#[test]
fn progress_has_the_default_beside_the_best() {
    #[derive(Default)]
    struct Lines(Vec<(u64, Option<f64>, Option<f64>)>);
    impl Watch for Lines {
        fn stands(&mut self, standing: &Standing) {
            let Standing { best, default, .. } = *standing;
            self.0.push((standing.evaluations, best, default));
        }
    }
    let mut lines = Lines::default();
    let setup = Setup {
        seeds: vec![Seed {
            role: Role::Default,
            configuration: pair(8, 8),
        }],
        ..Setup::default()
    };
    setup.run_with(&mut (), &mut lines).unwrap();
    assert_eq!(lines.0.len(), 40);
    assert!(lines.0.iter().skip(1).all(|line| line.2 == Some(30.0)));
    assert!(
        lines
            .0
            .windows(2)
            .all(|pair| pair[1].1 <= pair[0].1 && pair[1].0 == pair[0].0 + 1)
    );
    assert_eq!(lines.0.last().unwrap().1, Some(1.0));
}

/// Checks: whoever watches knows that the best is confirmed before the first measurement of that has ended.
#[test]
fn a_confirmation_is_told_before_it_begins() {
    #[derive(Default)]
    struct Phases(Vec<(u64, Phase)>);
    impl Watch for Phases {
        fn stands(&mut self, standing: &Standing) {
            self.0.push((standing.evaluations, standing.phase));
        }
    }
    let mut phases = Phases::default();
    let setup = Setup {
        confirmations: 2,
        ..Setup::default()
    };
    setup.run_with(&mut (), &mut phases).unwrap();
    let is_confirming = |(_, phase): &(u64, Phase)| *phase == Phase::Confirming;
    let first = phases.0.iter().position(is_confirming).unwrap();
    assert_eq!(phases.0[first].0, phases.0[first - 1].0);
    let confirmed = &phases.0[first + 1..];
    assert!(!confirmed.is_empty() && confirmed.iter().all(is_confirming));
}

/// Checks: a default that is none of the space's is measured, once, and compared with, and teaches nothing;
/// as a reference it is never the best.
#[test]
fn a_default_may_be_beside_the_space() {
    let beside = Configuration::from_pairs([("b", 3.into()), ("a", 9.into())]);
    let cost = |own: &Configuration| match own.get("a").unwrap().integer() {
        Some(9) => Outcome::of_cost(0.5),
        _ => measured(own),
    };
    let setup = |role, resumed| Setup {
        space: filtered(|[a, _]| a != 6),
        cost: &cost,
        seeds: vec![Seed {
            role,
            configuration: beside.clone(),
        }],
        resumed,
        confirmations: 2,
        ..Setup::default()
    };
    let (tuned, asked) = setup(Role::Reference, Vec::new()).run().unwrap();
    let default = tuned.default().unwrap();
    assert_eq!(default.configuration, beside);
    assert_eq!(default.outcome.cost(), Some(0.5));
    assert_eq!(tuned.evaluations[0].technique, "default");
    assert_eq!(tuned.best().unwrap().outcome.cost(), Some(2.0));
    // At the start, and once more in the end.
    let times = asked.iter().filter(|own| **own == beside.to_string());
    assert_eq!(times.count(), 2);
    let names = Configuration::from_pairs([("a", 9.into()), ("b", 3.into())]);
    let known = vec![resumed(names, Outcome::of_cost(0.5))];
    let (tuned, asked) = setup(Role::Reference, known).run().unwrap();
    assert_eq!(tuned.resumed, 1);
    assert_eq!(tuned.default().unwrap().outcome.cost(), Some(0.5));
    assert_ne!(asked[0], beside.to_string());
    let (tuned, _) = setup(Role::Outside, Vec::new()).run().unwrap();
    assert_eq!(tuned.best, tuned.default);
    assert_eq!(tuned.best().unwrap().outcome.cost(), Some(0.5));
}

/// Checks: where the machine becomes slower in the middle of a search, the default is measured again, and
/// what is found afterwards is compared as if it had not. What is kept are costs as they were.
#[test]
fn costs_are_compared_at_one_pace() {
    let made = Cell::new(0);
    let cost = |configuration: &Configuration| {
        made.set(made.get() + 1);
        let slower = if made.get() > 20 { 20.0 } else { 1.0 };
        Outcome::of_cost(slower * bowl(configuration))
    };
    let run = |pace| {
        made.set(0);
        let setup = Setup {
            pace,
            ..Setup::of_every_point(&cost)
        };
        setup.run().unwrap().0
    };
    let at_any = run(None);
    assert_eq!(at_any.best().unwrap().configuration, pair(3, 3));
    let paced = run(Some(Duration::from_secs(5)));
    let best = paced.best().unwrap();
    assert_eq!(best.configuration, pair(6, 3));
    assert_eq!(best.outcome.cost(), Some(20.0));
    assert_eq!(paced.compared(best.number), Some(1.0));
    let again = paced.evaluations.iter().filter(|e| e.technique == "pace");
    let costs: Vec<Option<f64>> = again.map(|e| e.outcome.cost()).collect();
    // One of twenty at most: due after 5 and 26 seconds, and so on.
    assert_eq!(costs, [Some(30.0), Some(600.0), Some(600.0)]);
}

/// A whole search: what is measured, what ends it, and what is found.
#[test]
fn a_search() {
    let divides = |[tile, threads]: [i64; 2]| tile % threads == 0;
    let divides = Constraint::of_integers("tile % threads == 0", ["tile", "threads"], divides);
    let tile = Parameter::set("tile", (0..=10).map(|n| 1i64 << n)).unwrap();
    let threads = Parameter::set("threads", 1..=8).unwrap();
    let builder = Space::builder().parameter(tile);
    let builder = builder.parameter(threads.constraint(divides));
    let setup = Setup {
        space: builder.build().unwrap(),
        cost: &|own| Outcome::of_cost((number(own, "tile") - 32.0).abs() + number(own, "threads")),
        abort: Abort::Evaluations(30) | Abort::Fraction(1.0),
        ..Setup::default()
    };
    let (tuned, _) = setup.run().unwrap();
    let best = tuned.best().expect("all configurations work");
    assert_eq!(best.configuration.to_string(), "tile=32 threads=1");
}
