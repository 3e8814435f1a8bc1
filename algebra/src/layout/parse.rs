//! Layouts from text.
//!
//! ```text
//! layout ::= part.part. ..                  one part is GroupBy, TileBy or Bricks, and stands first
//!                                           or last; without one, the view is what the last
//!                                           OrderBy takes
//!          | perm                           OrderBy(perm)
//!          | shape:stride                   as CuTe writes it
//! part   ::= OrderBy(perm, ..)
//!          | TileOrderBy(perm, ..)          each perm for a level; the view has one size for each
//!                                           dimension, the levels' product
//!          | GroupBy([sizes], ..)
//!          | TileBy([sizes], ..)            tiles of tiles of row-major dimensions
//!          | Bricks([sizes], [brick])       the same as TileOrderBy of Rows: brick by brick
//!          | Within([sizes])                what is meant of a padded view
//! perm   ::= RegP([sizes], [permutation]) | Row([sizes]) | Col([sizes])
//!          | GenP([sizes], pair)
//! pair   ::= antidiag | reverse | morton | hilbert | xor | swizzle(bits, base, shift)
//!          | table([entries]) | table(name, name of the inverse)
//!          | (i, j, ..) -> expression, x -> (expression, ..)
//! ```
//!
//! Sizes are expressions ([`crate::index::parse`]).

use std::ops::Range;
use std::sync::Arc;

use super::check::bound;
use super::cute::{self, Cute};
use super::indices::inverse;
use super::{Builtin, Layout, LayoutError, LayoutPart, OrderBy, Pair, Perm, Written};
use crate::index::lex::{Cursor, SyntaxError, Token, nearest};
use crate::index::parse::{Scope, expr};
use crate::index::{Expr, Facts, Name, Table};

/// Reads a layout. Symbols are sizes: 1 or more, unless `facts` says otherwise.
///
/// # Errors
/// If it is none, with the place of what is wrong.
pub fn layout(source: &str, facts: &Facts) -> Result<Layout, SyntaxError> {
    layout_of(source, facts, &[])
}

/// The same with numbers for some symbols.
pub fn layout_of(
    source: &str,
    facts: &Facts,
    values: &[(Name, i64)],
) -> Result<Layout, SyntaxError> {
    let mut cursor = Cursor::new(source)?;
    let is_size = matches!(cursor.peek(), Token::Number(_) | Token::Mark("("));
    if is_size || *cursor.peek_second() == Token::Mark(":") {
        let parsed = cute::parse(&mut cursor)?.bound(&|name| value(values, name));
        cursor.end()?;
        let wrong = |message| SyntaxError::new(0..source.len(), message);
        return Cute::to_layout(&parsed, facts).map_err(wrong);
    }
    let mut reader = Reader::default();
    reader.chain(&mut cursor)?;
    cursor.end()?;
    reader.finish(facts, values, source.len())
}

fn value(values: &[(Name, i64)], name: &str) -> Option<Expr> {
    let (_, value) = values.iter().find(|(n, _)| &**n == name)?;
    Some(Expr::constant(*value))
}

type Parsed<T> = Result<T, SyntaxError>;

#[derive(Default)]
struct Reader {
    chain: Vec<OrderBy>,
    /// For each reordering, its place and those of its permutations.
    places: Vec<(Range<usize>, Vec<Range<usize>>)>,
    view: Option<View>,
    within: Option<(Vec<Expr>, Range<usize>)>,
}

struct View {
    levels: Vec<Vec<Expr>>,
    /// Its own reorderings, before the chain.
    own: Vec<OrderBy>,
    place: Range<usize>,
    /// Number of reorderings before it.
    after: usize,
}

const PARTS: [&str; 10] = [
    "OrderBy",
    "TileOrderBy",
    "GroupBy",
    "TileBy",
    "Bricks",
    "Within",
    "RegP",
    "GenP",
    "Row",
    "Col",
];

impl Reader {
    fn chain(&mut self, cursor: &mut Cursor) -> Parsed<()> {
        loop {
            self.part(cursor)?;
            if !cursor.take(".") {
                return Ok(());
            }
        }
    }

