//! Floating car data of SUMO (`--fcd-output`): positions of vehicles and persons, step by step.

use groundwave_model::terrain::GeoPoint;
use quick_xml::events::BytesStart;

use super::dataset::{Dataset, Event};
use super::error::FormatError;
use super::plane::Plane;
use super::xml::{Tag, Tags, attribute, number};
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "sumo",
    label: "SUMO",
    description: "SUMO floating car data (--fcd-output): vehicles and persons that move",
    extensions: &["fcd"],
    contents: &[Content::Tracks],
    sniff: |sample| sample.xml_root() == "fcd-export",
    read: Some(read),
    ..Format::NONE
};

/// Digits after the point that SUMO writes of degrees; of metres it writes two.
const DEGREE_DIGITS: usize = 5;

/// Reads the steps. Degrees, of `--fcd-output.geo`, are told from metres by their range and digits,
/// unless the options have an origin: then they are metres.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let is_geographic = options.origin.is_none() && is_geographic(source)?;
    let mut dataset = Dataset::default();
    let plane = (!is_geographic).then(|| Plane::of(options, &mut dataset));
    let mut tags = Tags::new(&FORMAT, source.bytes())?;
    let mut at_s = None;
    while let Some(tag) = tags.next()? {
        let Tag::Start(start) = tag else { continue };
        let line = tags.line();
        match start.local_name().as_ref() {
            "timestep" => at_s = number(&start, "time"),
            "vehicle" | "person" | "container" => {
                let position = match (place(&start), plane) {
                    (Some((x, y)), Some(plane)) => plane.position(x, y),
                    (Some((lon, lat)), None) => GeoPoint::new(lat, lon).ok(),
                    (None, _) => None,
                };
                match (at_s, position, attribute(&start, "id")) {
                    (Some(at_s), Some(position), Some(id)) => {
                        if let Some(node) = dataset.node(&id, line) {
                            dataset.event(at_s, Event::Fix(node, position), line);
                        }
                    }
                    (None, ..) => dataset.drop("a vehicle in a step without a time", line),
                    (_, None, _) => dataset.drop("a vehicle with an invalid x or y", line),
                    (.., None) => dataset.drop("a vehicle without an id", line),
                }
            }
            _ => {}
        }
    }
    Ok(dataset)
}

fn place(start: &BytesStart<'_>) -> Option<(f64, f64)> {
    number(start, "x").zip(number(start, "y"))
}

/// True if the first position is one of degrees.
fn is_geographic(source: &Source) -> Result<bool, FormatError> {
    let mut tags = Tags::new(&FORMAT, source.bytes())?;
    while let Some(tag) = tags.next()? {
        let Tag::Start(start) = tag else { continue };
        let Some((x, y)) = place(&start) else { continue };
        let digits = |key: &str| {
            let text = attribute(&start, key).unwrap_or_default();
            text.split_once('.').map_or(0, |(_, digits)| digits.trim().len())
        };
        let is_place = (-180.0..=180.0).contains(&x) && (-90.0..=90.0).contains(&y);
        return Ok(is_place && digits("x").max(digits("y")) >= DEGREE_DIGITS);
    }
    Ok(false)
}
