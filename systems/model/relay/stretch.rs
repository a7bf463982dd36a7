//! Data rate of a hop between two places.

use std::borrow::Cow;

use groundwave_values::parallel;

use super::request::RelayRequest;
use crate::link::{Inputs, LinkBudget, judge, score, trace};
use crate::radio::budget::Workspace;
use crate::radio::{BadValue, Environment, LinkResult, Model, Station};
use crate::terrain::GeoPoint;

/// Stretches one task evaluates: long ones cost 50 us and more.
const STRETCHES_PER_TASK: usize = 4;

/// A position and its station.
pub(super) type Place<'a> = (GeoPoint, &'a Station);

/// A request made ready.
pub(super) struct Task<'a> {
    pub inputs: &'a Inputs<'a>,
    pub tx: Place<'a>,
    pub rx: Place<'a>,
    pub relay: &'a Station,
    pub target_bps: f64,
    pub margin_db: f64,
    pub worth: Worth,
    pub max_hops: u32,
    /// The environment without obstacles.
    clear: Cow<'a, Environment>,
}

/// Quantity by which stretches are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    /// Rate of those that leave the margin, bit/s.
    Rate,
    /// Link margin of those that carry the target rate, dB.
    Margin,
}

/// Both directions of a stretch.
pub(super) type Both = (LinkResult, LinkResult);

/// Rate of a stretch in its slower direction, bit/s; 0 unless both directions pass.
pub(super) fn rate_bps((forward, backward): &Both) -> f64 {
    let budget = LinkBudget::of(forward, backward);
    let slower_bps = budget.forward.data_rate_bps.min(budget.backward.data_rate_bps);
    budget.etx().map_or(0.0, |_| slower_bps)
}

/// Link margin of a stretch in its weaker direction, dB.
pub(super) fn link_margin_db((forward, backward): &Both) -> f64 {
    forward.margin.link_margin_db.min(backward.margin.link_margin_db)
}

impl<'a> Task<'a> {
    pub fn new(inputs: &'a Inputs<'a>, request: &RelayRequest<'a>, relay: &'a Station) -> Self {
        let clear = Environment { model: Model::FreeSpace, ..inputs.environment.clone() };
        Self {
            inputs,
            tx: (request.tx.position, request.tx.station),
            rx: (request.rx.position, request.rx.station),
            relay,
            target_bps: request.target_data_rate_bps,
            margin_db: request.margin_db,
            worth: Worth::Rate,
            max_hops: request.max_hops,
            clear: Cow::Owned(clear),
        }
    }

    /// The same request without a margin, stretches compared by `worth`.
    pub fn relaxed(&self, worth: Worth) -> Self {
        Self { margin_db: 0.0, worth, clear: self.clear.clone(), ..*self }
    }

    /// `true` if a link margin is enough. Without one asked for the rate alone decides.
    pub fn leaves_margin(&self, link_margin_db: f64) -> bool {
        self.margin_db == 0.0 || link_margin_db >= self.margin_db
    }

    /// `true` if a relay may be planned here: not in a void of the terrain, where the ground height
    /// is unknown and each hop would estimate its own. Off the tiles the ground is the sea.
    pub fn has_ground(&self, at: GeoPoint) -> bool {
        let terrain = self.inputs.terrain;
        terrain.elevation_msl_m(at).is_some() || terrain.resolution_arcsec(at).is_none()
    }

    /// Evaluates a stretch in full, the ground walked from `a` to `b`.
    ///
    /// # Errors
    /// A [`BadValue`] in the ground, the stations or the environment.
    pub fn evaluate(&self, a: Place<'_>, b: Place<'_>) -> Result<Both, BadValue> {
        score(self.inputs, a, b)
    }

    /// Worth of a stretch by its rate and its link margin; 0 where it does not close.
    fn worth(&self, rate_bps: f64, link_margin_db: f64) -> f64 {
        match self.worth {
            Worth::Rate if self.leaves_margin(link_margin_db) => rate_bps,
            Worth::Margin if rate_bps >= self.target_bps => link_margin_db.max(0.0),
            _ => 0.0,
        }
    }

    /// Worths of the stretches in their weaker directions, in their order; 0 where one cannot be
    /// computed. One that is below `least` even in free space may come out as 0 without evaluation of
    /// the terrain.
    pub fn worths(&self, stretches: &[(Place<'_>, Place<'_>)], least: f64) -> Vec<f64> {
        let mut work: Vec<_> = stretches.iter().map(|&ends| (ends, 0.0)).collect();
        parallel::for_each(&mut work, STRETCHES_PER_TASK, |((a, b), worth)| {
            if self.at_best(*a, *b) >= least {
                *worth = self
                    .evaluate(*a, *b)
                    .map_or(0.0, |both| self.worth(rate_bps(&both), link_margin_db(&both)));
            }
        });
        work.into_iter().map(|(_, worth)| worth).collect()
    }

    /// Upper bound of the worth of a stretch: no terrain or obstacles between its ends. No less than the
    /// actual worth, because path loss is never below free space and all other terms are the same.
    /// Infinite where an end lies in a void, whose height is estimated from the ground between; 0 where
    /// it cannot be computed.
    fn at_best(&self, a: Place<'_>, b: Place<'_>) -> f64 {
        let inputs = Inputs { environment: &self.clear, ..*self.inputs };
        // The two ends, from which angles and slant range follow, are all that is sampled.
        let profile = trace(&inputs, a.0, b.0, Some(2));
        if profile.terrain.void_samples > 0 {
            return f64::INFINITY;
        }
        let both = judge(&inputs, &profile, a, b, &mut Workspace::default());
        both.map_or(0.0, |(forward, backward)| {
            let rate_bps = forward.rate.data_rate_bps.min(backward.rate.data_rate_bps);
            self.worth(rate_bps, link_margin_db(&(forward, backward)))
        })
    }
}
