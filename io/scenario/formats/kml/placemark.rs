//! Placemarks: nodes, and polygons as regions.

use groundwave_model::terrain::GeoPoint;

use super::super::error::{Fault, FormatError, quoted};
use super::super::plan::collect::{At, Collector};
use super::super::plan::draft::Draft;
use super::super::plan::field::{self, Field, Meaning};
use super::super::plan::values;
use super::xml::Element;
use super::{KIND, NAME_JSON};

/// Elements of a placemark that are ignored without a note, or read by name.
const QUIET: [&str; 18] = [
    "name",
    "ExtendedData",
    "Style",
    "StyleMap",
    "styleUrl",
    "visibility",
    "open",
    "Snippet",
    "snippet",
    "LookAt",
    "Camera",
    "Region",
    "balloonVisibility",
    "Point",
    "Polygon",
    "MultiGeometry",
    "LineString",
    "LinearRing",
];

/// Geometries that are not points.
const LINES: [&str; 5] = ["LineString", "LinearRing", "Model", "Track", "MultiTrack"];

/// Takes a placemark: a node for each of its points, and its polygons.
pub(super) fn placemark(
    collector: &mut Collector<'_>,
    element: &Element,
    at: At<'_>,
) -> Result<(), FormatError> {
    for child in &element.children {
        let name = child.name.as_str();
        if !QUIET.contains(&name) && !LINES.contains(&name) {
            collector.report.dropped("element", name, || at(name));
        }
    }
    let own_region = element.data().contains(&KIND);
    let mut points = Vec::new();
    gather(collector, element, own_region, &mut points, at)?;
    let many = points.len() > 1;
    for (number, point) in points.into_iter().enumerate() {
        let mut draft = node(collector, element, at)?;
        if many {
            let what = "several points in one placemark: a node each, without the id";
            collector.report.add(what, || at("MultiGeometry"));
            draft.part(number + 1);
        }
        let place = place(collector, point, &mut draft, at)?;
        let at = |key: &str| match key {
            "lat" | "lon" => at("Point.coordinates"),
            key => at(field::column(key)),
        };
        collector.node(&mut draft, place, &at)?;
    }
    Ok(())
}

