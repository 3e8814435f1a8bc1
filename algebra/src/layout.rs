//! Layouts: bijections between a logical index and an offset, built from small pieces (LEGO
//! paper, sections 3.1 and 3.2).
//!
//! # Why
//!
//! An element of a tile has an index, by which the computation knows it, and a place in memory. Between the two stands
//! arithmetic: bricks, panels, swizzles against bank conflicts, the registers of a matrix instruction. Written by hand,
//! each reader of such a tile has that arithmetic again, and nobody can ask it anything: whether neighbouring lanes are
//! neighbours in memory, which index a thread has to load, whether two elements share a place. A [`Layout`] is that
//! arithmetic as one value, which is proved to be a bijection when it is built, and gives both ways: [`Layout::apply`],
//! index to offset, and [`Layout::inv`], offset to index.
//!
//! # Three ideas
//!
//! *Reordering is all there is.* A view of sizes `[4, 6]` numbers its elements row by row; a layout renumbers them.
//! [`Perm`] is the piece that does so for a box of dimensions, and there are two: `RegP` exchanges dimensions, and `GenP`
//! is any pair of functions that are each other's inverse.
//!
//! *Levels.* [`OrderBy`] has one permutation for each level of tiles, outermost first: the order of the tiles, then the
//! order within one. Here is `OrderBy(RegP([2,2],[2,1]), RegP([2,3],[1,2]))` of a view `GroupBy([2,2],[2,3])`, four tiles
//! of 2 x 3 elements, the tiles column by column, the elements of each row by row:
//!
//! ```text
//!    index (view)                     offset (memory)
//!     0  1  2 |  6  7  8                0  1  2 | 12 13 14
//!     3  4  5 |  9 10 11                3  4  5 | 15 16 17
//!    ---------+---------    apply      ---------+---------
//!    12 13 14 | 18 19 20   -------->    6  7  8 | 18 19 20
//!    15 16 17 | 21 22 23   <--------    9 10 11 | 21 22 23
//!                             inv
//! ```
//!
//! *Chains.* `OrderBy.OrderBy.GroupBy` applies one after the other, so that a swizzle of bricks is the swizzle after the
//! bricks, and [`Layout::after`] composes two layouts whoever made them.
//!
//! # Objections
//!
//! *Why not strides, as CuTe and memrefs have?* Strides are the layouts that are linear in each digit of the index.
//! Swizzles, Hilbert's curve and antidiagonals are not, and an inverse of strides has to be found. What is linear is
//! recognised ([`cute`]), and what lies in a row is a question that is asked of all ([`runs`]).
//!
//! *Why not matrices over F2, as Triton's `LinearLayout`?* They hold for sizes that are powers of two. Sizes here may be
//! any, and symbols.
//!
//! *Is the arithmetic not slow?* It is simplified by what is known of sizes and indices before it is code
//! ([`crate::index`]), and most of it leaves the loops.
//!
//! # The pieces
//!
//! ```text
//! Perm     ::= RegP([n_1..n_d], sigma)          dimensions in another order (sigma is 1-based)
//!            | GenP([n_1..n_d], f, f_inv)       any bijection of a tile: index <-> offset
//! OrderBy  ::= OrderBy(Perm, ..)                one for each level of tiles, outermost first
//! Layout   ::= OrderBy.OrderBy. .. .GroupBy([tile], ..)
//! ```
//!
//! With `B_n(i)` the row-major offset of an index and `B^-1_n` its inverse:
//!
//! ```text
//! RegP.apply(i)    = B_{sigma(n)}(sigma(i)), sigma(x)_k = x[sigma_k]
//! OrderBy.apply(i) = flat = 0; for each Perm: flat = Perm.apply(its part of i) + flat * prod(its n)
//! Layout.apply(i)  = flat = B_view(i); for each OrderBy, last to first: flat = O.apply(B^-1(flat))
//! ```
//!
//! and the inverses take the same steps back. (`B^-1` after `B` is left out where both have the same
//! sizes, also of some dimensions only: what is built is small before it is simplified.) Everything else is written with these: `Row`, `Col`,
//! `TileBy`, `TileOrderBy` and `Bricks` ([`parse`]), built-in pairs of functions ([`builtin`]),
//! tables, and CuTe's `shape:stride` ([`cute`]). Sizes may be expressions of symbols; so `apply`
//! and `inv` make expressions, and numbers are what an [`IndexProgram`] of them evaluates to.
//!
//! **A layout is checked when it is built** ([`Layout::new`]). What is refuted is an error with a
//! counter-example; what is proved is [`Answer::Proved`]; what is neither is a layout whose
//! [`Layout::answer`] says which conditions are open.
//!
//! **Sizes that do not divide** are padded: the view has the padded sizes, and
//! `Within([m_1..m_d])` gives those that are meant. [`Layout::mask`] says which indices are.
//!
//! The layouts of schedules (`mdh_schedule::StagedLayout`) are chains of three steps, and each is a
//! piece here, so that a schedule's layout of a tile of sizes `n` is a [`Layout`] with that tile
//! as its view: `permuted(s)` is `RegP(n, s)`; `blocked(b)` is the `RegP` of
//! `[n_1/b_1, b_1, n_2/b_2, b_2, ..]` that takes the blocks' dimensions first, after padding `n` to
//! multiples of `b`; and `padded(p)` is a view of `n + p` with `Within(n)`. Steps are written
//! first to last there and last to first here.

