//! Radios of nodes of which documents of others alone have the channel.

use std::collections::BTreeMap;

use super::super::stated::Stated;
use super::{Series, owner};

impl Series {
    /// Gives nodes without a station the first of `radios` that is theirs.
    pub(super) fn complete_radios(
        &mut self,
        radios: Vec<(String, Stated)>,
        owners: &BTreeMap<String, Option<String>>,
    ) {
        for (key, stated) in radios {
            let Some(index) = self.dataset.index.get(owner(owners, &key)) else { continue };
            let station = &mut self.dataset.nodes[*index as usize].station;
            *station = station.take().or_else(|| stated.station(&self.station));
        }
    }
}
