//! Failing cases made smaller.

use std::collections::BTreeSet;

use crate::choices::{Choice, Overrides};

/// A case that is tried: its choices, and what tells it from others.
pub struct Trial {
    /// All choices that were made for it.
    pub trail: Vec<Choice>,
    /// Its text; what gives the same text needs no second try.
    pub text: String,
}

/// Looks for overrides of a case that still fails. `make` gives the case of some overrides,
/// `fails` tries one. At most `budget` cases are tried.
pub fn reduce(
    start: Overrides,
    make: impl Fn(&Overrides) -> Trial,
    mut fails: impl FnMut(&Overrides) -> bool,
    mut budget: usize,
) -> Overrides {
    let mut best = start;
    let mut seen = BTreeSet::from([make(&best).text]);
    loop {
        let mut progressed = false;
        for stage in [drops, scopes, values] {
            // Each success changes what there is to try: start over with the new case, behind
            // what has been tried.
            let mut next = 0;
            loop {
                let candidates = stage(&make(&best).trail);
                let Some(candidate) = candidates.get(next) else {
                    break;
                };
                next += 1;
                let mut overrides = best.clone();
                overrides.0.extend(candidate.iter().cloned());
                if !seen.insert(make(&overrides).text) {
                    continue;
                }
                if budget == 0 {
                    return tidy(best, &make);
                }
                budget -= 1;
                if fails(&overrides) {
                    best = overrides;
                    progressed = true;
                    next = next.saturating_sub(1);
                }
            }
        }
        if !progressed {
            return tidy(best, &make);
        }
    }
}

/// New values of some choices.
type Candidate = Vec<(String, u64)>;

/// Leaving things out, the largest first.
fn drops(trail: &[Choice]) -> Vec<Candidate> {
    let included = trail
        .iter()
        .filter(|choice| choice.is_drop && choice.value == 0);
    let mut candidates: Vec<Candidate> = included.map(|c| vec![(c.path.clone(), 1)]).collect();
    candidates.sort_by_key(|candidate| candidate[0].0.matches('/').count());
    candidates
}

/// All choices of a scope set to 0, the outermost first.
fn scopes(trail: &[Choice]) -> Vec<Candidate> {
    let mut scopes: Vec<&str> = Vec::new();
    for choice in trail {
        for (end, _) in choice.path.match_indices('/') {
            let scope = &choice.path[..=end];
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
    }
    scopes.sort_by_key(|scope| scope.matches('/').count());
    let zeros = |scope: &&str| -> Candidate {
        let inside = trail.iter().filter(|c| c.path.starts_with(*scope));
        let nonzero = inside.filter(|c| c.value != 0 && !c.is_drop);
        nonzero.map(|c| (c.path.clone(), 0)).collect()
    };
    let candidates = scopes.iter().map(zeros);
    candidates.filter(|candidate| candidate.len() > 1).collect()
}

/// Single choices made smaller: 0, the half, one less.
fn values(trail: &[Choice]) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for choice in trail.iter().filter(|c| c.value != 0 && !c.is_drop) {
        let mut smaller = vec![0, choice.value / 2, choice.value - 1];
        smaller.dedup();
        candidates.extend(smaller.into_iter().map(|v| vec![(choice.path.clone(), v)]));
    }
    candidates
}

/// Without overrides of choices that are not made.
fn tidy(overrides: Overrides, make: &impl Fn(&Overrides) -> Trial) -> Overrides {
    let trail = make(&overrides).trail;
    let is_made = |path: &String| trail.iter().any(|choice| choice.path == *path);
    let made = overrides.0.into_iter().filter(|(path, _)| is_made(path));
    Overrides(made.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Choices;

    /// Some numbers; the case fails if one of them is at least 5 and there are two.
    fn make(overrides: &Overrides) -> (Trial, bool) {
        let mut choices = Choices::new(3, overrides.clone());
        let count = choices.below("count", 9);
        let mut numbers = Vec::new();
        for n in 0..count {
            choices.scope(n, |c| {
                if c.keep() {
                    numbers.push(c.below("number", 100));
                }
            });
        }
        let fails = numbers.len() >= 2 && numbers.iter().any(|n| *n >= 5);
        let case = Trial {
            trail: choices.trail().to_vec(),
            text: format!("{numbers:?}"),
        };
        (case, fails)
    }

    #[test]
    fn the_smallest_case_that_fails_is_found() {
        let start: Overrides = "count=8".parse().unwrap();
        assert!(make(&start).1);
        let smallest = reduce(start, |o| make(o).0, |o| make(o).1, 1000);
        let (case, fails) = make(&smallest);
        assert!(fails);
        let numbers: BTreeSet<&str> = case.text.trim_matches(['[', ']']).split(", ").collect();
        assert_eq!(numbers, BTreeSet::from(["0", "5"]));
    }
}
