//! Importance of parameters: the share of the variance of costs that each explains, by a forest
//! that has learned them.

use crate::error::Result;
use crate::forest::Forest;
use crate::space::{Point, Space};

/// Costs from which on something can be said.
const LEAST: usize = 8;
const TREES: usize = 60;

/// Each movable parameter with its share of the explained variance of the logarithms of costs, the
/// largest first; empty if too little is known. Failures do not count.
pub fn importance(space: &Space, known: &[(Point, f64)]) -> Result<Vec<(String, f64)>> {
    let measured: Vec<&(Point, f64)> = known.iter().filter(|(_, cost)| *cost > 0.0).collect();
    let measured: Vec<&(Point, f64)> = measured
        .into_iter()
        .filter(|(_, cost)| cost.is_finite())
        .collect();
    let movable = space.movable();
    if measured.len() < LEAST || movable.is_empty() {
        return Ok(Vec::new());
    }
    let row = |point: &Point| -> Vec<f64> {
        movable
            .iter()
            .map(|parameter| space.rank(point, *parameter) as f64)
            .collect()
    };
    let rows: Vec<Vec<f64>> = measured.iter().map(|(point, _)| row(point)).collect();
    let targets: Vec<f64> = measured.iter().map(|(_, cost)| cost.ln()).collect();
    let shares = Forest::fit(&rows, &targets, TREES, 0)?.importance()?;
    let names = movable
        .iter()
        .map(|parameter| space.names()[*parameter].clone());
    let mut shares: Vec<(String, f64)> = names.zip(shares).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::space::constraint::Constraint;
    use crate::space::parameter::Parameter;

    #[test]
    fn what_decides_comes_first() {
        let differ = Constraint::of_integers("much != little", ["much", "little"], |[a, b]| a != b);
        let builder = Space::builder()
            .parameter(Parameter::set("little", 1..=8).unwrap())
            .parameter(Parameter::set("nothing", ["a", "b", "c"]).unwrap())
            .parameter(Parameter::set("much", 1..=8).unwrap().constraint(differ));
        let space = builder.build().unwrap();
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut known: Vec<(Point, f64)> = (0..150)
            .map(|_| {
                let point = space.sample(&mut random);
                let rank = |parameter| space.rank(&point, parameter) as f64;
                let cost = 1.0 + rank(2) * rank(2) + 0.5 * rank(0);
                (point, cost)
            })
            .collect();
        known.push((space.first(), f64::INFINITY));
        let shares = importance(&space, &known).unwrap();
        let names: Vec<&str> = shares.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["much", "little", "nothing"]);
        assert!(shares[0].1 > 0.7 && shares[2].1 < 0.05, "{shares:?}");
        assert!(importance(&space, &known[..5]).unwrap().is_empty());
    }
}
