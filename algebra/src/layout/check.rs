//! Checks that a chain of reorderings is a layout, and that two layouts are equal.
//!
//! Numbers are decided by trying all indices, if they are not too many; symbols by the normal form
//! of expressions, or by trying all their values, if their bounds leave few. What is not proved is
//! tried with small sizes, which may refute it.

use crate::index::{Expr, Facts, IndexProgram, Name, Node, Op, normal};

use super::answer::Answer;
use super::decide::Question;
use super::indices::list;
use super::{Layout, LayoutError, LayoutPart, OrderBy, Pair, Perm, Written};

/// A table that is given at run time: its entries are offsets of its tile, and what else they are is open.
struct OpenTable<'a> {
    part: LayoutPart,
    name: &'a Name,
    /// The size of the tile.
    size: Expr,
}

fn open_tables(chain: &[OrderBy]) -> Vec<OpenTable<'_>> {
    let mut tables = Vec::new();
    for (o, order) in chain.iter().enumerate() {
        for (p, perm) in order.perms.iter().enumerate() {
            if let Perm::Gen { pair, .. } = perm
                && let Pair::Tables { forward, backward } = pair
                && forward.values.is_none()
            {
                tables.extend([&forward.name, &backward.name].map(|name| OpenTable {
                    part: LayoutPart::Perm(o, p),
                    name,
                    size: perm.size(),
                }));
            }
        }
    }
    tables
}

impl Layout {
    /// A layout with this view, of which `within` is meant, reordered by this chain, whose last
    /// reordering is applied first. Symbols are sizes: 1 or more, unless `facts` says otherwise.
    ///
    /// # Errors
    /// If it is refuted that this is a bijection; the message has a counter-example.
    pub fn new(
        view: Vec<Vec<Expr>>,
        within: Option<Vec<Expr>>,
        chain: Vec<OrderBy>,
        facts: &Facts,
    ) -> Result<Layout, LayoutError> {
        let mut facts = facts.clone();
        let of_chain = chain.iter().flat_map(OrderBy::dims);
        let sizes = view.concat().into_iter().chain(of_chain);
        for size in sizes.chain(within.iter().flatten().cloned()) {
            for symbol in size.symbols() {
                facts.size(&symbol);
            }
        }
        let tables = open_tables(&chain);
        let mut open = Vec::new();
        let at = |part: LayoutPart| move |message: String| LayoutError { part, message };
        if view.is_empty() || view.iter().any(Vec::is_empty) {
            return Err(at(LayoutPart::View)("found a view without sizes".into()));
        }
        for table in &tables {
            if facts.knows(table.name) {
                let name = table.name;
                let message = format!("found the table '{name}', which is a size already");
                return Err(at(table.part)(message));
            }
        }
        for table in &tables {
            facts.index(table.name, &table.size);
        }
        check_sizes(&view.concat(), &facts, &mut open).map_err(at(LayoutPart::View))?;
        let total = Expr::product(&view.concat());
        for (o, order) in chain.iter().enumerate() {
            if order.perms.is_empty() {
                let message = "found no permutation, expected one for each level of tiles";
                return Err(at(LayoutPart::Order(o))(message.into()));
            }
            for (p, perm) in order.perms.iter().enumerate() {
                check_perm(perm, &facts, &mut open).map_err(at(LayoutPart::Perm(o, p)))?;
            }
            check_total(order, &total, &facts, &mut open).map_err(at(LayoutPart::Order(o)))?;
        }
        if let Some(within) = &within {
            check_within(within, &view, &facts, &mut open).map_err(at(LayoutPart::Within))?;
        }
        let answer = match open.is_empty() {
            true => Answer::Proved,
            false => Answer::Open(open),
        };
        Ok(Layout {
            view,
            within,
            chain,
            facts,
            answer,
        })
    }

    /// The same with numbers for some symbols.
    pub fn bind(&self, values: &[(Name, i64)]) -> Result<Layout, LayoutError> {
        let value = |name: &str| {
            let (_, value) = values.iter().find(|(n, _)| &**n == name)?;
            Some(Expr::constant(*value))
        };
        Layout::new(
            self.view.iter().map(|level| bound(level, &value)).collect(),
            self.within.as_ref().map(|within| bound(within, &value)),
            self.chain.iter().map(|o| o.bound(&value)).collect(),
            &self.facts,
        )
    }

