//! Random schedules of random computations: every accepted one gives the oracle's result, visits
//! every point once, and survives both spellings.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::asm::{Asm, CpuFacts, CudaFacts, OpenClFacts};
use crate::computation::{Computation, Place};
use crate::domain::{Grid, points};
use crate::oracle::arrays::Arrays;
use crate::oracle::tests::random_tests::any_computation;
use crate::oracle::{Errors, Evaluator};
use crate::random::Random;
use crate::scalar::{Scalar, ScalarType::I64};

/// Machines with few layers, so that loops stay few.
fn machine(random: &mut Random) -> Asm {
    let opencl = OpenClFacts {
        global: None,
        local: 1 << 10,
        private: 1 << 8,
        work_group: 8,
    };
    let toy = r#"{"name": "toy", "layers": [{"memory": {"name": "HM"}},
        {"core": {"name": "COR", "combine_in": [{"region": "HM"}, {"region": "L1"}]}},
        {"memory": {"name": "L1"}}]}"#;
    match random.below(4) {
        0 => Asm::cuda(&CudaFacts::default()),
        1 => Asm::opencl(&opencl),
        2 => Asm::cpu(&CpuFacts {
            l3: None,
            ..CpuFacts::default()
        }),
        _ => Asm::from_json(toy).unwrap(),
    }
}

fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for n in (1..items.len()).rev() {
        items.swap(n, random.below(n as u64 + 1) as usize);
    }
}

fn chance(random: &mut Random, percent: u64) -> bool {
    random.below(100) < percent
}

fn levels(asm: &Asm, dimensions: &[&str]) -> Vec<LevelName> {
    let layers = asm.layers.iter().map(|l| l.name());
    let each = layers.flat_map(|l| dimensions.iter().map(move |d| LevelName::new(l, d)));
    each.collect()
}

fn layers(random: &mut Random, c: &Computation, asm: &Asm) -> Vec<Layer> {
    let mut names: Vec<&str> = asm.layers.iter().map(|l| l.name()).collect();
    shuffle(random, &mut names);
    names.truncate(1 + random.below(names.len() as u64) as usize);
    let mut layers: Vec<Layer> = Vec::new();
    for name in names {
        let parts = BTreeMap::new();
        layers.push(Layer {
            name: name.into(),
            parts,
        });
    }
    for dimension in &c.dimensions {
        let points = dimension.count().unwrap();
        let mut product = 1;
        for layer in layers.iter_mut().skip(1) {
            if product < points && chance(random, 45) {
                let parts = 1 + random.below(3) as i64;
                product *= parts;
                layer
                    .parts
                    .insert(dimension.name.clone(), Parts::Fixed(parts));
            }
        }
        let place = random.below(layers.len() as u64) as usize;
        let first = match random.below(3) {
            0 => continue,
            1 => Parts::Fixed((points + product - 1) / product + i64::from(chance(random, 20))),
            _ if layers[place].parts.contains_key(&dimension.name) => continue,
            _ => {
                layers[place]
                    .parts
                    .insert(dimension.name.clone(), Parts::Derived);
                continue;
            }
        };
        layers[0].parts.insert(dimension.name.clone(), first);
    }
    layers
}

