//! Pairs of functions that have names: what `GenP(sizes, name)` can say.
//!
//! ```text
//! antidiag          r x c, along the antidiagonals (LEGO paper, figure 8, which has squares)
//! reverse           the last element first
//! morton            the bits of all components interleaved (Z order); sizes are powers of two
//! hilbert           2^k x 2^k, along Hilbert's curve: neighbours in memory are neighbours
//! xor               r x c, each row's columns exchanged by xor with the row: a column of c rows
//!                   has all its elements in different columns of memory; c is a power of two
//! swizzle(b, m, s)  CuTe's Swizzle<b, m, s> of the row-major offset: xor of bits m.. with the b
//!                   bits from m + s on; of any number of elements that it maps onto themselves
//! ```

use crate::index::Expr;

use super::indices::{flatten, list, unflatten};

/// A named pair of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// Along the antidiagonals.
    Antidiag,
    /// The last element first.
    Reverse,
    /// Z order.
    Morton,
    /// Hilbert's curve.
    Hilbert,
    /// Columns exchanged by rows.
    Xor,
    /// CuTe's swizzle.
    Swizzle {
        /// Number of bits that change.
        bits: u32,
        /// Number of bits below them, which stay.
        base: u32,
        /// Distance to the bits above them that change them.
        shift: u32,
    },
}

impl Builtin {
    /// All names.
    pub const NAMES: [&str; 6] = ["antidiag", "reverse", "morton", "hilbert", "xor", "swizzle"];

    /// The pair of that name; a swizzle has parameters and is not among them.
    pub fn named(name: &str) -> Option<Builtin> {
        match name {
            "antidiag" => Some(Builtin::Antidiag),
            "reverse" => Some(Builtin::Reverse),
            "morton" => Some(Builtin::Morton),
            "hilbert" => Some(Builtin::Hilbert),
            "xor" => Some(Builtin::Xor),
            _ => None,
        }
    }

    /// Its spelling.
    pub fn spelling(self) -> String {
        match self {
            Builtin::Antidiag => "antidiag".into(),
            Builtin::Reverse => "reverse".into(),
            Builtin::Morton => "morton".into(),
            Builtin::Hilbert => "hilbert".into(),
            Builtin::Xor => "xor".into(),
            Builtin::Swizzle { bits, base, shift } => format!("swizzle({bits}, {base}, {shift})"),
        }
    }

    /// Checks that these sizes are permitted.
    pub fn check(self, sizes: &[Expr]) -> Result<(), String> {
        let name = self.spelling();
        let power = |size: &Expr| {
            let n = size.as_constant();
            n.is_some_and(|n| n > 0 && n.count_ones() == 1)
        };
        let listed = || list(sizes);
        match self {
            Builtin::Reverse => Ok(()),
            Builtin::Antidiag => match sizes {
                [_, _] => Ok(()),
                _ => Err(format!(
                    "'{name}' has the sizes {}, expected two, rows and columns",
                    listed()
                )),
            },
            Builtin::Morton => match sizes.iter().all(power) {
                true => Ok(()),
                false => Err(format!(
                    "'{name}' has the sizes {}, expected powers of two{}",
                    listed(),
                    padded(sizes, |_, n| n)
                )),
            },
            Builtin::Hilbert => match sizes {
                [n, m] if n == m && power(n) => Ok(()),
                _ => Err(format!(
                    "'{name}' has the sizes {}, expected a square whose side is a power of two{}",
                    listed(),
                    padded(sizes, |most, _| most)
                )),
            },
            Builtin::Xor => match sizes {
                [_, c] if power(c) => Ok(()),
                _ => Err(format!(
                    "'{name}' has the sizes {}, expected rows and a power of two of columns",
                    listed()
                )),
            },
            Builtin::Swizzle { bits, base, shift } => {
                if shift < bits {
                    return Err(format!(
                        "'{name}' has a shift of {shift}, expected {bits} or more, so that no bit \
                         changes itself"
                    ));
                }
                let size = Expr::product(sizes).as_constant();
                match size {
                    Some(size) if is_swizzled(size, bits, base, shift) => Ok(()),
                    _ => Err(format!(
                        "'{name}' has the sizes {}, expected a multiple of 2^{} elements, which it maps onto \
                         themselves",
                        listed(),
                        bits + base
                    )),
                }
            }
        }
    }

    /// The offset of an index.
    pub fn apply(self, sizes: &[Expr], index: &[Expr]) -> Expr {
        match self {
            Builtin::Antidiag if sizes[0] == sizes[1] => antidiag(&sizes[0], &index[0], &index[1]),
            Builtin::Antidiag => antidiag_of(sizes, &index[0], &index[1]),
            Builtin::Reverse => flatten(sizes, &mirrored(sizes, index)),
            Builtin::Morton => morton(sizes, index),
            Builtin::Hilbert => hilbert(side(sizes), &index[0], &index[1]),
            Builtin::Xor => {
                let [i, j] = [&index[0], &index[1]];
                i * &sizes[1] + j.xor(i % &sizes[1])
            }
            Builtin::Swizzle { bits, base, shift } => {
                swizzle(&flatten(sizes, index), bits, base, shift)
            }
        }
    }

