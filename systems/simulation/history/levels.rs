//! History of measured levels, and their residuals from the model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::WorldView;
use crate::measure::calibrate::band;
use crate::measure::{
    LevelView, Levels, LinkDirection, Place, Quantity, Residual, Series, direction,
    excess_at_most_db, more_db, residual, square,
};
use crate::site::NodeId;
use groundwave_model::link::Probe;
use groundwave_model::radio::Station;
use groundwave_model::terrain::GeoPoint;

/// History of a measured direction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LevelHistory {
    /// Power at the receiver, dBm; where only a path loss was reported, its negative, dB; otherwise
    /// SNR, dB.
    pub levels: Series,
    /// Quantity of the levels; `None` while there are none.
    pub quantity: Option<Quantity>,
    /// Share of packets that arrived, or quality, percent.
    pub shares: Series,
    /// Share of probes that arrive by the model, percent, beside [`Self::shares`]; see [`LevelsHistory::probe`].
    pub probed: Series,
    /// Measured loss minus that of the model, dB.
    pub excess: Series,
    /// The last comparison with the model.
    pub last: Option<Residual>,
    /// Measurements of any kind.
    pub count: u64,
    /// Measurements at each place of the ends, where they move, in each band of frequencies of a calibration.
    pub places: BTreeMap<(Place, usize), PlaceLevels>,
    at_ns: Option<u64>,
}

/// Measurements of a direction at one place and in one band of frequencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaceLevels {
    /// Positions of sender and receiver at the first of them.
    pub positions: [GeoPoint; 2],
    /// Distance between those, m.
    pub distance_m: f64,
    /// Margin of the link by the model at the first of them, dB, with the most power that was sent.
    pub link_margin_db: f64,
    /// Frequency of the first of them, MHz.
    pub frequency_mhz: f64,
    /// Enough of the ground is known at the first of them.
    pub has_ground: bool,
    /// Part of the margin that powers and frequencies of measurements have beyond those of the station, dB.
    more_db: f64,
    /// Sum of the measured losses minus those of the model, dB, and their number.
    excess: (f64, u32),
    /// The same where the loss may be less: the receivers reported the most that they can.
    excess_at_most: (f64, u32),
    /// Sum of the shares of packets that arrived, and their number.
    delivery: (f64, u32),
}

impl PlaceLevels {
    /// Mean of the measured losses minus those of the model, dB.
    #[must_use]
    pub fn excess_db(&self) -> Option<f64> {
        (self.excess.1 > 0).then(|| self.excess.0 / f64::from(self.excess.1))
    }

    /// Mean of the bounds of those differences where the receivers reported the most that they can, dB.
    #[must_use]
    pub fn excess_at_most_db(&self) -> Option<f64> {
        let (sum_db, count) = self.excess_at_most;
        (count > 0).then(|| sum_db / f64::from(count))
    }

    /// Mean of the shares of packets that arrived, [0, 1].
    #[must_use]
    pub fn delivery_prob(&self) -> Option<f64> {
        (self.delivery.1 > 0).then(|| self.delivery.0 / f64::from(self.delivery.1))
    }
}

/// History of all measured directions.
#[derive(Debug, Clone, Default)]
pub struct LevelsHistory {
    /// By sender and receiver.
    pub ways: BTreeMap<LinkDirection, LevelHistory>,
    /// Stations of the ends at their first measurement: a node may leave before the end.
    pub stations: BTreeMap<NodeId, Station>,
    /// Probe that measured shares are compared with; without one that of the settings of the mesh, where they have
    /// one.
    pub probe: Option<Probe>,
    last: Option<Arc<Levels>>,
}

