//! Common subexpressions of the scalar functions of several computations.

use mdh_dialect::ops;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use mdh_algebra::affine::Expr;
use mdh_algebra::op;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::{BufferPart, Dim, Parts};
use mdh_dialect::types;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{AttributeLike, ValueLike};

use super::named::short_name;
use crate::gpu::place_on_device::Placed;
use crate::support::draft;
use crate::support::inline::key;
use crate::support::region;
use crate::tile;
use crate::tile::tile::memory;

/// A value that several computations evaluate.
pub struct Subexpression<'c> {
    /// Its uses, in the order of the program; two at least.
    pub uses: Vec<Use<'c>>,
}

/// Position at which a value is evaluated.
pub struct Use<'c> {
    /// The computation.
    pub op: Op<'c>,
    /// Its parts.
    pub parts: Parts<'c>,
    /// The value in its scalar function.
    pub value: Val<'c>,
    /// Its dimension for each of the first computation's.
    pub dims: Vec<usize>,
}

impl<'c> Subexpression<'c> {
    /// Returns the name of the last operation.
    pub fn name(&self) -> &'c str {
        ir::defining_op(self.uses[0].value).map_or("", short_name)
    }
}

/// The most dimensions that are tried in other orders.
const RANK: usize = 4;
/// From here on a value is worth a store and a load of each of its readers, in operations that take
/// about a cycle for a vector.
const WORTH: u64 = 8;

/// Returns the cost of an operation on a vector, in cycles, about. Comparisons, whose predicate the
/// algebra wants to know, cost as much as what is cheapest.
pub fn cost(op: Op) -> u64 {
    match ir::name_of(op) {
        ops::arith::CONSTANT => 0,
        name => op::Op::from_mlir(name, None).map_or(1, op::Op::cycles),
    }
}

/// A computation whose scalar function is compared with others.
struct Side<'c, 'p> {
    op: Op<'c>,
    parts: &'p Parts<'c>,
    /// The buffer and access that each argument of the scalar function reads.
    reads: HashMap<usize, (usize, usize)>,
    ops: Vec<Op<'c>>,
    /// Of each value in its scalar function a number that is the same for those that are equal to it.
    kinds: HashMap<usize, u64>,
}

impl<'c, 'p> Side<'c, 'p> {
    fn new(op: Op<'c>, parts: &'p Parts<'c>) -> Option<Self> {
        let block = ir::only_block(ir::region(op, 0))?;
        let accesses = parts.inputs.iter().enumerate();
        let accesses = accesses.flat_map(|(n, b)| (0..b.accesses.len()).map(move |a| (n, a)));
        let reads = arguments(block).into_iter().map(key).zip(accesses);
        let (reads, ops) = (reads.collect(), ir::ops_of(block));
        Some(Side {
            op,
            kinds: kinds(parts, &reads, &ops),
            reads,
            ops,
            parts,
        })
    }

    /// Returns the operands of a value's evaluation: operations of the scalar function, and
    /// buffers.
    fn needs(&self, value: Val<'c>) -> (HashSet<usize>, Vec<Val<'c>>) {
        let (mut seen, mut buffers) = (HashSet::new(), Vec::new());
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !seen.insert(key(value)) {
                continue;
            }
            if let Some((buffer, _)) = self.reads.get(&key(value)) {
                buffers.push(self.parts.inputs[*buffer].value);
            }
            let op = ir::defining_op(value);
            open.extend(
                op.into_iter()
                    .flat_map(|op| op.operands().map(ir::value).collect::<Vec<_>>()),
            );
        }
        (seen, buffers)
    }

    /// Returns the cost of the operations that make some values.
    fn cost(&self, needed: &HashSet<usize>) -> u64 {
        let is_needed = |op: &&Op<'c>| {
            let results = draft::results(**op);
            results.iter().any(|result| needed.contains(&key(*result)))
        };
        self.ops.iter().filter(is_needed).map(|op| cost(*op)).sum()
    }

    /// Returns whether it is a map that has the value in memory already.
    fn stores(&self, value: Val<'c>) -> bool {
        let is_map = self.parts.combine.iter().all(|c| ir::is_cc(*c));
        let yields = self.ops.last().into_iter().flat_map(|op| op.operands());
        is_map && yields.map(ir::value).any(|yielded| yielded == value)
    }
}

