//! Layouts as text that [`super::parse`] reads back: `RegP`, `GenP`, `OrderBy`, `GroupBy` and
//! `Within` only.

use std::fmt;

use super::indices::list;
use super::{Layout, OrderBy, Pair, Perm};

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for order in &self.chain {
            write!(f, "{order}.")?;
        }
        let levels: Vec<String> = self.view.iter().map(|level| list(level)).collect();
        write!(f, "GroupBy({})", levels.join(","))?;
        match &self.within {
            Some(within) => write!(f, ".Within({})", list(within)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for OrderBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let perms: Vec<String> = self.perms.iter().map(Perm::to_string).collect();
        write!(f, "OrderBy({})", perms.join(","))
    }
}

impl fmt::Display for Perm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Perm::Reg { sizes, sigma } => write!(f, "RegP({},{})", list(sizes), list(sigma)),
            Perm::Gen { sizes, pair } => write!(f, "GenP({},{pair})", list(sizes)),
        }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pair::Builtin(builtin) => f.write_str(&builtin.spelling()),
            Pair::Tables { forward, backward } => match &forward.values {
                Some(values) => write!(f, "table({})", list(values)),
                None => write!(f, "table({},{})", forward.name, backward.name),
            },
            Pair::Written(pair) => {
                let names = pair.indices.join(", ");
                write!(f, "({names}) -> {}, {} -> (", pair.forward, pair.offset)?;
                for (n, component) in pair.backward.iter().enumerate() {
                    write!(f, "{}{component}", if n > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
        }
    }
}
