//! Packet-delivery traces of Mahimahi as rates of links, in windows of a second: one link for each file. An
//! uplink (`NAME.up`, and any other ending) is that from `client` to `server`, a downlink (`NAME.down`) the other
//! direction of the same link.

use std::path::Path;

use groundwave_io_impair::mahimahi;
use groundwave_simulation::measure::Measured;

use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location};
use super::text::text;
use super::{Content, Format, ReadOptions, Sample, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "mahimahi",
    label: "Mahimahi",
    description: "Mahimahi packet-delivery traces: rate of a link for each file",
    extensions: &["up", "down", "mahi", "pps"],
    contents: &[Content::Measurements],
    sniff: |sample| mahimahi::is_trace(sample.text()),
    read: Some(read),
    is_series: true,
    ..Format::NONE
};

/// Length of a window, ms.
const WINDOW_MS: u64 = 1000;

fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut dataset = Dataset::default();
    let is_own = |document: &Vec<u8>| (FORMAT.sniff)(&Sample::of(document));
    let is_any = source.documents.iter().any(is_own);
    for (index, document) in source.documents.iter().enumerate() {
        let name = source.name(index);
        if source.documents.len() > 1 && is_any && !is_own(document) {
            let what = format!("a document that is not {}: not read", FORMAT.label);
            dataset.report.add(&what, || Location::path(name.as_str()));
            continue;
        }
        let at = || match source.names.is_empty() {
            true => Location::default(),
            false => Location::path(name.as_str()),
        };
        let path = source.names.get(index).map_or(source.path.as_path(), Path::new);
        // A file by itself needs no name.
        let prefix = match source.names.is_empty() {
            true => String::new(),
            false => path
                .file_stem()
                .map_or_else(String::new, |stem| format!("{} ", stem.to_string_lossy())),
        };
        let is_down = path.extension().is_some_and(|ending| ending == "down");
        let ends = if is_down { ["server", "client"] } else { ["client", "server"] };
        let [from, to] = ends.map(|end| format!("{prefix}{end}"));
        let rates = mahimahi::rates(text(&FORMAT, document)?, WINDOW_MS).map_err(|error| {
            Fault::new("", error.to_string(), "a packet-delivery trace").at(&FORMAT, at())
        })?;
        for (second, bps) in rates.bps.iter().enumerate() {
            let values = Measured { rate_bps: Some(*bps as f64), ..Measured::default() };
            dataset.observe(second as f64, (&from, &to), values, 0);
        }
    }
    Ok(dataset)
}
