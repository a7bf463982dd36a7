//! Originators and neighbours as `batctl oj` and `batctl nj` print them.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::interfaces::{self, NOT_RADIO};
use super::mesh::{self, MeshSnapshot, SELF, rows, text};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "batctl",
    label: "batctl",
    description: "batctl oj or nj: TQ (BATMAN IV) or throughput (BATMAN V) of neighbours",
    extensions: &["json"],
    contents: &[Content::Measurements],
    sniff: |sample| !sample.json()[0]["neigh_address"].is_null(),
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Largest TQ (linux/batman_adv.h).
pub(super) const TQ_MAX: f64 = 255.0;

/// Throughput is in kbit/s (linux/batman_adv.h).
fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    for row in rows(document) {
        let Some(neighbour) = text(&row["neigh_address"]) else {
            snapshot.drop("a row without a neighbour");
            continue;
        };
        if text(&row["orig_address"]).is_some_and(|origin| origin != neighbour) {
            snapshot.drop("an originator behind others: a route, not a link");
            continue;
        }
        if row["hard_ifname"].as_str().is_some_and(interfaces::is_wired) {
            snapshot.drop(NOT_RADIO);
            continue;
        }
        let values = Measured {
            quality: row["tq"].as_f64().map(|tq| tq / TQ_MAX),
            rate_bps: row["throughput"].as_f64().map(|kbit| kbit * 1e3),
            ..Measured::default()
        };
        if values.is_empty() {
            let what = "a neighbour without TQ or throughput (BATMAN IV tells it of originators)";
            snapshot.drop(what);
            continue;
        }
        snapshot.link(SELF, &neighbour, values);
    }
}
