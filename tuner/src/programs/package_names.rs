//! Names of packages: each of one call has one of its own.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use mdh_compiler::cli::Size;

/// Options that tell packages of one program from each other.
pub struct Variant<'v> {
    /// The function that is named.
    pub entry: Option<&'v str>,
    /// The sizes that are given.
    pub sizes: &'v [Size],
}

impl Variant<'_> {
    /// The function's name and the sizes, by dimension: `-f-i64-k8`.
    fn text(&self) -> String {
        let mut sizes: Vec<(&str, i64)> = (self.sizes.iter())
            .map(|size| (size.dimension.as_str(), size.size))
            .collect();
        sizes.sort_unstable();
        let sizes = sizes.into_iter().map(|(name, n)| format!("-{name}{n}"));
        let entry = self.entry.map(|entry| format!("-{entry}"));
        entry.into_iter().chain(sizes).collect()
    }
}

/// The files of packages of these programs: each is named after the program's file, with as many of its folders as
/// tell it from the others, or the workload. One that is there twice has a number the second time.
pub fn files(programs: &[&str], variant: &Variant) -> Vec<PathBuf> {
    let parts: Vec<Vec<String>> = programs.iter().map(|name| parts(name)).collect();
    let variant = variant.text();
    let mut taken = BTreeSet::new();
    let files = parts.iter().map(|path| {
        let rest = || parts.iter().filter(|other| *other != path);
        let is_own = |count: &usize| rest().all(|other| last(other, *count) != last(path, *count));
        let count = (1..=path.len()).find(is_own).unwrap_or(path.len());
        let base = format!("{}{variant}", last(path, count));
        let mut numbered = (1..).map(|n| match n {
            1 => base.clone(),
            n => format!("{base}-{n}"),
        });
        // There are more numbers than packages.
        let name = numbered.find(|name| !taken.contains(name));
        let name = name.unwrap_or_default();
        taken.insert(name.clone());
        PathBuf::from(format!("{name}.mdhtune"))
    });
    files.collect()
}

/// A file with its folders, outermost first; of a workload one name.
fn parts(name: &str) -> Vec<String> {
    let path = Path::new(name);
    if !path.exists() {
        return vec![name.replace('/', "-")];
    }
    let normal = path.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
        _ => None,
    });
    normal.collect()
}

/// So many parts of a path from its end, as one name.
fn last(parts: &[String], count: usize) -> String {
    parts[parts.len().saturating_sub(count)..].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(programs: &[&str], variant: &Variant) -> Vec<String> {
        let names = files(programs, variant).into_iter();
        names.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path.display().to_string()
        };
        let programs = ["a/x.mlir", "b/x.mlir", "y.mlir", "c/a/x.mlir"].map(file);
        let programs = programs.each_ref().map(String::as_str);
        let none = Variant {
            entry: None,
            sizes: &[],
        };
        assert_eq!(names(&programs[..1], &none), ["x.mlir.mdhtune"]);
        let packages = names(&programs[1..], &none);
        assert_eq!(
            packages,
            ["b-x.mlir.mdhtune", "y.mlir.mdhtune", "a-x.mlir.mdhtune"]
        );
        let packages = names(&[programs[0], programs[3], programs[0]], &none);
        assert_eq!(packages[1], "c-a-x.mlir.mdhtune");
        assert!(
            packages[0].ends_with("-a-x.mlir.mdhtune"),
            "{}",
            packages[0]
        );
        assert_eq!(packages[2], packages[0].replace(".mdhtune", "-2.mdhtune"));
        let workloads = names(&["dot/64", "dot/128"], &none);
        assert_eq!(workloads, ["dot-64.mdhtune", "dot-128.mdhtune"]);
    }

    /// Checks: sizes stand by name, in whatever order they are given.
    #[test]
    fn entries_and_sizes_are_told_apart() {
        let sized = |text: &str, entry| {
            let sizes: Vec<Size> = text.split(' ').map(|size| size.parse().unwrap()).collect();
            let variant = Variant {
                entry,
                sizes: &sizes,
            };
            names(&["x/8"], &variant).remove(0)
        };
        assert_eq!(sized("k=8 i=64", Some("f")), "x-8-f-i64-k8.mdhtune");
        assert_eq!(sized("i=64 k=8", Some("f")), "x-8-f-i64-k8.mdhtune");
        assert_eq!(sized("i=64 k=9", None), "x-8-i64-k9.mdhtune");
    }
}