    fn part(&mut self, cursor: &mut Cursor) -> Parsed<()> {
        let start = cursor.span().start;
        let Token::Name(name) = cursor.peek().clone() else {
            return Err(cursor.unexpected("a layout, such as OrderBy(..).GroupBy([..])"));
        };
        match name.as_str() {
            "OrderBy" | "TileOrderBy" => {
                cursor.bump();
                let perms = cursor.list(["(", ")"], perm)?;
                let place = cursor.span_from(start);
                let (perms, places): (Vec<Perm>, Vec<Range<usize>>) = perms.into_iter().unzip();
                if perms.is_empty() {
                    let message =
                        format!("'{name}' has no permutation, expected one for each level");
                    return Err(SyntaxError::new(place, message));
                }
                let tiles = (name == "TileOrderBy").then(|| tile_order(&perms));
                self.chain.push(OrderBy { perms });
                self.places.push((place.clone(), places));
                if let Some(tiles) = tiles {
                    let tiles = tiles.map_err(|m| SyntaxError::new(place.clone(), m))?;
                    self.chain.push(tiles);
                    self.places.push((place, vec![]));
                }
            }
            "GroupBy" | "TileBy" | "Bricks" => {
                cursor.bump();
                let levels = cursor.list(["(", ")"], |c| Ok((sizes(c)?, c.span_from(start))))?;
                let levels: Vec<Vec<Expr>> = levels.into_iter().map(|(l, _)| l).collect();
                self.set_view(&name, levels, cursor.span_from(start))?;
            }
            "Within" => {
                cursor.bump();
                cursor.expect("(")?;
                let within = sizes(cursor)?;
                cursor.expect(")")?;
                let place = cursor.span_from(start);
                if self.within.is_some() {
                    return Err(SyntaxError::new(
                        place,
                        "found a second 'Within', expected one",
                    ));
                }
                self.within = Some((within, place));
            }
            "RegP" | "GenP" | "Row" | "Col" => {
                let (perm, place) = perm(cursor)?;
                self.chain.push(OrderBy::one(perm));
                self.places.push((place.clone(), vec![place]));
            }
            _ => return Err(unknown(cursor, &name, "layout", &PARTS)),
        }
        Ok(())
    }

    fn set_view(&mut self, name: &str, levels: Vec<Vec<Expr>>, place: Range<usize>) -> Parsed<()> {
        if self.view.is_some() {
            let message = format!("found a second view, '{name}', expected one");
            return Err(SyntaxError::new(place, message));
        }
        let view = match name {
            "TileBy" => tile_by(&levels).map(|own| (levels, vec![own])),
            "Bricks" => bricks(&levels),
            _ => Ok((levels, vec![])),
        };
        let (levels, own) = view.map_err(|m| SyntaxError::new(place.clone(), m))?;
        self.view = Some(View {
            levels,
            own,
            place,
            after: self.chain.len(),
        });
        Ok(())
    }

    fn finish(self, facts: &Facts, values: &[(Name, i64)], length: usize) -> Parsed<Layout> {
        let (mut chain, mut places) = (self.chain, self.places);
        let view = match self.view {
            Some(view) => {
                if view.after != 0 && view.after != chain.len() {
                    let message = "the view stands between reorderings, expected it before all of \
                                   them or after them";
                    return Err(SyntaxError::new(view.place, message));
                }
                for own in view.own {
                    chain.push(own);
                    places.push((view.place.clone(), vec![]));
                }
                (view.levels, view.place)
            }
            None => match chain.last() {
                Some(last) => (vec![last.dims()], 0..length),
                None => {
                    let message =
                        "found no view and no reordering, expected at least GroupBy([..])";
                    return Err(SyntaxError::new(0..length, message));
                }
            },
        };
        let known = |name: &str| value(values, name);
        let within = self.within.as_ref();
        let within = within.map(|(within, _)| bound(within, &known));
        let chain = chain.iter().map(|order| order.bound(&known)).collect();
        let levels = view.0.iter().map(|level| bound(level, &known)).collect();
        Layout::new(levels, within, chain, facts).map_err(|e: LayoutError| {
            let place = match e.part {
                LayoutPart::Whole => 0..length,
                LayoutPart::View => view.1,
                LayoutPart::Within => self.within.map_or(0..length, |(_, place)| place),
                LayoutPart::Order(o) => places[o].0.clone(),
                LayoutPart::Perm(o, p) => places[o].1.get(p).unwrap_or(&places[o].0).clone(),
            };
            SyntaxError::new(place, e.message)
        })
    }
}

fn unknown(cursor: &Cursor, name: &str, what: &str, known: &[&str]) -> SyntaxError {
    let mean = match nearest(name, known.iter().copied()).first() {
        Some(near) => format!("; did you mean '{near}'?"),
        None => String::new(),
    };
    let known: Vec<String> = known.iter().map(|k| format!("'{k}'")).collect();
    let message = format!(
        "found no {what} '{name}', expected one of {}{mean}",
        known.join(", ")
    );
    SyntaxError::new(cursor.span(), message)
}

