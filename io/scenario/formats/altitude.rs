//! Heights above mean sea level and the ellipsoid: as heights above the geoid, and beside the ground of a run.

use std::collections::BTreeMap;

use groundwave_model::terrain::{GeoPoint, Terrain};

use super::dataset::{Dataset, Event, Height};
use super::error::Location;
use super::misfits::Misfits;

impl Dataset {
    /// Makes heights above the ellipsoid those above the geoid of `terrain`; without a geoid they are left out.
    pub fn heights_over_geoid(&mut self, terrain: &dyn Terrain) {
        let mut at: BTreeMap<u32, GeoPoint> = BTreeMap::new();
        for (number, node) in (0..).zip(&self.nodes) {
            at.extend(node.position.map(|position| (number, position)));
        }
        let mut without = 0_usize;
        let has_geoid = terrain.has_geoid();
        self.events.retain_mut(|(_, event)| {
            match event {
                Event::Fix(node, position) | Event::Move(node, position) => {
                    at.insert(*node, *position);
                }
                Event::Height(node, height) => {
                    let Height::Ellipsoid(hae_m) = *height else { return true };
                    let Some(position) = at.get(node).filter(|_| has_geoid) else {
                        without += 1;
                        return false;
                    };
                    *height = Height::Sea(hae_m - terrain.undulation_m(*position));
                }
                _ => {}
            }
            true
        });
        if without > 0 {
            let what = "a height above the ellipsoid without a geoid (--geoid): not used";
            self.report.add_many(what, without, Location::default);
        }
    }

    /// True if a height is one above the ellipsoid.
    #[must_use]
    pub fn needs_geoid(&self) -> bool {
        let is_one =
            |(_, event): &(f64, Event)| matches!(event, Event::Height(_, Height::Ellipsoid(_)));
        self.events.iter().any(is_one)
    }

    /// Notes heights above sea level that the ground of a run does not fit.
    pub fn note_ground(&mut self, terrain: &dyn Terrain) {
        let mut at: BTreeMap<u32, GeoPoint> = BTreeMap::new();
        let heights = self.events.iter().filter_map(|(_, event)| match *event {
            Event::Fix(node, position) | Event::Move(node, position) => {
                at.insert(node, position);
                None
            }
            Event::Height(node, Height::Sea(m)) => Some((*at.get(&node)?, m)),
            _ => None,
        });
        let misfits = Misfits::of(heights, |at| terrain.elevation_msl_m(at));
        for (what, count) in misfits.reasons() {
            self.report.add_many(&what, count, Location::default);
        }
    }

    /// Leaves out heights above sea level and the ellipsoid.
    pub(super) fn drop_altitudes(&mut self) {
        let before = self.events.len();
        self.events.retain(|(_, event)| {
            !matches!(event, Event::Height(_, Height::Sea(_) | Height::Ellipsoid(_)))
        });
        let count = before - self.events.len();
        if count > 0 {
            self.report.add_many("an altitude: left out", count, Location::default);
        }
    }
}