impl LevelsHistory {
    /// Adds the measurements since the last snapshot.
    pub(super) fn note(&mut self, now: &WorldView) {
        let same = self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &now.measured));
        if same {
            return;
        }
        for level in now.measured.iter() {
            let past = self.ways.entry((level.from, level.to)).or_default();
            if past.at_ns != Some(level.at_ns) {
                for node in [level.from, level.to].into_iter().filter_map(|id| now.node(id)) {
                    self.stations.entry(node.id).or_insert_with(|| node.station.clone());
                }
                past.note(level, now);
                past.note_probe(level, now, self.probe);
            }
        }
        self.last = Some(Arc::clone(&now.measured));
    }

    /// Links, both directions taken together, that fell more than `depth_db` below their median
    /// between two times, s.
    #[must_use]
    pub fn faded(&self, depth_db: f64, from_s: f64, to_s: f64) -> usize {
        let faded = |past: &&LevelHistory| past.levels.faded(depth_db, from_s, to_s);
        let links: BTreeSet<(NodeId, NodeId)> =
            self.ways.iter().filter(|(_, past)| faded(past)).map(|(way, _)| ends(*way)).collect();
        links.len()
    }

    /// The stretch of `length_s` in which most links faded: when it began and how many. Stretches
    /// begin at multiples of an eighth of their length.
    #[must_use]
    pub fn worst(&self, depth_db: f64, length_s: f64) -> Option<(f64, usize)> {
        let times = self.ways.values().flat_map(|past| past.levels.buckets());
        let (first_s, last_s) = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), one| {
            (a.min(one.at_s), b.max(one.at_s))
        });
        if first_s > last_s {
            return None;
        }
        let stride_s = length_s / 8.0;
        // Which links faded in which stretch: each fade counts in the eight that hold it.
        let mut stretches: BTreeMap<i64, BTreeSet<(NodeId, NodeId)>> = BTreeMap::new();
        for (way, past) in &self.ways {
            let Some(median_db) = past.levels.median_db() else {
                continue;
            };
            for bucket in past.levels.buckets() {
                if median_db - bucket.min_db > depth_db {
                    let last = (bucket.at_s / stride_s).floor() as i64;
                    for stretch in last - 7..=last {
                        stretches.entry(stretch).or_default().insert(ends(*way));
                    }
                }
            }
        }
        let worst =
            stretches.iter().max_by_key(|(at, links)| (links.len(), std::cmp::Reverse(**at)));
        worst.map(|(at, links)| ((*at as f64 * stride_s).max(first_s), links.len()))
    }
}

fn ends((from, to): LinkDirection) -> (NodeId, NodeId) {
    (from.min(to), from.max(to))
}

impl LevelHistory {
    fn note_place(&mut self, level: &LevelView, now: &WorldView) {
        let ends = now.node(level.from).zip(now.node(level.to));
        let Some((from, to)) = ends else { return };
        let way = direction(&now.links, (level.from, level.to));
        let Some((link, direction)) = way else { return };
        let positions = [from.position, to.position];
        let frequency_mhz = level.values.frequency_mhz.unwrap_or(from.station.radio.frequency_mhz);
        let more_db = more_db(&from.station, &level.values);
        let key = (positions.map(square), band(frequency_mhz));
        let place = self.places.entry(key).or_insert(PlaceLevels {
            positions,
            distance_m: link.budget.distance_m,
            link_margin_db: direction.link_margin_db + more_db,
            frequency_mhz,
            has_ground: link.budget.ground.is_enough(),
            more_db,
            excess: (0.0, 0),
            excess_at_most: (0.0, 0),
            delivery: (0.0, 0),
        });
        // What was received with the most power tells the most of what was not.
        let above_db = (more_db - place.more_db).max(0.0);
        place.more_db += above_db;
        place.link_margin_db += above_db;
        let add = |(sum, count): &mut (f64, u32), value: Option<f64>| {
            if let Some(value) = value {
                (*sum, *count) = (*sum + value, *count + 1);
            }
        };
        let compared = residual(&now.nodes, &now.links, level);
        add(&mut place.excess, compared.map(|residual| residual.excess_loss_db));
        add(&mut place.excess_at_most, excess_at_most_db(&now.nodes, &now.links, level));
        add(&mut place.delivery, level.values.delivery_prob);
    }

    /// Notes the share of probes that arrive by the model, beside a measured one.
    fn note_probe(&mut self, level: &LevelView, now: &WorldView, probe: Option<Probe>) {
        let is_share = level.values.delivery_prob.or(level.values.quality).is_some();
        let way = direction(&now.links, (level.from, level.to)).filter(|_| is_share);
        let Some((link, direction)) = way else { return };
        let delivery_prob = match (probe, &link.probe) {
            (Some(probe), _) => probe.delivery_prob(direction),
            (None, Some(delivery)) if level.from == link.a => delivery.forward_prob,
            (None, Some(delivery)) => delivery.backward_prob,
            (None, None) => return,
        };
        self.probed.push(level.at_ns as f64 / 1e9, delivery_prob * 100.0);
    }

    fn note(&mut self, level: &LevelView, now: &WorldView) {
        self.at_ns = Some(level.at_ns);
        self.count += 1;
        let at_s = level.at_ns as f64 / 1e9;
        let values = &level.values;
        let level_value = (values.rx_power_dbm.map(|dbm| (Quantity::RxPower, dbm)))
            .or(values.path_loss_db.map(|db| (Quantity::PathLoss, -db)))
            .or(values.snr_db.map(|db| (Quantity::Snr, db)));
        if let Some((quantity, value)) = level_value
            && *self.quantity.get_or_insert(quantity) == quantity
        {
            self.levels.push(at_s, value);
        }
        if let Some(share) = values.delivery_prob.or(values.quality) {
            self.shares.push(at_s, share * 100.0);
        }
        self.note_place(level, now);
        if let Some(residual) = residual(&now.nodes, &now.links, level) {
            self.excess.push(at_s, residual.excess_loss_db);
            self.last = Some(residual);
        }
    }
}