/// Collects the points of an element, in however many collections; polygons go to the collector.
fn gather<'e>(
    collector: &mut Collector<'_>,
    element: &'e Element,
    own_region: bool,
    points: &mut Vec<&'e Element>,
    at: At<'_>,
) -> Result<(), FormatError> {
    for child in &element.children {
        match child.name.as_str() {
            "Point" => points.push(child),
            "MultiGeometry" => gather(collector, child, own_region, points, at)?,
            "Polygon" => {
                let place = |_: &str| at("Polygon");
                collector.polygon(own_region, rings(child), &place)?;
            }
            "LineString" if ends(child).is_some() => {
                let line = ends(child).map(|ends| (ends, at("LineString")));
                collector.lines.extend(line);
            }
            name if LINES.contains(&name) => {
                let what = format!("{name} is not a node: dropped");
                collector.report.add(&what, || at(name));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Both ends of a line of two positions.
fn ends(line: &Element) -> Option<[GeoPoint; 2]> {
    let positions = positions(line.text_of("coordinates")?).ok()?;
    <[GeoPoint; 2]>::try_from(positions).ok()
}

/// Latitude and longitude of a point, degrees; a height above ground goes to the draft.
fn place(
    collector: &mut Collector<'_>,
    point: &Element,
    draft: &mut Draft,
    at: At<'_>,
) -> Result<(f64, f64), FormatError> {
    let here = |_: &str| at("Point.coordinates");
    let text = point.text_of("coordinates").unwrap_or_default();
    let mut tuples = text.split_ascii_whitespace();
    let shape = |actual: &str| {
        Fault::new("", quoted(actual), "longitude,latitude or longitude,latitude,altitude")
    };
    let (Some(tuple), None) = (tuples.next(), tuples.next()) else {
        return Err(collector.fault(shape(text.trim()), &here));
    };
    let numbers: Result<Vec<f64>, Fault> = tuple.split(',').map(values::parse).collect();
    let numbers = numbers.map_err(|fault| collector.fault(fault, &here))?;
    let (lon, lat, altitude) = match numbers[..] {
        [lon, lat] => (lon, lat, None),
        [lon, lat, altitude] => (lon, lat, Some(altitude)),
        _ => return Err(collector.fault(shape(tuple), &here)),
    };
    let mode = point.text_of("altitudeMode").unwrap_or("clampToGround").trim();
    match altitude {
        None => {}
        Some(0.0) => {}
        Some(altitude) if mode == "relativeToGround" => draft.height_agl_m = Some(altitude),
        Some(altitude) if mode == "absolute" => draft.height_msl_m = Some(altitude),
        Some(_) => {
            let what = format!(
                "altitude with the mode {} is not a height above ground: dropped",
                quoted(mode)
            );
            collector.report.add(&what, || at("Point.coordinates"));
        }
    }
    Ok((lat, lon))
}

/// The rings of a polygon.
fn rings(polygon: &Element) -> Result<Vec<Vec<GeoPoint>>, Fault> {
    let sides = ["outerBoundaryIs", "innerBoundaryIs"];
    let of_side = |side| polygon.children.iter().filter(move |child| child.name == side);
    let boundaries = sides.into_iter().flat_map(of_side);
    let rings = boundaries.flat_map(|side| side.children.iter().filter(|c| c.name == "LinearRing"));
    rings.map(|ring| positions(ring.text_of("coordinates").unwrap_or_default())).collect()
}

fn positions(text: &str) -> Result<Vec<GeoPoint>, Fault> {
    let point = |tuple: &str| {
        let mut numbers = tuple.split(',').map(values::parse);
        match (numbers.next(), numbers.next()) {
            (Some(lon), Some(lat)) => values::position(lat?, lon?).map(|(point, _)| point),
            _ => Err(Fault::new("", quoted(tuple), "longitude,latitude")),
        }
    };
    text.split_ascii_whitespace().map(point).collect()
}

/// A node from its name and extended data.
fn node(
    collector: &mut Collector<'_>,
    element: &Element,
    at: At<'_>,
) -> Result<Draft, FormatError> {
    let mut draft = Draft::default();
    let data = element.data();
    let own = data.iter().any(|(key, _)| *key == Field::Waveform.name());
    if let Some(name) = name(element, &data, own).map_err(|fault| collector.fault(fault, at))? {
        draft.take(Field::Name.name(), &name, &mut |_| {});
    }
    for (key, value) in data {
        let here = || at(key);
        if key == KIND.0 || key == NAME_JSON {
            continue;
        }
        // Elements of the placemark have these.
        let elsewhere = matches!(
            Field::of(key),
            Meaning::Known { field: Field::Name | Field::Lat | Field::Lon | Field::Deployment, .. }
                | Meaning::Noted(Field::Lat | Field::Lon, _)
        );
        let report = &mut collector.report;
        if elsewhere || !draft.take(key, value, &mut |what| report.add(what, here)) {
            report.dropped("datum", key, here);
        }
    }
    Ok(draft)
}

/// The name of a placemark or document. White space is layout unless this program wrote it.
pub(super) fn name(
    element: &Element,
    data: &[(&str, &str)],
    own: bool,
) -> Result<Option<String>, Fault> {
    if let Some((_, json)) = data.iter().find(|(key, _)| *key == NAME_JSON) {
        return serde_json::from_str(json)
            .map(Some)
            .map_err(|error| Fault::new(NAME_JSON, error.to_string(), "a JSON string"));
    }
    let Some(text) = element.text_of("name") else {
        return Ok(None);
    };
    if own {
        return Ok(Some(text.to_owned()));
    }
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    Ok(Some(words.join(" ")))
}
