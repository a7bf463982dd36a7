//! JSON whose keys may be duplicate or may not.

use std::cell::RefCell;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::rejections::{Rejections, pointer_at};

/// Deepest nesting of a body.
const DEPTH_MAX: usize = 32;

/// Any JSON without duplicate keys, for readers differ in which one counts, and of bounded depth.
#[derive(Debug)]
pub(super) struct UniqueKeys(pub Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Plain { room: DEPTH_MAX, at: &Place::Top, duplicates: None }.deserialize(from).map(Self)
    }
}

/// Any JSON of bounded depth; of duplicate keys the last one counts and each former one is noted.
#[derive(Debug)]
pub(super) struct LastKeys(pub Value, pub Rejections);

impl<'de> Deserialize<'de> for LastKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let duplicates = RefCell::default();
        let plain = Plain { room: DEPTH_MAX, at: &Place::Top, duplicates: Some(&duplicates) };
        let value = plain.deserialize(from)?;
        Ok(Self(value, duplicates.into_inner()))
    }
}

/// Place of a value in its document.
#[derive(Debug)]
enum Place<'a> {
    Top,
    Key(&'a Place<'a>, &'a str),
    Index(&'a Place<'a>, usize),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Top => String::new(),
            Self::Key(parent, key) => pointer_at(&parent.pointer(), key),
            Self::Index(parent, index) => format!("{}/{index}", parent.pointer()),
        }
    }
}

/// Reader of a value at some depth.
#[derive(Clone, Copy)]
struct Plain<'a> {
    room: usize,
    at: &'a Place<'a>,
    /// Duplicate keys; `None` where they are errors.
    duplicates: Option<&'a RefCell<Rejections>>,
}

impl<'de> DeserializeSeed<'de> for Plain<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'a> Plain<'a> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        let room = self
            .room
            .checked_sub(1)
            .ok_or_else(|| E::custom(format!("nesting deeper than {DEPTH_MAX}")))?;
        Ok(Self { room, ..self })
    }

    fn below<'b>(self, at: &'b Place<'b>) -> Plain<'b>
    where
        'a: 'b,
    {
        Plain { at, ..self }
    }
}

impl<'de> Visitor<'de> for Plain<'_> {
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
        loop {
            let at = Place::Index(self.at, values.len());
            match items.next_element_seed(deeper.below(&at))? {
                Some(item) => values.push(item),
                None => return Ok(Value::Array(values)),
            }
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let at = Place::Key(self.at, &key);
            let value = entries.next_value_seed(deeper.below(&at))?;
            if object.contains_key(&key) {
                let Some(duplicates) = self.duplicates else {
                    return Err(serde::de::Error::custom(format!("duplicate key {key:?}")));
                };
                duplicates.borrow_mut().add(at.pointer(), "duplicate key: the last value counts");
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
