//! `inv(apply(i)) == i` and every offset once, against the definition on numbers: for all layouts
//! of up to three levels and 24 elements, and for random chains.

use super::tests::layout;
use super::*;
use crate::random::Random;

/// The paper's figures 6 and 7 on numbers, written out once more.
mod definition {
    use super::*;

    pub(super) fn flatten(sizes: &[i64], index: &[i64]) -> i64 {
        sizes.iter().zip(index).fold(0, |flat, (n, i)| flat * n + i)
    }

    pub(super) fn unflatten(sizes: &[i64], mut flat: i64) -> Vec<i64> {
        let mut index = vec![0; sizes.len()];
        for d in (0..sizes.len()).rev() {
            index[d] = flat % sizes[d];
            flat /= sizes[d];
        }
        index
    }

    fn numbers(sizes: &[Expr]) -> Vec<i64> {
        sizes.iter().map(|n| n.as_constant().unwrap()).collect()
    }

    fn perm(perm: &Perm, index: &[i64]) -> i64 {
        let sizes = numbers(perm.dims());
        match perm {
            Perm::Reg { sigma, .. } => {
                let permuted = |x: &[i64]| sigma.iter().map(|k| x[k - 1]).collect::<Vec<i64>>();
                flatten(&permuted(&sizes), &permuted(index))
            }
            Perm::Gen { pair, .. } => match pair {
                Pair::Builtin(builtin) => self::builtin(*builtin, &sizes, index),
                Pair::Tables { forward, .. } => {
                    let values = forward.values.as_ref().unwrap();
                    values[flatten(&sizes, index) as usize]
                }
                Pair::Written(_) => unreachable!("none is generated"),
            },
        }
    }

    pub(super) fn builtin(builtin: Builtin, sizes: &[i64], index: &[i64]) -> i64 {
        match builtin {
            Builtin::Antidiag => {
                let (r, c, key) = (sizes[0], sizes[1], |i: i64, j: i64| (i + j, i));
                let keys = (0..r * c).map(|x| key(x / c, x % c));
                let wanted = key(index[0], index[1]);
                keys.filter(|other| *other < wanted).count() as i64
            }
            Builtin::Reverse => sizes.iter().product::<i64>() - 1 - flatten(sizes, index),
            Builtin::Morton => {
                let (mut offset, mut place) = (0, 0);
                for bit in 0..63 {
                    for d in (0..sizes.len()).rev().filter(|d| sizes[*d] >> bit > 1) {
                        offset |= (index[d] >> bit & 1) << place;
                        place += 1;
                    }
                }
                offset
            }
            Builtin::Hilbert => {
                let (mut x, mut y, mut offset) = (index[0], index[1], 0);
                let mut s = sizes[0] / 2;
                while s > 0 {
                    let (rx, ry) = (i64::from(x & s > 0), i64::from(y & s > 0));
                    offset += s * s * ((3 * rx) ^ ry);
                    if ry == 0 {
                        if rx == 1 {
                            (x, y) = (sizes[0] - 1 - x, sizes[0] - 1 - y);
                        }
                        (x, y) = (y, x);
                    }
                    s /= 2;
                }
                offset
            }
            Builtin::Xor => index[0] * sizes[1] + (index[1] ^ (index[0] % sizes[1])),
            Builtin::Swizzle { bits, base, shift } => {
                let x = flatten(sizes, index);
                let mask = ((1 << bits) - 1) << (base + shift);
                x ^ ((x & mask) >> shift)
            }
        }
    }

    pub(super) fn apply(layout: &Layout, index: &[i64]) -> i64 {
        let mut flat = flatten(&numbers(&layout.dims()), index);
        for order in layout.chain().iter().rev() {
            let sizes = numbers(&order.dims());
            let index = unflatten(&sizes, flat);
            let (mut rest, mut offset) = (index.as_slice(), 0);
            for p in &order.perms {
                let sizes = numbers(p.dims());
                let (part, left) = rest.split_at(sizes.len());
                offset = perm(p, part) + offset * sizes.iter().product::<i64>();
                rest = left;
            }
            flat = offset;
        }
        flat
    }
}