    /// The index of an offset.
    pub fn inv(self, sizes: &[Expr], offset: &Expr) -> Vec<Expr> {
        match self {
            Builtin::Antidiag if sizes[0] == sizes[1] => antidiag_inv(&sizes[0], offset),
            Builtin::Antidiag => antidiag_of_inv(sizes, offset),
            Builtin::Reverse => mirrored(sizes, &unflatten(sizes, offset)),
            Builtin::Morton => morton_inv(sizes, offset),
            Builtin::Hilbert => hilbert_inv(side(sizes), offset),
            Builtin::Xor => {
                let (i, j) = (offset / &sizes[1], offset % &sizes[1]);
                let j = j.xor(&i % &sizes[1]);
                vec![i, j]
            }
            // What changes the bits stays, so doing it again takes it back.
            Builtin::Swizzle { bits, base, shift } => {
                unflatten(sizes, &swizzle(offset, bits, base, shift))
            }
        }
    }
}

/// Advice for sizes that are no powers of two: larger ones are, of which a part is meant.
/// `choose` has the smallest power of two that holds the largest size, and that of each size.
fn padded(sizes: &[Expr], choose: impl Fn(i64, i64) -> i64) -> String {
    let numbers: Option<Vec<i64>> = sizes.iter().map(Expr::as_constant).collect();
    let power = |n: &i64| {
        let n = u64::try_from(*n).ok()?.checked_next_power_of_two()?;
        i64::try_from(n).ok()
    };
    let powers: Option<Vec<i64>> = numbers.iter().flatten().map(power).collect();
    let (Some(numbers), Some(powers)) = (numbers, powers) else {
        return String::new();
    };
    let most = powers.iter().copied().max().unwrap_or(1);
    let powers: Vec<i64> = powers.iter().map(|own| choose(most, *own)).collect();
    let list = |sizes: &[i64]| {
        let texts: Vec<String> = sizes.iter().map(i64::to_string).collect();
        format!("[{}]", texts.join(","))
    };
    format!(
        ", such as {} with Within({})",
        list(&powers),
        list(&numbers)
    )
}

/// The sum `1 + .. + n` is `n * (n + 1) / 2`; the paper's code, line by line.
fn antidiag(n: &Expr, i: &Expr, j: &Expr) -> Expr {
    let diagonal = i + j + 1;
    let before = i + &diagonal * (&diagonal - 1) / 2;
    let rest = n * 2 - &diagonal;
    let gauss = &rest * (&rest - 1) / 2;
    let after = n * n - n + i - gauss;
    diagonal.le(n).select(before, after)
}

fn antidiag_inv(n: &Expr, offset: &Expr) -> Vec<Expr> {
    let half = n * (n + 1) / 2;
    let first = offset.lt(&half);
    let x = first.select(offset, n * n - 1 - offset);
    let root = (&x * 2).isqrt();
    let carry = (&root * (&root + 1) / 2).le(&x);
    let diagonal = root + carry;
    let i = x - &diagonal * (&diagonal - 1) / 2;
    let j = diagonal - &i - 1;
    let mirrored = |k: &Expr| n - 1 - k;
    vec![
        first.select(&i, mirrored(&i)),
        first.select(&j, mirrored(&j)),
    ]
}

/// `1 + .. + n`.
fn triangle(n: &Expr) -> Expr {
    n * (n + 1) / 2
}

/// Of `r x c`: before diagonal `d` there are `T(d)` elements in a quadrant, less those that are in
/// no row, `T(d - r)`, and in no column, `T(d - c)`.
fn antidiag_of(sizes: &[Expr], i: &Expr, j: &Expr) -> Expr {
    let [r, c] = [&sizes[0], &sizes[1]];
    let diagonal = i + j;
    let beyond = |n: &Expr| triangle(&(&diagonal - n).max(0));
    let first = (&diagonal - c + 1).max(0);
    triangle(&diagonal) - beyond(r) - beyond(c) + (i - first)
}

