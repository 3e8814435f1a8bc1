//! The computations of a program, as schedules see them.

use std::collections::BTreeMap;

use mdh_algebra::code::Instruction;
use mdh_algebra::computation::{Computation, Extent};
use mdh_algebra::domain::Grid;
use mdh_compiler::source::Source;
use mdh_compiler::{compile, select};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{context, schedule};

use crate::program::{Dim, RandomProgram, Statement};

/// A computation that may get a schedule.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name among others: that of its first output.
    pub name: String,
    /// The computation, with what its text leaves open.
    pub computation: Computation,
    /// The same with all sizes of its domain.
    pub known: Computation,
    /// The same with the sizes that it may have instead: which of the program's steps it belongs to
    /// is not known where several have dimensions of its names.
    pub others: Vec<Computation>,
    /// True if its scalar function asks for indices.
    pub asks_indices: bool,
}

/// The computations of a program in the order of their positions; why it has none.
pub fn targets(program: &RandomProgram) -> Result<Vec<Target>, String> {
    mdh_passes::register_all();
    let context = context::program_context();
    // Threads cost more than they give.
    context.enable_multi_threading(false);
    // What is wrong is shown when the program is run.
    context.attach_diagnostic_handler(|_| true);
    let text = |error: mdh_compiler::error::Error| error.to_string();
    let source = Source::from_text("f.mlir", &program.to_string());
    let mut module = source.parse(&context).map_err(text)?;
    compile::form(&context, &mut module).map_err(text)?;
    let function = select::function(compile::operation(&module), "f").map_err(text)?;
    let grids = grids(program);
    let target = |op| {
        let computation = translate::compute(op, Depth::Signatures);
        let computation = computation.map_err(|errors| errors.join("; "))?;
        let named = |grids: &&BTreeMap<String, Grid>| {
            let mut names = computation.names().into_iter();
            names.all(|name| grids.contains_key(name))
        };
        let mut versions: Vec<Computation> = grids
            .iter()
            .filter(named)
            .map(|g| known(&computation, g))
            .collect();
        if versions.is_empty() {
            versions.push(known(&computation, &BTreeMap::new()));
        }
        let code = translate::compute(op, Depth::Code).map(|whole| whole.scalar.body.instructions);
        let is_index = |instruction: &Instruction| matches!(instruction, Instruction::Index { .. });
        Ok(Target {
            asks_indices: code.is_ok_and(|instructions| instructions.iter().any(is_index)),
            name: schedule::name(op),
            known: versions.remove(0),
            others: versions,
            computation,
        })
    };
    schedule::computations(function)
        .into_iter()
        .map(target)
        .collect()
}

/// The dimensions of a program's steps by their names.
fn grids(program: &RandomProgram) -> Vec<BTreeMap<String, Grid>> {
    let steps = program.body.iter().filter_map(|statement| match statement {
        Statement::Step(step) => Some(&step.dims),
        _ => None,
    });
    let grids = |dims: &Vec<Dim>| {
        dims.iter()
            .map(|dim| (dim.name.clone(), dim.grid))
            .collect()
    };
    steps.map(grids).collect()
}

/// Of a dimension with another name, sizes are made up: schedules must not depend on them.
fn known(computation: &Computation, grids: &BTreeMap<String, Grid>) -> Computation {
    let mut known = computation.clone();
    for dimension in &mut known.dimensions {
        let grid = grids.get(&dimension.name).copied();
        let grid = grid.unwrap_or(Grid::dense(7));
        let fill = |extent: &mut Extent, number: i64| *extent = extent.or(Some(number));
        fill(&mut dimension.lower, grid.lower);
        fill(&mut dimension.upper, grid.upper);
        fill(&mut dimension.step, grid.step);
        fill(&mut dimension.width, grid.width);
    }
    known
}
