//! A line: the pipelines that a program goes through for one target, whole or from one stage to
//! another; and the pipeline `mdh-lower`, which is one.

use mdh_dialect::pass::OptionText;

use super::{
    ACCESSES, CHECKS, DIVISIONS, ELEMENTWISE, EXACT, Pipeline, RAISE, SCHEDULE, SCHEDULE_KERNELS,
    STAGES, Stage, Target,
};
use crate::support::machine;

/// The stage in which computations have schedules.
const SCHEDULED: &str = "scheduled";

/// Checks of accesses against the sizes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeChecks {
    /// Accesses are checked.
    On,
    /// Accesses are trusted.
    Off,
}

impl RangeChecks {
    /// The checks that a flag asks for.
    pub fn from_flag(is_on: bool) -> Self {
        match is_on {
            true => RangeChecks::On,
            false => RangeChecks::Off,
        }
    }
}

/// Choice of schedules for computations that have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedules {
    /// The model chooses them.
    Default,
    /// They get none.
    Written,
}

impl Schedules {
    /// The choice that a flag asks for.
    pub fn from_flag(is_on: bool) -> Self {
        match is_on {
            true => Schedules::Default,
            false => Schedules::Written,
        }
    }
}

/// Treatment of linalg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raise {
    /// Its operations become computations.
    On,
    /// It runs by upstream's own lowering.
    Off,
}

impl Raise {
    /// The treatment that a flag asks for.
    pub fn from_flag(is_on: bool) -> Self {
        match is_on {
            true => Raise::On,
            false => Raise::Off,
        }
    }
}

/// Arithmetic of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// That of floats.
    Float,
    /// That of integers in their place, from the schedules on.
    Exact,
}

/// Options that leave stages out, or change them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineOptions {
    /// Checks at run time.
    pub ranges: RangeChecks,
    /// Choice of schedules by the model.
    pub schedules: Schedules,
    /// Treatment of linalg.
    pub raise: Raise,
    /// Arithmetic of floats.
    pub arithmetic: Arithmetic,
}

impl LineOptions {
    /// A program that is run: with all checks and the model's schedules, also for linalg.
    pub const RUN: LineOptions = LineOptions {
        ranges: RangeChecks::On,
        schedules: Schedules::Default,
        raise: Raise::On,
        arithmetic: Arithmetic::Float,
    };

    fn leave_out(self, pipeline: &Pipeline) -> bool {
        let is = |all: &[&Pipeline]| all.iter().any(|own| own.name == pipeline.name);
        let no_checks = self.ranges == RangeChecks::Off;
        let no_schedules = self.schedules == Schedules::Written;
        no_checks && is(&[&CHECKS, &ACCESSES, &DIVISIONS])
            || no_schedules && is(&[&SCHEDULE, &SCHEDULE_KERNELS])
    }
}

/// The way of a program from its text to the llvm dialect, for a target.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Target of the code.
    pub target: Target,
    /// The passes that are left out.
    pub options: LineOptions,
}

