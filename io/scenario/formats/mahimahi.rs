//! Packet-delivery traces of Mahimahi as the rate of one link, `client` to `server`, in windows of
//! a second.

use groundwave_io_impair::mahimahi;
use groundwave_simulation::measure::Measured;

use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location};
use super::text::text;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "mahimahi",
    label: "Mahimahi",
    description: "Mahimahi packet-delivery trace: rate of one link",
    extensions: &["up", "down", "mahi", "pps"],
    contents: &[Content::Measurements],
    sniff: |sample| mahimahi::is_trace(sample.text()),
    read: Some(read),
    ..Format::NONE
};

/// Length of a window, ms.
const WINDOW_MS: u64 = 1000;

fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let rates = mahimahi::rates(text, WINDOW_MS).map_err(|error| {
        let fault = Fault::new("", error.to_string(), "a packet-delivery trace");
        fault.at(&FORMAT, Location::default())
    })?;
    let mut dataset = Dataset::default();
    for (second, bps) in rates.bps.iter().enumerate() {
        let values = Measured { rate_bps: Some(*bps as f64), ..Measured::default() };
        dataset.observe(second as f64, ("client", "server"), values, 0);
    }
    Ok(dataset)
}