/// `apply` is the definition's, `inv` takes it back, and every offset occurs.
fn check(layout: &Layout) {
    let sizes = layout.numbers().unwrap();
    let names = layout.index_names();
    let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
    let apply = IndexProgram::with_inputs(&names, &[layout.apply(&index)]);
    let x: Name = "x".into();
    let inv = IndexProgram::with_inputs(std::slice::from_ref(&x), &layout.inv(&Expr::symbol(&x)));
    let total: i64 = sizes.iter().product();
    let mut seen = vec![false; total as usize];
    for flat in 0..total {
        let index = definition::unflatten(&sizes, flat);
        let offset = apply.run(&index).unwrap()[0];
        assert_eq!(offset, definition::apply(layout, &index), "{layout}");
        assert_eq!(inv.run(&[offset]).unwrap(), index, "{layout}");
        assert!(
            !std::mem::replace(&mut seen[offset as usize], true),
            "{layout}"
        );
    }
    assert_eq!(*layout.answer(), Answer::Proved, "{layout}");
}

/// All ways to write a number as a product of at most so many factors of 2 or more, in order.
fn factorizations(n: i64, most: usize) -> Vec<Vec<i64>> {
    if most == 0 || n < 2 {
        return vec![];
    }
    let mut lists = vec![vec![n]];
    for first in (2..n).filter(|f| n % f == 0) {
        for rest in factorizations(n / first, most - 1) {
            lists.push([&[first], rest.as_slice()].concat());
        }
    }
    lists
}

fn permutations(rank: usize) -> Vec<Vec<usize>> {
    if rank == 0 {
        return vec![vec![]];
    }
    let smaller = permutations(rank - 1);
    let with = |p: &Vec<usize>, at: usize| {
        let mut p = p.clone();
        p.insert(at, rank);
        p
    };
    smaller
        .iter()
        .flat_map(|p| (0..rank).map(move |at| with(p, at)))
        .collect()
}

fn exprs(sizes: &[i64]) -> Vec<Expr> {
    sizes.iter().map(|n| Expr::constant(*n)).collect()
}

fn builtins(sizes: &[i64]) -> Vec<Perm> {
    let swizzle = |bits, base, shift| Builtin::Swizzle { bits, base, shift };
    let candidates = [
        Builtin::Antidiag,
        Builtin::Reverse,
        Builtin::Morton,
        Builtin::Hilbert,
        Builtin::Xor,
        swizzle(1, 0, 1),
        swizzle(1, 1, 2),
        swizzle(2, 0, 2),
    ];
    let sizes = exprs(sizes);
    let fit = candidates.into_iter().filter(|b| b.check(&sizes).is_ok());
    let perm = |b| {
        let (sizes, pair) = (sizes.clone(), Pair::Builtin(b));
        Perm::Gen { sizes, pair }
    };
    fit.map(perm).collect()
}

/// All permutations of tiles of so many elements.
fn perms(n: i64) -> Vec<Perm> {
    let mut perms = Vec::new();
    for sizes in factorizations(n, 4) {
        for sigma in permutations(sizes.len()) {
            let sizes = exprs(&sizes);
            perms.push(Perm::Reg { sizes, sigma });
        }
        perms.extend(builtins(&sizes));
    }
    perms
}

