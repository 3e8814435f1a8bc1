//! Random scripts of upstream's transform dialect on random programs, against the programs as they are.
//!
//! A script tiles and fuses some computations, in tiles of tiles, too; what it leaves is compiled and run, and held
//! against the definition of the program without it. What is refused has to be refused in the project's own words.

use std::path::Path;

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::Combine;
use mdh_algebra::domain::Grid;
use mdh_compiler::cli::{CheckHow, RunArguments};
use mdh_compiler::error::Result;
use mdh_compiler::output;
use mdh_compiler::source::Source;

use crate::choices::Choices;
use crate::generate;
use crate::print::code::list;
use crate::program::{Definition, Dim, RandomProgram, Statement, Step, ValueId, View};
use crate::run::{self, Ending, Way};

/// A program, and the script that tiles it.
pub struct Case {
    /// The program.
    pub program: RandomProgram,
    script: String,
    /// Operations of linalg stay, to be tiled and fused as such.
    keeps_linalg: bool,
}

/// Phrases of refusals that are the project's own: a tile that there is none of, and why.
const REFUSALS: [&str; 6] = [
    "cannot be tiled",
    "cannot be fused",
    "cannot be cut into partial results",
    "cannot be computed from partial results",
    "transform.structured.fuse found an mdh.compute on memrefs",
    "transform.structured.fuse_into_containing_op found",
];

/// Returns whether a refusal is the project's own: its first error, or a remark where upstream says no more than that
/// something was not done.
pub fn is_refusal(text: &str) -> bool {
    let mut errors = text.lines().filter_map(|line| line.split_once("error: "));
    let first = errors.find(|(_, said)| !said.trim().is_empty());
    let said = first.map_or(text, |(_, said)| said);
    REFUSALS.iter().any(|phrase| said.contains(phrase))
}

/// The case of a seed's choices.
pub fn case(c: &mut Choices) -> Case {
    let mut program = c.scope("program", generate::tileable);
    let steps = program.body.iter_mut().filter_map(|s| match s {
        Statement::Step(step) => Some(step),
        _ => None,
    });
    // Names by which a script finds them.
    for (number, step) in steps.enumerate() {
        if let Some(view) = step.outputs.first_mut() {
            view.name = format!("t{number}");
        }
    }
    let script = c.scope("script", |c| script(c, &program));
    Case {
        program,
        script,
        keeps_linalg: c.chance("keeps linalg", 40),
    }
}

impl crate::case::Case for Case {
    /// Runs the program as the script leaves it.
    fn run(&self, folder: &Path) -> Ending {
        let source = Source::from_text("f.mlir", &self.program.to_string());
        let arguments = self.arguments(&source, folder);
        run::ending(arguments.and_then(|a| run::run_source(&source, &a)))
    }

    fn write(&self, folder: &Path) -> Result<String> {
        let command = run::write(&self.program, Way::PLAIN, folder)?;
        let file = folder.join("script.mlir");
        output::write(&file, self.script.as_bytes())?;
        let raise = if self.keeps_linalg { " --no-raise" } else { "" };
        let passes = passes(&file).join(",");
        Ok(format!(
            "{command}=all{raise} --between '{passes}' --between-gap 0"
        ))
    }

    fn text(&self) -> String {
        let values = &self.program.values;
        format!(
            "{}{}{}{values:?}",
            self.program, self.script, self.keeps_linalg
        )
    }
}

impl Case {
    fn arguments(&self, source: &Source, folder: &Path) -> Result<RunArguments> {
        let file = folder.join("script.mlir");
        output::write(&file, self.script.as_bytes())?;
        Ok(RunArguments {
            between: passes(&file),
            between_gap: Some(0),
            no_raise: self.keeps_linalg,
            check: Some(CheckHow::All),
            ..run::arguments(&self.program, source, folder)?
        })
    }
}

/// The passes that apply a script.
fn passes(file: &Path) -> Vec<String> {
    let library = format!("transform-library-paths={}", file.display());
    vec![
        format!("transform-preload-library{{{library}}}"),
        "transform-interpreter".into(),
    ]
}

/// A script in the making.
struct Writer<'p> {
    program: &'p RandomProgram,
    steps: Vec<&'p Step>,
    text: String,
    handles: usize,
    /// Steps that are in loops: there may be several of each.
    gone: Vec<usize>,
}