fn phase(random: &mut Random, c: &Computation, asm: &Asm) -> Phase {
    let all = levels(asm, &c.names());
    let mut phase = Phase::default();
    if chance(random, 40) {
        let mut order = all.clone();
        shuffle(random, &mut order);
        phase.order = Some(order);
    }
    if chance(random, 25) {
        let names: Vec<_> = (0..c.dimensions.len()).map(Asm::dimension_name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut to = levels(asm, &names);
        shuffle(random, &mut to);
        phase.assign = all.into_iter().zip(to).collect();
    }
    phase
}

fn layout(random: &mut Random, rank: usize) -> Layout {
    let mut axes: Vec<usize> = (1..=rank).collect();
    shuffle(random, &mut axes);
    match random.below(4) {
        0 => Layout::row_major(),
        1 => Layout::step(Step::Permuted(axes)),
        2 => Layout::step(Step::Blocked(vec![2; rank])),
        _ => Layout {
            steps: vec![Step::Permuted(axes), Step::Padded(vec![1; rank])],
        },
    }
}

/// A schedule that is likely to be accepted.
pub(super) fn random_schedule(random: &mut Random, c: &Computation, asm: &Asm) -> Schedule {
    let all = levels(asm, &c.names());
    let regions = asm.memory_names();
    let level = |random: &mut Random| all[random.below(all.len() as u64) as usize].clone();
    let region = |random: &mut Random| -> String {
        regions[random.below(regions.len() as u64) as usize].into()
    };
    let mut schedule = Schedule {
        asm: chance(random, 50).then(|| asm.name.clone()),
        layers: layers(random, c, asm),
        decompose: phase(random, c, asm),
        ..Schedule::default()
    };
    if chance(random, 40) {
        schedule.scalar = phase(random, c, asm);
    }
    if chance(random, 40) {
        schedule.recompose = phase(random, c, asm);
    }
    for buffer in &c.inputs {
        let rank = buffer.shape.len();
        let mut input = Input::default();
        for _ in 0..random.below(3) {
            input.stage.insert(level(random), region(random));
        }
        if chance(random, 30) {
            input.layout.insert(level(random), layout(random, rank));
        }
        input.scalar = chance(random, 25).then(|| region(random));
        input.scalar_layout = chance(random, 20).then(|| layout(random, rank));
        schedule.inputs.insert(buffer.name.clone(), input);
    }
    for buffer in &c.outputs {
        let rank = buffer.shape.len();
        let mut output = Output::default();
        if chance(random, 40) {
            output.combine.insert(level(random), region(random));
        }
        if chance(random, 20) {
            output.layout.insert(level(random), layout(random, rank));
        }
        output.scalar = chance(random, 20).then(|| region(random));
        output.scalar_layout = chance(random, 20).then(|| layout(random, rank));
        schedule.outputs.insert(buffer.name.clone(), output);
    }
    for dimension in &c.dimensions {
        let code = [TailCode::Peel, TailCode::Mask][random.below(2) as usize];
        if chance(random, 20) {
            schedule.tails.insert(dimension.name.clone(), code);
        }
    }
    schedule.compute_at = chance(random, 10).then(|| ComputeAt {
        consumer: "sum rows".into(),
        level: level(random),
    });
    schedule.deterministic = chance(random, 20).then(|| chance(random, 50));
    schedule
}

/// An accepted schedule, or `None` if none is found soon.
fn accepted(random: &mut Random, c: &Computation, asm: &Asm) -> Option<(Schedule, Total)> {
    (0..40).find_map(|_| {
        let schedule = random_schedule(random, c, asm);
        let total = check(&schedule, c, asm).ok()?;
        Some((schedule, total))
    })
}

fn agrees(c: &Computation, total: &Total, random: &mut Random) -> Result<(), TestCaseError> {
    let mut arrays = Arrays::new(c, |_, _| Scalar::from_i64(I64, random.below(9) as i64 - 4));
    let run = execute(c, total, &mut arrays);
    let run = run.map_err(|e| TestCaseError::fail(e.to_string()))?;
    let mut oracle = Evaluator::new(c, Errors::Bounded).unwrap();
    let expected = oracle.whole(&mut arrays).unwrap();
    for (place, elements) in expected {
        let Place::Output(n) = place else { continue };
        let shape = &c.outputs[n].shape;
        let grids: Vec<_> = shape.iter().map(|n| Grid::dense(n.unwrap())).collect();
        let before = &arrays.elements[c.inputs.len() + n];
        for ((index, expected), before) in points(&grids).zip(elements).zip(before) {
            let found = run.outputs[n].get(&index).unwrap_or(&before.value);
            prop_assert_eq!(
                found.bits,
                expected.value.bits,
                "output {} at {:?}",
                n,
                index
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn accepted_schedules_give_the_oracles_result(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let asm = machine(&mut random);
        let Some((schedule, total)) = accepted(&mut random, &c, &asm) else {
            return Ok(());
        };
        let printed = schedule.to_string();
        agrees(&c, &total, &mut random)
            .map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))?;
        // Every point once.
        let tiles = total.tiles(&[]).unwrap();
        let visits = walk(&total, &tiles);
        let distinct: BTreeSet<_> = visits.iter().map(|v| v.numbers.clone()).collect();
        prop_assert_eq!(visits.len(), distinct.len());
        prop_assert_eq!(visits.len() as i64, tiles.points.iter().product::<i64>());
    }

    #[test]
    fn spellings_lose_nothing(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let asm = machine(&mut random);
        let schedule = random_schedule(&mut random, &c, &asm);
        let text = schedule.to_string();
        let read: Result<Schedule, _> = text.parse();
        prop_assert_eq!(read.as_ref(), Ok(&schedule), "{}", text);
        let json = schedule.to_json();
        let read = Schedule::from_json(&json);
        prop_assert_eq!(read.as_ref(), Ok(&schedule), "{}", json);
    }
}

/// Every parameter of table 1 is away from its default often enough for the property above to
/// mean something.
#[test]
fn accepted_schedules_cover_table_1() {
    let mut random = Random::new(11);
    let c = crate::examples::matvec(I64, 5, 7);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cases = 0;
    for _ in 0..400 {
        let asm = machine(&mut random);
        let Some((_, total)) = accepted(&mut random, &c, &asm) else {
            continue;
        };
        cases += 1;
        let plain = Total::new(&Schedule::default(), &c, &asm).unwrap();
        let tiles = total.tiles(&[]).unwrap();
        let copies = allocations(&total, &c, &tiles).unwrap();
        let differs = [
            ("0", total.counts != plain.counts),
            ("D1", total.decompose.order != plain.decompose.order),
            ("D2", total.decompose.assign != plain.decompose.assign),
            (
                "D3",
                total
                    .inputs
                    .iter()
                    .zip(&plain.inputs)
                    .any(|(a, b)| a.region != b.region),
            ),
            (
                "D4",
                total
                    .inputs
                    .iter()
                    .zip(&plain.inputs)
                    .any(|(a, b)| a.layout != b.layout),
            ),
            ("S1", total.scalar.order != total.decompose.order),
            ("S2", total.scalar.assign != total.decompose.assign),
            ("S3", total.inputs.iter().any(|p| p.scalar != 0)),
            (
                "S4",
                total
                    .inputs
                    .iter()
                    .any(|p| p.scalar_layout != Layout::row_major()),
            ),
            ("S5", total.outputs.iter().any(|p| p.scalar != 0)),
            (
                "S6",
                total
                    .outputs
                    .iter()
                    .any(|p| p.scalar_layout != Layout::row_major()),
            ),
            ("R1", total.recompose.order != total.scalar.order),
            ("R2", total.recompose.assign != total.scalar.assign),
            (
                "R3",
                total
                    .outputs
                    .iter()
                    .zip(&plain.outputs)
                    .any(|(a, b)| a.region != b.region),
            ),
            (
                "R4",
                total
                    .outputs
                    .iter()
                    .zip(&plain.outputs)
                    .any(|(a, b)| a.layout != b.layout),
            ),
            ("several nests", total.nests().len() > 1),
            ("copies", !copies.is_empty()),
        ];
        for (name, differs) in differs {
            *seen.entry(name).or_default() += usize::from(differs);
        }
    }
    assert!(cases > 300, "{cases}");
    for (name, times) in &seen {
        assert!(
            *times * 20 >= cases,
            "{name}: {times} of {cases} in {seen:?}"
        );
    }
}