fn sizes(cursor: &mut Cursor) -> Parsed<Vec<Expr>> {
    cursor.list(["[", "]"], |c| expr(c, &Scope::default()))
}

fn perm(cursor: &mut Cursor) -> Parsed<(Perm, Range<usize>)> {
    let start = cursor.span().start;
    let Token::Name(name) = cursor.peek().clone() else {
        return Err(cursor.unexpected("a permutation: RegP, GenP, Row or Col"));
    };
    if !PARTS[6..].contains(&name.as_str()) {
        return Err(unknown(cursor, &name, "permutation", &PARTS[6..]));
    }
    cursor.bump();
    cursor.expect("(")?;
    let sizes = sizes(cursor)?;
    let perm = match name.as_str() {
        "Row" => Perm::row(sizes),
        "Col" => Perm::col(sizes),
        "RegP" => {
            cursor.expect(",")?;
            let sigma = cursor.list(["[", "]"], dimension)?;
            Perm::Reg { sizes, sigma }
        }
        _ => {
            cursor.expect(",")?;
            generic(cursor, sizes)?
        }
    };
    cursor.expect(")")?;
    Ok((perm, cursor.span_from(start)))
}

fn dimension(cursor: &mut Cursor) -> Parsed<usize> {
    let number = match cursor.peek() {
        Token::Number(n) => usize::try_from(*n).ok().filter(|n| *n > 0),
        _ => None,
    };
    let Some(number) = number else {
        return Err(cursor.unexpected("the number of a dimension, from 1 on"));
    };
    cursor.bump();
    Ok(number)
}

fn generic(cursor: &mut Cursor, sizes: Vec<Expr>) -> Parsed<Perm> {
    let name = match cursor.peek().clone() {
        Token::Mark("(") => return written(cursor, sizes),
        Token::Name(name) => name,
        _ => return Err(cursor.unexpected("a pair of functions: a name, or (i, ..) -> ..")),
    };
    if *cursor.peek_second() == Token::Mark("->") {
        return written(cursor, sizes);
    }
    let pair = match name.as_str() {
        "table" => {
            cursor.bump();
            return table(cursor, sizes);
        }
        "swizzle" => {
            cursor.bump();
            let start = cursor.span().start;
            let numbers = cursor.list(["(", ")"], small)?;
            let [bits, base, shift] = numbers[..] else {
                let message = format!(
                    "'swizzle' has {} parameters, expected (bits, base, shift)",
                    numbers.len()
                );
                return Err(SyntaxError::new(cursor.span_from(start), message));
            };
            Builtin::Swizzle { bits, base, shift }
        }
        name => match Builtin::named(name) {
            Some(builtin) => {
                cursor.bump();
                builtin
            }
            None => {
                let known = [&Builtin::NAMES[..], &["table"]].concat();
                return Err(unknown(cursor, name, "pair of functions", &known));
            }
        },
    };
    let pair = Pair::Builtin(pair);
    Ok(Perm::Gen { sizes, pair })
}

fn small(cursor: &mut Cursor) -> Parsed<u32> {
    let number = match cursor.peek() {
        Token::Number(n) => u32::try_from(*n).ok().filter(|n| *n < 20),
        _ => None,
    };
    let Some(number) = number else {
        return Err(cursor.unexpected("a number of bits below 20"));
    };
    cursor.bump();
    Ok(number)
}

fn table(cursor: &mut Cursor, sizes: Vec<Expr>) -> Parsed<Perm> {
    cursor.expect("(")?;
    if let Token::Mark("[") = cursor.peek() {
        let values = cursor.list(["[", "]"], |cursor| match *cursor.peek() {
            Token::Number(number) => {
                cursor.bump();
                Ok(number)
            }
            _ => Err(cursor.unexpected("a number of 0 or more")),
        })?;
        cursor.expect(")")?;
        return Ok(Perm::table(sizes, values));
    }
    let mut named = || -> Parsed<Arc<Table>> {
        let name = cursor
            .name("the entries, or the name of a table")?
            .as_str()
            .into();
        let values = None;
        Ok(Arc::new(Table { name, values }))
    };
    let forward = named()?;
    cursor.expect(",")?;
    let name = cursor
        .name("the name of the inverse table")?
        .as_str()
        .into();
    cursor.expect(")")?;
    let values = None;
    let backward = Arc::new(Table { name, values });
    let pair = Pair::Tables { forward, backward };
    Ok(Perm::Gen { sizes, pair })
}

