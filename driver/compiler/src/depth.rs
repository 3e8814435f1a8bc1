//! Depth of the combine trees that a function is lowered to: the error bounds of its results depend
//! on it, and not on the number of elements that are combined.
//!
//! Where every computation has its schedule, the depths of all trees in which something rounds are added: so many
//! combinations at most lie between an element and the result of any one computation of the function, however the
//! passes before have taken that apart or put it together. The schedules are read while the function is lowered; what
//! sizes they meet is known from the arguments of a call.

use std::time::{Duration, Instant};

use melior::ir::Module;

use mdh_algebra::computation::Computation;
use mdh_algebra::operator::Operator;
use mdh_algebra::oracle::Errors;
use mdh_algebra::program::Program;
use mdh_dialect::function;
use mdh_dialect::ir::{Op, find_all};
use mdh_dialect::schedule;
use mdh_dialect::translate::Depth;
use mdh_passes::pipelines::{Pipeline, SCHEDULE, SCHEDULE_KERNELS, VECTORS};
use mdh_schedule::asm::Asm;
use mdh_schedule::{Leaves, Resolved, Schedule};

use crate::compile;
use crate::entry::Entry;
use crate::error::Result;
use crate::functions::function_of;
use crate::plan::shapes_only;
use crate::values::Tensor;

/// Depths of all trees of a function together, by what becomes of registers and lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Depths {
    vector: u64,
    scalar: u64,
}

/// Combine trees of a function, which are read while it is lowered.
pub struct Trees {
    function: String,
    /// Number of loops and branches before the lowering; none if they are not known, and so no depth is.
    loops: Option<usize>,
    scheduled: Option<Scheduled>,
    leaves: Leaves,
}

/// A function whose computations have their schedules.
struct Scheduled {
    program: Program,
    /// The schedule of each statement, if it has one; none if that cannot be read.
    schedules: Vec<Option<Option<Schedule>>>,
}

impl Trees {
    /// Trees of a function of a module that is about to be lowered.
    pub fn new(module: &Module, function: &str) -> Trees {
        let op = function_of(compile::operation(module), function);
        // The code of operators says how often they round.
        let translated = op.and_then(|op| function::translate(op, Depth::Code).ok());
        Trees {
            function: function.to_string(),
            loops: translated.map(|translated| loops(&translated.program)),
            scheduled: None,
            leaves: Leaves::Vector,
        }
    }

    /// Trees that nobody asks for.
    pub fn unread() -> Trees {
        Trees {
            function: String::new(),
            loops: None,
            scheduled: None,
            leaves: Leaves::Vector,
        }
    }

    /// Lowers the module by pipelines, each by `run`. Returns the time that these take.
    pub fn lower<'c>(
        &mut self,
        module: &mut Module<'c>,
        pipelines: &[&Pipeline],
        mut run: impl FnMut(&mut Module<'c>, &Pipeline) -> Result<()>,
    ) -> Result<Duration> {
        let mut spent = Duration::ZERO;
        for pipeline in pipelines {
            let started = Instant::now();
            run(module, pipeline)?;
            spent += started.elapsed();
            self.read(module, pipeline);
        }
        Ok(spent)
    }

    /// Reads what a pipeline has decided.
    fn read(&mut self, module: &Module, pipeline: &Pipeline) {
        let Some(loops_before) = self.loops else {
            return;
        };
        let module = compile::operation(module);
        if [SCHEDULE.name, SCHEDULE_KERNELS.name].contains(&pipeline.name) {
            let function = function_of(module, &self.function);
            self.scheduled = function.and_then(|function| Scheduled::read(function, loops_before));
        }
        if pipeline.name == VECTORS.name {
            // What has a schedule yet has found no form on vectors.
            let mut left = find_all(module, &["mdh.compute"]).into_iter();
            if left.any(schedule::has_schedule) {
                self.leaves = Leaves::Scalar;
            }
        }
    }

    /// Bounds for results of the function on these arguments, with results of these shapes: those
    /// of any order where the depth is not known.
    pub fn errors(&self, entry: &Entry, arguments: &[Tensor], shapes: &[Vec<i64>]) -> Errors {
        let scheduled = self.scheduled.as_ref();
        let depths = scheduled.and_then(|scheduled| scheduled.depths(entry, arguments, shapes));
        let depth = depths.map(|depths| match self.leaves {
            Leaves::Vector => depths.vector,
            Leaves::Scalar => depths.scalar,
        });
        depth.map_or(Errors::Bounded, Errors::OfDepth)
    }
}

impl Scheduled {
    /// Reads a function; `None` if some of its computations have become loops.
    fn read(function: Op, loops_before: usize) -> Option<Scheduled> {
        let translated = function::translate(function, Depth::Code).ok()?;
        if loops(&translated.program) > loops_before {
            return None;
        }
        let schedules = translated.origins.iter().map(|op| schedule::read(*op).ok());
        Some(Scheduled {
            schedules: schedules.collect(),
            program: translated.program,
        })
    }

    /// The sum over all computations; `None` if one is not known.
    fn depths(&self, entry: &Entry, arguments: &[Tensor], shapes: &[Vec<i64>]) -> Option<Depths> {
        let arguments = shapes_only(entry, arguments, shapes, &self.program);
        let instance = self.program.instantiate(&arguments).ok()?;
        // What is left to others to lower has no depth that is known.
        if instance.has_reordered_nests() {
            return None;
        }
        let mut sum = Depths::default();
        for (statement, computation) in instance.bound_computations() {
            // Coupled with others, a sum is a component of a user's operator.
            let roundings = computation
                .operator()
                .map_or(Some(0), Operator::roundings)?;
            if roundings == 0 {
                continue;
            }
            let schedule = self.schedules.get(statement)?.as_ref()?;
            let depths = depths_of(schedule.as_ref(), computation)?;
            let with = |sum: u64, depth: u64| sum.saturating_add(depth.saturating_mul(roundings));
            sum.vector = with(sum.vector, depths.vector);
            sum.scalar = with(sum.scalar, depths.scalar);
        }
        Some(sum)
    }
}

/// Returns the number of a program's loops and branches.
fn loops(program: &Program) -> usize {
    let statements = program.all_statements().into_iter();
    statements.filter(|s| !s.bodies().is_empty()).count()
}

fn depths_of(schedule: Option<&Schedule>, computation: &Computation) -> Option<Depths> {
    let Some(plan) = schedule else {
        let combined = computation.dimensions.iter();
        let combined = combined.filter(|d| d.combine.operator().is_some());
        let counts: Option<Vec<i64>> = combined.map(|d| d.count()).collect();
        let chain = counts?.into_iter().fold(1u64, |product, n| {
            product.saturating_mul(u64::try_from(n).unwrap_or(u64::MAX))
        });
        return Some(Depths {
            vector: chain,
            scalar: chain,
        });
    };
    let asm = Asm::builtin(plan.asm.as_deref().unwrap_or("cpu"))?;
    let resolved = Resolved::new(plan, computation, &asm).ok()?;
    Some(Depths {
        vector: resolved.depth(computation, Leaves::Vector)?,
        scalar: resolved.depth(computation, Leaves::Scalar)?,
    })
}
