//! Evaluation of a link: the terrain profile between two stations, and both directions over it.

use std::cell::RefCell;

use super::LinkBudget;
use crate::radio::budget::{BothWays, Workspace, evaluate_both};
use crate::radio::{BadValue, Environment, LinkResult, QUANTILES_PERCENT, Station};
use crate::terrain::{GeoPoint, Path, Profile, Terrain};

/// Fewest samples of a profile: on a short path the models still need a shape.
pub const SAMPLES_MIN: usize = 32;

/// Most samples of a profile; more would sample a long path finer than it can matter to a model
/// whose statistics come from 245 of them.
pub const SAMPLES_MAX: usize = 1024;

/// Metres of one arc-second along a meridian, mean.
const ARC_SECOND_M: f64 = 30.87;

/// Spacing over ground without tiles, m.
const BARE_SPACING_M: f64 = 500.0;

/// Links that one task evaluates: some 5 us each, so that the cost of a task, and of preparing the
/// pairs of stations among them, is small beside them.
pub(crate) const LINKS_PER_TASK: usize = 64;

/// Prepared pairs of stations that are kept: a mesh has few kinds of stations.
const PAIRS_KEPT: usize = 8;

/// Spacing of samples that [`samples_for`] takes by itself for paths from a point, m.
#[must_use]
pub fn post_spacing_m(terrain: &dyn Terrain, from: GeoPoint) -> f64 {
    terrain
        .resolution_arcsec(from)
        .map_or(BARE_SPACING_M, |arcsec| arcsec * ARC_SECOND_M)
}

/// Number of samples of the profile of a path: one per post of the terrain, or per `spacing_m`,
/// within [`SAMPLES_MIN`] and [`SAMPLES_MAX`].
#[must_use]
pub fn samples_for(
    terrain: &dyn Terrain,
    from: GeoPoint,
    distance_m: f64,
    spacing_m: Option<f64>,
) -> usize {
    let spacing_m = spacing_m.unwrap_or_else(|| post_spacing_m(terrain, from));
    // A ratio beyond usize saturates, and the clamp holds it.
    ((distance_m / spacing_m).ceil() as usize)
        .saturating_add(1)
        .clamp(SAMPLES_MIN, SAMPLES_MAX)
}

/// Everything a link's budget depends on.
pub struct Inputs<'a> {
    /// Source of terrain heights.
    pub terrain: &'a dyn Terrain,
    /// Propagation settings.
    pub environment: &'a Environment,
    /// Packet length, bytes.
    pub packet_bytes: u32,
    /// Spacing of samples, m; absent takes the terrain's.
    pub spacing_m: Option<f64>,
}

thread_local! {
    /// Buffers of this thread, so that a link allocates nothing.
    static SCRATCH: RefCell<(Option<Path>, Profile, Workspace)> = RefCell::default();
}

/// Measures the ground from `a` to `b`, with `samples` samples or as many as [`samples_for`] says.
#[must_use]
pub fn trace(inputs: &Inputs<'_>, a: GeoPoint, b: GeoPoint, samples: Option<usize>) -> Profile {
    let path = Path::between(a, b);
    let mut profile = Profile::default();
    trace_into(inputs, a, &path, samples, &mut profile);
    profile
}

fn trace_into(
    inputs: &Inputs<'_>,
    a: GeoPoint,
    path: &Path,
    samples: Option<usize>,
    profile: &mut Profile,
) {
    let by_posts = || samples_for(inputs.terrain, a, path.distance_m(), inputs.spacing_m);
    profile.trace(inputs.terrain, path, samples.unwrap_or_else(by_posts));
}

/// Evaluates both directions over a measured profile; returns the results from `a` to `b` and
/// back.
///
/// # Errors
/// The first [`BadValue`] in the stations or the environment.
pub fn judge(
    inputs: &Inputs<'_>,
    profile: &Profile,
    a: (GeoPoint, &Station),
    b: (GeoPoint, &Station),
    workspace: &mut Workspace,
) -> Result<(LinkResult, LinkResult), BadValue> {
    let undulation_m = [
        inputs.terrain.undulation_m(a.0),
        inputs.terrain.undulation_m(b.0),
    ];
    let (environment, bytes) = (inputs.environment, inputs.packet_bytes);
    evaluate_both(
        profile,
        undulation_m,
        a.1,
        b.1,
        environment,
        bytes,
        workspace,
    )
}