/// The first `m` diagonals, of the shorter side `m`, are a triangle; so are the last `m - 1`, seen
/// from the other corner; all between them have `m` elements.
fn antidiag_of_inv(sizes: &[Expr], offset: &Expr) -> Vec<Expr> {
    let [r, c] = [&sizes[0], &sizes[1]];
    let side = r.min(c);
    let (corner, total) = (triangle(&side), r * c);
    let is_first = offset.lt(&corner);
    let is_last = (&total - &corner + &side).le(offset);
    let x = is_last.select(&total - 1 - offset, offset);
    let root = (&x * 2).isqrt();
    let carry = (&root * (&root + 1) / 2).le(&x);
    let diagonal = root + carry;
    let (near_i, near_j) = {
        let i = x - &diagonal * (&diagonal - 1) / 2;
        let j = &diagonal - &i - 1;
        (i, j)
    };
    let rest = offset - &corner;
    let middle = &rest / &side + &side;
    let middle_i = &rest % &side + (&middle - c + 1).max(0);
    let middle_j = &middle - &middle_i;
    let component = |n: &Expr, near: &Expr, middle: &Expr| {
        is_last.select(n - 1 - near, is_first.select(near, middle))
    };
    vec![
        component(r, &near_i, &middle_i),
        component(c, &near_j, &middle_j),
    ]
}

fn mirrored(sizes: &[Expr], index: &[Expr]) -> Vec<Expr> {
    let pairs = sizes.iter().zip(index);
    pairs.map(|(n, i)| n - 1 - i).collect()
}

/// For each bit of the offset from the lowest on, the dimension and the bit of its index: the last
/// dimension first, leaving out those that have no more bits.
fn interleaved(sizes: &[Expr]) -> Vec<(usize, u32)> {
    let bits = |size: &Expr| size.as_constant().map_or(0, |n| n.trailing_zeros());
    let bits: Vec<u32> = sizes.iter().map(bits).collect();
    let most = bits.iter().copied().max().unwrap_or(0);
    let of_bit = |bit: u32| {
        let dims = (0..sizes.len()).rev();
        let bits = &bits;
        dims.filter(move |d| bit < bits[*d]).map(move |d| (d, bit))
    };
    (0..most).flat_map(of_bit).collect()
}

fn bit(x: &Expr, bit: u32) -> Expr {
    x / (1_i64 << bit) % 2
}

fn morton(sizes: &[Expr], index: &[Expr]) -> Expr {
    let places = interleaved(sizes).into_iter().enumerate();
    places.fold(Expr::constant(0), |offset, (place, (d, b))| {
        offset + bit(&index[d], b) * (1_i64 << place)
    })
}

fn morton_inv(sizes: &[Expr], offset: &Expr) -> Vec<Expr> {
    let mut index = vec![Expr::constant(0); sizes.len()];
    for (place, (d, b)) in (0..).zip(interleaved(sizes)) {
        index[d] = &index[d] + bit(offset, place) * (1_i64 << b);
    }
    index
}

fn side(sizes: &[Expr]) -> i64 {
    sizes[0].as_constant().unwrap_or(1)
}

/// Quadrant by quadrant from the largest: each but the outer two is seen from another side.
fn hilbert(n: i64, i: &Expr, j: &Expr) -> Expr {
    let (mut x, mut y) = (i.clone(), j.clone());
    let mut offset = Expr::constant(0);
    let mut half = n / 2;
    while half > 0 {
        let (right, up) = (&x / half, &y / half);
        offset = offset + (&right * 3).xor(&up) * half * half;
        (x, y) = rotated(&(x % half), &(y % half), half, &right, &up);
        half /= 2;
    }
    offset
}

fn hilbert_inv(n: i64, offset: &Expr) -> Vec<Expr> {
    let (mut x, mut y) = (Expr::constant(0), Expr::constant(0));
    let mut rest = offset.clone();
    let mut half = 1;
    while half < n {
        let right = &rest / 2 % 2;
        let up = (&rest % 2).xor(&right);
        let (a, b) = rotated(&x, &y, half, &right, &up);
        (x, y) = (a + &right * half, b + &up * half);
        rest = rest / 4;
        half *= 2;
    }
    vec![x, y]
}

/// Transforms a quadrant's coordinates to those of the curve within it; an involution.
fn rotated(x: &Expr, y: &Expr, half: i64, right: &Expr, up: &Expr) -> (Expr, Expr) {
    let flip = |k: &Expr| right.select(Expr::constant(half - 1) - k, k);
    (up.select(x, flip(y)), up.select(y, flip(x)))
}

/// Returns whether a swizzle maps so many elements onto themselves.
///
/// Bits below `base + bits` change, by those above them: blocks of `2^(base + bits)` do, each by the xor with one
/// number, which is that of its place. Only a last block that is not full may be left.
fn is_swizzled(size: i64, bits: u32, base: u32, shift: u32) -> bool {
    if [bits, base, shift]
        .iter()
        .map(|n| u64::from(*n))
        .sum::<u64>()
        > 62
    {
        return false;
    }
    let (last, rest) = (size >> (base + bits), size % (1 << (base + bits)));
    let by = (last >> (shift - bits)) % (1 << bits);
    let changed = base + (i64::BITS - by.leading_zeros());
    by == 0 || rest % (1 << changed) == 0
}

fn swizzle(x: &Expr, bits: u32, base: u32, shift: u32) -> Expr {
    let from = x / (1_i64 << (base + shift)) % (1_i64 << bits);
    x.xor(from * (1_i64 << base))
}
