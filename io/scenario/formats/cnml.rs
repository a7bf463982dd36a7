//! Community Network Markup Language, as guifi.net publishes its zones: nodes with their positions.

use groundwave_model::radio::Station;
use quick_xml::events::BytesStart;

use super::dataset::Dataset;
use super::error::{FormatError, Location, quoted};
use super::xml::{Tag, Tags, attribute, number};
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "cnml",
    label: "CNML",
    description: "CNML of guifi.net: positions and heights of working nodes",
    extensions: &["cnml"],
    contents: &[Content::Positions],
    sniff: |sample| sample.xml_root() == "cnml",
    read: Some(read),
    ..Format::NONE
};

/// Status of nodes that are in operation; others are planned, reserved or gone.
const WORKING: &str = "Working";

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut dataset = Dataset::default();
    let mut tags = Tags::new(&FORMAT, source.bytes())?;
    while let Some(tag) = tags.next()? {
        let Tag::Start(start) = tag else { continue };
        let line = tags.line();
        match start.local_name().as_ref() {
            "zone" => dataset.title = dataset.title.take().or_else(|| attribute(&start, "title")),
            "node" => node(&start, line, options, &mut dataset),
            // Each link is listed at both of its ends.
            "link" if attribute(&start, "linked_node_id").is_some() => dataset.links += 1,
            _ => {}
        }
    }
    dataset.links = dataset.links.div_ceil(2);
    Ok(dataset)
}

fn node(start: &BytesStart<'_>, line: usize, options: &ReadOptions, dataset: &mut Dataset) {
    let Some(id) = attribute(start, "id") else {
        return dataset.drop("a node without an id", line);
    };
    let status = attribute(start, "status");
    if status.as_deref().is_some_and(|status| status != WORKING) {
        let status = quoted(&status.unwrap_or_default());
        return dataset.drop(&format!("status {status}, not {WORKING}"), line);
    }
    if dataset.index.contains_key(&id) {
        return dataset.drop("a node with the id of another: its first entry counts", line);
    }
    let name = attribute(start, "title").unwrap_or_else(|| id.clone());
    let Some(index) = dataset.named(&id, &name) else {
        return dataset.drop("one node too many, or an empty name", line);
    };
    let place = number(start, "lat").zip(number(start, "lon"));
    if place.is_none() {
        dataset.report.add("no position given", || Location::line(line));
    }
    let entry = &mut dataset.nodes[index as usize];
    entry.path = format!("node {id}");
    entry.raw_deg = entry.raw_deg.or(place.map(|(lat, lon)| [lat, lon]));
    // 0 stands for a height that nobody entered.
    let Some(height_agl_m) = number(start, "antenna_elevation").filter(|height_m| *height_m > 0.0)
    else {
        return;
    };
    let station = Station { height_agl_m, ..options.station.clone() };
    match station.validate() {
        Ok(()) => {
            entry.station = Some(station);
            let what = "a height without a radio: that of the default station is taken";
            dataset.report.add(what, || Location::line(line));
        }
        Err(bad) => dataset.drop(&format!("{bad}: not used"), line),
    }
}
