//! Blocks of accesses that go to each lane's element alone, and independent sums.

use super::facts::Facts;
use super::views::{Motion, View, Views};

/// Independent sums that hide the latency of an addition.
const CHAINS: i64 = 8;
/// The most accesses of single lanes in a block that is unrolled.
const SCATTERED: i64 = 16;

/// Accesses that go to each lane's element alone.
fn accesses(views: &Views, d: usize) -> impl Iterator<Item = &View> {
    let is_scattered = move |view: &&View| {
        let is_whole = !matches!(views.motion(view, d), Motion::Other | Motion::Axis(_));
        !is_whole && !views.is_packable(view, d)
    };
    views.all.iter().filter(is_scattered)
}

/// The block whose accesses are scattered along the lanes, where they are many: of several points of a sum that
/// leaves them where they are, as far as registers hold them and the partial results.
pub fn block(
    views: &Views,
    facts: &Facts,
    lanes: Option<(usize, i64)>,
    reasons: &mut Vec<String>,
) -> Option<Vec<i64>> {
    let (lane, count) = lanes?;
    let held = accesses(views, lane).count() as i64;
    if held * count <= SCATTERED {
        return None;
    }
    let mut block = vec![1; views.points.len()];
    let stays = |d: &usize| accesses(views, lane).all(|v| views.motion(v, *d) == Motion::Still);
    let results = views.all.iter().filter(|view| view.is_output).count() as i64;
    let most = (facts.registers * 3 / 4 - held) / results.max(1);
    let sum = chained(views, lanes).filter(stays).filter(|_| most > 1);
    if let Some(d) = sum {
        chains(views, lanes, &mut block);
        // Powers of two leave the fewest points over.
        block[d] = 1 << block[d].min(most).ilog2();
    }
    let what = match sum {
        Some(d) => format!("nothing but '{}'", views.names[d]),
        None => "nothing".into(),
    };
    reasons.push(format!(
        "{what} is unrolled: each lane of many accesses is loaded alone"
    ));
    Some(block)
}

/// The combined dimension whose unrolled parts are independent sums: that of the lanes, or the last.
fn chained(views: &Views, lanes: Option<(usize, i64)>) -> Option<usize> {
    let combined = |d: &usize| views.combine[*d].is_pw();
    let along = lanes.map(|(d, _)| d).filter(combined);
    along.or_else(|| (0..views.combine.len()).rev().find(combined))
}

/// Several independent sums where the kept dimensions do not give them.
pub fn chains(views: &Views, lanes: Option<(usize, i64)>, best: &mut [i64]) {
    let points: i64 = best.iter().product();
    if let Some(d) = chained(views, lanes) {
        let scale = lanes.filter(|(dim, _)| *dim == d).map_or(1, |(_, n)| n);
        let wanted = CHAINS / points;
        if wanted < 2 {
            return;
        }
        best[d] = wanted.min(views.size(d) / scale / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::choose;
    use super::super::tests::sum;
    use crate::asm::{Asm, CpuFacts};
    use crate::check;
    use crate::numbers::Parts;
    use mdh_algebra::affine::Expr;
    use mdh_algebra::computation::{Buffer, Combine};
    use mdh_algebra::examples::{Builder, d};
    use mdh_algebra::operator::{Builtin, Operator};
    use mdh_algebra::scalar::ScalarType::F32;

    /// Checks: where each lane of many accesses is loaded alone, no more of them are unrolled; a sum along
    /// which they stay is, as far as registers hold them and the parts.
    #[test]
    fn parts_of_a_sum_share_scattered_accesses() {
        let most = Operator::Builtin(vec![Builtin::Maximumf]);
        let combine = [Combine::Cc, Combine::Pw(0)];
        let columns = |n: usize| {
            let buffer = Buffer::new(&format!("in{n}"), F32, &[Some(1 << 10), Some(5)]);
            (0..5).fold(buffer, |buffer, c| {
                buffer.access(5 * n + c as usize, &[d(n), Expr::Const(c)])
            })
        };
        let mut builder = Builder::new(&[1 << 10; 2], &combine, vec![most]).scalar(sum(10));
        builder.0.inputs = vec![columns(0), columns(1)];
        let c = builder.output(F32, &[1 << 10], &[d(0)]).0;
        for (registers, parts) in [(32, 8), (16, 4)] {
            let asm = Asm::cpu(&CpuFacts {
                registers,
                ..CpuFacts::default()
            });
            let choice = choose(&c, &asm).unwrap();
            assert!(check(&choice.schedule, &c, &asm).is_ok());
            let layers = &choice.schedule.layers;
            let parts_of = |name: &str, d: &str| {
                let layer = layers.iter().find(|layer| layer.name == name)?;
                layer.parts.get(d).copied()
            };
            assert!(parts_of("simd", "d0").is_some(), "{layers:?}");
            assert_eq!(parts_of("register", "d1"), Some(Parts::Fixed(parts)));
        }
    }
}