/// `(i, j) -> f, x -> (a, b)`; what they use besides are symbols of the sizes.
fn written(cursor: &mut Cursor, sizes: Vec<Expr>) -> Parsed<Perm> {
    let name = |cursor: &mut Cursor| cursor.name("the name of an index").map(Name::from);
    let start = cursor.span().start;
    let indices = match cursor.peek() {
        Token::Mark("(") => cursor.list(["(", ")"], name)?,
        _ => vec![name(cursor)?],
    };
    let symbols: Vec<Name> = sizes.iter().flat_map(Expr::symbols).collect();
    if let Some(name) = indices.iter().find(|i| symbols.contains(i)) {
        let message = format!("found the index '{name}', which is a size already");
        return Err(SyntaxError::new(cursor.span_from(start), message));
    }
    if let Some((_, name)) = (1..).zip(&indices).find(|(n, i)| indices[*n..].contains(i)) {
        let message = format!("found the index '{name}' twice, expected another name for each");
        return Err(SyntaxError::new(cursor.span_from(start), message));
    }
    cursor.expect("->")?;
    let forward = expr(
        cursor,
        &Scope::new(&[indices.as_slice(), &symbols].concat()),
    )?;
    cursor.expect(",")?;
    let start = cursor.span().start;
    let offset = Name::from(cursor.name("the name of the offset, then '-> (..)'")?);
    if symbols.contains(&offset) {
        let message = format!("found the offset '{offset}', which is a size already");
        return Err(SyntaxError::new(cursor.span_from(start), message));
    }
    cursor.expect("->")?;
    let scope = Scope::new(&[std::slice::from_ref(&offset), &symbols].concat());
    let component = |cursor: &mut Cursor| expr(cursor, &scope);
    let backward = match (cursor.peek(), indices.len()) {
        (Token::Mark("("), 2..) => cursor.list(["(", ")"], component)?,
        _ => vec![component(cursor)?],
    };
    let pair = Pair::Written(Arc::new(Written {
        indices,
        forward,
        offset,
        backward,
    }));
    Ok(Perm::Gen { sizes, pair })
}

/// `sigma_dxq`: dimension by dimension, its sizes on all levels.
fn by_dimension(rank: usize, levels: usize) -> Vec<usize> {
    let of_dimension = |k: usize| (0..levels).map(move |h| k + 1 + rank * h);
    (0..rank).flat_map(of_dimension).collect()
}

fn one_rank<'a>(levels: impl Iterator<Item = &'a [Expr]>) -> Result<(usize, usize), String> {
    let ranks: Vec<usize> = levels.map(<[Expr]>::len).collect();
    match ranks.iter().find(|rank| **rank != ranks[0]) {
        Some(other) => Err(format!(
            "found levels of {} and of {other} dimensions, expected the same for all",
            ranks[0]
        )),
        None => Ok((ranks.first().copied().unwrap_or(0), ranks.len())),
    }
}

fn tile_by(levels: &[Vec<Expr>]) -> Result<OrderBy, String> {
    let (rank, count) = one_rank(levels.iter().map(Vec::as_slice))?;
    let (sizes, sigma) = (levels.concat(), by_dimension(rank, count));
    Ok(OrderBy::one(Perm::Reg { sizes, sigma }))
}

fn tile_order(perms: &[Perm]) -> Result<OrderBy, String> {
    let (rank, count) = one_rank(perms.iter().map(Perm::dims))?;
    let sigma = by_dimension(rank, count);
    let dims: Vec<Expr> = perms.iter().flat_map(Perm::dims).cloned().collect();
    let sizes = sigma.iter().map(|k| dims[k - 1].clone()).collect();
    let sigma = inverse(&sigma);
    Ok(OrderBy::one(Perm::Reg { sizes, sigma }))
}

fn bricks(levels: &[Vec<Expr>]) -> Result<(Vec<Vec<Expr>>, Vec<OrderBy>), String> {
    let [sizes, brick] = levels else {
        return Err("expected 'Bricks([sizes],[brick])'".into());
    };
    let mut blocks = Vec::new();
    for (n, b) in sizes.iter().zip(brick) {
        if let (Some(n), Some(b)) = (n.as_constant(), b.as_constant())
            && (b < 1 || n % b != 0)
        {
            return Err(format!(
                "bricks of {b} do not divide {n}; pad it to a multiple, and say with \
                 'Within([..])' what is meant"
            ));
        }
        blocks.push(n / b);
    }
    let perms = vec![Perm::row(blocks), Perm::row(brick.clone())];
    let tiles = tile_order(&perms)?;
    Ok((vec![sizes.clone()], vec![OrderBy { perms }, tiles]))
}