mod answer;
pub mod bounded;
pub mod builtin;
mod check;
pub mod cute;
mod decide;
mod indices;
pub mod parse;
mod print;
pub mod runs;
mod whole;

use std::fmt;
use std::sync::Arc;

use crate::index::{EvalError, Expr, Facts, IndexProgram, Name, Table};
pub use answer::Answer;
pub use builtin::Builtin;
pub use check::divisors;
pub use indices::{flatten, inverse, unflatten};
use indices::{permute, regroup};

/// A bijection between the indices of a view and the offsets from 0 on.
#[derive(Clone, Debug)]
pub struct Layout {
    view: Vec<Vec<Expr>>,
    within: Option<Vec<Expr>>,
    chain: Vec<OrderBy>,
    facts: Facts,
    answer: Answer,
}

/// One reordering: a permutation for each level of tiles, outermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderBy {
    /// The permutations.
    pub perms: Vec<Perm>,
}

/// A permutation of the elements of one tile.
#[derive(Clone, Debug, PartialEq)]
pub enum Perm {
    /// Its dimensions in another order.
    Reg {
        /// The tile's sizes.
        sizes: Vec<Expr>,
        /// The permutation: entry `k` is the dimension (from 1) that becomes dimension `k`.
        sigma: Vec<usize>,
    },
    /// Its elements in another order.
    Gen {
        /// The tile's sizes.
        sizes: Vec<Expr>,
        /// From index to offset, and back.
        pair: Pair,
    },
}

/// Two functions that are each other's inverse.
#[derive(Clone, Debug, PartialEq)]
pub enum Pair {
    /// A named pair.
    Builtin(Builtin),
    /// Two expressions.
    Written(Arc<Written>),
    /// `forward[B(i)]` and `B^-1(backward[offset])`.
    Tables {
        /// From the row-major offset to the new one.
        forward: Arc<Table>,
        /// Back.
        backward: Arc<Table>,
    },
}

/// `(i, j) -> forward, x -> (backward, ..)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The names of the index's components.
    pub indices: Vec<Name>,
    /// The offset.
    pub forward: Expr,
    /// The name of the offset.
    pub offset: Name,
    /// The index's components.
    pub backward: Vec<Expr>,
}

/// Reason for which there is no such layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutError {
    /// The part of it that is wrong.
    pub part: LayoutPart,
    /// Found and expected.
    pub message: String,
}

/// A part of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutPart {
    /// The whole.
    Whole,
    /// The view.
    View,
    /// The sizes that are meant of a padded view.
    Within,
    /// A reordering.
    Order(usize),
    /// A permutation of a reordering.
    Perm(usize, usize),
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LayoutError {}

