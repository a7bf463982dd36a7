//! JSON read by the letter of its schema.
//!
//! Some habits of serde are not those of JSON Schema: a struct may also be written as an array of
//! its fields in order, a tag as the number of its variant, and a whole number may not be written
//! with a decimal point. Interfaces that promise a schema keep it: here objects are objects, tags
//! are names, and `3.0` is the integer 3.

use std::collections::BTreeMap;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Number, Value};

/// Reads `T` from a document; errors name the path of what does not fit.
///
/// # Errors
/// The mistake with its path.
pub fn read<T: DeserializeOwned>(document: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(Strict(document)).map_err(|err| match err.path().to_string() {
        at if at == "." => err.inner().to_string(),
        at => format!("`{at}`: {}", err.inner()),
    })
}

struct Strict(Value);

/// A whole number written with a decimal point or an exponent is whole. Beyond 2^53 a float no
/// longer identifies one whole number.
fn whole(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Other("null"),
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(_) => Unexpected::Other("a number"),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Other("an array"),
        Value::Object(_) => Unexpected::Other("an object"),
    }
}

fn wrapped(object: serde_json::Map<String, Value>) -> BTreeMap<String, Strict> {
    let entries = object.into_iter();
    entries.map(|(key, value)| (key, Strict(value))).collect()
}

impl<'de> IntoDeserializer<'de, Error> for Strict {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Strict {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.into_iter().map(Strict));
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            Value::Object(object) => {
                let mut entries = MapDeserializer::new(wrapped(object).into_iter());
                let value = visitor.visit_map(&mut entries)?;
                entries.end()?;
                Ok(value)
            }
            Value::Number(number) => match whole(&number) {
                Some(whole) => visitor.visit_i64(whole),
                None => Value::Number(number).deserialize_any(visitor),
            },
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.0 {
            Value::Object(_) => self.deserialize_any(visitor),
            other => Err(serde::de::Error::invalid_type(unexpected(other), &visitor)),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_f64(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(variant) => visitor.visit_enum(variant.into_deserializer()),
            Value::Object(object) if object.len() == 1 => {
                let mut entries = object.into_iter();
                let (variant, content) = entries.next().unwrap_or_default();
                visitor.visit_enum(Variant(variant, Strict(content)))
            }
            other => Err(serde::de::Error::invalid_type(unexpected(&other), &visitor)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map ignored_any
    }

    /// Name of the variant in a field, never its number.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.0 {
            Value::String(_) => self.deserialize_any(visitor),
            other => Err(serde::de::Error::invalid_type(unexpected(other), &visitor)),
        }
    }
}

/// A variant with contents, `{"name": contents}`.
struct Variant(String, Strict);

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = Strict;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Strict), Error> {
        let name: serde::de::value::StringDeserializer<Error> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, self.1))
    }
}

impl<'de> VariantAccess<'de> for Strict {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        serde::Deserialize::deserialize(self)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_struct("", fields, visitor)
    }
}

/// Reads a whole number of any size and limits it to the range of `i64`, for values that are
/// clamped anyway.
///
/// # Errors
/// For numbers with a fraction.
pub fn saturating<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number: f64 = serde::Deserialize::deserialize(deserializer)?;
    if number.fract() != 0.0 {
        let unexpected = Unexpected::Float(number);
        return Err(serde::de::Error::invalid_value(unexpected, &"a whole number"));
    }
    // A float beyond i64 saturates.
    Ok(number as i64)
}

/// The schema of what [`saturating`] reads: a whole number of any size.
pub fn whole_number(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "integer" })
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        count: u32,
        ratio: f64,
        inner: Option<Inner>,
        shape: Shape,
        #[serde(default, deserialize_with = "saturating")]
        clamped: i64,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Inner {
        names: Vec<String>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Dot,
        Ring { radius: u8 },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Tagged {
        Dot,
    }

    #[test]
    fn number_as_a_tag_gives_an_error() {
        let outcome: Tagged = read(json!({ "kind": "dot" })).unwrap();
        assert_eq!(outcome, Tagged::Dot);
        let error = read::<Tagged>(json!({ "kind": 0 })).unwrap_err();
        assert!(error.contains("a number"), "{error}");
    }

    fn sound() -> Value {
        json!({ "count": 3.0, "ratio": 2, "inner": { "names": ["a"] },
                "shape": { "ring": { "radius": 7.0 } }, "clamped": -1e300 })
    }

    #[test]
    fn whole_numbers_may_have_a_point_and_any_size_where_they_are_clamped() {
        let document: Outer = read(sound()).unwrap();
        assert_eq!((document.count, document.ratio, document.clamped), (3, 2.0, i64::MIN));
        assert_eq!(document.shape, Shape::Ring { radius: 7 });
        assert_eq!(document.inner.unwrap().names, ["a"]);
    }

    #[test]
    fn number_as_an_internal_tag_gives_an_error() {
        #[derive(Debug, PartialEq, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        enum Tagged {
            Dot { at: u8 },
        }
        assert_eq!(read::<Tagged>(json!({ "kind": "dot", "at": 1.0 })), Ok(Tagged::Dot { at: 1 }));
        let error = read::<Tagged>(json!({ "kind": 0, "at": 1 })).unwrap_err();
        assert!(error.contains("invalid type: a number"), "{error}");
    }

    #[test]
    fn invalid_value_gives_its_path() {
        let cases = [
            ("", json!([1, 2, null, "dot"]), "an array"),
            ("inner", json!([["a"]]), "`inner`: invalid type: an array"),
            ("count", json!(2.5), "`count`: invalid type: floating point"),
            ("count", json!(-1), "`count`: invalid value"),
            ("ratio", json!("2"), "`ratio`: invalid type: string"),
            ("shape", json!("square"), "unknown variant `square`"),
            ("shape", json!([1]), "`shape`: invalid type: an array"),
            ("clamped", json!(0.5), "`clamped`: invalid value"),
            ("colour", json!(1), "unknown field `colour`"),
        ];
        for (key, value, says) in cases {
            let mut document = sound();
            if key.is_empty() {
                document = value;
            } else {
                document[key] = value;
            }
            let error = read::<Outer>(document).unwrap_err();
            assert!(error.contains(says), "{error} does not contain {says}");
        }
    }
}