/// A handle of a tile, and the step that it is a part of.
struct Tile<'p> {
    handle: String,
    step: &'p Step,
    depth: usize,
    /// True if it computes partial results.
    is_part: bool,
}

/// Loops around a tile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loops {
    For,
    Forall,
}

fn script(c: &mut Choices, program: &RandomProgram) -> String {
    let steps = program.body.iter().filter_map(|s| match s {
        Statement::Step(step) => Some(&**step),
        _ => None,
    });
    let mut writer = Writer {
        program,
        steps: steps.collect(),
        text: String::new(),
        handles: 0,
        gone: Vec::new(),
    };
    let count = writer.steps.len();
    let last = count.saturating_sub(1 + c.weighted("last", &[75, 15, 10]));
    for number in 0..=last {
        let is_target = number == last || c.scope(number, |c| c.chance("target", 20));
        if is_target && !writer.gone.contains(&number) {
            c.scope(format!("target{number}"), |c| writer.target(c, number));
        }
    }
    format!(
        "module attributes {{transform.with_named_sequence}} {{\n  transform.named_sequence \
         @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{\n{}    \
         transform.yield\n  }}\n}}\n",
        writer.text
    )
}

impl<'p> Writer<'p> {
    /// Adds an operation; returns its results' handle.
    fn op(&mut self, text: &str, operands: usize, results: usize) -> String {
        self.handles += 1;
        let handle = format!("%h{}", self.handles);
        let types = |n: usize| list((0..n).map(|_| "!transform.any_op"));
        self.text += &format!(
            "    {handle}:{results} = transform.{text} : ({}) -> ({})\n",
            types(operands),
            types(results)
        );
        handle
    }

    fn target(&mut self, c: &mut Choices, number: usize) {
        let handle = self.op(&format!("mdh.match t{number} in %root"), 1, 1);
        self.gone.push(number);
        let tile = Tile {
            handle,
            step: self.steps[number],
            depth: 0,
            is_part: false,
        };
        self.tile(c, &tile);
    }

    fn tile(&mut self, c: &mut Choices, tile: &Tile<'p>) {
        // Parts that take elements in turn have no dimension left that combines.
        let kinds = match tile.is_part {
            false => [22, 34, 18, 12, 14],
            true => [30, 40, 30, 0, 0],
        };
        let kind = c.weighted("kind", &kinds);
        let handle = match kind {
            1 => self.fuse(c, tile),
            2 => self.forall(c, tile),
            3 => self.partial(c, tile, Loops::For),
            4 => self.partial(c, tile, Loops::Forall),
            _ => self.loops(c, tile),
        };
        if tile.depth < 2 && c.chance("again", 22) {
            let inner = Tile {
                handle,
                step: tile.step,
                depth: tile.depth + 1,
                is_part: tile.is_part || kind > 2,
            };
            c.scope("inner", |c| self.tile(c, &inner));
        }
    }

    fn loops(&mut self, c: &mut Choices, tile: &Tile<'p>) -> String {
        let dims = cut(c, tile.step, Loops::For);
        let sizes = sizes(c, tile, &dims, size);
        let order = interchange(c, sizes.len(), "interchange = ");
        let text = format!(
            "structured.tile_using_for {} tile_sizes [{}]{order}",
            tile.handle,
            list(&sizes)
        );
        let handle = self.op(&text, 1, 1 + cuts(&sizes));
        if cuts(&sizes) > 0 {
            self.fuse_into(c, tile, &format!("{handle}#1"), Loops::For);
        }
        format!("{handle}#0")
    }

    fn forall(&mut self, c: &mut Choices, tile: &Tile<'p>) -> String {
        let dims = cut(c, tile.step, Loops::Forall);
        // Upstream makes no loop for threads of nothing, and the handle of one.
        let is_some = dims.iter().all(|d| periods(&tile.step.dims[*d]) > 0);
        let (what, sizes) = match is_some && c.chance("threads", 50) {
            true => ("num_threads", sizes(c, tile, &dims, threads)),
            false => ("tile_sizes", sizes(c, tile, &dims, size)),
        };
        if cuts(&sizes) == 0 {
            return self.loops(c, tile);
        }
        let text = format!(
            "structured.tile_using_forall {} {what} [{}]",
            tile.handle,
            list(&sizes)
        );
        let handle = self.op(&text, 1, 2);
        self.fuse_into(c, tile, &format!("{handle}#1"), Loops::Forall);
        format!("{handle}#0")
    }

