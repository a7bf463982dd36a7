//! JSON without duplicate keys.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Deepest nesting of a body.
const DEPTH_MAX: usize = 32;

/// Any JSON without duplicate keys, for readers differ in which one counts, and of bounded depth.
#[derive(Debug)]
pub(super) struct UniqueKeys(pub Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Plain { room: DEPTH_MAX }.deserialize(from).map(Self)
    }
}

/// Reader of a value at some depth.
#[derive(Clone, Copy)]
struct Plain {
    room: usize,
}

impl<'de> DeserializeSeed<'de> for Plain {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl Plain {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        let room = self
            .room
            .checked_sub(1)
            .ok_or_else(|| E::custom(format!("nesting deeper than {DEPTH_MAX}")))?;
        Ok(Self { room })
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number.map(Value::Number).ok_or_else(|| E::custom("a number is too large"))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut values = Vec::new();
        while let Some(item) = items.next_element_seed(deeper)? {
            values.push(item);
        }
        Ok(Value::Array(values))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(deeper)?;
            if object.contains_key(&key) {
                let message = format!("duplicate key {key:?}");
                return Err(serde::de::Error::custom(message));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
