//! K7 connectivity traces of sensor networks: a line of JSON about the experiment, then a table of what nodes
//! receive on each channel.

use std::collections::BTreeMap;

use csv::{ReaderBuilder, StringRecord};
use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location};
use super::mesh;
use super::text::{line_of_row, text};
use super::{Content, Format, ReadOptions, Source, clock};

/// The format.
pub static FORMAT: Format = Format {
    name: "k7",
    label: "K7",
    description: "K7 connectivity traces: signal and delivery of links, means over the channels",
    extensions: &["k7"],
    contents: &[Content::Measurements],
    sniff: |sample| {
        let mut lines = sample.text().lines();
        let is_header = lines.next().is_some_and(|line| line.trim_start().starts_with('{'));
        is_header && lines.next().is_some_and(is_heads)
    },
    read: Some(read),
    ..Format::NONE
};

fn is_heads(line: &str) -> bool {
    let has = |name: &str| line.split(',').any(|head| head.trim() == name);
    ["datetime", "src", "dst", "mean_rssi", "pdr"].into_iter().all(has)
}

/// Reception of a node by another at a time: sums over the channels.
#[derive(Default)]
struct Sum {
    line: usize,
    channels: f64,
    delivery_prob: f64,
    /// Milliwatts, weighted by the delivery: what is not received has no power in the trace.
    received_mw: f64,
}

fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let (header, table) = text.split_once('\n').unwrap_or((text, ""));
    let header: Value = serde_json::from_str(header).map_err(|error| {
        Fault::new("", error.to_string(), "a first line of JSON").at(&FORMAT, Location::line(1))
    })?;
    let title = ["location", "site"].into_iter().find_map(|key| mesh::text(&header[key]));
    let mut dataset = Dataset { title, ..Dataset::default() };
    let mut rows = ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
    let heads = rows.headers().cloned().unwrap_or_default();
    let column = |name: &str| heads.iter().position(|head| head.trim() == name);
    let names = ["datetime", "src", "dst", "mean_rssi", "pdr"];
    let [Some(time), Some(from), Some(to), Some(rssi), Some(pdr)] = names.map(column) else {
        let fault = Fault::new("", "a table without them", format!("columns {}", names.join(", ")));
        return Err(fault.at(&FORMAT, Location::line(2)));
    };
    let mut sums: BTreeMap<(String, String, String), Sum> = BTreeMap::new();
    let mut row = StringRecord::new();
    loop {
        // The line of JSON before the table counts.
        match rows.read_record(&mut row) {
            Ok(false) => break,
            Ok(true) => {
                let line = line_of_row(row.position(), table.as_bytes()) + 1;
                let cell = |column: usize| row.get(column).unwrap_or_default().trim().to_owned();
                let Some(share) = cell(pdr).parse::<f64>().ok() else {
                    dataset.drop("a row without its delivery (pdr)", line);
                    continue;
                };
                let sum = sums.entry((cell(time), cell(from), cell(to))).or_default();
                if sum.line == 0 {
                    sum.line = line;
                }
                sum.channels += 1.0;
                sum.delivery_prob += share;
                let power_dbm = cell(rssi).parse::<f64>().ok().filter(|dbm| *dbm < 0.0);
                sum.received_mw += power_dbm.map_or(0.0, |dbm| share * libm::pow(10.0, dbm / 10.0));
            }
            Err(error) => {
                let line = line_of_row(error.position(), table.as_bytes()) + 1;
                dataset.drop("an invalid row", line);
            }
        }
    }
    for ((time, from, to), sum) in sums {
        let Some((at_s, _)) = clock::iso8601(&time.replacen(' ', "T", 1)) else {
            dataset.drop("a row without a time", sum.line);
            continue;
        };
        let mean_mw = sum.received_mw / sum.delivery_prob;
        let values = Measured {
            delivery_prob: Some(sum.delivery_prob / sum.channels),
            rx_power_dbm: (mean_mw > 0.0).then(|| 10.0 * libm::log10(mean_mw)),
            ..Measured::default()
        };
        dataset.observe(at_s, (&from, &to), values, sum.line);
    }
    dataset.drop_unset_clocks();
    dataset.begin_with_first();
    Ok(dataset)
}
