//! A view's dimensions as wholes, each taken together over all levels of tiles: as an array has them.

use super::{Layout, unflatten};
use crate::index::{Expr, Facts, Name};

impl Layout {
    /// The sizes of whole dimensions, each taken together over all levels of tiles.
    pub fn whole(&self) -> Vec<Expr> {
        let rank = self.view.first().map_or(0, Vec::len);
        let of = |d: usize| Expr::product(self.view.iter().map(|level| &level[d]));
        (0..rank).map(of).collect()
    }

    /// What is meant of [`Layout::whole`]: all, unless some is padding.
    pub fn meant(&self) -> Vec<Expr> {
        self.within.clone().unwrap_or_else(|| self.whole())
    }

    /// The components of an index of whole dimensions.
    pub fn components(&self, whole: &[Expr]) -> Vec<Expr> {
        let level = |n: usize, d: usize| -> Expr {
            let sizes: Vec<Expr> = self.view.iter().map(|level| level[d].clone()).collect();
            unflatten(&sizes, &whole[d]).swap_remove(n)
        };
        let levels = 0..self.view.len();
        levels
            .flat_map(|n| (0..whole.len()).map(move |d| (n, d)))
            .map(|(n, d)| level(n, d))
            .collect()
    }

    /// And back: an index of whole dimensions.
    pub fn whole_index(&self, components: &[Expr]) -> Vec<Expr> {
        let parts = self.whole_dimensions(components).into_iter();
        parts.map(|(_, index)| index).collect()
    }

    /// Names for the components of an index of whole dimensions.
    pub fn names_of_whole(&self) -> Vec<Name> {
        self.names(self.whole().len())
    }

    /// What is known of the sizes, and that these are an index of whole dimensions.
    pub fn facts_of_whole(&self, names: &[Name]) -> Facts {
        let mut facts = self.facts.clone();
        for (name, size) in names.iter().zip(self.whole()) {
            facts.index(name, &size);
        }
        facts
    }
}
