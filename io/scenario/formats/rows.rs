//! Rows of a recording: one for each direction and time at which it changed or was measured.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use groundwave_simulation::WorldView;
use groundwave_simulation::link::LinkView;
use groundwave_simulation::measure::{Levels, Measured};
use groundwave_simulation::site::NodeId;
use groundwave_simulation::site::NodeView;

/// Number of measured values.
pub(super) const MEASURED: usize = 8;

/// Names of the columns, with units: predicted values first, measured ones behind.
pub const COLUMNS: [&str; 12 + MEASURED] = [
    "at_s",
    "from",
    "to",
    "distance_m",
    "line_of_sight",
    "carries",
    "path_loss_db",
    "rx_power_dbm",
    "snr_db",
    "link_margin_db",
    "data_rate_bps",
    "per",
    "measured_rx_power_dbm",
    "measured_tx_power_dbm",
    "measured_path_loss_db",
    "measured_snr_db",
    "measured_delivery_prob",
    "measured_quality",
    "measured_rate_bps",
    "measured_frequency_mhz",
];

/// A direction of a link at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Simulated time, s.
    pub at_s: f64,
    /// Name of the sender.
    pub from: String,
    /// Name of the receiver.
    pub to: String,
    /// Length, m; absent without a link in the model.
    pub distance_m: Option<f64>,
    /// `true` if the line of sight is free.
    pub line_of_sight: Option<bool>,
    /// `true` if the link carries traffic.
    pub carries: bool,
    /// Predicted path loss, power, SNR, margin, rate and packet error rate.
    pub predicted: [Option<f64>; 6],
    /// Measurements of this time; empty without any.
    pub measured: Measured,
}

impl Row {
    /// Measured values in the order of the columns.
    #[must_use]
    pub fn measured_values(&self) -> [Option<f64>; MEASURED] {
        let one = &self.measured;
        [
            one.rx_power_dbm,
            one.tx_power_dbm,
            one.path_loss_db,
            one.snr_db,
            one.delivery_prob,
            one.quality,
            one.rate_bps,
            one.frequency_mhz,
        ]
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{},{},{}", self.at_s, quoted(&self.from), quoted(&self.to))?;
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        write!(out, ",{}", number(self.distance_m))?;
        let clear = self.line_of_sight.map_or_else(String::new, |clear| clear.to_string());
        write!(out, ",{clear},{}", self.carries)?;
        for value in self.predicted.into_iter().chain(self.measured_values()) {
            write!(out, ",{}", number(value))?;
        }
        writeln!(out)
    }
}

/// A cell that programs for tables read as text, whatever it begins with.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || " ._-:".contains(c);
    match text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace('"', "\"\"")),
    }
}

pub(super) fn header(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))
}

/// Last values written.
#[derive(Debug, Default)]
pub(super) struct Changes {
    nodes: Option<Arc<Vec<NodeView>>>,
    links: Option<Arc<Vec<LinkView>>>,
    levels: Option<Arc<Levels>>,
    written: BTreeMap<(NodeId, NodeId), LinkView>,
    running: BTreeSet<NodeId>,
}

impl Changes {
    /// Rows of all directions that changed or were measured.
    pub(super) fn rows(&mut self, now: &WorldView) -> Vec<Row> {
        let at_s = now.now_ns as f64 / 1e9;
        let mut directions: BTreeMap<(NodeId, NodeId), Measured> = BTreeMap::new();
        let same_levels =
            self.levels.as_ref().is_some_and(|levels| Arc::ptr_eq(levels, &now.measured));
        if !same_levels {
            for level in now.measured.iter().filter(|level| level.at_ns == now.now_ns) {
                directions.insert((level.from, level.to), level.values);
            }
            self.levels = Some(Arc::clone(&now.measured));
        }
        let same_nodes = self.nodes.as_ref().is_some_and(|nodes| Arc::ptr_eq(nodes, &now.nodes));
        let same_links = self.links.as_ref().is_some_and(|links| Arc::ptr_eq(links, &now.links));
        if !(same_nodes && same_links) {
            self.note_links(now, &mut directions);
            self.nodes = Some(Arc::clone(&now.nodes));
            self.links = Some(Arc::clone(&now.links));
        }
        let row = |((from, to), measured)| self.row(at_s, (from, to), measured, now);
        directions.into_iter().filter_map(row).collect()
    }

    fn note_links(
        &mut self,
        now: &WorldView,
        directions: &mut BTreeMap<(NodeId, NodeId), Measured>,
    ) {
        let nodes = now.nodes.iter().filter(|node| node.operating);
        let running: BTreeSet<NodeId> = nodes.map(|node| node.id).collect();
        let switched: BTreeSet<NodeId> =
            running.symmetric_difference(&self.running).copied().collect();
        let mut links = BTreeMap::new();
        for link in now.links.iter() {
            let ends = (link.a, link.b);
            let switched = switched.contains(&link.a) || switched.contains(&link.b);
            if switched || self.written.get(&ends) != Some(link) {
                directions.entry((link.a, link.b)).or_default();
                directions.entry((link.b, link.a)).or_default();
            }
            links.insert(ends, *link);
        }
        for (a, b) in self.written.keys().filter(|ends| !links.contains_key(*ends)) {
            directions.entry((*a, *b)).or_default();
            directions.entry((*b, *a)).or_default();
        }
        (self.written, self.running) = (links, running);
    }

    fn row(
        &self,
        at_s: f64,
        (from_id, to_id): (NodeId, NodeId),
        measured: Measured,
        now: &WorldView,
    ) -> Option<Row> {
        let (from, to) = (now.node(from_id)?, now.node(to_id)?);
        let link = self.written.get(&(from_id.min(to_id), from_id.max(to_id)));
        let direction = link.map(|link| match link.a == from_id {
            true => link.budget.forward,
            false => link.budget.backward,
        });
        let of =
            |what: fn(&groundwave_simulation::link::Direction) -> f64| direction.as_ref().map(what);
        Some(Row {
            at_s,
            from: from.name.clone(),
            to: to.name.clone(),
            distance_m: link.map(|link| link.budget.distance_m),
            line_of_sight: link.map(|link| link.budget.line_of_sight),
            carries: link.is_some_and(|link| now.carries(link)),
            predicted: [
                of(|one| one.path_loss_db),
                of(|one| one.rx_power_dbm),
                of(|one| one.snr_db),
                of(|one| one.link_margin_db),
                of(|one| one.data_rate_bps),
                of(|one| one.per),
            ],
            measured,
        })
    }
}