impl Line {
    /// The names of its stages, in order.
    pub fn stages(self) -> Vec<&'static str> {
        self.rows().map(|row| row.name).collect()
    }

    /// All of its pipelines, in order.
    pub fn all(self) -> Vec<&'static Pipeline> {
        self.through(self.rows().filter(|row| !row.is_end))
    }

    /// Returns the pipelines from the program as it is written to a stage; or the reason for which
    /// there is no such stage.
    pub fn to(self, stage: &str) -> Result<Vec<&'static Pipeline>, String> {
        if !self.rows().any(|row| row.name == stage) {
            return Err(format!(
                "found stage '{stage}', expected one that target '{}' has: {}",
                self.target.name(),
                self.stages().join(", ")
            ));
        }
        let mut is_before = true;
        let leading = self.rows().filter(|row| {
            let is_it = row.name == stage;
            let is_taken = is_it || is_before && !row.is_end;
            is_before &= !is_it;
            is_taken
        });
        Ok(self.through(leading))
    }

    /// Returns the pipelines from a stage to the llvm dialect; all of them if the target has no
    /// such stage.
    pub fn after(self, stage: &str) -> Vec<&'static Pipeline> {
        let rows: Vec<&Stage> = self.rows().collect();
        let at = rows.iter().position(|row| row.name == stage);
        let later = rows.into_iter().skip(at.map_or(0, |at| at + 1));
        self.through(later.filter(|row| !row.is_end))
    }

    /// Returns the pipelines from one stage to a later one.
    pub fn between(self, stage: &str, later: &str) -> Vec<&'static Pipeline> {
        let beyond = self.after(later).len();
        let mut pipelines = self.after(stage);
        pipelines.truncate(pipelines.len() - beyond);
        pipelines
    }

    fn rows(self) -> impl Iterator<Item = &'static Stage> {
        let is_own = move |row: &&Stage| row.targets.contains(&self.target);
        STAGES.iter().filter(is_own)
    }

    /// The pipelines of a stage. In exact arithmetic, floats become integers where all have schedules; on a GPU,
    /// a schedule that integers cannot have is chosen again.
    fn pipelines_of(self, row: &'static Stage) -> Vec<&'static Pipeline> {
        let mut pipelines = row.pipelines.to_vec();
        if self.options.arithmetic == Arithmetic::Exact && row.name == SCHEDULED {
            let again = pipelines.clone();
            pipelines.push(&EXACT);
            pipelines.extend(
                again
                    .into_iter()
                    .filter(|pipeline| pipeline.name == SCHEDULE_KERNELS.name),
            );
        }
        pipelines
    }

    fn through(self, rows: impl Iterator<Item = &'static Stage>) -> Vec<&'static Pipeline> {
        let pipelines = rows.flat_map(|row| self.pipelines_of(row));
        let remaining = pipelines.filter(|pipeline| !self.options.leave_out(pipeline));
        let stays =
            |pipeline: &Pipeline| self.options.raise == Raise::Off && pipeline.name == RAISE.name;
        remaining
            .map(|pipeline| {
                if stays(pipeline) {
                    &ELEMENTWISE
                } else {
                    pipeline
                }
            })
            .collect()
    }
}

/// Options of the pipeline `mdh-lower`.
pub const LOWER_OPTIONS: [OptionText; 6] = [
    ("target", "where the code runs: cpu, sim or cuda", "cpu"),
    ("stage", "the last stage", "llvm-dialect"),
    machine::ASM,
    ("checks", "whether there are checks at run time", "true"),
    (
        "schedules",
        "whether the model chooses schedules for computations without",
        "true",
    ),
    ("raise", "whether linalg becomes computations", "true"),
];

/// The passes of `mdh-lower` for the values of its options, as MLIR parses them.
pub fn lower(values: &[&str]) -> Result<String, String> {
    let &[target, stage, asm, checks, schedules, raise] = values else {
        return Err(format!("found {} options, expected 6", values.len()));
    };
    let is_on = |name: &str, value: &str| match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!(
            "option '{name}' of mdh-lower is '{value}': expected true or false"
        )),
    };
    let options = LineOptions {
        ranges: RangeChecks::from_flag(is_on("checks", checks)?),
        schedules: Schedules::from_flag(is_on("schedules", schedules)?),
        raise: Raise::from_flag(is_on("raise", raise)?),
        ..LineOptions::RUN
    };
    let target = target.parse()?;
    let leading = Line { target, options }.to(stage)?;
    let is_gpu = !asm.is_empty() && machine::find(asm)?.has_kernels();
    let texts = leading.iter().map(|own| {
        let goes_by_gpu = own.name == SCHEDULE_KERNELS.name;
        own.text(if goes_by_gpu == is_gpu { asm } else { "" })
    });
    Ok(texts.collect::<Result<Vec<String>, String>>()?.join(","))
}

#[cfg(test)]
mod tests {
    use super::super::{ALL, DEBUG, NVVM, PLACE, TILES, TO_LINALG};
    use super::*;
    use mdh_dialect::ops;

    fn line(target: Target) -> Line {
        let options = LineOptions::RUN;
        Line { target, options }
    }

