//! Depth of the combine tree that a schedule makes: the most combinations between an element and
//! the result, which is what rounding errors grow with.
//!
//! Two numbers say it of a part: how many combinations an element goes through in it, and how many
//! what is there before does, each at most. Both are 1 for a point. The parts of a sequential level
//! go on from what the part before has left. Parts that have partial results of their own, those of a
//! parallel level and those that are deferred, are combined with each other and with what is
//! there before at the end; lanes with each other first, so that the rest is one combination. A tile
//! that is not full may be code of its own, of which each point adds one.
//!
//! ```text
//! layers = [core {i: 2}, L1 {i: 64}, simd {i: 16}], recompose = {order: [core.i, simd.i, L1.i]}
//! // 64 in each lane, 16 lanes, 2 cores: 82 combinations instead of the 2,047 of any order
//! ```

use super::resolved::{Level, Resolved};
use super::tiles::Tiles;
use crate::asm::{LANES, MATRIX};
use mdh_algebra::computation::Computation;

/// Lowering of levels that are for registers and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Registers and lanes: each has a partial result of its own.
    Vector,
    /// Loops like any other: the code has no form on vectors.
    Scalar,
}

/// Order in which the parts of a level are combined.
enum Parts {
    /// One after the other.
    InTurn,
    /// In partial results, one for each part.
    Partial,
    /// In partial results that are combined in registers.
    Lanes,
}

impl Resolved {
    /// The depth of the combine tree of a computation of known sizes; `None` if they are not.
    pub fn depth(&self, computation: &Computation, leaves: Leaves) -> Option<u64> {
        let points: Vec<Option<i64>> = computation.dimensions.iter().map(|d| d.count()).collect();
        let tiles = self.tiles(&points)?;
        let deferred = self.deferred(computation).unwrap_or_default();
        let (mut own, mut before) = (1u64, 1u64);
        for level in self.recompose.order.iter().rev().copied() {
            let count = tiles.count(level).max(1).unsigned_abs();
            let combine = computation.dimensions[level.dimension].combine;
            if combine.operator().is_none() || count == 1 {
                continue;
            }
            (own, before) = match self.combining(level, &deferred, leaves) {
                Parts::InTurn => (
                    own.saturating_add(before.saturating_mul(count - 1)),
                    before.saturating_mul(count),
                ),
                Parts::Partial => (own.saturating_add(count), count),
                Parts::Lanes => (own.saturating_add(count), 1),
            };
        }
        let rest = (0..points.len()).filter(|d| {
            let dimension = &computation.dimensions[*d];
            dimension.combine.operator().is_some() && has_rest(&tiles, *d)
        });
        let rest = rest.map(|d| self.full_tile(&tiles, d, &deferred));
        Some(rest.fold(own, u64::saturating_add))
    }

    fn combining(&self, level: Level, deferred: &[Level], leaves: Leaves) -> Parts {
        let to = self.recompose.assign[level.layer][level.dimension];
        match (self.asm.layers[to.layer].name(), leaves) {
            // Sums of the hardware's own are in any order.
            (MATRIX, _) | (LANES, Leaves::Scalar) => Parts::InTurn,
            (LANES, Leaves::Vector) => Parts::Lanes,
            _ if self.is_parallel(&self.recompose, level) => Parts::Partial,
            (_, Leaves::Vector) if deferred.contains(&level) => Parts::Partial,
            _ => Parts::InTurn,
        }
    }

    /// Points of a tile of the registers and lanes of a dimension that are combined apart: so many
    /// at most are left for code of their own.
    fn full_tile(&self, tiles: &Tiles, dimension: usize, deferred: &[Level]) -> u64 {
        let levels = self.recompose.order.iter().copied();
        let levels = levels.filter(|level| {
            let to = self.recompose.assign[level.layer][level.dimension];
            let is_lane = self.asm.layers[to.layer].name() == LANES;
            let is_deferred =
                deferred.contains(level) && !self.is_parallel(&self.recompose, *level);
            level.dimension == dimension && (is_lane || is_deferred)
        });
        let counts = levels.map(|level| tiles.count(level).max(1).unsigned_abs());
        counts.fold(1, u64::saturating_mul)
    }
}

