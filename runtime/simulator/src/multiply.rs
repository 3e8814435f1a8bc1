//! Warp-level MMA, products of matrices: `mma.sync.m16n8k16` (PTX ISA, 9.7.14).
//!
//! The warp has A (16 x 16), B (16 x 8) and the sums C (16 x 8), each lane a *fragment* of them. Of
//! lane `4 g + t`, with `g` from 0 to 7 and `t` from 0 to 3:
//!
//! | element | n = 0, 1 | 2, 3 | 4, 5 | 6, 7 |
//! |---|---|---|---|---|
//! | A\[n\] | A\[g, 2t + n\] | A\[g + 8, 2t + n - 2\] | A\[g, 2t + n + 4\] | A\[g + 8, 2t + n + 2\] |
//! | B\[n\] | B\[2t + n, g\] | B\[2t + n + 6, g\] | | |
//! | C\[n\] | C\[g, 2t + n\] | C\[g + 8, 2t + n - 2\] | | |
//!
//! Products are exact; a sum takes them one after the other, rounded each time.

use half::{bf16, f16};

use crate::calls::exchange;
use crate::report::FindingKind;
use crate::site::Site;
use crate::thread::Thread;
use crate::warp::{Given, LANES, Warp};

/// The type of the factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Factor {
    /// IEEE half precision.
    F16,
    /// bfloat16.
    BF16,
}

impl Factor {
    /// The number of 16 bits.
    fn number(self, bits: u16) -> f32 {
        match self {
            Factor::F16 => f16::from_bits(bits).to_f32(),
            Factor::BF16 => bf16::from_bits(bits).to_f32(),
        }
    }
}

/// The sums of a lane: two `f32` in each number, the first one lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Sums {
    /// Of row `g`.
    pub upper: u64,
    /// Of row `g + 8`.
    pub lower: u64,
}

/// Adds products to the sums that the lanes of a warp have. A lane gives its fragments, neighbours
/// packed, the first one lowest: four elements of A in each of two numbers, four of B, two sums in
/// each of two.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
#[allow(
    clippy::too_many_arguments,
    reason = "what a lane gives travels in registers of the processor"
)]
pub unsafe extern "C-unwind" fn mdh_sim_multiply(
    thread: *mut Thread,
    factor: Factor,
    a: u64,
    more_a: u64,
    b: u64,
    upper: u64,
    lower: u64,
    site: Site,
) -> Sums {
    // SAFETY: the caller's promise; borrows end before others run.
    unsafe {
        refuse_small(&*thread, site);
        let number = exchange(thread, [a, more_a, b], site);
        let (lane, block) = ((*thread).lane(), &*(*thread).block);
        let fragments = Fragments::new(&block.warps[(*thread).warp()], number);
        let row = |row: usize, sums: u64| {
            let sum = |n: usize| {
                let start = f32::from_bits((sums >> (32 * n)) as u32);
                let sum = fragments.sum(factor, (row, lane % 4 * 2 + n), start);
                u64::from(sum.to_bits()) << (32 * n)
            };
            sum(0) | sum(1)
        };
        Sums {
            upper: row(lane / 4, upper),
            lower: row(lane / 4 + 8, lower),
        }
    }
}

/// Refuses a warp with fewer lanes than the operation.
///
/// # Safety
/// The thread runs.
unsafe fn refuse_small(thread: &Thread, site: Site) {
    let threads = thread.place.threads.iter().product::<u32>() as usize;
    let lanes = threads - thread.warp() * LANES;
    if lanes < LANES {
        // SAFETY: the caller's promise.
        let block = unsafe { &mut *thread.block };
        block.report.add(FindingKind::Warp, (site, None), || {
            format!("the warp of {} has {lanes} of {LANES} lanes", thread.name())
        });
    }
}

/// Values that the lanes of a warp have given; zeros of those that have not.
struct Fragments([Given; LANES]);

impl Fragments {
    fn new(warp: &Warp, exchange: u32) -> Fragments {
        Fragments(std::array::from_fn(|lane| {
            warp.take(exchange, lane).unwrap_or_default()
        }))
    }

    /// An element of A.
    fn a(&self, row: usize, k: usize) -> u16 {
        let n = k % 2 + row / 8 * 2 + k / 8 * 4;
        let given = self.0[row % 8 * 4 + k % 8 / 2];
        (given[n / 4] >> (16 * (n % 4))) as u16
    }

    /// An element of B.
    fn b(&self, k: usize, column: usize) -> u16 {
        let n = k % 2 + k / 8 * 2;
        let given = self.0[column * 4 + k % 8 / 2];
        (given[2] >> (16 * n)) as u16
    }

    /// One sum.
    fn sum(&self, factor: Factor, (row, column): (usize, usize), start: f32) -> f32 {
        (0..16).fold(start, |sum, k| {
            let factors = [self.a(row, k), self.b(k, column)];
            let [a, b] = factors.map(|bits| factor.number(bits));
            sum + a * b
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fragments of a lane by the table above.
    fn fragments(a: impl Fn(usize, usize) -> u16, b: impl Fn(usize, usize) -> u16) -> Fragments {
        let pack = |elements: [u16; 4]| {
            let reversed = elements.iter().rev();
            reversed.fold(0, |all, one| all << 16 | u64::from(*one))
        };
        Fragments(std::array::from_fn(|lane| {
            let (g, t) = (lane / 4, lane % 4);
            [
                pack([
                    a(g, 2 * t),
                    a(g, 2 * t + 1),
                    a(g + 8, 2 * t),
                    a(g + 8, 2 * t + 1),
                ]),
                pack([
                    a(g, 2 * t + 8),
                    a(g, 2 * t + 9),
                    a(g + 8, 2 * t + 8),
                    a(g + 8, 2 * t + 9),
                ]),
                pack([
                    b(2 * t, g),
                    b(2 * t + 1, g),
                    b(2 * t + 8, g),
                    b(2 * t + 9, g),
                ]),
            ]
        }))
    }

    #[test]
    fn elements_are_where_the_isa_says() {
        let (a, b) = (
            |i: usize, k: usize| (i * 16 + k) as u16,
            |k: usize, j: usize| (k * 8 + j + 1000) as u16,
        );
        let operands = fragments(a, b);
        for k in 0..16 {
            (0..16).for_each(|i| assert_eq!(operands.a(i, k), a(i, k)));
            (0..8).for_each(|j| assert_eq!(operands.b(k, j), b(k, j)));
        }
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        let number = |n: usize| f16::from_f32(n as f32);
        let operands = fragments(
            |i, k| number(i + 2 * k).to_bits(),
            |k, j| number(3 * k + j).to_bits(),
        );
        for (i, j) in (0..16).flat_map(|i| (0..8).map(move |j| (i, j))) {
            let expected: usize = (0..16).map(|k| (i + 2 * k) * (3 * k + j)).sum();
            assert_eq!(
                operands.sum(Factor::F16, (i, j), 5.0),
                5.0 + expected as f32
            );
        }
        let wide = bf16::from_f32(1e30).to_bits();
        let operands = fragments(|_, _| wide, |_, _| bf16::from_f32(2.0).to_bits());
        assert!(operands.sum(Factor::BF16, (0, 0), 0.0) > 1e31);
    }
}
