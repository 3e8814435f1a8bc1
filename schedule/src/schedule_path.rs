//! Places in a schedule as it is written, for findings in any notation.

/// A part of a written schedule, by the names and numbers on the way to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedulePath {
    pub(super) keys: Vec<Key>,
    pub(super) part: EntryPart,
}

/// A step on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// The entry of that name.
    Name(String),
    /// The item of that number of a list.
    Item(usize),
    /// The item of a list that is an entry of that name, as layers are.
    Named(String),
}

/// The part of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryPart {
    /// Its value.
    #[default]
    Value,
    /// Its name.
    Name,
}

impl SchedulePath {
    /// The schedule itself.
    pub fn root() -> SchedulePath {
        SchedulePath::default()
    }

    /// The value of its entry `name`.
    pub fn entry(mut self, name: impl Into<String>) -> SchedulePath {
        self.keys.push(Key::Name(name.into()));
        self
    }

    /// An item of its list.
    pub fn item(mut self, number: usize) -> SchedulePath {
        self.keys.push(Key::Item(number));
        self
    }

    /// The part counts of a layer.
    pub fn layer(name: impl Into<String>) -> SchedulePath {
        let mut place = SchedulePath::root().entry("layers");
        place.keys.push(Key::Named(name.into()));
        place
    }

    /// The number of keys that two places begin with.
    pub fn shared(&self, other: &SchedulePath) -> usize {
        let pairs = self.keys.iter().zip(&other.keys);
        pairs.take_while(|(a, b)| a == b).count()
    }

    /// The name of this entry.
    pub fn name(mut self) -> SchedulePath {
        self.part = EntryPart::Name;
        self
    }

    /// The same place in a file where the schedule stands at a place of its own.
    pub fn inside(&self, outer: SchedulePath) -> SchedulePath {
        SchedulePath {
            keys: [outer.keys, self.keys.clone()].concat(),
            part: self.part,
        }
    }
}
