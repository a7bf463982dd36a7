//! Interference between the sites of a tile, site by site.

use std::collections::BTreeMap;

use groundwave_model::sweep::Variant;
use groundwave_model::sweep::interference::{Channel, Demand, Disturbed, Reception, Signal};
use groundwave_scenario::coverage::Interference;

use super::evaluate::setup;
use super::plan::Plan;
use super::unit::SiteTile;
use super::work::SweepError;

/// A layer of the network among co-channel interference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Air {
    /// SINR of the best site by SINR, dB.
    Sinr,
    /// Power of that site over that of the interference, dB.
    CarrierToInterference,
    /// Number of the best site by SINR, where its margin suffices.
    Server,
    /// Probability that its link works, percent.
    Probability,
}

/// Share of time each site transmits, and channels, of one variant.
#[derive(Debug)]
pub struct AirPlan {
    channels: Vec<Channel>,
    sites: Vec<AirSite>,
    correlation: f64,
}

/// A site as a source and as a server.
#[derive(Debug)]
struct AirSite {
    /// Index of its channel.
    channel: usize,
    duty: f64,
    demand: Demand,
}

impl AirPlan {
    /// The sites of a variant.
    ///
    /// # Errors
    /// [`SweepError::Product`] for a site that cannot be evaluated.
    pub fn new(
        plan: &Plan,
        variant: &Variant,
        interference: &Interference,
    ) -> Result<Self, SweepError> {
        let mut channels: Vec<Channel> = Vec::new();
        let mut sites = Vec::with_capacity(plan.sites.len());
        for site in &plan.sites {
            let request = setup(plan, variant, site);
            let radio = &request.transmitter.radio;
            let own =
                Channel { frequency_mhz: radio.frequency_mhz, bandwidth_hz: radio.bandwidth_hz };
            let place = channels.iter().position(|channel| *channel == own);
            let channel = place.unwrap_or_else(|| {
                channels.push(own);
                channels.len() - 1
            });
            let demand = request.demand().map_err(|bad| SweepError::Product {
                what: site.name.clone(),
                cause: bad.to_string(),
            })?;
            let duty = interference.duty_percent_of(&site.name) / 100.0;
            sites.push(AirSite { channel, duty, demand });
        }
        Ok(Self { channels, sites, correlation: interference.shadowing_correlation })
    }
}

/// Signals in the cells of a tile.
pub(super) struct AirFold<'p> {
    plan: &'p AirPlan,
    /// Cells by channel, for those of the sites that reach the tile.
    receptions: BTreeMap<usize, Vec<Reception>>,
}

impl<'p> AirFold<'p> {
    /// So many cells that these sites reach.
    pub fn new(plan: &'p AirPlan, sites: &[u16], cells: usize) -> Self {
        let channel = |site: &u16| plan.sites[usize::from(*site)].channel;
        let blank = |channel| (channel, vec![Reception::default(); cells]);
        Self { plan, receptions: sites.iter().map(channel).map(blank).collect() }
    }

    /// Adds the next site.
    pub fn add(&mut self, tile: &SiteTile) {
        let AirPlan { channels, sites, correlation } = self.plan;
        let own = &sites[usize::from(tile.site)];
        for (&channel, cells) in &mut self.receptions {
            let is_own = channel == own.channel;
            let weight = own.duty * channels[channel].share_of(channels[own.channel]);
            // Most channels do not overlap: their cells need no look.
            if !is_own && weight <= 0.0 {
                continue;
            }
            for (cell, reception) in cells.iter_mut().enumerate() {
                let Some(margin_db) = tile.answers.margin_db(cell) else { continue };
                let signal = Signal {
                    site: tile.site,
                    margin_db,
                    power_dbm: tile.rx_power_dbm[cell],
                    deciles_dbm: [tile.p10_dbm[cell], tile.p90_dbm[cell]],
                };
                // What receivers cannot decode disturbs them.
                if is_own && margin_db.is_finite() {
                    reception.add(signal, own.duty, *correlation);
                } else {
                    reception.disturb(&signal, weight, *correlation);
                }
            }
        }
    }

    /// The best site by SINR of each cell; of equal ones that of the lower channel.
    pub fn outcomes(&self, cells: usize) -> Vec<Option<Disturbed>> {
        let AirPlan { sites, correlation, .. } = self.plan;
        let demand = |site: u16| sites[usize::from(site)].demand;
        let best = |cell: usize| {
            let channels = self.receptions.values();
            let all = channels.filter_map(|cells| cells[cell].outcome(demand, *correlation));
            all.reduce(|best, next| if next.margin_db > best.margin_db { next } else { best })
        };
        (0..cells).map(best).collect()
    }
}

/// Areas among interference, m².
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AirTally {
    /// Covered at the required margin over noise and interference.
    pub covered_m2: f64,
    /// Expected area in which a link works: the sum of areas by probability.
    pub works_m2: f64,
}

impl AirTally {
    /// Adds a cell.
    pub fn add(&mut self, area_m2: f64, outcome: &Disturbed, required_db: f64) {
        if outcome.margin_db >= required_db {
            self.covered_m2 += area_m2;
        }
        self.works_m2 += area_m2 * outcome.link_prob;
    }

    /// Adds another part.
    pub fn add_all(&mut self, other: &Self) {
        self.covered_m2 += other.covered_m2;
        self.works_m2 += other.works_m2;
    }
}

/// The value of a cell in a layer; none where it has none.
pub(super) fn layer_value(air: Air, outcome: &Disturbed, required_db: f64) -> Option<f32> {
    match air {
        Air::Sinr => Some(outcome.sinr_db as f32),
        Air::CarrierToInterference => {
            let ratio_db = outcome.carrier_to_interference_db;
            ratio_db.is_finite().then_some(ratio_db as f32)
        }
        Air::Server => (outcome.margin_db >= required_db).then_some(f32::from(outcome.site)),
        Air::Probability => Some((outcome.link_prob * 100.0) as f32),
    }
}
