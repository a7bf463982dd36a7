//! The numbers of the network: parts of tiles, which are done in any order, joined in theirs.

use std::collections::BTreeMap;

use groundwave_model::sweep::Tally;

use super::fold_tile::{Part, Sets};
use super::interference::AirTally;

/// Areas of a variant.
#[derive(Debug)]
pub struct Network {
    /// Areas.
    pub tally: Tally,
    /// Area by the sites that serve it, where a choice of sites was asked for.
    pub sets: Sets,
    /// Areas among interference, where it was asked for.
    pub air: Option<AirTally>,
}

/// Parts being joined. Sums of areas depend on their order in the last bits: each part waits for
/// those of the tiles before its own.
pub struct Joining {
    network: Network,
    next: usize,
    waiting: BTreeMap<usize, Part>,
}

impl Joining {
    /// Nothing yet, of this many sites.
    #[must_use]
    pub fn new(sites: usize) -> Self {
        Self {
            network: Network { tally: Tally::new(sites), sets: Sets::new(), air: None },
            next: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// Adds the part of the tile at this place in the plan's order.
    pub fn add(&mut self, place: usize, part: Part) {
        self.waiting.insert(place, part);
        while let Some(part) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.join(part);
        }
    }

    fn join(&mut self, part: Part) {
        let Network { tally, sets, air } = &mut self.network;
        if let Some(part) = &part.air {
            air.get_or_insert_default().add_all(part);
        }
        tally.add_all(&part.tally);
        for (site, area) in part.sites {
            tally.sites[usize::from(site)].add(&area);
        }
        for (set, area_m2) in part.sets {
            *sets.entry(set).or_insert(0.0) += area_m2;
        }
    }

    /// All parts together.
    #[must_use]
    pub fn finish(self) -> Network {
        assert!(self.waiting.is_empty(), "a tile before these is missing");
        self.network
    }
}