/// Numbers of all values of a scalar function: values that [`Equal`] takes for equal, in whichever
/// order of dimensions, have the same.
fn kinds(parts: &Parts, reads: &HashMap<usize, (usize, usize)>, ops: &[Op]) -> HashMap<usize, u64> {
    let number = |of: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        of(&mut hasher);
        hasher.finish()
    };
    let mut kinds = HashMap::new();
    for (argument, (buffer, _)) in reads {
        let value = key(parts.inputs[*buffer].value);
        kinds.insert(*argument, number(&|hasher| value.hash(hasher)));
    }
    for op in ops {
        let kind = number(&|hasher| {
            ir::name_of(*op).hash(hasher);
            for operand in op.operands() {
                let operand = key(ir::value(operand));
                kinds
                    .get(&operand)
                    .copied()
                    .unwrap_or(operand as u64)
                    .hash(hasher);
            }
        });
        for (n, result) in draft::results(*op).into_iter().enumerate() {
            kinds.insert(key(result), kind.wrapping_add(n as u64));
        }
    }
    kinds
}

/// Finds common subexpressions of computations that cost enough, the largest of them, in the order
/// of the program.
pub fn subexpressions<'c>(computations: &[(Op<'c>, Parts<'c>)]) -> Vec<Subexpression<'c>> {
    let placed = Placed::default();
    let open = computations.iter();
    let open = open.filter(|(op, parts)| tile::schedule::is_open(*op, parts, &placed));
    let sides: Vec<Side> = open
        .filter_map(|(op, parts)| Side::new(*op, parts))
        .collect();
    // The last computation that has a value of some kind.
    let mut last: HashMap<u64, usize> = HashMap::new();
    for (n, side) in sides.iter().enumerate() {
        last.extend(side.kinds.values().map(|kind| (*kind, n)));
    }
    let mut classes = Vec::new();
    let mut taken: HashSet<usize> = HashSet::new();
    for (n, first) in sides.iter().enumerate() {
        for op in first.ops.iter().rev() {
            let Some(value) = ir::result(*op, 0) else {
                continue;
            };
            let kind = first.kinds[&key(value)];
            if last[&kind] == n {
                continue;
            }
            let (needed, buffers) = first.needs(value);
            if taken.contains(&key(value))
                || first.cost(&needed) < WORTH
                || !is_stored(value)
                || first.stores(value)
            {
                continue;
            }
            let mut uses = vec![Use {
                op: first.op,
                parts: first.parts.clone(),
                value,
                dims: (0..first.parts.dims.len()).collect(),
            }];
            for other in &sides[n + 1..=last[&kind]] {
                if !memory::stays(&buffers, first.op, other.op, computations) {
                    break;
                }
                uses.extend(
                    same_value(first, value, other).filter(|u| !taken.contains(&key(u.value))),
                );
            }
            if uses.len() < 2 {
                continue;
            }
            taken.extend(&needed);
            for other in &uses[1..] {
                let side = sides.iter().find(|side| side.op == other.op);
                taken.extend(side.into_iter().flat_map(|side| side.needs(other.value).0));
            }
            classes.push(Subexpression { uses });
        }
    }
    classes
}

/// Returns whether memory holds values of a type as they are.
fn is_stored(value: Val) -> bool {
    let ty = types::scalar_type(value.r#type());
    ty.is_some_and(|ty| ty != ScalarType::I1 && ty != ScalarType::Index)
}

/// Finds the position at which another computation evaluates a value, in one order of its
/// dimensions.
fn same_value<'c>(first: &Side<'c, '_>, value: Val<'c>, other: &Side<'c, '_>) -> Option<Use<'c>> {
    let rank = first.parts.dims.len();
    if other.parts.dims.len() != rank {
        return None;
    }
    let mut orders = Vec::new();
    match rank <= RANK {
        true => permutations(rank, &mut Vec::new(), &mut orders),
        false => orders.push((0..rank).collect::<Vec<usize>>()),
    }
    orders.into_iter().find_map(|dims| {
        let pairs = first.parts.dims.iter().zip(&dims);
        let mut equal = Equal {
            first,
            other,
            dims: &dims,
            known: HashMap::new(),
        };
        if !pairs
            .into_iter()
            .all(|(a, d)| is_same(a, &other.parts.dims[*d]))
        {
            return None;
        }
        let results = other.ops.iter().rev().filter_map(|op| ir::result(*op, 0));
        let kind = first.kinds[&key(value)];
        let mut results = results.filter(|result| other.kinds[&key(*result)] == kind);
        let same = results.find(|result| equal.values(value, *result));
        same.filter(|same| !other.stores(*same)).map(|value| Use {
            op: other.op,
            parts: other.parts.clone(),
            value,
            dims,
        })
    })
}

