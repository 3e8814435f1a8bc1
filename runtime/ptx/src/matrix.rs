//! Warp-level MMA, products of matrices: `mma.sync.m16n8k16` (PTX ISA, 9.7.14).
//!
//! Lane `4 g + t` has, in registers of 32 bits: of A the rows `g` and `g + 8`, of B the column `g`,
//! of the sums the rows `g` and `g + 8`. Where `k` counts, the columns of A and rows of B, registers
//! have `2 t` and `2 t + 1`, then those 8 on; sums are of the columns `2 t` and `2 t + 1`.

use half::{bf16, f16};

use crate::instruction::{LANES, Type};

/// The sums of all lanes, four each. `None` if a lane has other registers than the instruction.
pub fn multiply(
    factor: Type,
    a: &[Vec<u64>],
    b: &[Vec<u64>],
    c: &[Vec<u64>],
) -> Option<Vec<[u64; 4]>> {
    let has = |all: &[Vec<u64>], count: usize| {
        all.len() == LANES && all.iter().all(|lane| lane.len() == count)
    };
    if !has(a, 4) || !has(b, 2) || !has(c, 4) {
        return None;
    }
    let number = |register: u64, half: usize| {
        let bits = (register >> (16 * half)) as u16;
        match factor {
            Type::BF16 => bf16::from_bits(bits).to_f32(),
            _ => f16::from_bits(bits).to_f32(),
        }
    };
    let in_a = |row: usize, k: usize| {
        let lane = &a[row % 8 * 4 + k % 8 / 2];
        number(lane[row / 8 + k / 8 * 2], k % 2)
    };
    let in_b = |k: usize, column: usize| number(b[column * 4 + k % 8 / 2][k / 8], k % 2);
    let sums = (0..LANES).map(|lane| {
        std::array::from_fn(|n| {
            let (row, column) = (lane / 4 + n / 2 * 8, lane % 4 * 2 + n % 2);
            let start = f32::from_bits(c[lane][n] as u32);
            let sum = (0..16).fold(start, |sum, k| sum + in_a(row, k) * in_b(k, column));
            u64::from(sum.to_bits())
        })
    });
    Some(sums.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_definition() {
        let a = |i: usize, k: usize| f16::from_f32((i + 2 * k) as f32).to_bits();
        let b = |k: usize, j: usize| f16::from_f32((3 * k + j) as f32).to_bits();
        let pair = |low: u16, high: u16| u64::from(low) | u64::from(high) << 16;
        let lanes = || (0..LANES).map(|lane| (lane / 4, 2 * (lane % 4)));
        let of_a: Vec<_> = lanes()
            .map(|(g, k)| {
                let register = |i, k| pair(a(i, k), a(i, k + 1));
                let rows = [(g, k), (g + 8, k), (g, k + 8), (g + 8, k + 8)];
                rows.map(|(i, k)| register(i, k)).to_vec()
            })
            .collect();
        let of_b: Vec<_> = lanes()
            .map(|(g, k)| [k, k + 8].map(|k| pair(b(k, g), b(k + 1, g))).to_vec())
            .collect();
        let unit = u64::from(1f32.to_bits());
        let sums = multiply(Type::F16, &of_a, &of_b, &vec![vec![unit; 4]; LANES]).unwrap();
        for (lane, (g, j)) in lanes().enumerate() {
            for (n, (i, j)) in [(g, j), (g, j + 1), (g + 8, j), (g + 8, j + 1)]
                .into_iter()
                .enumerate()
            {
                let sum: usize = (0..16).map(|k| (i + 2 * k) * (3 * k + j)).sum();
                let expected = (1.0 + sum as f32).to_bits();
                assert_eq!(sums[lane][n], u64::from(expected), "lane {lane}, sum {n}");
            }
        }
        assert_eq!(multiply(Type::F16, &of_a[..16], &of_b, &of_a), None);
    }
}