    fn fuse(&mut self, c: &mut Choices, tile: &Tile<'p>) -> String {
        let is_forall = c.chance("forall", 20);
        let loops = if is_forall { Loops::Forall } else { Loops::For };
        let dims = cut(c, tile.step, loops);
        let sizes = sizes(c, tile, &dims, size);
        let (is_forall, count) = match cuts(&sizes) {
            0 => (false, 0),
            _ if is_forall => (true, 1),
            cuts => (false, cuts),
        };
        let order = interchange(c, sizes.len(), "interchange ");
        let mut flags = Vec::new();
        flags.extend(c.chance("cleanup", 30).then_some("apply_cleanup"));
        flags.extend(is_forall.then_some("use_forall"));
        let text = format!(
            "structured.fuse {} tile_sizes [{}]{order} {{{}}}",
            tile.handle,
            list(&sizes),
            list(&flags)
        );
        self.gone.extend(0..self.steps.len());
        format!("{}#0", self.op(&text, 1, 1 + count))
    }

    fn partial(&mut self, c: &mut Choices, tile: &Tile<'p>, loops: Loops) -> String {
        let combine = combine(tile.step);
        let sums: Vec<usize> = (0..combine.len()).filter(|d| combine[*d].is_pw()).collect();
        // Scans have no partial results.
        let is_scan = combine.iter().any(|c| c.is_ps());
        if sums.is_empty() || (is_scan && !c.chance("scanned", 10)) {
            return self.loops(c, tile);
        }
        let chosen = |d: &usize| c.scope(d, |c| c.chance("cut", 70));
        let mut dims: Vec<usize> = sums.iter().copied().filter(chosen).collect();
        if dims.is_empty() {
            dims.push(sums[0]);
        }
        let (what, sizes) = match loops == Loops::Forall && c.chance("threads", 55) {
            true => ("num_threads", sizes(c, tile, &dims, threads)),
            false => ("tile_sizes", sizes(c, tile, &dims, size)),
        };
        let name = match loops {
            Loops::For => "tile_reduction_using_for",
            Loops::Forall => "tile_reduction_using_forall",
        };
        let mut named = String::new();
        if c.chance("named", 40) {
            if c.chance("reversed", 15) {
                dims.reverse();
            }
            if c.chance("fewer", 8) {
                dims.truncate(1);
            }
            named = format!(" reduction_dims = [{}]", list(&dims));
        }
        let text = format!(
            "structured.{name} {}{named} by {what} = [{}]",
            tile.handle,
            list(&sizes)
        );
        let components = tile
            .step
            .homs
            .last()
            .map_or(0, |hom| hom.components().len());
        let handle = self.op(&text, 1, components + 3);
        format!("{handle}#{components}")
    }

    /// Fuses an operation that makes what the step reads, or its destination, into loops of it.
    fn fuse_into(&mut self, c: &mut Choices, tile: &Tile, container: &str, loops: Loops) {
        // Loops in loops carry slices.
        if tile.depth > 0 {
            return;
        }
        let step = tile.step;
        let views = match loops {
            Loops::Forall => {
                let outputs = step.outputs.iter().filter(|view| self.is_whole(view.value));
                step.inputs.iter().chain(outputs).cloned().collect()
            }
            // There is no way into the loop for what it carries.
            Loops::For => {
                let is_carried =
                    |value: ValueId| step.outputs.iter().any(|view| view.value == value);
                let inputs = step.inputs.iter().filter(|view| !is_carried(view.value));
                inputs.cloned().collect::<Vec<_>>()
            }
        };
        let producers = views.iter().filter_map(|view| self.producer(view.value));
        let producers: Vec<String> = producers.collect();
        if producers.is_empty() || !c.chance("fuse into", 50) {
            return;
        }
        let numbers: Vec<usize> = (0..producers.len()).collect();
        let producer = self.op(&producers[c.pick("producer", &numbers)], 1, 1);
        let text = format!("structured.fuse_into_containing_op {producer} into {container}");
        self.op(&text, 2, 2);
        self.gone.extend(0..self.steps.len());
    }

