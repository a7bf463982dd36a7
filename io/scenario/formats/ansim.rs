//! Motion of ANSim as INET reads it: `position_change` elements with a node, times and a destination.

use std::collections::BTreeMap;

use groundwave_model::terrain::GeoPoint;

use super::dataset::{Dataset, Event};
use super::error::FormatError;
use super::plane::Plane;
use super::xml::{Tag, Tags};
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "ansim",
    label: "ANSim",
    description: "ANSim motion (INET's AnsimMobility): nodes that move on a plane (--origin)",
    extensions: &["ansim"],
    contents: &[Content::Tracks],
    sniff: |sample| !sample.xml_root().is_empty() && sample.text().contains("<position_change"),
    read: Some(read),
    ..Format::NONE
};

/// Reads the changes: a node stands until the begin of one and is at its destination at the end.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut tags = Tags::new(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let plane = Plane::of(options, &mut dataset);
    let mut last: BTreeMap<u32, GeoPoint> = BTreeMap::new();
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    while let Some(tag) = tags.next()? {
        let line = tags.line();
        match tag {
            Tag::Start(start) if start.local_name().as_ref() == "position_change" => values.clear(),
            Tag::Start(_) => {}
            Tag::End(name, _) if name == "position_change" => {
                let number = |key: &str| values.get(key)?.parse::<f64>().ok();
                let times = number("start_time").zip(number("end_time"));
                let place = number("xpos").zip(number("ypos"));
                let position = place.and_then(|(x_m, y_m)| plane.position(x_m, y_m));
                let id = values.get("node_id").filter(|id| !id.is_empty());
                let (Some((begin_s, end_s)), Some(position), Some(id)) = (times, position, id)
                else {
                    dataset.drop("a position_change without node_id, times or destination", line);
                    continue;
                };
                let Some(node) = dataset.node(&format!("node-{id}"), line) else { continue };
                if let Some(from) = last.insert(node, position) {
                    dataset.event(begin_s, Event::Fix(node, from), line);
                }
                dataset.event(end_s, Event::Fix(node, position), line);
            }
            Tag::End(name, text) => drop(values.insert(name, text)),
        }
    }
    Ok(dataset)
}
