//! Limits of a device on launches.

/// Limits of launches, as the description of a machine gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The machine's name.
    pub name: String,
    /// The most blocks along x, y, ..
    pub grid: Vec<u64>,
    /// The most threads of a block along x, y, ..
    pub block: Vec<u64>,
    /// The most threads of a block.
    pub threads: u64,
    /// Number of threads of a warp.
    pub warp: u64,
}

/// Names of the axes that have letters; those after them are `d4`, `d5`, ...
const AXES: [&str; 4] = ["x", "y", "z", "w"];

/// The name of a launch's or a machine's axis: `x`, `y`, `z`, `w`, then `d4`, `d5`, ...
pub fn axis_name(axis: usize) -> String {
    let letter = AXES.get(axis).map(|name| (*name).into());
    letter.unwrap_or_else(|| format!("d{axis}"))
}

/// The axis of that name.
pub fn axis_number(name: &str) -> Option<usize> {
    let letter = AXES.iter().position(|axis| *axis == name);
    let number = || {
        name.strip_prefix('d')?
            .parse()
            .ok()
            .filter(|axis| *axis >= AXES.len())
    };
    letter.or_else(number)
}