    /// [`Layout::bind`] for a run's sizes, which must lie in their ranges.
    ///
    /// # Errors
    /// The size that does not, or what is then wrong with the layout.
    pub fn of_sizes(&self, sizes: &[(Name, i64)]) -> Result<Layout, String> {
        for (name, number) in sizes {
            let range = self.facts.interval(name);
            if !range.contains(*number) {
                return Err(format!(
                    "takes {number} for '{name}', expected {} to {}",
                    range.min, range.max
                ));
            }
        }
        match sizes.is_empty() {
            true => Ok(self.clone()),
            false => self.bind(sizes).map_err(|e| e.message),
        }
    }

    /// Returns whether two layouts of the same view are the same function.
    pub fn equal(&self, other: &Layout) -> Answer {
        let (dims, others) = (self.dims(), other.dims());
        let mut facts = self.facts.clone();
        facts.and(&other.facts);
        let same = dims.len() == others.len();
        if !same
            || !dims
                .iter()
                .zip(&others)
                .all(|(a, b)| normal::equal(&facts, a, b))
        {
            let (a, b) = (list(&dims), list(&others));
            return Answer::Refuted(format!("one has indices of {a}, the other of {b}"));
        }
        let names = self.index_names();
        let names: Vec<Name> = names.iter().map(|n| unknown(&facts, n)).collect();
        let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
        for (name, size) in names.iter().zip(&dims) {
            facts.index(name, size);
        }
        let (a, b) = (self.apply(&index), other.apply(&index));
        if normal::equal(&facts, &a, &b) {
            return Answer::Proved;
        }
        let question = Question {
            holds: format!(
                "both have the same offset for every index of {}",
                list(&dims)
            ),
            names: &names,
            sizes: &dims,
            compute: vec![a, b],
            facts: &facts,
        };
        question.decide(&|index, values| {
            let [a, b] = [values[0], values[1]];
            (a != b).then(|| format!("{} is at {a} in one, at {b} in the other", list(index)))
        })
    }
}

/// Sizes with values for some symbols.
pub(super) fn bound(sizes: &[Expr], value: &dyn Fn(&str) -> Option<Expr>) -> Vec<Expr> {
    sizes.iter().map(|e| e.substitute(value)).collect()
}

impl OrderBy {
    /// The same with values for some symbols.
    pub(super) fn bound(&self, value: &dyn Fn(&str) -> Option<Expr>) -> OrderBy {
        let perm = |perm: &Perm| match perm {
            Perm::Reg { sizes, sigma } => Perm::Reg {
                sizes: bound(sizes, value),
                sigma: sigma.clone(),
            },
            Perm::Gen { sizes, pair } => {
                let pair = match pair {
                    Pair::Written(pair) => Pair::Written(pair.bound(value).into()),
                    pair => pair.clone(),
                };
                let sizes = bound(sizes, value);
                Perm::Gen { sizes, pair }
            }
        };
        OrderBy {
            perms: self.perms.iter().map(perm).collect(),
        }
    }
}

impl Written {
    /// An index and the offset are names of the functions' own, whatever else has them elsewhere.
    fn bound(&self, value: &dyn Fn(&str) -> Option<Expr>) -> Written {
        let is_index = |name: &str| self.indices.iter().any(|i| &**i == name);
        let ahead = |name: &str| if is_index(name) { None } else { value(name) };
        let back = |name: &str| {
            if *self.offset == *name {
                None
            } else {
                value(name)
            }
        };
        Written {
            forward: self.forward.substitute(&ahead),
            backward: self.backward.iter().map(|e| e.substitute(&back)).collect(),
            ..self.clone()
        }
    }
}

type Open<'a> = &'a mut Vec<String>;

fn require(open: Open, condition: String) {
    if !open.contains(&condition) {
        open.push(condition);
    }
}

fn check_sizes(sizes: &[Expr], facts: &Facts, open: Open) -> Result<(), String> {
    for size in sizes {
        check_divisors(size, facts, open)?;
        let range = facts.range(size);
        if range.max < 1 {
            let listed = list(sizes);
            return Err(format!(
                "found the size {size} in {listed}, expected 1 or more"
            ));
        }
        if range.min < 1 && !normal::at_most(facts, &Expr::constant(1), size) {
            require(open, format!("{size} >= 1"));
        }
    }
    match Expr::product(sizes) {
        product if product.as_constant().is_some() || !product.symbols().is_empty() => Ok(()),
        _ => Err(format!(
            "the product of the sizes {} is more than {}",
            list(sizes),
            i64::MAX
        )),
    }
}