/// Returns whether the parts of a dimension hold more points than there are.
fn has_rest(tiles: &Tiles, dimension: usize) -> bool {
    let counts = tiles.counts.iter().map(|row| row[dimension].max(1));
    let held = counts.fold(1i64, i64::saturating_mul);
    held != tiles.points[dimension]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::random_schedule::{machine, random_schedule};
    use super::super::{Schedule, check, execute};
    use super::*;
    use crate::asm::Asm;
    use crate::random_tests::any_computation;
    use ScalarType::I64;
    use mdh_algebra::code::{Block, Code, Instruction, Op};
    use mdh_algebra::examples::{matvec, user};
    use mdh_algebra::operator::Operator;
    use mdh_algebra::oracle::arrays::Arrays;
    use mdh_algebra::random::Random;
    use mdh_algebra::scalar::{Scalar, ScalarType};

    /// `f(a, b) = max(a, b) + 1`: of zeros, the depth of the tree in which they are combined.
    fn deeper(components: usize) -> Code {
        let unit = Scalar::from_i64(I64, 1);
        let mut instructions = vec![Instruction::Constant {
            result: 2 * components,
            value: unit,
        }];
        let mut apply = |result, op, operands: [usize; 2]| {
            instructions.push(Instruction::Apply {
                result,
                op,
                operands: operands.to_vec(),
                ty: I64,
            });
        };
        let first = 2 * components + 1;
        for c in 0..components {
            apply(first + 2 * c, Op::Maxsi, [c, components + c]);
            apply(first + 2 * c + 1, Op::Addi, [first + 2 * c, first - 1]);
        }
        Code {
            inputs: vec![I64; 2 * components],
            results: vec![I64; components],
            registers: first + 2 * components,
            body: Block {
                instructions,
                yields: (0..components).map(|c| first + 2 * c + 1).collect(),
            },
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// Checks: what a schedule means by definition is no deeper.
        #[test]
        fn no_tree_is_deeper(mut c in any_computation(), seed in any::<u64>()) {
            let mut random = Random::new(seed);
            for operator in &mut c.operators {
                let mut replacement = user("deeper", deeper(c.components.len()));
                replacement.commutative = operator.is_commutative();
                *operator = Operator::User(replacement);
            }
            for input in &mut c.inputs {
                input.pad = Some(Scalar::zero(I64));
            }
            let asm = machine(&mut random);
            let accepted = (0..40).find_map(|_| {
                check(&random_schedule(&mut random, &c, &asm), &c, &asm).ok()
            });
            let Some(resolved) = accepted else { return Ok(()) };
            let mut zeros = Arrays::new(&c, |_, _| Scalar::zero(I64));
            let run = execute(&c, &resolved, &mut zeros);
            let run = run.map_err(|e| TestCaseError::fail(e.to_string()))?;
            let values = run.outputs.iter().flat_map(|output| output.values());
            let deepest = values.map(|value| value.as_i64()).max().unwrap_or(0);
            for leaves in [Leaves::Vector, Leaves::Scalar] {
                let depth = resolved.depth(&c, leaves);
                prop_assert!(depth >= Some(deepest as u64), "{depth:?} < {deepest}: {resolved:?}");
            }
        }
    }

    fn depth(text: &str, asm: &Asm, k: i64, leaves: Leaves) -> u64 {
        let c = matvec(ScalarType::F32, 1, k);
        let schedule: Schedule = text.parse().unwrap();
        let resolved = check(&schedule, &c, asm).unwrap();
        resolved.depth(&c, leaves).unwrap()
    }

    #[test]
    fn cores_and_lanes_are_combined_apart() {
        let asm = Asm::builtin("cpu").unwrap();
        let text = "layers = [core {d1: 2}, L1 {d1: *}, register {d1: 4}, simd {d1: 8}],
            decompose = {order: [core.d1, L1.d1, register.d1, simd.d1]},
            recompose = {order: [core.d1, register.d1, simd.d1, L1.d1]},
            outputs = {out0: {combine: {register.d1: register}}}";
        // 64 in each lane of each register, 8 lanes, 4 registers, 2 cores.
        assert_eq!(depth(text, &asm, 4096, Leaves::Vector), 64 + 8 + 4 + 2);
        // Loops over 2,048 points.
        assert_eq!(depth(text, &asm, 4096, Leaves::Scalar), 2048 + 2);
        // What does not fill a tile may be added point by point.
        let with_rest = depth(text, &asm, 4095, Leaves::Vector);
        assert_eq!(with_rest, 64 + 8 + 4 + 2 + 4 * 8);
    }

    #[test]
    fn loops_are_chains() {
        let asm = Asm::builtin("cpu").unwrap();
        let text = "layers = [L1 {d1: 16}, register {d1: 4}]";
        assert_eq!(depth(text, &asm, 64, Leaves::Vector), 64);
        // Lanes are combined in each of 8 turns.
        let text = "layers = [L1 {d1: 8}, simd {d1: 8}],
            outputs = {out0: {combine: {simd.d1: register}}}";
        assert_eq!(depth(text, &asm, 64, Leaves::Vector), 8 + 8);
    }
}
