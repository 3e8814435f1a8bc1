//! Facts about symbols, and the values an expression takes.

use std::collections::BTreeMap;

use super::{Expr, IndexProgram, Interval, Name, Node};

/// Facts about symbols: an interval of constants, and a bound that may be an expression.
///
/// A symbol of which nothing is known can be any integer. What is known of a table that is given at run
/// time, by its name, holds for each of its elements.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    known: BTreeMap<Name, Known>,
}

#[derive(Clone, Debug)]
struct Known {
    interval: Interval,
    below: Option<Expr>,
}

/// Values for symbols, to be tried.
pub struct Trials {
    /// One for each symbol, several times: nothing, once, if there are no symbols.
    pub values: Vec<Vec<i64>>,
    /// Says whether there are no others.
    pub are_all: bool,
}

/// So many values of bounded symbols, together, are all tried, or else so many small ones.
const ALL: i128 = 1 << 12;
const SMALL: usize = 81;

impl Facts {
    /// Nothing is known.
    pub fn new() -> Facts {
        Facts::default()
    }

    /// The symbol's values lie in this interval, besides what is known already.
    pub fn within(&mut self, name: &str, interval: Interval) -> &mut Facts {
        let known = self.entry(name);
        known.interval = known.interval.meet(interval).unwrap_or(interval);
        self
    }

    /// `0 <= name < bound`.
    pub fn index(&mut self, name: &str, bound: &Expr) -> &mut Facts {
        let max = match self.range(bound).max {
            max if max >= super::interval::INFINITE => max,
            max => (max - 1).max(0),
        };
        self.within(name, Interval::new(0, max));
        self.entry(name).below = Some(bound.clone());
        self
    }

    /// A size: 1 or more, besides what is known already.
    pub fn size(&mut self, name: &str) -> &mut Facts {
        if !self.known.contains_key(name) {
            self.within(name, Interval::from(1));
        }
        self
    }

    /// Adds the facts of others.
    pub fn and(&mut self, other: &Facts) -> &mut Facts {
        for (name, known) in &other.known {
            self.within(name, known.interval);
            let entry = self.entry(name);
            entry.below = entry.below.take().or_else(|| known.below.clone());
        }
        self
    }

    /// The interval of a symbol.
    pub fn interval(&self, name: &str) -> Interval {
        self.known.get(name).map_or(Interval::ALL, |k| k.interval)
    }

    /// The expression that a symbol stays below, if there is one.
    pub fn below(&self, name: &str) -> Option<&Expr> {
        self.known.get(name)?.below.as_ref()
    }

    /// Returns whether anything is known of it.
    pub fn knows(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// The values an expression takes, where it has one: an outer bound.
    pub fn range(&self, e: &Expr) -> Interval {
        let program = IndexProgram::new(std::slice::from_ref(e));
        self.ranges(&program)[program.roots()[0]]
    }

    /// The same for every operation of a program.
    pub fn ranges(&self, program: &IndexProgram) -> Vec<Interval> {
        let mut ranges = Vec::with_capacity(program.nodes().len());
        for node in program.nodes() {
            ranges.push(self.of_node(node, |c| ranges[*c]));
        }
        ranges
    }

    /// The values of one operation on operands in these intervals.
    pub fn of_node<C>(&self, node: &Node<C>, of: impl Fn(&C) -> Interval) -> Interval {
        match node {
            Node::Const(c) => Interval::exactly(*c),
            Node::Symbol(name) => self.interval(name),
            Node::Sqrt([a]) => of(a).isqrt(),
            Node::Binary(op, [a, b]) => Interval::apply(*op, of(a), of(b)),
            Node::Select([c, a, b]) => match of(c) {
                c if c.constant() == Some(0) => of(b),
                c if !c.contains(0) => of(a),
                _ => of(a).join(of(b)),
            },
            Node::Load(table, _) => match &table.values {
                None => self.interval(&table.name),
                Some(values) => {
                    let values = values.iter().map(|v| Interval::exactly(*v));
                    values.reduce(Interval::join).unwrap_or(Interval::ALL)
                }
            },
        }
    }

    /// All values of symbols, if their bounds leave few, or else small ones from 0 on.
    pub fn trials(&self, symbols: &[Name]) -> Trials {
        let bound = |end: i128| end.clamp(i64::MIN.into(), i64::MAX.into());
        let ends = |symbol: &Name| {
            let Interval { min, max } = self.interval(symbol);
            (bound(min), bound(max))
        };
        let mut ranges = symbols.iter().map(ends);
        let count = ranges.try_fold(1, |count: i128, (min, max)| {
            count.checked_mul(max - min + 1)
        });
        let are_all = count.is_some_and(|count| count <= ALL);
        let some = if symbols.len() > 2 { 3 } else { 9 };
        let mut values: Vec<Vec<i64>> = vec![vec![]];
        for (min, max) in symbols.iter().map(ends) {
            let range = match are_all {
                true => min..=max,
                false => min.max(0)..=max.min(min.max(0) + some - 1),
            };
            let more = |old: &Vec<i64>, v: i64| [old.as_slice(), &[v]].concat();
            let range = range.filter_map(|v| i64::try_from(v).ok());
            let longer = range.flat_map(|v| values.iter().map(move |old| more(old, v)));
            values = match are_all {
                true => longer.collect(),
                false => longer.take(SMALL).collect(),
            };
        }
        Trials { values, are_all }
    }

    fn entry(&mut self, name: &str) -> &mut Known {
        self.known.entry(name.into()).or_insert(Known {
            interval: Interval::ALL,
            below: None,
        })
    }
}
