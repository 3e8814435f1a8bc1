//! Random machines and schedules, for tests: beyond the space that a search draws from, so that every parameter of the MDH
//! paper's table 1 is met, on every machine.

use std::collections::BTreeMap;

use crate::asm::{Asm, CpuFacts, CudaFacts, MATRIX, OpenClFacts};
use crate::numbers::Parts;
use crate::schedule::{
    ComputeAt, Input, Layer, LevelName, Output, Phase, Schedule, TailCode, TileOrder,
};
use crate::staged_layout::{StagedLayout, Step};
use mdh_algebra::computation::Computation;
use mdh_algebra::mapping::axis_name;
use mdh_algebra::random::Random;

/// Machines with few layers, so that loops stay few.
pub fn machine(random: &mut Random) -> Asm {
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
    layers
        .flat_map(|l| dimensions.iter().map(move |d| LevelName::new(l, d)))
        .collect()
}

fn layers(random: &mut Random, c: &Computation, asm: &Asm) -> Vec<Layer> {
    // What an instruction computes has parts that no random schedule hits.
    let layer_names = asm.layers.iter().map(|l| l.name());
    let mut names: Vec<&str> = layer_names.filter(|name| *name != MATRIX).collect();
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
    let all_levels = levels(asm, &c.names());
    let mut phase = Phase::default();
    if chance(random, 40) {
        let mut order = all_levels.clone();
        shuffle(random, &mut order);
        phase.order = Some(order);
    }
    if chance(random, 25) {
        let names: Vec<_> = (0..c.dimensions.len()).map(axis_name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (mut from, mut to) = (all_levels, levels(asm, &names));
        for levels in [&mut from, &mut to] {
            levels.retain(|level| level.layer != MATRIX);
        }
        shuffle(random, &mut to);
        phase.assign = from.into_iter().zip(to).collect();
    }
    phase
}

/// A layout for tiles of a buffer; sizes of the algebra's are those of the whole.
fn layout(random: &mut Random, shape: &[Option<i64>]) -> StagedLayout {
    let rank = shape.len();
    let mut axes: Vec<usize> = (1..=rank).collect();
    shuffle(random, &mut axes);
    let known: Option<Vec<i64>> = shape.iter().copied().collect();
    let known = known.filter(|sizes| rank > 0 && sizes.iter().all(|n| *n > 0));
    match (random.below(6), known) {
        (0, Some(sizes)) => of_algebra(&format!("GenP({sizes:?},reverse)")),
        (1, Some(sizes)) => {
            let most = sizes.iter().copied().max().unwrap_or(1);
            let side = std::iter::successors(Some(1), |side| Some(2 * side));
            let side = side.into_iter().find(|side| *side >= most).unwrap_or(1);
            of_algebra(&format!("GenP({:?},morton)", vec![side; rank]))
        }
        (kind, _) => steps(kind, axes),
    }
}

/// # Panics
/// If it is none.
fn of_algebra(text: &str) -> StagedLayout {
    let layout = mdh_algebra::layout::bounded::parse(text);
    let layout = layout.unwrap_or_else(|error| panic!("{text}: {error}"));
    StagedLayout::step(Step::Algebra(layout.into()))
}

fn steps(kind: u64, axes: Vec<usize>) -> StagedLayout {
    let rank = axes.len();
    match kind % 4 {
        0 => StagedLayout::row_major(),
        1 => StagedLayout::step(Step::Permuted(axes)),
        2 => StagedLayout::step(Step::Blocked(vec![2; rank])),
        _ => StagedLayout {
            steps: vec![Step::Permuted(axes), Step::Padded(vec![1; rank])],
        },
    }
}

/// Levels and memory of a machine, for a computation.
struct Places<'a> {
    levels: Vec<LevelName>,
    regions: Vec<&'a str>,
}

impl Places<'_> {
    fn level(&self, random: &mut Random) -> LevelName {
        self.levels[random.below(self.levels.len() as u64) as usize].clone()
    }

    fn region(&self, random: &mut Random) -> String {
        self.regions[random.below(self.regions.len() as u64) as usize].into()
    }

    fn input(&self, random: &mut Random, shape: &[Option<i64>]) -> Input {
        let mut input = Input::default();
        for _ in 0..random.below(3) {
            input.stage.insert(self.level(random), self.region(random));
        }
        if chance(random, 30) {
            let level = self.level(random);
            input.layout.insert(level, layout(random, shape));
        }
        input.stages = chance(random, 1).then(|| 1 + random.below(4) as i64);
        input.scalar = chance(random, 25).then(|| self.region(random));
        input.scalar_layout = chance(random, 20).then(|| layout(random, shape));
        input
    }

    fn output(&self, random: &mut Random, shape: &[Option<i64>]) -> Output {
        let mut output = Output::default();
        if chance(random, 40) {
            let level = self.level(random);
            output.combine.insert(level, self.region(random));
        }
        if chance(random, 20) {
            let level = self.level(random);
            output.layout.insert(level, layout(random, shape));
        }
        output.scalar = chance(random, 20).then(|| self.region(random));
        output.scalar_layout = chance(random, 20).then(|| layout(random, shape));
        output
    }
}

/// A schedule that is likely to be accepted.
pub fn random_schedule(random: &mut Random, c: &Computation, asm: &Asm) -> Schedule {
    let places = Places {
        levels: levels(asm, &c.names()),
        regions: asm.memory_names(),
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
        let input = places.input(random, &buffer.shape);
        schedule.inputs.insert(buffer.name.clone(), input);
    }
    for buffer in &c.outputs {
        let output = places.output(random, &buffer.shape);
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
        level: places.level(random),
    });
    schedule.tile_order = chance(random, 4).then(|| TileOrder {
        levels: vec![places.level(random), places.level(random)],
        layout: of_algebra("Col([2,2])"),
    });
    schedule.deterministic = chance(random, 20).then(|| chance(random, 50));
    schedule
}
