//! Features: nodes, and polygons as regions.

use groundwave_model::radio::Pointing;
use groundwave_model::terrain::GeoPoint;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::super::error::{Fault, FormatError, quoted};
use super::super::plan::collect::{At, Collector};
use super::super::plan::draft::Draft;
use super::super::plan::field::{Field, Meaning};
use super::super::plan::values;
use super::{FORMAT, KIND};
use crate::file_radio::{AntennaChoice, RadioChoice};

/// The geometries of RFC 7946.
pub(super) const GEOMETRIES: [&str; 7] = [
    "Point",
    "MultiPoint",
    "LineString",
    "MultiLineString",
    "Polygon",
    "MultiPolygon",
    "GeometryCollection",
];

/// Properties of the style of a feature.
const SHOWN: [&str; 10] = [
    "kind",
    "marker-color",
    "marker-size",
    "marker-symbol",
    "color",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "fill",
    "fill-opacity",
];

/// Takes a document that is one feature or one geometry.
pub(super) fn lone(
    collector: &mut Collector<'_>,
    value: &Value,
    at: At<'_>,
) -> Result<(), FormatError> {
    match value["type"].as_str() {
        Some(kind) if GEOMETRIES.contains(&kind) => {
            let at = |key: &str| at(key.strip_prefix("geometry.").unwrap_or(key));
            take(collector, value, &Value::Null, &Value::Null, &at)
        }
        _ => feature(collector, value, at),
    }
}

/// Takes a feature.
pub(super) fn feature(
    collector: &mut Collector<'_>,
    value: &Value,
    at: At<'_>,
) -> Result<(), FormatError> {
    if value["type"] != "Feature" {
        let fault = Fault::new("type", quoted(&value["type"].to_string()), "Feature");
        return Err(collector.fault(fault, at));
    }
    take(collector, &value["geometry"], &value["properties"], &value["id"], at)
}

/// Takes a geometry with its properties.
fn take(
    collector: &mut Collector<'_>,
    geometry: &Value,
    properties: &Value,
    id: &Value,
    at: At<'_>,
) -> Result<(), FormatError> {
    let mut points = Vec::new();
    gather(collector, geometry, properties, &mut points, at)?;
    let many = points.len() > 1;
    for (number, point) in points.into_iter().enumerate() {
        let mut draft = node(collector, properties, id, at)?;
        if many {
            collector
                .report
                .add("several points in one feature: a node each, without the id", || {
                    at("geometry")
                });
            draft.part(number + 1);
        }
        let place = |key: &str| match key {
            "" => at(""),
            "lat" => at("geometry.coordinates[1]"),
            "lon" => at("geometry.coordinates[0]"),
            key => at(&format!("properties.{key}")),
        };
        collector.node(&mut draft, point, &place)?;
    }
    Ok(())
}

/// Collects the latitudes and longitudes of all points of a geometry; polygons go to the
/// collector, other types are noted.
fn gather(
    collector: &mut Collector<'_>,
    geometry: &Value,
    properties: &Value,
    points: &mut Vec<(f64, f64)>,
    at: At<'_>,
) -> Result<(), FormatError> {
    if geometry.is_null() {
        collector.report.add("feature without a geometry: dropped", || at("geometry"));
        return Ok(());
    }
    let kind = geometry["type"].as_str().unwrap_or_default();
    let coordinates = &geometry["coordinates"];
    let place = |_: &str| at("geometry.coordinates");
    match kind {
        "Point" => {
            let point = position(collector, coordinates, at);
            points.push(point.map_err(|fault| collector.fault(fault, &place))?);
        }
        "MultiPoint" => {
            for item in items(coordinates).map_err(|fault| collector.fault(fault, &place))? {
                let point = position(collector, item, at);
                points.push(point.map_err(|fault| collector.fault(fault, &place))?);
            }
        }
        "GeometryCollection" => {
            let place = |_: &str| at("geometry.geometries");
            let parts = items(&geometry["geometries"]);
            for part in parts.map_err(|fault| collector.fault(fault, &place))? {
                gather(collector, part, properties, points, at)?;
            }
        }
        "Polygon" => {
            let own = properties[KIND.0] == KIND.1;
            collector.polygon(own, rings(coordinates), &place)?;
        }
        "MultiPolygon" => {
            for polygon in items(coordinates).map_err(|fault| collector.fault(fault, &place))? {
                collector.polygon(false, rings(polygon), &place)?;
            }
        }
        "LineString" | "MultiLineString" => {
            collector.report.add(&format!("{kind} is not a node: dropped"), || at("geometry"));
        }
        _ => {
            let actual = quoted(&geometry["type"].to_string());
            let fault = Fault::new("", actual, GEOMETRIES.join(", "));
            return Err(collector.fault(fault, &|_| at("geometry.type")));
        }
    }
    Ok(())
}

