//! Command line of these commands.

mod layout;
mod map;
mod template;

pub use layout::{Assumed, Banks, Bits, Code, LayoutArguments};
pub use map::{Choice, MapArguments, MapCode, Mode};
pub use template::TemplateArguments;