/// All orders of so many dimensions that begin with some, their own one first.
fn permutations(rank: usize, start: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    if start.len() == rank {
        return all.push(start.clone());
    }
    for next in 0..rank {
        if !start.contains(&next) {
            start.push(next);
            permutations(rank, start, all);
            start.pop();
        }
    }
}

fn is_same(a: &Dim, b: &Dim) -> bool {
    (a.lower, a.upper, a.step, a.width) == (b.lower, b.upper, b.step, b.width)
}

/// Two scalar functions, one dimension of the second for each of the first.
struct Equal<'c, 's> {
    first: &'s Side<'c, 's>,
    other: &'s Side<'c, 's>,
    dims: &'s [usize],
    known: HashMap<(usize, usize), bool>,
}

impl<'c> Equal<'c, '_> {
    fn values(&mut self, a: Val<'c>, b: Val<'c>) -> bool {
        let pair = (key(a), key(b));
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        let reads = (self.first.reads.get(&pair.0), self.other.reads.get(&pair.1));
        let equal = match reads {
            (Some(a), Some(b)) => self.reads(*a, *b),
            (None, None) => self.results(a, b),
            _ => false,
        };
        self.known.insert(pair, equal);
        equal
    }

    fn results(&mut self, a: Val<'c>, b: Val<'c>) -> bool {
        let (Some(x), Some(y)) = (ir::defining_op(a), ir::defining_op(b)) else {
            return a == b;
        };
        let name = ir::name_of(x);
        let is_known = ["arith.", "math."]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        if name != ir::name_of(y) || a.r#type() != b.r#type() {
            return false;
        }
        if name == ops::mdh::INDEX {
            let dim = |op| {
                let dim = ir::attribute(op, "dim")?;
                IntegerAttribute::try_from(dim)
                    .ok()
                    .map(|d| d.value() as usize)
            };
            return dim(x).zip(dim(y)).is_some_and(|(x, y)| self.dims[x] == y);
        }
        let attributes = |op| -> Vec<(&str, usize)> {
            let named = region::attributes(op).into_iter();
            named
                .map(|(name, value)| (name, value.to_raw().ptr as usize))
                .collect()
        };
        let operands: Vec<(Val, Val)> = {
            let operands = |op: Op<'c>| op.operands().map(ir::value).collect::<Vec<Val<'c>>>();
            operands(x).into_iter().zip(operands(y)).collect()
        };
        is_known
            && (x.region_count(), y.region_count()) == (0, 0)
            && x.operand_count() == y.operand_count()
            && ir::result_number(a) == ir::result_number(b)
            && attributes(x) == attributes(y)
            && operands.into_iter().all(|(a, b)| self.values(a, b))
    }

    /// Returns whether two accesses read the same element at each point.
    fn reads(&self, (a, at_a): (usize, usize), (b, at_b): (usize, usize)) -> bool {
        let (x, y) = (&self.first.parts.inputs[a], &self.other.parts.inputs[b]);
        let dims: Vec<Expr> = self.dims.iter().map(|d| Expr::Dim(*d)).collect();
        let indices: Vec<Expr> = (0..dims.len()).map(Expr::Dim).collect();
        let place = |of: &BufferPart, access: usize, dims: &[Expr]| -> Vec<Expr> {
            let map = of.accesses[access].iter();
            map.map(|e| draft::substituted(e, dims)).collect()
        };
        x.value == y.value
            && x.origin == y.origin
            && draft::same(x.pad, y.pad)
            && place(x, at_a, &dims) == place(y, at_b, &indices)
    }
}
