//! Values of options that several commands take.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

/// `[NAME=]VALUE`: a file or a number for an argument, or a file for a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The argument's or result's name; without one, bindings count in order.
    pub name: Option<String>,
    /// The file or the number.
    pub value: String,
}

impl FromStr for Binding {
    type Err = String;

    fn from_str(text: &str) -> Result<Binding, String> {
        let (name, value) = match text.split_once('=') {
            // What is no name belongs to a path, as in `./a=b.npy`.
            Some((name, value)) if is_name(name) => (Some(name.to_string()), value),
            _ => (None, text),
        };
        match value.is_empty() {
            true => Err("found nothing, expected a file or a number".to_string()),
            false => Ok(Binding {
                name,
                value: value.to_string(),
            }),
        }
    }
}

/// Schedules that a command is given instead of the model's.
#[derive(Args, Clone, Debug, Default)]
pub struct GivenSchedule {
    /// The schedule of the function's computation, or of several: JSON, the attribute's text, or a
    /// transform script.
    #[arg(long, value_name = "S.json")]
    pub schedule: Option<PathBuf>,
    /// Takes the best schedule that `mdh tune` has kept for this program on this machine, or else
    /// for the nearest sizes of it: in the database of a folder, of the user's cache if none is named.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, conflicts_with = "schedule")]
    pub tuned: Option<Option<PathBuf>>,
}

impl GivenSchedule {
    /// The option that is given, if one is.
    pub fn option(&self) -> Option<&'static str> {
        let schedule = self.schedule.as_ref().map(|_| "--schedule");
        schedule.or(self.tuned.as_ref().map(|_| "--tuned"))
    }
}

/// `DIM=N`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The dimension's name.
    pub dimension: String,
    /// Its size, at least 0.
    pub size: i64,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let expected = || "expected DIM=N, such as i=64".to_string();
        let (dimension, size) = text.split_once('=').ok_or_else(expected)?;
        if !is_name(dimension) {
            return Err(expected());
        }
        let size = size.parse().ok().filter(|&size| size >= 0);
        let size = size.ok_or_else(|| {
            format!(
                "the size of '{dimension}' must be an integer from 0 to {}",
                i64::MAX
            )
        })?;
        Ok(Size {
            dimension: dimension.to_string(),
            size,
        })
    }
}

/// Parses the seed of random numbers.
pub fn seed(text: &str) -> Result<u64, String> {
    let number = text.parse();
    number.map_err(|_| format!("expected a number from 0 to {}", u64::MAX))
}

/// Returns whether a text can name an argument or a dimension.
pub fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))
}