    fn names(pipelines: &[&Pipeline]) -> Vec<&'static str> {
        pipelines.iter().map(|own| own.name).collect()
    }

    #[test]
    fn a_line_is_what_leads_to_a_stage_and_what_comes_after() {
        for target in Target::ALL {
            let line = line(target);
            for stage in line.stages() {
                let whole = [line.to(stage).unwrap(), line.after(stage)].concat();
                let side = ["nvvm"].contains(&stage);
                let line_names = names(&line.all());
                let whole_names: Vec<_> = names(&whole);
                let whole_names: Vec<_> = whole_names
                    .into_iter()
                    .filter(|n| !side || *n != NVVM.name)
                    .collect();
                assert_eq!(whole_names, line_names, "{stage} of {}", target.name());
            }
        }
    }

    #[test]
    fn every_pipeline_is_part_of_a_stage() {
        let staged = |own: &Pipeline| {
            STAGES
                .iter()
                .any(|s| s.pipelines.iter().any(|p| p.name == own.name))
        };
        let unstaged: Vec<&str> = ALL
            .iter()
            .filter(|own| !staged(own))
            .map(|own| own.name)
            .collect();
        let expected = [&ELEMENTWISE, &EXACT, &DEBUG, &TO_LINALG].map(|own| own.name);
        assert_eq!(unstaged, expected);
    }

    #[test]
    fn choices_leave_out_checks_and_schedules() {
        let options = LineOptions {
            ranges: RangeChecks::Off,
            schedules: Schedules::Written,
            ..LineOptions::RUN
        };
        for target in Target::ALL {
            let less = names(&Line { target, options }.all());
            let line_names = names(&line(target).all());
            let gone: Vec<_> = line_names
                .into_iter()
                .filter(|own| !less.contains(own))
                .collect();
            let expected: &[&str] = match target {
                Target::Cpu => &[
                    "mdh-checks",
                    "mdh-accesses",
                    "mdh-default-schedules",
                    "mdh-divisions",
                ],
                Target::Sim => &[
                    "mdh-checks",
                    "mdh-accesses",
                    "mdh-default-kernel-schedules",
                    "mdh-divisions",
                ],
                Target::Cuda => &["mdh-checks", "mdh-accesses", "mdh-default-kernel-schedules"],
            };
            assert_eq!(gone, expected);
        }
    }

    #[test]
    fn linalg_that_is_not_raised_has_upstreams_lowering() {
        let options = LineOptions {
            raise: Raise::Off,
            ..LineOptions::RUN
        };
        for target in Target::ALL {
            let actual = names(&Line { target, options }.all());
            let default_names = names(&line(target).all()).into_iter();
            let expected: Vec<&str> = default_names
                .map(|name| {
                    if name == RAISE.name {
                        ELEMENTWISE.name
                    } else {
                        name
                    }
                })
                .collect();
            assert_eq!(actual, expected);
        }
    }

    /// Whatever chooses and rewrites for floats comes before, whatever makes loops behind.
    #[test]
    fn integers_stand_for_floats_from_the_schedules_on() {
        let options = LineOptions {
            arithmetic: Arithmetic::Exact,
            ..LineOptions::RUN
        };
        for target in Target::ALL {
            let line_names = names(&Line { target, options }.all());
            let default_names = names(&line(target).all());
            let at = line_names
                .iter()
                .position(|name| *name == EXACT.name)
                .unwrap();
            let expected: &[&str] = match target {
                Target::Cpu => &[SCHEDULE.name, EXACT.name, TILES.name],
                Target::Sim | Target::Cuda => {
                    let kernels = SCHEDULE_KERNELS.name;
                    &[kernels, EXACT.name, kernels, PLACE.name]
                }
            };
            assert_eq!(&line_names[at - 1..at - 1 + expected.len()], expected);
            let end = at + expected.len() - 2;
            assert_eq!(
                [&line_names[..at], &line_names[end..]].concat(),
                default_names
            );
        }
    }

    #[test]
    fn a_stage_that_is_none_is_refused_with_those_that_are() {
        let said = line(Target::Cpu).to("kernels").unwrap_err();
        assert!(
            said.contains("found stage 'kernels'") && said.contains("tiles"),
            "{said}"
        );
        assert!(
            "gpu"
                .parse::<Target>()
                .unwrap_err()
                .contains("cpu, sim, cuda")
        );
    }

    /// The names of a pipeline's passes, also of those for parts of a program, without options.
    fn passes(pipeline: &Pipeline) -> Vec<String> {
        let (mut depth, mut text) = (0, String::new());
        for letter in pipeline.passes.join(",").chars() {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            match letter {
                '(' | ')' if depth == 0 => text.push(','),
                '}' => {}
                _ if depth == 0 => text.push(letter),
                _ => {}
            }
        }
        let names = text.split(',').map(str::trim).map(String::from);
        names
            .filter(|name| !["", "any", ops::gpu::MODULE].contains(&name.as_str()))
            .collect()
    }

    #[test]
    fn the_map_has_the_passes_of_every_stage() {
        let map = include_str!("../../../ARCHITECTURE.md");
        let table = map
            .lines()
            .skip_while(|line| !line.starts_with("| stage |"))
            .skip(2)
            .take_while(|line| line.starts_with('|'));
        let rows: Vec<Vec<&str>> = table
            .map(|row| row.split('|').map(str::trim).collect())
            .collect();
        let named = |cell: &str| -> Vec<String> {
            let names = cell.split('`').skip(1).step_by(2);
            names.map(String::from).collect()
        };
        let stages: Vec<String> = rows.iter().flat_map(|row| named(row[1])).collect();
        assert_eq!(stages, line(Target::Cuda).stages());
        for row in &rows {
            for (target, cell) in [(Target::Cpu, row[2]), (Target::Cuda, row[3])] {
                let cell = if cell == "the same" { row[2] } else { cell };
                let target_line = line(target);
                let stage = named(row[1]).remove(0);
                let stages = target_line.rows().filter(|known| known.name == stage);
                let mut expected: Vec<String> = stages
                    .flat_map(|known| known.pipelines)
                    .flat_map(|pipeline| passes(pipeline))
                    .collect();
                expected.dedup();
                assert_eq!(named(cell), expected, "{stage} of {}", target.name());
            }
        }
    }
}