/// Every divisor must be positive: which of them are open.
///
/// # Errors
/// The divisor that is not, or of whose values nothing says so.
pub fn divisors(e: &Expr, facts: &Facts) -> Result<Vec<String>, String> {
    let mut open = Vec::new();
    check_divisors(e, facts, &mut open).map(|()| open)
}

fn check_divisors(e: &Expr, facts: &Facts, open: Open) -> Result<(), String> {
    let program = IndexProgram::new(std::slice::from_ref(e));
    for node in program.nodes() {
        let Node::Binary(Op::Div | Op::Mod, [_, divisor]) = node else {
            continue;
        };
        let divisor = part(&program, *divisor);
        let range = facts.range(&divisor);
        let symbol = matches!(divisor.node(), Node::Symbol(_));
        if range.max < 1 || (symbol && range.min < 1) {
            let may = if range.max < 1 { "is" } else { "may be" };
            let value = if range.contains(0) {
                0
            } else {
                range.max.max(range.min)
            };
            return Err(format!(
                "'{e}' divides by '{divisor}', which {may} {value}, expected 1 or more"
            ));
        }
        if range.min < 1 && !normal::at_most(facts, &Expr::constant(1), &divisor) {
            require(open, format!("{divisor} >= 1"));
        }
    }
    Ok(())
}

/// One operation of a program as an expression.
fn part(program: &IndexProgram, number: usize) -> Expr {
    let node = &program.nodes()[number];
    Expr::new(node.map(|c| part(program, *c)))
}

fn check_total(order: &OrderBy, total: &Expr, facts: &Facts, open: Open) -> Result<(), String> {
    let product = Expr::product(&order.dims());
    if normal::equal(facts, &product, total) {
        return Ok(());
    }
    let differ =
        format!("the sizes of {order} have the product {product}, those of the view {total}");
    let unit = Expr::constant(1);
    let less = normal::at_most(facts, &(&product + &unit), total);
    if less || normal::at_most(facts, &(total + &unit), &product) {
        return Err(format!("{differ}, expected the same"));
    }
    require(open, format!("{product} == {total}"));
    Ok(())
}

fn check_within(
    within: &[Expr],
    view: &[Vec<Expr>],
    facts: &Facts,
    open: Open,
) -> Result<(), String> {
    let rank = within.len();
    if let Some(level) = view.iter().find(|level| level.len() != rank) {
        return Err(format!(
            "'Within' has {rank} sizes, but {} has {}, expected one for each dimension",
            list(level),
            level.len()
        ));
    }
    check_sizes(within, facts, open)?;
    for (d, bound) in within.iter().enumerate() {
        let size = Expr::product(view.iter().map(|level| &level[d]));
        if normal::at_most(facts, &(&size + 1), bound) {
            let d = d + 1;
            return Err(format!(
                "'Within' has the size {bound} for dimension {d}, expected at most the view's {size}"
            ));
        }
        if !normal::at_most(facts, bound, &size) {
            require(open, format!("{bound} <= {size}"));
        }
    }
    Ok(())
}

fn check_perm(perm: &Perm, facts: &Facts, open: Open) -> Result<(), String> {
    let sizes = perm.dims();
    if sizes.is_empty() {
        return Err("found a tile without sizes".into());
    }
    check_sizes(sizes, facts, open)?;
    match perm {
        Perm::Reg { sigma, .. } => check_sigma(sigma, sizes.len()),
        Perm::Gen { pair, .. } => match pair {
            Pair::Builtin(builtin) => builtin.check(sizes),
            Pair::Tables { forward, backward } => match &forward.values {
                Some(values) => check_table(values, sizes),
                None => {
                    let (f, g, n) = (&forward.name, &backward.name, perm.size());
                    require(open, format!("{g}[{f}[x]] == x for every x below {n}"));
                    require(open, format!("{f}[x] is below {n}"));
                    Ok(())
                }
            },
            Pair::Written(pair) => match check_written(perm, pair, facts, open)? {
                Answer::Proved => Ok(()),
                Answer::Refuted(why) => Err(why),
                Answer::Open(conditions) => {
                    conditions.into_iter().for_each(|c| require(open, c));
                    Ok(())
                }
            },
        },
    }
}