    /// Returns whether a fill makes a value, or a computation of each element by the point of its indices: what else is
    /// no producer of parts, which is said in a remark.
    fn is_whole(&self, value: ValueId) -> bool {
        let Some(step) = self.steps.iter().find(|s| s.results.contains(&value)) else {
            return true;
        };
        let dims = || step.dims.iter().enumerate();
        let map: Vec<Expr> = dims().map(|(d, _)| Expr::Dim(d)).collect();
        let is_dense = |dim: &Dim| dim.is_fixed() && dim.grid == Grid::dense(dim.grid.upper);
        let is_own = |view: &View| {
            let shape = &self.program.values[view.value].ty.shape;
            let mut extents = shape.iter().zip(&step.dims);
            view.accesses == [map.clone()] && extents.all(|(size, dim)| *size == dim.grid.upper)
        };
        let is_cc = combine(step).iter().all(|c| *c == Combine::Cc);
        is_cc
            && dims().all(|(_, dim)| is_dense(dim))
            && matches!(&step.outputs[..], [view] if is_own(view))
    }

    /// The operation that finds what makes a value, if a computation or a fill that is not in loops yet does.
    fn producer(&self, value: ValueId) -> Option<String> {
        if let Definition::Filled { .. } = self.program.values[value].definition {
            let name = &self.program.values[value].name;
            return Some(format!(
                "structured.match attributes {{name = \"{name}\"}} in %root"
            ));
        }
        let number = self.steps.iter().position(|s| s.results.contains(&value))?;
        (!self.gone.contains(&number)).then(|| format!("mdh.match t{number} in %root"))
    }
}

fn combine(step: &Step) -> Vec<Combine> {
    let hom = step.homs.last();
    hom.map_or(vec![Combine::Cc; step.dims.len()], |hom| {
        hom.combine.clone()
    })
}

fn cuts(sizes: &[i64]) -> usize {
    sizes.iter().filter(|size| **size != 0).count()
}

/// Dimensions to be cut: of those that combine all that are point-wise, one that is scanned, or none, but for some
/// that are refused.
fn cut(c: &mut Choices, step: &Step, loops: Loops) -> Vec<usize> {
    let combine = combine(step);
    let scans: Vec<usize> = (0..combine.len()).filter(|d| combine[*d].is_ps()).collect();
    let any = c.chance("any", 5);
    let scan = match scans.is_empty() || loops == Loops::Forall || !c.chance("scan", 40) {
        true => None,
        false => Some(c.pick("which", &scans)),
    };
    let can_be = |d: usize| match combine[d] {
        _ if any => true,
        Combine::Cc => true,
        Combine::Pw(_) => loops == Loops::For && scan.is_none(),
        Combine::Ps(_) => scan == Some(d),
    };
    let dims = (0..combine.len()).filter(|d| can_be(*d));
    let is_cut = |d: &usize| c.scope(d, |c| c.chance("cut", 65));
    dims.collect::<Vec<_>>()
        .into_iter()
        .filter(is_cut)
        .collect()
}

/// A number for each dimension, 0 for those that are not cut.
fn sizes(
    c: &mut Choices,
    tile: &Tile,
    dims: &[usize],
    size: fn(&mut Choices, &Dim) -> i64,
) -> Vec<i64> {
    let numbered = tile.step.dims.iter().enumerate();
    let size = |(d, dim): (usize, &Dim)| match dims.contains(&d) {
        true => c.scope(d, |c| size(c, dim)),
        false => 0,
    };
    numbered.map(size).collect()
}

fn periods(dim: &Dim) -> u64 {
    let span = (dim.grid.upper - dim.grid.lower).max(0) as u64;
    span.div_ceil(dim.grid.step as u64)
}

/// The size of a tile: up to somewhat more than there is.
fn size(c: &mut Choices, dim: &Dim) -> i64 {
    1 + c.below("size", (periods(dim) + 2).min(12)) as i64
}

/// A number of threads, which may be more than there are points.
fn threads(c: &mut Choices, dim: &Dim) -> i64 {
    1 + c.below("threads", (periods(dim) + 3).min(9)) as i64
}

/// An order of loops, if it is another one.
fn interchange(c: &mut Choices, rank: usize, name: &str) -> String {
    let mut order: Vec<usize> = (0..rank).collect();
    if rank < 2 || !c.chance("interchange", 25) {
        return String::new();
    }
    for n in (1..rank).rev() {
        let other = c.scope(n, |c| n - c.below("swap", n as u64 + 1) as usize);
        order.swap(n, other);
    }
    format!(" {name}[{}]", list(&order))
}
