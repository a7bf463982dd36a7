//! Link budget: two stations, a path and an environment give a [`LinkResult`].
//!
//! `rx_power = eirp - path loss + rx gain - rx losses`, in dB throughout. Losses split like this:
//! free space over the slant range, then terrain (ITM reference attenuation and variability, or
//! delta-Bullington diffraction), gases, rain, clutter, woodland and whatever else is configured.

use super::environment::Environment;
use super::geometry::View;
use super::prepare::{GasMemo, Prepared};
use super::result::LinkResult;
use super::station::Station;
use crate::bounds::BadValue;
use crate::terrain::Profile;

/// Buffer for the reversed heights of a path, and the air of the last link; one per thread avoids
/// allocations.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    reversed: Vec<f64>,
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
    Prepared::new(tx, rx, env, packet_octets)?.evaluate(profile, undulation_m)
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
    BothWays::new(a, b, env, packet_octets, workspace)?.evaluate(profile, undulation_m, workspace)
}

/// Both directions of a link, prepared for many profiles between stations like these.
#[derive(Debug, Clone)]
pub struct BothWays<'a> {
    forward: Prepared<'a>,
    back: Prepared<'a>,
}

impl<'a> BothWays<'a> {
    /// Prepares both directions between `a` and `b` for packets of `packet_octets` (1 or more).
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub fn new(
        a: &'a Station,
        b: &'a Station,
        env: &'a Environment,
        packet_octets: u32,
        workspace: &mut Workspace,
    ) -> Result<Self, BadValue> {
        let (forward, back) = Prepared::both(a, b, env, packet_octets, &mut workspace.gas)?;
        Ok(Self { forward, back })
    }

    /// `true` if the stations are like `a` and `b`, in this order.
    #[must_use]
    pub fn is_between(&self, a: &Station, b: &Station) -> bool {
        let like = |known: &Station, other: &Station| std::ptr::eq(known, other) || known == other;
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
    let view = View::along(profile, undulation_m)?;
    let clear = forward.clearance(&view);
    let mut there = forward.link(&view, clear);
    workspace.reversed.clear();
    workspace.reversed.extend(view.elevation_msl_m.iter().rev());
    let view = view.back(&workspace.reversed);
    // The ground is the same either way; only another frequency has another Fresnel zone.
    let clear = if forward.wavelength_m == back.wavelength_m {
        clear.reversed(view.distance_m)
    } else {
        back.clearance(&view)
    };
    let mut here = back.link(&view, clear);
    join(&mut there, &mut here);
    Ok((there, here))
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
