//! A view's dimensions as wholes, each taken together over all levels of tiles: as an array has them.

use super::indices::unflatten;
use super::{Layout, OrderBy, Perm};
use crate::index::{Expr, Facts, Name};

impl Layout {
    /// The sizes of whole dimensions, each taken together over all levels of tiles.
    pub fn sizes(&self) -> Vec<Expr> {
        let rank = self.view.first().map_or(0, Vec::len);
        let product = |d: usize| Expr::product(self.view.iter().map(|level| &level[d]));
        (0..rank).map(product).collect()
    }

    /// Returns the meant part of [`Layout::sizes`]: all, unless some is padding.
    pub fn meant(&self) -> Vec<Expr> {
        self.within.clone().unwrap_or_else(|| self.sizes())
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

    /// The same layout with whole dimensions as its view.
    pub fn of_whole(&self) -> Layout {
        let levels = self.view.len();
        if levels == 1 {
            return self.clone();
        }
        let whole = self.sizes();
        let rank = whole.len();
        // From all levels of a dimension together to all dimensions of a level together.
        let sizes = (0..rank).flat_map(|d| self.view.iter().map(move |level| level[d].clone()));
        let places = (0..levels).flat_map(|n| (0..rank).map(move |d| d * levels + n + 1));
        let perm = Perm::Reg {
            sizes: sizes.collect(),
            sigma: places.collect(),
        };
        let mut layout = self.clone();
        layout.chain.push(OrderBy::one(perm));
        layout.view = vec![whole];
        layout
    }

    /// Names for the components of an index of whole dimensions.
    pub fn names_of_whole(&self) -> Vec<Name> {
        self.names(self.sizes().len())
    }

    /// Returns the facts about the sizes, and that these are an index of whole dimensions.
    pub fn facts_of_whole(&self, names: &[Name]) -> Facts {
        let mut facts = self.facts.clone();
        for (name, size) in names.iter().zip(self.sizes()) {
            facts.index(name, &size);
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::normal;
    use crate::layout::{Answer, parse};

    #[test]
    fn whole_dimensions_have_the_same_offsets() {
        for text in [
            "Row([4,6])",
            "TileBy([2,5],[4,8]).OrderBy(Col([8,40]))",
            "TileBy([2,2,3],[1,4,5],[2,2,2]).OrderBy(GenP([4,16,30],reverse))",
            "GroupBy([2,5],[4,8]).Within([7,39])",
            "TileBy([m,k],[32,16]).OrderBy(Row([m*32,k*16]))",
        ] {
            let layout = parse::layout(text, &Facts::new()).unwrap();
            let whole = layout.of_whole();
            assert_eq!(whole.dims(), layout.sizes(), "{text}");
            let names = layout.names_of_whole();
            let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
            let facts = layout.facts_of_whole(&names);
            let expected = layout.apply(&layout.components(&index));
            assert!(
                normal::equal(&facts, &whole.apply(&index), &expected),
                "{text}"
            );
            let read = parse::layout(&whole.to_string(), &Facts::new()).unwrap();
            assert_eq!(read.equal(&whole), Answer::Proved, "{text}");
        }
    }
}
