//! A [`Node`] as serde reads it; errors get the place of the innermost value they are about.

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

use super::{Located, Node, NodeValue};

struct Pairs<'a> {
    pairs: std::slice::Iter<'a, (Node, Node)>,
    value: Option<&'a Node>,
}

impl<'de> de::MapAccess<'de> for Pairs<'de> {
    type Error = Located;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Located> {
        let Some((key, value)) = self.pairs.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Located> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(de::Error::custom("bug: a value without a name")),
        }
    }
}

struct Items<'a>(std::slice::Iter<'a, Node>);

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Located;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Located> {
        self.0.next().map(|node| seed.deserialize(node)).transpose()
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Located;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Located> {
        let result = match &self.value {
            NodeValue::Word(word) | NodeValue::Text(word) => visitor.visit_str(word),
            NodeValue::Truth(truth) => visitor.visit_bool(*truth),
            NodeValue::Number(number) => visitor.visit_i64(*number),
            NodeValue::List(items) => visitor.visit_seq(Items(items.iter())),
            NodeValue::Map(pairs) => visitor.visit_map(Pairs {
                pairs: pairs.iter(),
                value: None,
            }),
        };
        result.map_err(|e| e.or_at(self.at))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Located> {
        match &self.value {
            NodeValue::Word(word) if word == "true" => visitor.visit_bool(true),
            NodeValue::Word(word) if word == "false" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Located> {
        visitor
            .visit_some(self)
            .map_err(|e: Located| e.or_at(self.at))
    }

    /// Its fields have names: a list of the values alone is none.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Located> {
        match &self.value {
            NodeValue::List(_) => Err(Located::new(
                self.at,
                "found a list, expected an object: {..}".into(),
            )),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Located> {
        let result = match &self.value {
            NodeValue::Map(pairs) => visitor.visit_enum(MapAccessDeserializer::new(Pairs {
                pairs: pairs.iter(),
                value: None,
            })),
            NodeValue::Word(word) | NodeValue::Text(word) => {
                let word: StrDeserializer<Located> = word.as_str().into_deserializer();
                visitor.visit_enum(word)
            }
            _ => return self.deserialize_any(visitor),
        };
        result.map_err(|e| e.or_at(self.at))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}
