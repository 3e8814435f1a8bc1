//! Reproducible pseudo-random numbers (splitmix64; Steele, Lea and Flood, 2014).

/// A generator; equal seeds give equal sequences on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator of that seed.
    pub fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound` (0 if `bound` is).
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `[-1, 1)`.
    pub fn signed_unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2f64.powi(-52) - 1.0
    }
}

/// A number that depends on all of these, and on their order.
pub fn hash(parts: impl IntoIterator<Item = u64>) -> u64 {
    let mix = |state: u64, part: u64| Random::new(state.rotate_left(17) ^ part).bits();
    parts.into_iter().fold(0, mix)
}

/// 1 or -1, by a number's highest bit.
pub fn sign(bits: u64) -> f64 {
    if bits >> 63 == 0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_and_seeds_repeat() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        for _ in 0..1000 {
            assert!(a.below(5) < 5);
            b.below(5);
            let unit = a.signed_unit();
            assert!((-1.0..1.0).contains(&unit));
            assert_eq!(unit, b.signed_unit());
        }
        assert_eq!(a.below(0), 0);
    }
}
