//! Link budget: two stations, a path and an environment give a [`LinkResult`].
//!
//! `rx_power = eirp - path loss + rx gain - rx losses`, in dB throughout. Losses split like this:
//! free space over the slant range, then terrain (ITM reference attenuation and variability, or
//! delta-Bullington diffraction), gases, rain, clutter, woodland and whatever else is configured.

use groundwave_values::bounds::BadValue;

use super::environment::Environment;
use super::geometry::View;
use super::losses::{terrain_attenuation, terrain_attenuations};
use super::path_loss::{Attenuation, Model, PathBatch};
use super::prepare::{GasMemo, Prepared};
use super::result::LinkResult;
use super::station::Station;
use super::surroundings::Surroundings;
use crate::terrain::Profile;

/// Buffers for the reversed heights and clutter of paths, working memory of models, and the air of the last link;
/// one per thread avoids allocations.
#[derive(Debug, Default)]
pub struct Workspace {
    reversed: Vec<[Vec<f64>; 2]>,
    batch: PathBatch,
    gas: GasMemo,
}

/// Evaluates one direction: `profile` is traced from `tx` to `rx`, `undulation_m` is the geoid
/// height at the two ends (tx, rx), packets have `packet_octets` (1 or more).
///
/// `etx` and `ett_s` are absent: they need the other direction, see [`evaluate_both`].
///
/// # Errors
/// The first [`BadValue`] in the stations, the environment or the profile.
pub fn evaluate(
    profile: &Profile,
    undulation_m: [f64; 2],
    tx: &Station,
    rx: &Station,
    env: &Environment,
    packet_octets: u32,
) -> Result<LinkResult, BadValue> {
    let cover = profile.cover.map(Surroundings::from);
    Prepared::among([tx, rx], cover, env, packet_octets)?.evaluate(profile, undulation_m)
}

/// Evaluates both directions of a link over one profile, traced from `a` to `b`; returns (a to b,
/// b to a) with `etx` and `ett_s` filled in where both directions link. ITM is not reciprocal, so
/// the two may differ in loss even between equal stations.
///
/// # Errors
/// The first [`BadValue`] in the stations, the environment or the profile.
pub fn evaluate_both(
    profile: &Profile,
    undulation_m: [f64; 2],
    a: &Station,
    b: &Station,
    env: &Environment,
    packet_octets: u32,
    workspace: &mut Workspace,
) -> Result<(LinkResult, LinkResult), BadValue> {
    let cover = profile.cover.map(Surroundings::from);
    let pair = BothWays::new([a, b], cover, env, packet_octets, workspace)?;
    pair.evaluate(profile, undulation_m, workspace)
}

/// Both directions of a link, prepared for many profiles between stations like these.
#[derive(Debug, Clone)]
pub struct BothWays<'a> {
    forward: Prepared<'a>,
    back: Prepared<'a>,
}

