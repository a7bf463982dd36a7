//! Propagation settings as a client states them.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use groundwave_model::radio::{Environment, Model};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Propagation settings, and the statement of a model among them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatedEnvironment {
    environment: Environment,
    names_model: bool,
}

impl StatedEnvironment {
    /// The settings over ground with or without land cover, which decides the model where none is named.
    #[must_use]
    pub fn over(self, has_land_cover: bool) -> Environment {
        let mut environment = self.environment;
        if !self.names_model {
            environment.model = Model::where_unnamed(has_land_cover);
        }
        environment
    }
}

impl Serialize for StatedEnvironment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.environment.serialize(serializer)
    }
}

impl JsonSchema for StatedEnvironment {
    fn inline_schema() -> bool {
        Environment::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Environment::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        Environment::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Environment::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for StatedEnvironment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = StatedEnvironment;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("struct Environment")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let names_model = Cell::new(false);
                let fields = Watched { map, names_model: &names_model };
                let environment = Environment::deserialize(MapAccessDeserializer::new(fields))?;
                Ok(StatedEnvironment { environment, names_model: names_model.get() })
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// Fields of a structure that pass by.
struct Watched<'n, A> {
    map: A,
    names_model: &'n Cell<bool>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Watched<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.map.next_key::<String>()? else { return Ok(None) };
        self.names_model.set(self.names_model.get() || key == "model");
        seed.deserialize(StringDeserializer::<A::Error>::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<StatedEnvironment, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn land_cover_decides_the_model_only_where_none_is_named() {
        let unnamed = read(r#"{"k_factor": 1.2}"#).unwrap();
        assert_eq!(unnamed.clone().over(false).model, Model::Itm);
        let covered = unnamed.over(true);
        assert_eq!((covered.model, covered.k_factor), (Model::P1812, 1.2));
        for (model, name) in [(Model::Itm, "itm"), (Model::FreeSpace, "free_space")] {
            let named = read(&format!(r#"{{"model": "{name}"}}"#)).unwrap();
            assert_eq!(named.over(true).model, model);
        }
        assert_eq!(StatedEnvironment::default().over(true).model, Model::P1812);
    }

    #[test]
    fn unknown_fields_and_other_types_are_refused_as_those_of_an_environment() {
        for json in [r#"{"colour": 1}"#, r#"{"k_factor": "high"}"#] {
            let expected = serde_json::from_str::<Environment>(json).unwrap_err().to_string();
            assert_eq!(read(json).unwrap_err().to_string(), expected);
        }
        assert!(read("[]").is_err());
    }
}
