//! Availability of a link over the year (ITU-R P.530).

use groundwave_propagation::outage::{
    MultipathPath, RainFading, average_year_percent, geoclimatic_conversion_db, geoclimatic_factor,
};

use super::fresnel::Clearance;
use super::geometry::View;
use super::outcome::Availability;
use super::prepare::Prepared;
use super::result::Geometry;
use super::surroundings::Multipath;

/// Availability at the link margin without the rain falling now (its statistics are what is asked
/// for): what adaptive modulation can give up before the link breaks. P.530 speaks of
/// line-of-sight links that work in clear air; for any other, and wherever the environment does
/// not give the climate, outages are absent.
pub(super) fn availability(
    link: &Prepared<'_>,
    view: &View<'_>,
    geometry: &Geometry,
    clearance: &Clearance,
    clear_air_margin_db: f64,
    closes: bool,
) -> Availability {
    let applies = closes && clearance.line_of_sight;
    let margin_db = clear_air_margin_db;
    let multipath = link
        .env
        .multipath
        .filter(|_| applies)
        .and_then(|climate| multipath_percent(link, view, geometry, &climate, margin_db));
    let rain = applies.then(|| rain_percent(link, geometry, margin_db)).flatten();
    Availability {
        time_percent: link.shares.time_percent,
        location_percent: link.shares.location_percent,
        situation_percent: link.shares.situation_percent,
        multipath_outage_percent: multipath,
        rain_outage_percent: rain,
        availability_percent: multipath
            .zip(rain)
            .map(|(fades, rains)| (100.0 - fades - rains).max(0.0)),
    }
}

/// Multipath outage of the average year, percent.
fn multipath_percent(
    link: &Prepared<'_>,
    view: &View<'_>,
    geometry: &Geometry,
    climate: &Multipath,
    margin_db: f64,
) -> Option<f64> {
    let path = MultipathPath {
        distance_km: geometry.slant_range_m * 1e-3,
        frequency_ghz: link.frequency_mhz * 1e-3,
        tx_msl_m: geometry.tx_antenna_msl_m,
        rx_msl_m: geometry.rx_antenna_msl_m,
        geoclimatic_factor: geoclimatic_factor(
            climate.gradient_1_percent_n_units_km,
            climate.terrain_roughness_m,
        )
        .ok()?,
    };
    let worst_month_percent = path.outage_percent(margin_db).ok()?;
    let inclination_mrad = path.inclination_mrad();
    let conversion_db =
        geoclimatic_conversion_db(path.distance_km, inclination_mrad, view.latitude_deg?).ok()?;
    Some(average_year_percent(worst_month_percent, conversion_db).min(100.0))
}

/// Rain outage of the average year, percent.
fn rain_percent(link: &Prepared<'_>, geometry: &Geometry, margin_db: f64) -> Option<f64> {
    let rate = link.env.rain_rate_001_mm_h?;
    let rain = link.rain.as_ref()?;
    let length_km = geometry.slant_range_m * 1e-3;
    let fading = RainFading::new(length_km, link.frequency_mhz * 1e-3, rate, rain).ok()?;
    Some(fading.outage(margin_db).percent)
}