impl Perm {
    /// The dimensions in their order.
    pub fn row(sizes: Vec<Expr>) -> Perm {
        let sigma = (1..=sizes.len()).collect();
        Perm::Reg { sizes, sigma }
    }

    /// The dimensions in the opposite order.
    pub fn col(sizes: Vec<Expr>) -> Perm {
        let sigma = (1..=sizes.len()).rev().collect();
        Perm::Reg { sizes, sigma }
    }

    /// A table that is known: entry `k` is the new offset of what stands at `k`.
    pub fn table(sizes: Vec<Expr>, values: Vec<i64>) -> Perm {
        let mut inverse = vec![-1; values.len()];
        for (k, v) in values.iter().enumerate() {
            let place = usize::try_from(*v).ok().and_then(|v| inverse.get_mut(v));
            if let (Some(place), Ok(k)) = (place, i64::try_from(k)) {
                *place = k;
            }
        }
        let table = |name: &str, values| {
            let (name, values) = (name.into(), Some(values));
            Arc::new(Table { name, values })
        };
        let pair = Pair::Tables {
            forward: table("table", values),
            backward: table("table_inv", inverse),
        };
        Perm::Gen { sizes, pair }
    }

    /// The tile's sizes.
    pub fn dims(&self) -> &[Expr] {
        match self {
            Perm::Reg { sizes, .. } | Perm::Gen { sizes, .. } => sizes,
        }
    }

    /// Returns the number of the tile's elements.
    pub fn size(&self) -> Expr {
        Expr::product(self.dims())
    }

    /// The sizes of what [`Perm::forward`] gives: row-major in memory.
    pub fn physical(&self) -> Vec<Expr> {
        match self {
            Perm::Reg { sizes, sigma } => permute(sizes, sigma),
            Perm::Gen { .. } => vec![self.size()],
        }
    }

    /// An index of the tile as an index of [`Perm::physical`]: `sigma(i)`, or the offset.
    pub fn forward(&self, index: &[Expr]) -> Vec<Expr> {
        match self {
            Perm::Reg { sigma, .. } => permute(index, sigma),
            Perm::Gen { sizes, pair } => vec![match pair {
                Pair::Builtin(builtin) => builtin.apply(sizes, index),
                Pair::Written(pair) => pair.forward.substitute(&|name| {
                    let at = pair.indices.iter().position(|i| &**i == name)?;
                    Some(index[at].clone())
                }),
                Pair::Tables { forward, .. } => flatten(sizes, index).load(forward),
            }],
        }
    }

    /// And back.
    pub fn backward(&self, physical: &[Expr]) -> Vec<Expr> {
        match self {
            Perm::Reg { sigma, .. } => permute(physical, &inverse(sigma)),
            Perm::Gen { sizes, pair } => match pair {
                Pair::Builtin(builtin) => builtin.inv(sizes, &physical[0]),
                Pair::Written(pair) => {
                    let known = |name: &str| (name == &*pair.offset).then(|| physical[0].clone());
                    let back = pair.backward.iter();
                    back.map(|e| e.substitute(&known)).collect()
                }
                Pair::Tables { backward, .. } => unflatten(sizes, &physical[0].load(backward)),
            },
        }
    }
}

impl OrderBy {
    /// One permutation.
    pub fn one(perm: Perm) -> OrderBy {
        OrderBy { perms: vec![perm] }
    }

    /// The sizes of all levels.
    pub fn dims(&self) -> Vec<Expr> {
        self.perms.iter().flat_map(Perm::dims).cloned().collect()
    }

    /// The sizes in memory of all levels.
    fn physical(&self) -> Vec<Expr> {
        self.perms.iter().flat_map(Perm::physical).collect()
    }

    /// Level by level: an index as one of the sizes in memory.
    fn forward(&self, index: &[Expr]) -> Vec<Expr> {
        let part = |rest: &mut &[Expr], perm: &Perm| {
            let (part, left) = rest.split_at(perm.dims().len());
            *rest = left;
            Some(perm.forward(part))
        };
        let parts = self.perms.iter().scan(index, part);
        parts.flatten().collect()
    }