impl<'a> BothWays<'a> {
    /// Prepares both directions between two stations, where the land cover amounts to `cover`, for packets of
    /// `packet_octets` (1 or more).
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub fn new(
        stations: [&'a Station; 2],
        cover: [Surroundings; 2],
        env: &'a Environment,
        packet_octets: u32,
        workspace: &mut Workspace,
    ) -> Result<Self, BadValue> {
        let (forward, back) =
            Prepared::both(stations, cover, env, packet_octets, &mut workspace.gas)?;
        Ok(Self { forward, back })
    }

    /// `true` if the stations are like `a` and `b`, in this order.
    #[must_use]
    pub fn is_between(&self, a: &Station, b: &Station) -> bool {
        let like = |own: &Station, other: &Station| std::ptr::eq(own, other) || own == other;
        like(self.forward.tx, a) && like(self.forward.rx, b)
    }

    /// As [`evaluate_both`].
    ///
    /// # Errors
    /// A [`BadValue`] in the profile.
    pub fn evaluate(
        &self,
        profile: &Profile,
        undulation_m: [f64; 2],
        workspace: &mut Workspace,
    ) -> Result<(LinkResult, LinkResult), BadValue> {
        both(&self.forward, &self.back, profile, undulation_m, workspace)
    }

    /// Evaluates links over many paths as [`BothWays::evaluate`] does each, to the bit, and hands the
    /// results to `each`: profiles, and geoid heights at their ends. Paths with a [`BadValue`] come first,
    /// the others in their order.
    pub fn evaluate_all(
        &self,
        paths: &[(&Profile, [f64; 2])],
        workspace: &mut Workspace,
        mut each: impl FnMut(usize, Result<(LinkResult, LinkResult), BadValue>),
    ) {
        let Workspace { reversed, batch, .. } = workspace;
        let (mut numbers, mut there) = (Vec::new(), Vec::new());
        for (number, &(profile, undulation_m)) in paths.iter().enumerate() {
            match View::along(profile, undulation_m) {
                Ok(view) => {
                    numbers.push(number);
                    there.push(view);
                }
                Err(bad) => each(number, Err(bad)),
            }
        }
        reversed.resize_with(there.len().max(reversed.len()), Default::default);
        for (view, reversed) in there.iter().zip(&mut *reversed) {
            reverse(view, reversed);
        }
        let back = there.iter().zip(&*reversed);
        let back: Vec<_> = back.map(|(view, reversed)| view.back(reversed)).collect();
        let terrain = terrain_attenuations(&self.forward, &there, batch)
            .into_iter()
            .zip(terrain_attenuations(&self.back, &back, batch));
        let views = there.iter().zip(&back);
        for ((number, (there, back)), terrain) in numbers.into_iter().zip(views).zip(terrain) {
            let ends = [there, back];
            each(number, Ok(budgets(&self.forward, &self.back, ends, terrain.into())));
        }
    }
}

/// As [`evaluate_both`], with the directions prepared: `forward` from a to b, `back` from b to a.
///
/// # Errors
/// A [`BadValue`] in the profile.
pub fn both(
    forward: &Prepared<'_>,
    back: &Prepared<'_>,
    profile: &Profile,
    undulation_m: [f64; 2],
    workspace: &mut Workspace,
) -> Result<(LinkResult, LinkResult), BadValue> {
    let there = View::along(profile, undulation_m)?;
    workspace.reversed.resize_with(workspace.reversed.len().max(1), Default::default);
    let reversed = &mut workspace.reversed[0];
    reverse(&there, reversed);
    let here = there.back(reversed);
    let terrain = [terrain_attenuation(forward, &there), terrain_attenuation(back, &here)];
    Ok(budgets(forward, back, [&there, &here], terrain))
}

fn reverse(view: &View<'_>, reversed: &mut [Vec<f64>; 2]) {
    for (heights_m, reversed) in
        [view.elevation_msl_m, view.clutter_agl_m].into_iter().zip(reversed)
    {
        reversed.clear();
        reversed.extend(heights_m.iter().rev());
    }
}

/// The budgets of both directions, each with its view of the path and the attenuation of its terrain.
fn budgets(
    forward: &Prepared<'_>,
    back: &Prepared<'_>,
    [there, here]: [&View<'_>; 2],
    [terrain_there, terrain_here]: [(Model, Attenuation); 2],
) -> (LinkResult, LinkResult) {
    let clear = forward.clearance(there);
    let mut found_there = forward.link(there, clear, terrain_there);
    // The ground is the same either way; only another frequency has another Fresnel zone.
    let clear = if forward.wavelength_m == back.wavelength_m {
        clear.reversed(here.distance_m)
    } else {
        back.clearance(here)
    };
    let mut found_here = back.link(here, clear, terrain_here);
    join(&mut found_there, &mut found_here);
    (found_there, found_here)
}

/// Fills in what needs both directions: `ETX = 1 / (df dr)` (De Couto et al., 2003) and
/// `ETT = ETX S / B` (Draves et al., 2004).
fn join(there: &mut LinkResult, here: &mut LinkResult) {
    let (Some(one), Some(other)) = (there.rate.etx_forward, here.rate.etx_forward) else {
        return;
    };
    let etx = one * other;
    for rate in [&mut there.rate, &mut here.rate] {
        rate.etx = Some(etx);
        rate.ett_s = Some(etx * f64::from(rate.packet_octets) * 8.0 / rate.data_rate_bps);
    }
}