/// A direction at one share of time and locations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// Share of time and of locations, percent.
    pub percent: f64,
    /// Received power exceeded in that share, dBm: from `a` to `b` and back.
    pub rx_power_dbm: [f64; 2],
    /// Link margin exceeded in that share, dB: from `a` to `b` and back.
    pub link_margin_db: [f64; 2],
}

/// Evaluates both directions at 10, 50 and 90 % of time and locations, for loss and clutter; the
/// share of situations stays that of the environment.
///
/// # Errors
/// The first [`BadValue`] in the stations or the environment.
pub fn percentiles(
    inputs: &Inputs<'_>,
    profile: &Profile,
    a: (GeoPoint, &Station),
    b: (GeoPoint, &Station),
    workspace: &mut Workspace,
) -> Result<[Percentile; 3], BadValue> {
    let mut found = QUANTILES_PERCENT.map(|percent| Percentile {
        percent,
        rx_power_dbm: [0.0; 2],
        link_margin_db: [0.0; 2],
    });
    for one in &mut found {
        let environment = Environment {
            time_percent: one.percent,
            location_percent: one.percent,
            ..inputs.environment.clone()
        };
        let inputs = Inputs {
            environment: &environment,
            ..*inputs
        };
        let (there, back) = judge(&inputs, profile, a, b, workspace)?;
        one.rx_power_dbm = [&there, &back].map(|result| result.receiver.rx_power_dbm);
        one.link_margin_db = [&there, &back].map(|result| result.margin.link_margin_db);
    }
    Ok(found)
}

/// [`trace`] and [`judge`] in one, without allocating: the function behind the world's links. The
/// two alone give the same bits.
///
/// # Errors
/// The first [`BadValue`] in the stations or the environment.
pub fn score(
    inputs: &Inputs<'_>,
    a: (GeoPoint, &Station),
    b: (GeoPoint, &Station),
) -> Result<(LinkResult, LinkResult), BadValue> {
    Evaluator::new(inputs).score(a, b)
}

/// Evaluates one link after another as [`score`] does, to the bit, and prepares each pair of stations
/// once.
pub(crate) struct Evaluator<'a> {
    inputs: &'a Inputs<'a>,
    /// The one used last comes first.
    prepared: Vec<BothWays<'a>>,
}

impl<'a> Evaluator<'a> {
    pub fn new(inputs: &'a Inputs<'a>) -> Self {
        Self {
            inputs,
            prepared: Vec::new(),
        }
    }

    /// Both directions, from `a` to `b` and back.
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub fn score(
        &mut self,
        a: (GeoPoint, &'a Station),
        b: (GeoPoint, &'a Station),
    ) -> Result<(LinkResult, LinkResult), BadValue> {
        let inputs = self.inputs;
        SCRATCH.with_borrow_mut(|(path, profile, workspace)| {
            let path = path.get_or_insert_with(|| Path::between(a.0, a.0));
            path.set_between(a.0, b.0);
            trace_into(inputs, a.0, path, None, profile);
            let undulation_m = [a.0, b.0].map(|end| inputs.terrain.undulation_m(end));
            let pair = self.pair(a.1, b.1, workspace)?;
            pair.evaluate(profile, undulation_m, workspace)
        })
    }

    /// The budget between validated stations in a validated environment.
    pub fn budget(&mut self, a: (GeoPoint, &'a Station), b: (GeoPoint, &'a Station)) -> LinkBudget {
        let scored = self.score(a, b);
        let (forward, backward) = scored.expect("stations and environment were validated");
        LinkBudget::of(&forward, &backward)
    }

    fn pair(
        &mut self,
        a: &'a Station,
        b: &'a Station,
        workspace: &mut Workspace,
    ) -> Result<&BothWays<'a>, BadValue> {
        let known = self.prepared.iter().position(|pair| pair.is_between(a, b));
        if let Some(known) = known {
            self.prepared[..=known].rotate_right(1);
        } else {
            let (environment, bytes) = (self.inputs.environment, self.inputs.packet_bytes);
            let pair = BothWays::new(a, b, environment, bytes, workspace)?;
            self.prepared.truncate(PAIRS_KEPT - 1);
            self.prepared.insert(0, pair);
        }
        Ok(&self.prepared[0])
    }
}