    /// And back.
    fn backward(&self, physical: &[Expr]) -> Vec<Expr> {
        let part = |rest: &mut &[Expr], perm: &Perm| {
            let (part, left) = rest.split_at(perm.physical().len());
            *rest = left;
            Some(perm.backward(part))
        };
        let parts = self.perms.iter().scan(physical, part);
        parts.flatten().collect()
    }
}

impl Layout {
    /// The sizes of the view, one list for each level of tiles.
    pub fn view(&self) -> &[Vec<Expr>] {
        &self.view
    }

    /// The sizes of the view.
    pub fn dims(&self) -> Vec<Expr> {
        self.view.concat()
    }

    /// The reorderings, in the order in which they are written: the last one is applied first.
    pub fn chain(&self) -> &[OrderBy] {
        &self.chain
    }

    /// Returns the number of offsets.
    pub fn size(&self) -> Expr {
        Expr::product(&self.dims())
    }

    /// Returns the facts about the sizes' symbols.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns whether it is a bijection: proved, or which conditions are open. (A layout for which it is
    /// refuted is not built.)
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The offset of an index, one component for each of [`Layout::dims`].
    ///
    /// # Panics
    /// If it has another number of components.
    pub fn apply(&self, index: &[Expr]) -> Expr {
        let dims = self.dims();
        assert_eq!(index.len(), dims.len(), "one component for each dimension");
        let (mut sizes, mut index) = (dims, index.to_vec());
        for order in self.chain.iter().rev() {
            index = order.forward(&regroup(&sizes, &index, &order.dims()));
            sizes = order.physical();
        }
        flatten(&sizes, &index)
    }

    /// The index of an offset.
    pub fn inv(&self, offset: &Expr) -> Vec<Expr> {
        let (mut sizes, mut index) = (vec![self.size()], vec![offset.clone()]);
        for order in &self.chain {
            index = order.backward(&regroup(&sizes, &index, &order.physical()));
            sizes = order.dims();
        }
        regroup(&sizes, &index, &self.dims())
    }

    /// 1 for an index that is meant, 0 for one of the padding; `None` if there is no padding.
    pub fn mask(&self, index: &[Expr]) -> Option<Expr> {
        let within = self.within.as_ref()?;
        let inside = within.iter().zip(self.whole_dimensions(index));
        let inside = inside.map(|(bound, (_, i))| i.lt(bound));
        inside.reduce(|all, one| all.and(one))
    }

    /// For each dimension, its size and its index, taken together over all levels of tiles.
    fn whole_dimensions(&self, index: &[Expr]) -> Vec<(Expr, Expr)> {
        let rank = self.view.first().map_or(0, Vec::len);
        let of_dimension = |d: usize| {
            let sizes: Vec<Expr> = self.view.iter().map(|level| level[d].clone()).collect();
            let parts = index.iter().skip(d).step_by(rank);
            let parts: Vec<Expr> = parts.cloned().collect();
            (Expr::product(&sizes), flatten(&sizes, &parts))
        };
        (0..rank).map(of_dimension).collect()
    }

    /// The sizes of the view, if they are numbers.
    pub fn numbers(&self) -> Option<Vec<i64>> {
        self.dims().iter().map(Expr::as_constant).collect()
    }

    /// Names for the components of an index that are no symbols of the layout: `i`, `j`, .. or
    /// `i0`, `i1`, ..
    pub fn index_names(&self) -> Vec<Name> {
        self.names(self.dims().len())
    }

    fn names(&self, rank: usize) -> Vec<Name> {
        let short = ["i", "j", "k", "l"];
        let free = |name: &str| !self.facts.knows(name);
        if rank <= short.len() && short[..rank].iter().all(|n| free(n)) {
            return short[..rank].iter().map(|n| Name::from(*n)).collect();
        }
        let numbered = (0..rank).map(|d| {
            let names = (0..).map(|underscores| format!("i{d}") + &"_".repeat(underscores));
            let name = names.into_iter().find(|name| free(name));
            Name::from(name.unwrap_or_default())
        });
        numbered.collect()
    }