fn check_sigma(sigma: &[usize], rank: usize) -> Result<(), String> {
    if sigma.len() != rank {
        return Err(format!(
            "the permutation {} has {} entries, expected one for each of {rank} sizes",
            list(sigma),
            sigma.len()
        ));
    }
    match (1..=rank).find(|k| !sigma.contains(k)) {
        Some(k) => Err(format!(
            "the permutation {} lacks {k}, expected each of 1 to {rank} once",
            list(sigma)
        )),
        None => Ok(()),
    }
}

fn check_table(values: &[i64], sizes: &[Expr]) -> Result<(), String> {
    let size = Expr::product(sizes);
    let (found, Some(size)) = (values.len(), size.as_constant()) else {
        return Err(format!(
            "the table has {} entries, but the size {size} is no number",
            values.len()
        ));
    };
    if usize::try_from(size) != Ok(found) {
        return Err(format!(
            "the table has {found} entries, expected {size}, one for each element of {}",
            list(sizes)
        ));
    }
    match (0..size).find(|v| !values.contains(v)) {
        Some(v) => Err(format!(
            "the table {} lacks {v}, expected each of 0 to {} once",
            list(values),
            size - 1
        )),
        None => Ok(()),
    }
}

/// This name, or one like it, of which nothing is known.
fn unknown(facts: &Facts, name: &Name) -> Name {
    let mut name = name.to_string();
    while facts.knows(&name) {
        name.push('_');
    }
    name.into()
}

/// Returns whether both functions are each other's inverse. It is enough that `f_inv(f(i)) == i` and that
/// `f` stays within the tile: as many offsets as indices, none of them twice.
fn check_written(perm: &Perm, pair: &Written, facts: &Facts, open: Open) -> Result<Answer, String> {
    let sizes = perm.dims();
    check_ranks(pair, sizes.len())?;
    let mut facts = facts.clone();
    let mut of_offset = facts.clone();
    // What is known elsewhere of a name is not known of the index of that name.
    let mut names = Vec::new();
    for (index, size) in pair.indices.iter().zip(sizes) {
        let name = unknown(&facts, index);
        facts.index(&name, size);
        names.push(name);
    }
    let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
    let [offset] = &perm.forward(&index)[..] else {
        return Err("found no offset, which is a bug".into());
    };
    check_divisors(offset, &facts, open)?;
    let name = unknown(&of_offset, &pair.offset);
    of_offset.index(&name, &perm.size());
    for component in perm.backward(&[Expr::symbol(&name)]) {
        check_divisors(&component, &of_offset, open)?;
    }
    let back = perm.backward(std::slice::from_ref(offset));
    let returns = back
        .iter()
        .zip(&index)
        .all(|(a, b)| normal::equal(&facts, a, b));
    let inside = normal::at_most(&facts, &Expr::constant(0), offset)
        && normal::at_most(&facts, &(offset + 1), &perm.size());
    if returns && inside {
        return Ok(Answer::Proved);
    }
    let tile = list(sizes);
    let size = perm.size();
    let question = Question {
        holds: format!("f and f_inv are each other's inverse on {tile}"),
        names: &names,
        sizes,
        compute: [vec![offset.clone(), size], back].concat(),
        facts: &facts,
    };
    Ok(question.decide(&|index, values| {
        let (offset, size, back) = (values[0], values[1], &values[2..]);
        counter_example(index, offset, size, back)
    }))
}

/// Checks that both functions have as many indices as there are sizes.
fn check_ranks(pair: &Written, rank: usize) -> Result<(), String> {
    let (names, components) = (pair.indices.len(), pair.backward.len());
    let what = match (names == rank, components == rank) {
        (true, true) => return Ok(()),
        (false, _) => format!("f takes {names} indices"),
        (true, false) => format!("f_inv gives {components} indices"),
    };
    Err(format!("{what}, expected {rank}, one for each size"))
}

/// Says what is wrong at an index with this offset in a tile of this size, for which `f_inv` is `back`.
fn counter_example(index: &[i64], offset: i64, size: i64, back: &[i64]) -> Option<String> {
    let at = list(index);
    if !(0..size).contains(&offset) {
        let last = size - 1;
        return Some(format!(
            "f gives {offset} for {at}, expected an offset of 0 to {last}"
        ));
    }
    (back != index).then(|| {
        let back = list(back);
        format!("f gives {offset} for {at}, but f_inv gives {back} for {offset}, expected {at}")
    })
}
