//! Part counts, and how names, counts and layers look in JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::schedule::{Layer, LevelName};

/// A part count as it is written: a number, or `*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parts {
    /// That many.
    Fixed(i64),
    /// As many as cover the space: `*`.
    Derived,
}

/// Limit on what the parts of a dimension cover: code computes with the point behind them, and with
/// the sum of that and of as many points again.
pub(super) const MOST_POINTS: i64 = i64::MAX / 4;

/// A part count of a [`super::Resolved`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// That many.
    Known(i64),
    /// `ceil(points / divisor)`, of a size that is known at run time only.
    Dynamic {
        /// The product of the dimension's other counts.
        divisor: i64,
    },
}

impl Count {
    /// The number of parts of a dimension with `points`, if that is known.
    pub fn for_points(self, points: Option<i64>) -> Option<i64> {
        match self {
            Count::Known(count) => Some(count),
            Count::Dynamic { divisor } => Some(ceil_div(points?, divisor)),
        }
    }

    /// The number of parts, if no size at run time decides it.
    pub fn known(self) -> Option<i64> {
        match self {
            Count::Known(count) => Some(count),
            Count::Dynamic { .. } => None,
        }
    }

    /// Returns whether it is one part whatever the size: no loop.
    pub fn is_one(self) -> bool {
        self == Count::Known(1)
    }
}

pub(super) fn ceil_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Parts::Fixed(count) => serializer.serialize_i64(*count),
            Parts::Derived => serializer.serialize_str("*"),
        }
    }
}

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen;
        impl Visitor<'_> for Seen {
            type Value = Parts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of parts or '*'")
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Parts, E> {
                Ok(Parts::Fixed(v))
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Parts, E> {
                let fixed = i64::try_from(v).map(Parts::Fixed);
                fixed.map_err(|_| E::custom(format!("{v} parts do not fit 63 bits")))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Parts, E> {
                match v {
                    "*" => Ok(Parts::Derived),
                    _ => Err(E::invalid_value(de::Unexpected::Str(v), &self)),
                }
            }
        }
        deserializer.deserialize_any(Seen)
    }
}

impl Serialize for LevelName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LevelName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen;
        impl Visitor<'_> for Seen {
            type Value = LevelName;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a level, 'layer.dimension'")
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<LevelName, E> {
                match v.split_once('.') {
                    Some((layer, dimension)) if !layer.is_empty() && !dimension.is_empty() => {
                        Ok(LevelName::new(layer, dimension))
                    }
                    _ => Err(E::invalid_value(de::Unexpected::Str(v), &self)),
                }
            }
        }
        deserializer.deserialize_str(Seen)
    }
}

/// `{"block": {"i": 2, "j": 50}}`.
impl Serialize for Layer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.name, &self.parts)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Layer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Layer;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a layer with its part counts, as 'block {i: 2}'")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Layer, A::Error> {
                let empty = || de::Error::invalid_length(0, &Seen);
                let (name, Unique(parts)) = map.next_entry()?.ok_or_else(empty)?;
                match map.next_key::<String>()? {
                    None => Ok(Layer { name, parts }),
                    Some(more) => Err(de::Error::custom(format!(
                        "found a second layer '{more}' beside '{name}', expected a list of layers"
                    ))),
                }
            }
        }
        deserializer.deserialize_map(Seen)
    }
}

struct Unique<K, V>(BTreeMap<K, V>);

impl<'de, K, V> Deserialize<'de> for Unique<K, V>
where
    K: Deserialize<'de> + Ord + serde::Serialize,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        unique(deserializer).map(Unique)
    }
}

/// A map in which nothing stands twice.
pub(super) fn unique<'de, D, K, V>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Ord + serde::Serialize,
    V: Deserialize<'de>,
{
    struct Seen<K, V>(PhantomData<(K, V)>);
    impl<'de, K, V> Visitor<'de> for Seen<K, V>
    where
        K: Deserialize<'de> + Ord + serde::Serialize,
        V: Deserialize<'de>,
    {
        type Value = BTreeMap<K, V>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("names with values, '{name: value}'")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = BTreeMap::new();
            while let Some(key) = map.next_key::<K>()? {
                if entries.contains_key(&key) {
                    let name = serde_json::to_string(&key).unwrap_or_default();
                    return Err(de::Error::custom(format!("found {name} twice")));
                }
                let value = map.next_value()?;
                entries.insert(key, value);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(Seen(PhantomData))
}
