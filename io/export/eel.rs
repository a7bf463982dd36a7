//! Event logs of EMANE.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use groundwave_systems::Snapshot;
use groundwave_systems::link::LinkView;
use groundwave_systems::site::NodeId;
use groundwave_systems::site::NodeView;
use groundwave_systems::terrain::GeoPoint;

/// Loss that lets nothing pass, dB: of links that are cut and nodes that are down.
const CUT_DB: f64 = 300.0;

/// What was said last, so that only changes are.
#[derive(Debug, Default)]
pub(super) struct State {
    nodes: Option<Arc<Vec<NodeView>>>,
    links: Option<Arc<Vec<LinkView>>>,
    /// NEMs are numbered as they appear.
    numbers: BTreeMap<NodeId, usize>,
    places: BTreeMap<NodeId, GeoPoint>,
    losses: BTreeMap<(NodeId, NodeId), i64>,
}

impl State {
    pub(super) fn note(&mut self, now: &Snapshot, out: &mut impl Write) -> io::Result<u64> {
        let same_nodes = self
            .nodes
            .as_ref()
            .is_some_and(|seen| Arc::ptr_eq(seen, &now.nodes));
        let same_links = self
            .links
            .as_ref()
            .is_some_and(|seen| Arc::ptr_eq(seen, &now.links));
        if same_nodes && same_links {
            return Ok(0);
        }
        let at_s = now.now_ns as f64 / 1e9;
        let mut lines = 0;
        for node in now.nodes.iter() {
            let next = self.numbers.len() + 1;
            let number = *self.numbers.entry(node.id).or_insert(next);
            if next == number {
                writeln!(out, "# nem:{number} is {}", node.name)?;
            }
            if self.places.insert(node.id, node.position) != Some(node.position) {
                let (lat, lon) = (node.position.lat_deg(), node.position.lon_deg());
                let height_m = node.station.height_agl_m;
                writeln!(
                    out,
                    "{at_s:.3} nem:{number} location gps {lat:.7},{lon:.7},{height_m:.1}"
                )?;
                lines += 1;
            }
        }
        lines += self.pathlosses(now, at_s, out)?;
        self.nodes = Some(Arc::clone(&now.nodes));
        self.links = Some(Arc::clone(&now.links));
        Ok(lines)
    }

    fn pathlosses(&mut self, now: &Snapshot, at_s: f64, out: &mut impl Write) -> io::Result<u64> {
        let runs = |id| now.node(id).is_some_and(|node| node.operating);
        // By receiver, as EMANE tells them.
        let mut said: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        let mut there = BTreeMap::new();
        for link in now.links.iter() {
            let open = !link.severed && runs(link.a) && runs(link.b);
            for (from, to, direction) in [
                (link.a, link.b, &link.budget.forward),
                (link.b, link.a, &link.budget.backward),
            ] {
                let db = if open { direction.path_loss_db } else { CUT_DB };
                there.insert((from, to), (db * 10.0).round() as i64);
            }
        }
        // Pairs that are out of range now lose everything.
        for way in self
            .losses
            .keys()
            .filter(|way| !there.contains_key(*way))
            .copied()
            .collect::<Vec<_>>()
        {
            there.insert(way, (CUT_DB * 10.0) as i64);
        }
        for (way, tenths) in &there {
            if self.losses.get(way) == Some(tenths) {
                continue;
            }
            let number = |id| self.numbers.get(id).copied();
            if let (Some(from), Some(to)) = (number(&way.0), number(&way.1)) {
                said.entry(to)
                    .or_default()
                    .push((from, *tenths as f64 / 10.0));
            }
        }
        self.losses = there;
        let mut lines = 0;
        for (to, losses) in said {
            write!(out, "{at_s:.3} nem:{to} pathloss")?;
            for (from, db) in losses {
                write!(out, " nem:{from},{db:.1}")?;
            }
            writeln!(out)?;
            lines += 1;
        }
        Ok(lines)
    }
}
