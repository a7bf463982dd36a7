//! Fixes that no receiver can have had: at 0 N 0 E, far away for a moment, or before the fix before.

use std::collections::BTreeMap;

use groundwave_model::terrain::{GeoPoint, geodesic};

/// Speed above which a fix is not believed, m/s: three times that of sound.
const SPEED_M_S_MAX: f64 = 1_000.0;
/// Minimum time between two fixes for a speed, s: clocks of receivers have whole seconds.
const APART_S_MIN: f64 = 1.0;
/// Distance from 0 N 0 E up to which a fix is one of a receiver without a position, m.
const ORIGIN_M: f64 = 100.0;
/// Distance of other fixes from 0 N 0 E from which such a fix is not believed, m.
const ELSEWHERE_M: f64 = 100_000.0;
/// Fixes in a row that are believed although the node cannot have come there.
const RUN_MAX: usize = 5;

/// A fix: node, bits of its time, line.
pub(super) type Row = (u32, u64, usize);

/// Fixes that are not believed, collected while a document is read.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    pub nodes: BTreeMap<u32, Last>,
    pub at_origin: Vec<Row>,
    pub elsewhere: usize,
    pub far: Vec<Row>,
    pub late: Vec<Row>,
    pub jumps: Vec<Row>,
}

/// The last believed fix of a node, and those since then that are not.
#[derive(Debug, Default)]
pub(super) struct Last {
    fix: Option<(f64, GeoPoint)>,
    pub far: Vec<(f64, GeoPoint, usize)>,
}

impl Suspects {
    /// Forgets fixes before a time, s.
    pub(super) fn forget_before(&mut self, begin_s: f64) {
        for rows in [&mut self.at_origin, &mut self.far, &mut self.late, &mut self.jumps] {
            rows.retain(|(_, at, _)| f64::from_bits(*at) >= begin_s);
        }
        for last in self.nodes.values_mut() {
            last.far.retain(|(at_s, ..)| *at_s >= begin_s);
        }
    }
}

fn is_reachable(from: (f64, GeoPoint), to: (f64, GeoPoint)) -> bool {
    let apart_s = (to.0 - from.0).abs().max(APART_S_MIN);
    geodesic::inverse(from.1, to.1).distance_m <= SPEED_M_S_MAX * apart_s
}

impl Suspects {
    /// Notes a fix of a line.
    pub(super) fn note(&mut self, node: u32, at_s: f64, position: GeoPoint, line: usize) {
        let row = (node, at_s.to_bits(), line);
        // A degree is 111 km; most fixes need no geodesic.
        let is_near = position.lat_deg().abs() < 1.0 && position.lon_deg().abs() < 1.0;
        if is_near {
            let origin = GeoPoint::new(0.0, 0.0).expect("the origin is a place");
            let apart_m = geodesic::inverse(origin, position).distance_m;
            if apart_m < ORIGIN_M {
                return self.at_origin.push(row);
            }
            self.elsewhere += usize::from(apart_m > ELSEWHERE_M);
        } else {
            self.elsewhere += 1;
        }
        let last = self.nodes.entry(node).or_default();
        let fix = (at_s, position);
        match last.fix {
            Some(believed) if at_s < believed.0 => return self.late.push(row),
            Some(believed) if !is_reachable(believed, fix) => {
                last.far.push((at_s, position, line));
                if last.far.len() < RUN_MAX {
                    return;
                }
                // So many are no mistake: the node came there by other means.
                let first = last.far[0];
                self.jumps.push((node, first.0.to_bits(), first.2));
            }
            Some(_) => {
                let rows = last.far.iter().map(|(at_s, _, line)| (node, at_s.to_bits(), *line));
                self.far.extend(rows);
            }
            None => {}
        }
        last.far.clear();
        last.fix = Some(fix);
    }
}
