//! Reasons of the model for a schedule, the strongest first.
//!
//! The model gives its reasons as sentences, in the order in which it decided. How much time each of them is about is
//! not known, so they are ranked by kind: what was tried and rejected for all loops says most, what was assumed least.

/// Words of reasons of a kind, the strongest kind first.
const KINDS: [&[&str]; 8] = [
    // Loops: what is computed tile by tile, and the order and tiles that take the fewest cycles.
    &["computed for each tile of", "for each tile also computes"],
    &["takes the fewest cycles a core", "orders, cuts and tiles"],
    // Whole kernels, and updates of bins.
    &[
        "tiles: ",
        "shared sums: ",
        "transposed: ",
        "neighbours: ",
        "rows: ",
        "parts: ",
        "points: ",
        "one thread: ",
        "updates the bin",
    ],
    &["one core", "cores share", "cores get", "no cores"],
    &[
        "needs the fewest loads",
        "is packed into blocks",
        "transposed in registers",
        "share what they read",
    ],
    &["is cut into", "come in groups"],
    &["lanes", "one instruction combines", "is unrolled"],
    &["sizes that are not known"],
];

/// Returns the rank of a reason: 0 for the strongest kind. What was rejected comes behind what was chosen.
fn rank(reason: &str) -> usize {
    if reason.starts_with("not ") || reason.starts_with("with ") {
        return KINDS.len();
    }
    // A kernel's name opens its reason.
    let has = |word: &&str| match word.ends_with(": ") {
        true => reason.starts_with(word),
        false => reason.contains(word),
    };
    let is_of = |words: &&[&str]| words.iter().any(&has);
    KINDS.iter().position(is_of).unwrap_or(KINDS.len() - 1)
}

/// The strongest reasons of a choice, at most so many, in the order of their strength; of one kind the last stays,
/// which was decided when all before it was known.
pub fn strongest(reasons: &[String], most: usize) -> Vec<&str> {
    let mut ranked: Vec<(usize, &str)> = Vec::new();
    for reason in reasons {
        let rank = rank(reason);
        match ranked.iter_mut().find(|(other, _)| *other == rank) {
            Some((_, text)) => *text = reason.as_str(),
            None => ranked.push((rank, reason.as_str())),
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let texts = ranked.into_iter().map(|(_, text)| headline(text));
    texts.take(most).collect()
}

/// The statement of a reason, without the counts behind it: these are the model's own, by which it compares loops.
fn headline(reason: &str) -> &str {
    let counted = ["takes the fewest cycles a core", "stay in L2"];
    let end = counted.iter().find_map(|words| {
        let at = reason.find(words)? + words.len();
        Some(at)
    });
    &reason[..end.unwrap_or(reason.len())]
}

/// The reasons that say which cores compute: the model's words for threads.
pub fn about_cores(reasons: &[String]) -> Option<&String> {
    let words = ["one core", "cores"];
    let mut reasons = reasons.iter();
    reasons.find(|reason| words.iter().any(|word| reason.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_loops_is_stronger_than_lanes() {
        let reasons = [
            "sizes that are not known count as 4096 points: 'i'",
            "lanes along 'j' cost 0.06 accesses a point",
            "of 44 blocks that fit 24 registers, [4, 5, 1] needs the fewest loads: 0.45 a point",
            "of 96 orders, cuts and tiles of the loops, k j i k takes the fewest cycles a core: 1 to compute",
            "2 cores share dimension 'i'",
        ]
        .map(str::to_string);
        assert_eq!(
            strongest(&reasons, 2),
            [
                "of 96 orders, cuts and tiles of the loops, k j i k takes the fewest cycles a core",
                "2 cores share dimension 'i'"
            ]
        );
        assert_eq!(strongest(&reasons, 9).len(), 5);
        assert_eq!(about_cores(&reasons), Some(&reasons[4]));
    }

    #[test]
    fn what_was_rejected_is_the_weakest() {
        let reasons =
            ["not tiles: breaks capacity", "points: each thread has one"].map(str::to_string);
        assert_eq!(strongest(&reasons, 1), ["points: each thread has one"]);
    }
}