/// Latitude and longitude of a position, degrees.
fn position(
    collector: &mut Collector<'_>,
    position: &Value,
    at: At<'_>,
) -> Result<(f64, f64), Fault> {
    let values = items(position)?;
    if values.len() > 2 {
        let what = "the third coordinate is not a height above ground: dropped";
        collector.report.add(what, || at("geometry.coordinates[2]"));
    }
    match (values.first().and_then(Value::as_f64), values.get(1).and_then(Value::as_f64)) {
        (Some(lon_deg), Some(lat_deg)) => Ok((lat_deg, lon_deg)),
        _ => Err(Fault::new("", quoted(&position.to_string()), "[longitude, latitude]")),
    }
}

fn items(value: &Value) -> Result<&Vec<Value>, Fault> {
    let wrong = || Fault::new("", quoted(&value.to_string()), "an array");
    value.as_array().ok_or_else(wrong)
}

/// The rings of a polygon.
fn rings(coordinates: &Value) -> Result<Vec<Vec<GeoPoint>>, Fault> {
    let point = |value: &Value| {
        let number = |index: usize| value.get(index).and_then(Value::as_f64);
        match (number(1), number(0)) {
            (Some(lat_deg), Some(lon_deg)) => {
                values::position(lat_deg, lon_deg).map(|(point, _)| point)
            }
            _ => Err(Fault::new("", quoted(&value.to_string()), "[longitude, latitude]")),
        }
    };
    let ring = |value: &Value| items(value)?.iter().map(point).collect();
    items(coordinates)?.iter().map(ring).collect()
}

/// A node from its properties.
fn node(
    collector: &mut Collector<'_>,
    properties: &Value,
    id: &Value,
    at: At<'_>,
) -> Result<Draft, FormatError> {
    let mut draft = Draft::default();
    let none = Map::new();
    let properties = match properties {
        Value::Object(properties) => properties,
        Value::Null => &none,
        other => {
            let fault = Fault::new("properties", quoted(&other.to_string()), "an object or null");
            return Err(collector.fault(fault, at));
        }
    };
    for (key, value) in properties {
        let here = || at(&format!("properties.{key}"));
        let table = |fault: Fault| fault.at(&FORMAT, here());
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            (style, _) if SHOWN.contains(&style) => {}
            ("radio", Value::Object(_)) => {
                if let RadioChoice::Inline(settings) = decoded(value).map_err(table)? {
                    draft.radio = Some(*settings);
                }
            }
            ("antenna", Value::Object(_)) => {
                if let AntennaChoice::Inline(settings) = decoded(value).map_err(table)? {
                    draft.antenna = Some(*settings);
                }
            }
            ("pointing", value) => {
                draft.pointing = Some(decoded::<Pointing>(value).map_err(table)?)
            }
            (key, value) => {
                let text = match value {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(number) => Some(number.to_string()),
                    _ => None,
                };
                let report = &mut collector.report;
                let has_meaning = text.is_some_and(|text| {
                    !is_position(key) && draft.take(key, &text, &mut |what| report.add(what, here))
                });
                if !has_meaning {
                    report.dropped("property", key, here);
                }
            }
        }
    }
    let text = match id {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    if draft.get(Field::Id).is_none() {
        draft.take("id", &text, &mut |_| {});
    }
    Ok(draft)
}

/// `true` if a property is a position: the geometry has it.
fn is_position(key: &str) -> bool {
    matches!(
        Field::of(key),
        Meaning::Known { field: Field::Lat | Field::Lon | Field::Deployment, .. }
            | Meaning::Noted(Field::Lat | Field::Lon, _)
    )
}

fn decoded<T: DeserializeOwned>(value: &Value) -> Result<T, Fault> {
    serde_json::from_value(value.clone()).map_err(|error| {
        Fault::new("", error.to_string(), "a table as scenarios write it, without unknown keys")
    })
}
