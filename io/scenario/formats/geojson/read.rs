//! Reader of plans, a feature at a time.

use std::collections::BTreeMap;
use std::fmt;

use groundwave_model::radio::Station;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::error::{Fault, FormatError, Location, quoted};
use super::super::limits::{FEATURE_BYTES_MAX, FEATURES_MAX, MEMBERS_MAX};
use super::super::plan::PlanFile;
use super::super::plan::collect::Collector;
use super::super::report::Report;
use super::super::text::{line_of, text};
use super::feature;
use super::{DEPLOYMENT, FORMAT};

/// Types of a GeoJSON text.
const TYPES: &str = "a FeatureCollection, a Feature or a geometry";

/// `true` if `kind` is a type of RFC 7946.
pub(super) fn is_type(kind: &str) -> bool {
    matches!(kind, "FeatureCollection" | "Feature") || feature::GEOMETRIES.contains(&kind)
}

/// Reads a plan.
pub(super) fn read(bytes: &[u8], defaults: &Station) -> Result<(PlanFile, Report), FormatError> {
    let text = text(&FORMAT, bytes)?;
    let source = Source { text };
    let mut json = serde_json::Deserializer::from_str(text);
    let members = Members.deserialize(&mut json);
    let members = members
        .and_then(|members| json.end().map(|()| members))
        .map_err(|error| source.syntax(&error, text, ""))?;
    let mut collector = Collector::new(&FORMAT, defaults);
    let kind = match members.get("type").map(|raw| source.value(raw, "type")) {
        Some(kind) => kind?,
        None => Value::Null,
    };
    match kind.as_str() {
        Some("FeatureCollection") => collection(&mut collector, &source, &members)?,
        Some(_) => {
            let raw = source.raw(text, "")?;
            feature::lone(&mut collector, &raw, &|key| Location::path(key))?;
        }
        None => {
            let fault = Fault::new("type", quoted(&kind.to_string()), TYPES);
            return Err(fault.at(&FORMAT, Location::path("type")));
        }
    }
    collector.finish()
}

/// The members of a feature collection.
fn collection(
    collector: &mut Collector<'_>,
    source: &Source<'_>,
    members: &BTreeMap<String, &RawValue>,
) -> Result<(), FormatError> {
    for (name, raw) in members {
        let here = || Location::new(source.line(raw), name.as_str());
        match name.as_str() {
            "type" | "features" | "bbox" => {}
            DEPLOYMENT => {
                collector.deployment(raw.get()).map_err(|fault| fault.at(&FORMAT, here()))?
            }
            // As some programs name their layers. The deployment's own name goes over it.
            "name" => {
                if let (None, Value::String(name)) =
                    (&collector.deployment.name, source.value(raw, "name")?)
                {
                    collector.deployment.name = Some(name);
                }
            }
            "crs" => {
                check_crs(&source.value(raw, "crs")?).map_err(|fault| fault.at(&FORMAT, here()))?
            }
            other => collector.report.dropped("member", other, here),
        }
    }
    let Some(features) = members.get("features") else {
        let fault = Fault::new("", "no features", "an array of features");
        return Err(fault.at(&FORMAT, Location::path("features")));
    };
    let list = Features
        .deserialize(&mut serde_json::Deserializer::from_str(features.get()))
        .map_err(|error| source.syntax(&error, features.get(), "features"))?;
    for (index, raw) in list.into_iter().enumerate() {
        // Lines are counted from the start, so only for a note or an error.
        let at = |key: &str| {
            let dot = if key.is_empty() { "" } else { "." };
            Location::new(source.line(raw), format!("features[{index}]{dot}{key}"))
        };
        let value = source.raw(raw.get(), &format!("features[{index}]"))?;
        feature::feature(collector, &value, &at)?;
    }
    Ok(())
}

/// Accepts the coordinate reference systems that mean WGS84; RFC 7946 has no others.
fn check_crs(crs: &Value) -> Result<(), Fault> {
    let name = &crs["properties"]["name"];
    let is_wgs84 = name.as_str().map(|name| {
        let name = name.to_ascii_uppercase();
        name.ends_with("CRS84") || name.ends_with(":4326") || name.ends_with("WGS84")
    });
    if crs.is_null() || is_wgs84 == Some(true) {
        return Ok(());
    }
    let allowed = "WGS84 (CRS84), the only system of RFC 7946";
    Err(Fault::new("crs", quoted(&name.to_string()), allowed))
}

/// The text, for line numbers.
struct Source<'a> {
    pub text: &'a str,
}

impl Source<'_> {
    /// Line, from 1, of a part of the text.
    fn line_of_part(&self, part: &str) -> u64 {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        self.text.as_bytes().get(..offset).map_or(0, line_of)
    }

    fn line(&self, raw: &RawValue) -> u64 {
        self.line_of_part(raw.get())
    }

    /// A part of the text, of bounded size, as a value.
    fn raw(&self, part: &str, path: &str) -> Result<Value, FormatError> {
        if part.len() > FEATURE_BYTES_MAX {
            let actual = format!("{} bytes", part.len());
            let fault =
                Fault::new("", actual, format!("up to {FEATURE_BYTES_MAX} bytes a feature"));
            return Err(fault.at(&FORMAT, Location::new(self.line_of_part(part), path)));
        }
        serde_json::from_str(part).map_err(|error| self.syntax(&error, part, path))
    }

    fn value(&self, raw: &RawValue, path: &str) -> Result<Value, FormatError> {
        self.raw(raw.get(), path)
    }

    /// A syntax error in a part of the text.
    fn syntax(&self, error: &serde_json::Error, part: &str, path: &str) -> FormatError {
        let line = self.line_of_part(part) + error.line().saturating_sub(1) as u64;
        let full = error.to_string();
        // The parser counts lines from the beginning of the part.
        let what = full.split(" at line ").next().unwrap_or(&full);
        Fault::new("", what, "JSON (RFC 8259)").at(&FORMAT, Location::new(line, path))
    }
}

/// Reads the members of an object without parsing their values.
struct Members;

impl<'de> DeserializeSeed<'de> for Members {
    type Value = BTreeMap<String, &'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members {
    type Value = BTreeMap<String, &'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TYPES)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, raw)) = map.next_entry()? {
            if members.len() >= MEMBERS_MAX {
                let most = format!("more than {MEMBERS_MAX} members");
                return Err(M::Error::custom(most));
            }
            members.insert(name, raw);
        }
        Ok(members)
    }
}

/// Reads an array without parsing its items.
struct Features;

impl<'de> DeserializeSeed<'de> for Features {
    type Value = Vec<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Features {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of features")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
        let mut features = Vec::new();
        while let Some(raw) = seq.next_element()? {
            if features.len() >= FEATURES_MAX {
                let most = format!("more than {FEATURES_MAX} features");
                return Err(S::Error::custom(most));
            }
            features.push(raw);
        }
        Ok(features)
    }
}
