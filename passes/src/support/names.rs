//! Names of dimensions and buffers, which share one name space within a computation.

use mdh_dialect::parts::{BufferPart, Parts};

/// The name itself if it is free, else the first of `name_1`, `name_2`, ... that is.
pub fn fresh(base: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(base) {
        return base.to_owned();
    }
    let numbered = (1usize..)
        .map(|n| format!("{base}_{n}"))
        .find(|name| !is_taken(name));
    numbered.unwrap_or_else(|| panic!("there are more numbers than names"))
}

/// Renames buffers whose name a dimension or an earlier buffer has; inputs keep theirs.
pub fn make_unique(parts: &mut Parts) {
    let mut taken: Vec<String> = parts.dims.iter().map(|d| d.name.clone()).collect();
    for buffer in buffers_mut(parts) {
        buffer.name = fresh(&buffer.name, |name| taken.iter().any(|t| t == name));
        taken.push(buffer.name.clone());
    }
}

/// All buffers, in the order of [`Parts::buffers`].
pub fn buffers_mut<'p, 'c>(
    parts: &'p mut Parts<'c>,
) -> impl Iterator<Item = &'p mut BufferPart<'c>> {
    let (mut outgoing, mut incoming) = (Vec::new(), Vec::new());
    for carry in &mut parts.carries {
        outgoing.extend(carry.outgoing.iter_mut());
        incoming.extend(carry.incoming.iter_mut());
    }
    parts
        .inputs
        .iter_mut()
        .chain(&mut parts.outputs)
        .chain(outgoing)
        .chain(incoming)
}

#[cfg(test)]
mod tests {
    use super::fresh;

    #[test]
    fn fresh_names_count_up() {
        let taken = ["w", "w_1"];
        let is_taken = |name: &str| taken.contains(&name);
        assert_eq!(fresh("v", is_taken), "v");
        assert_eq!(fresh("w", is_taken), "w_2");
    }
}