    /// A name for an offset that is no symbol of the layout: `x`, or `x_`, ..
    pub fn offset_name(&self) -> Name {
        let mut name = "x".to_string();
        while self.facts.knows(&name) {
            name.push('_');
        }
        name.into()
    }

    /// The symbols of its sizes.
    pub fn symbols(&self) -> Vec<Name> {
        let of_chain = self.chain.iter().flat_map(OrderBy::dims);
        let sizes = self.dims().into_iter().chain(of_chain);
        let mut symbols = Vec::new();
        for symbol in sizes
            .chain(self.within.iter().flatten().cloned())
            .flat_map(|e| e.symbols())
        {
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        }
        symbols
    }

    /// Returns the facts about the sizes, and that these are an index.
    pub fn facts_of_index(&self, names: &[Name]) -> Facts {
        let mut facts = self.facts.clone();
        for (name, size) in names.iter().zip(self.dims()) {
            facts.index(name, &size);
        }
        facts
    }

    /// Returns the facts about the sizes, and that this is an offset.
    pub fn facts_of_offset(&self, name: &Name) -> Facts {
        let mut facts = self.facts.clone();
        facts.index(name, &self.size());
        facts
    }

    /// The offset of an index that is given in numbers.
    ///
    /// # Errors
    /// If a size is a symbol, the index lies outside of the view, or it cannot be computed.
    pub fn apply_at(&self, index: &[i64]) -> Result<i64, String> {
        let sizes = self.numbers().ok_or_else(|| self.needs_numbers())?;
        if index.len() != sizes.len() {
            let (found, expected) = (index.len(), sizes.len());
            return Err(format!(
                "the index has {found} components, expected {expected}, one for each of {sizes:?}"
            ));
        }
        for (d, (i, n)) in index.iter().zip(&sizes).enumerate() {
            if !(0..*n).contains(i) {
                let d = d + 1;
                return Err(format!(
                    "found {i} for component {d} of the index, expected 0 to {}",
                    n - 1
                ));
            }
        }
        let index: Vec<Expr> = index.iter().map(|i| Expr::constant(*i)).collect();
        let values = IndexProgram::new(&[self.apply(&index)]).run(&[]);
        values.map(|v| v[0]).map_err(|e: EvalError| e.to_string())
    }

    /// The index of an offset that is given as a number.
    ///
    /// # Errors
    /// If a size is a symbol, the offset is none of the layout's, or it cannot be computed.
    pub fn inv_at(&self, offset: i64) -> Result<Vec<i64>, String> {
        let sizes = self.numbers().ok_or_else(|| self.needs_numbers())?;
        let size: i64 = sizes.iter().product();
        if !(0..size).contains(&offset) {
            return Err(format!(
                "found the offset {offset}, expected 0 to {}",
                size - 1
            ));
        }
        let index = IndexProgram::new(&self.inv(&Expr::constant(offset))).run(&[]);
        index.map_err(|e: EvalError| e.to_string())
    }

    fn needs_numbers(&self) -> String {
        let sizes = self.size();
        let symbols: Vec<String> = sizes.symbols().iter().map(|s| format!("'{s}'")).collect();
        format!(
            "the sizes have symbols, expected numbers for {}",
            symbols.join(", ")
        )
    }

    /// This layout after another one: offsets of the other one are row-major offsets of this one's
    /// view.
    pub fn after(&self, first: &Layout) -> Result<Layout, LayoutError> {
        let chain = [self.chain.as_slice(), first.chain.as_slice()].concat();
        let mut facts = self.facts.clone();
        facts.and(&first.facts);
        let whole = |e: LayoutError| LayoutError {
            part: LayoutPart::Whole,
            ..e
        };
        Layout::new(first.view.clone(), first.within.clone(), chain, &facts).map_err(whole)
    }
}

#[cfg(test)]
#[path = "layout/tests.rs"]
mod tests;

#[cfg(test)]
#[path = "layout/refusal_tests.rs"]
mod refusal_tests;

#[cfg(test)]
#[path = "layout/bijection_tests.rs"]
mod bijection_tests;
