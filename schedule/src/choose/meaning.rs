//! The parameters of a space of schedules on a CPU in words: what they decide.

/// Parameters that are each of a dimension, a loop or an input: the name before the dot, and what it decides of
/// what comes after it.
const OF_ONE: [(&str, &str); 5] = [
    ("block", "unrolled parts of {}"),
    ("tile", "blocks of {} in a tile, 0 for no loop over tiles"),
    ("cores", "cores that share {}"),
    (
        "order",
        "the dimension of loop {} among those that are left",
    ),
    ("pack", "the loop before which {} is packed"),
];

/// The other ones.
const OF_ALL: [(&str, &str); 4] = [
    ("lanes", "the dimension that has the lanes of vectors"),
    (
        "combine",
        "when lanes and unrolled parts of a sum are combined",
    ),
    ("tails", "the code of points that fill no tile"),
    ("compute_at", "the loop in which it is computed"),
];

/// Returns what a parameter decides; none for one of another space. Before a slash stands the computation that it is of,
/// where a program has several.
pub fn meaning(parameter: &str) -> Option<String> {
    let (prefix, key) = match parameter.rsplit_once('/') {
        Some((prefix, key)) => (format!("{prefix}: "), key),
        None => (String::new(), parameter),
    };
    let phrase = match key.split_once('.') {
        Some((kind, what)) => OF_ONE
            .iter()
            .find(|(name, _)| *name == kind)
            .map(|(_, text)| text.replace("{}", what)),
        None => OF_ALL
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, text)| text.to_string()),
    };
    Some(format!("{prefix}{}", phrase?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_in_words() {
        let phrase = |parameter| meaning(parameter).unwrap_or_default();
        assert_eq!(phrase("cores.i"), "cores that share i");
        assert_eq!(
            phrase("y/lanes"),
            "y: the dimension that has the lanes of vectors"
        );
        assert_eq!(phrase("m/pack.x"), "m: the loop before which x is packed");
        assert_eq!(meaning("threads"), None);
        assert_eq!(meaning("other.i"), None);
    }
}