#[test]
fn all_layouts_of_three_levels_and_24_elements() {
    let mut count = 0;
    for n in 2..=24 {
        for levels in factorizations(n, 3) {
            let mut orders: Vec<Vec<Perm>> = vec![vec![]];
            for level in &levels {
                let perms = perms(*level);
                let longer = |order: &Vec<Perm>, p: &Perm| {
                    [order.as_slice(), std::slice::from_ref(p)].concat()
                };
                let orders_with = orders
                    .iter()
                    .flat_map(|o| perms.iter().map(move |p| longer(o, p)));
                orders = orders_with.collect();
            }
            for perms in orders {
                let view = vec![exprs(&[n])];
                let chain = vec![OrderBy { perms }];
                check(&Layout::new(view, None, chain, &Facts::new()).unwrap());
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count} layouts");
}

/// A swizzle is accepted of exactly those sizes that it maps onto themselves, whatever its period.
#[test]
fn swizzles_are_of_all_sizes_that_they_keep() {
    let (mut accepted, mut refused) = (0, 0);
    for (bits, base, size) in
        (0..4).flat_map(|b| (0..4).flat_map(move |m| (1..200).map(move |n| (b, m, n))))
    {
        for shift in bits..5 {
            let pair = Builtin::Swizzle { bits, base, shift };
            let is_kept = (0..size).all(|x| definition::builtin(pair, &[size], &[x]) < size);
            let checked = pair.check(&exprs(&[size]));
            assert_eq!(checked.is_ok(), is_kept, "{} of {size}", pair.spelling());
            if is_kept && size < 48 {
                check(&layout(&format!("GenP([{size}],{})", pair.spelling())));
            }
            accepted += i32::from(is_kept);
            refused += i32::from(!is_kept);
        }
    }
    assert!(
        accepted > 1000 && refused > 1000,
        "{accepted} of {}",
        accepted + refused
    );
    // CuTe's atom of 8 rows of 32 halves, as rows and columns.
    check(&layout("GenP([8,32],swizzle(3,4,3))"));
}

fn random_sizes(random: &mut Random, n: i64) -> Vec<i64> {
    let lists = factorizations(n, 4);
    match lists.is_empty() {
        true => vec![1],
        false => lists[random.below(lists.len() as u64) as usize].clone(),
    }
}

fn random_perm(random: &mut Random, n: i64) -> Perm {
    let sizes = random_sizes(random, n);
    let fit = builtins(&sizes);
    match random.below(8) {
        0 => {
            let mut values: Vec<i64> = (0..n).collect();
            shuffle(random, &mut values);
            Perm::table(exprs(&sizes), values)
        }
        1..=3 if !fit.is_empty() => fit[random.below(fit.len() as u64) as usize].clone(),
        _ => {
            let mut sigma: Vec<usize> = (1..=sizes.len()).collect();
            shuffle(random, &mut sigma);
            let sizes = exprs(&sizes);
            Perm::Reg { sizes, sigma }
        }
    }
}

fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for k in (1..items.len()).rev() {
        items.swap(k, random.below(k as u64 + 1) as usize);
    }
}

#[test]
fn random_layouts() {
    let mut random = Random::new(4);
    for _ in 0..100_000 {
        let n = [1, 2, 4, 6, 8, 9, 12, 16, 18, 24][random.below(10) as usize];
        let view = random_sizes(&mut random, n);
        let orders = 1 + random.below(3);
        let chain = (0..orders).map(|_| {
            let levels = random_sizes(&mut random, n);
            let levels = levels.into_iter().take(4);
            let perms = levels.map(|level| random_perm(&mut random, level));
            OrderBy {
                perms: perms.collect(),
            }
        });
        let chain = chain.collect();
        let layout = Layout::new(vec![exprs(&view)], None, chain, &Facts::new()).unwrap();
        check(&layout);
    }
}

/// Neighbours in memory are neighbours in the square.
#[test]
fn hilbert_curves_do_not_jump() {
    for n in [1, 2, 4, 8, 16] {
        let curve = layout(&format!("GenP([{n},{n}],hilbert)"));
        check(&curve);
        let at = |offset| curve.inv_at(offset).unwrap();
        for offset in 1..n * n {
            let (a, b) = (at(offset - 1), at(offset));
            let steps = (a[0] - b[0]).abs() + (a[1] - b[1]).abs();
            assert_eq!(steps, 1, "{a:?} to {b:?}");
        }
    }
}

/// Checks: what is printed reads back as the same layout.
#[test]
fn printed_layouts_read_back() {
    let mut random = Random::new(7);
    for _ in 0..500 {
        let perms = [4, 6].map(|n| random_perm(&mut random, n)).to_vec();
        let chain = vec![OrderBy { perms }];
        let built = Layout::new(vec![exprs(&[24])], None, chain, &Facts::new()).unwrap();
        assert_eq!(layout(&built.to_string()).to_string(), built.to_string());
    }
}
