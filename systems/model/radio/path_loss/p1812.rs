//! Point-to-area propagation over terrain with clutter (ITU-R P.1812).

use groundwave_propagation::bullington;
use groundwave_propagation::p1812::{
    Atmosphere, Path, Prepared, Zones, location_loss_db, location_share_of_height,
    location_sigma_db,
};
use groundwave_propagation::profile::{PathClutter, PathProfile};

use super::direction::settings;
use super::{
    Attenuation, Direction, HeightRanges, PathLossModel, PreparedModel, Settings, ShareRanges,
    Validity,
};
use crate::radio::warning::Warning;
use crate::terrain::COVER_STEP_M;

/// Length of a path next to an end along which the stated surroundings of a station stand at least, m: its
/// own plot and street, which land cover of 10 m and more may miss.
const STATED_M: f64 = 100.0;

/// Width of the area whose places are the locations, m: of the size of a post.
const AREA_WIDTH_M: f64 = 100.0;

/// Latitude of all paths, degrees. It decides how often there are ducts; at half of the time the loss differs
/// by less than 0.4 dB between the equator and 70 degrees.
const LATITUDE_DEG: f64 = 45.0;

/// Heights of antennas of the Recommendation, m above ground.
const HEIGHT_AGL_M: [f64; 2] = [1.0, 3_000.0];

/// Shares of time of the Recommendation, percent: less than the median loss, never more.
const TIME_PERCENT: [f64; 2] = [1.0, 50.0];

/// Shares of places of the Recommendation, percent.
const LOCATION_PERCENT: [f64; 2] = [1.0, 99.0];

settings! {
    /// Settings of ITU-R P.1812.
    struct P1812Settings {
        /// Effective Earth radius factor at half of the time.
        k_factor: f64,
        /// Refractivity at sea level, N-units.
        refractivity_n_units: f64,
        /// Share of time, percent, 1 to 50.
        time_percent: f64,
        /// Share of places in an area of 100 m, percent, 1 to 99.
        location_percent: f64,
    }
}

/// ITU-R P.1812 over ground with clutter.
#[derive(Debug)]
pub(super) struct PointToArea;

impl PathLossModel for PointToArea {
    fn name(&self) -> &'static str {
        "p1812"
    }

    fn label(&self) -> &'static str {
        "P.1812"
    }

    fn description(&self) -> &'static str {
        "ITU-R P.1812 over terrain with buildings and trees along the path, 30 MHz to 6 GHz."
    }

    fn version(&self) -> &'static str {
        "ITU-R P.1812-8"
    }

    fn source(&self) -> &'static str {
        "Recommendation ITU-R P.1812-8, 2025, annex 1"
    }

    fn settings(&self) -> &'static [&'static str] {
        P1812Settings::NAMES
    }

    fn shares(&self) -> ShareRanges {
        ShareRanges {
            time_percent: Some(TIME_PERCENT),
            location_percent: Some(LOCATION_PERCENT),
            situation_percent: None,
        }
    }

    fn validity(&self) -> Validity {
        Validity {
            frequency_mhz: 30.0..=6_000.0,
            distance_m: 250.0..=3_000e3,
            distance_warning: Warning::ModelOutOfRange,
            fine_surface: true,
        }
    }

    fn heights(&self) -> HeightRanges {
        HeightRanges::of_both(HEIGHT_AGL_M)
    }

    fn uses_terrain(&self) -> bool {
        true
    }

    fn uses_clutter(&self) -> bool {
        true
    }

    fn includes_surroundings(&self) -> bool {
        false
    }

    fn includes_gases(&self) -> bool {
        false
    }

    fn prepare(&self, direction: &Direction) -> Result<Box<dyn PreparedModel>, Warning> {
        let settings: P1812Settings = direction.settings();
        let [tx_agl_m, rx_agl_m] = direction.antenna_agl_m;
        let heights_agl_m = HEIGHT_AGL_M[0]..=HEIGHT_AGL_M[1];
        let in_range = heights_agl_m.contains(&tx_agl_m)
            && heights_agl_m.contains(&rx_agl_m)
            && (30.0..=6_000.0).contains(&direction.frequency_mhz)
            && (TIME_PERCENT[0]..=TIME_PERCENT[1]).contains(&settings.time_percent)
            && settings.k_factor >= 1.0;
        if !in_range {
            return Err(Warning::ModelOutOfRange);
        }
        let out_of_range = |_| Warning::ModelOutOfRange;
        let sigma_db =
            location_sigma_db(direction.frequency_mhz, AREA_WIDTH_M).map_err(out_of_range)?;
        Ok(Box::new(PreparedPointToArea {
            path: Path {
                frequency_mhz: direction.frequency_mhz,
                polarization: direction.polarization,
                tx_agl_m,
                rx_agl_m,
                atmosphere: Atmosphere {
                    lapse_n_per_km: 157.0 * (1.0 - 1.0 / settings.k_factor),
                    sea_level_n: settings.refractivity_n_units,
                },
                latitude_deg: LATITUDE_DEG,
                zones: Zones::inland(0.0),
            },
            time_percent: settings.time_percent,
            location_db: location_loss_db(settings.location_percent, sigma_db)
                .map_err(out_of_range)?,
            sigma_db,
            clutter_agl_m: direction.clutter_agl_m,
        }))
    }
}

#[derive(Debug)]
struct PreparedPointToArea {
    /// Inputs but the zones, which are those of each path.
    path: Path,
    time_percent: f64,
    /// Loss beyond the median for the share of places, dB, of a receiver within clutter (ITU-R P.1812-8 eq. 69).
    location_db: f64,
    /// Standard deviation over places of a receiver within clutter, dB.
    sigma_db: f64,
    /// Clutter that is stated for the two ends, m above ground.
    clutter_agl_m: [Option<f64>; 2],
}

impl PreparedPointToArea {
    /// Excess over free space, dB: at half of the time, and for the share of time of the settings; and the share of
    /// the variability over places at the height of the receiver over the clutter there, [0, 1] (ITU-R P.1812-8
    /// eq. 66).
    fn excess_db(&self, profile: &PathProfile<'_>) -> Option<([f64; 2], f64)> {
        let (elevation_msl_m, clutter_agl_m) = resampled(profile, self.clutter_agl_m)?;
        let length_m = profile.distance_m();
        let step_m = length_m / (elevation_msl_m.len() - 1) as f64;
        let ground = bullington::Profile::equally_spaced(step_m, &elevation_msl_m).ok()?;
        let ground = ground.with_clutter(&clutter_agl_m).ok()?;
        let path = Path { zones: Zones::inland(length_m), ..self.path };
        let prepared = Prepared::new(&ground, &path).ok()?;
        let excess_db = |time_percent: f64| {
            let loss = prepared.loss(time_percent).ok()?;
            Some(loss.loss_db - loss.free_space_db)
        };
        let median_db = excess_db(50.0)?;
        let share_db =
            if self.time_percent == 50.0 { median_db } else { excess_db(self.time_percent)? };
        let location_share = location_share_of_height(self.path.rx_agl_m, *clutter_agl_m.last()?);
        let excess_db = [median_db, share_db];
        excess_db.iter().all(|db| db.is_finite()).then_some((excess_db, location_share))
    }
}

impl PreparedModel for PreparedPointToArea {
    fn attenuation(&self, profile: &PathProfile<'_>) -> Result<Attenuation, Warning> {
        let excess_db = self.excess_db(profile).ok_or(Warning::ModelOutOfRange)?;
        let ([median_db, share_db], location_share) = excess_db;
        // Multipath may leave less than free space for a small share of the time.
        let reference_db = if median_db > 0.0 { median_db } else { 0.0 };
        // By comparison: which of two zeros `max` returns depends on the platform.
        let added_db = share_db + location_share * self.location_db - median_db;
        let variability_db = if added_db < -reference_db { -reference_db } else { added_db };
        Ok(Attenuation {
            reference_attenuation_db: Some(reference_db),
            variability_db: Some(variability_db),
            median_db: Some(reference_db),
            sigma_db: location_share * self.sigma_db,
            ..Attenuation::default()
        })
    }
}

/// Heights of the ground, m above mean sea level, and of clutter on it, m above ground, at points at most
/// [`COVER_STEP_M`] apart: ground between the points of `profile` lies on straight lines, clutter is that of its
/// nearest point. Clutter that is `stated` for an end stands on its half of the path where none is known, and
/// along the first [`STATED_M`] at least. `None` for invalid clutter or fewer than two points.
fn resampled(
    profile: &PathProfile<'_>,
    stated_agl_m: [Option<f64>; 2],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let clutter = profile.clutter().ok()?;
    let heights_m = profile.elevation_msl_m;
    let last = heights_m.len().checked_sub(1).filter(|last| *last > 0)?;
    let length_m = profile.distance_m();
    let intervals = ((length_m / COVER_STEP_M).ceil() as usize).max(1);
    let mut ground_msl_m = Vec::with_capacity(intervals + 1);
    let mut clutter_agl_m = Vec::with_capacity(intervals + 1);
    for point in 0..=intervals {
        let place = (point * last) as f64 / intervals as f64;
        let before = (place as usize).min(last - 1);
        let share = place - before as f64;
        ground_msl_m.push(heights_m[before] + share * (heights_m[before + 1] - heights_m[before]));
        let stated_m = stated_agl_m[usize::from(2 * point > intervals)];
        let own_m = clutter.and_then(|clutter| height_at(clutter, point as f64 / intervals as f64));
        let from_end_m = length_m * point.min(intervals - point) as f64 / intervals as f64;
        clutter_agl_m.push(match (own_m, stated_m) {
            (Some(own_m), Some(stated_m)) if from_end_m <= STATED_M => own_m.max(stated_m),
            (Some(own_m), _) => own_m,
            (None, stated_m) => stated_m.unwrap_or(0.0),
        });
    }
    Some((ground_msl_m, clutter_agl_m))
}

/// Height of the clutter at a share of the path, m above ground; `None` where it is unknown.
fn height_at(clutter: &PathClutter<'_>, share: f64) -> Option<f64> {
    let nearest = |points: usize| (share * (points - 1) as f64).round() as usize;
    match (clutter.height_agl_m, clutter.cover) {
        (Some(heights_m), _) => Some(heights_m[nearest(heights_m.len())]).filter(|m| !m.is_nan()),
        (None, Some(cover)) => Some(cover[nearest(cover.len())].height_agl_m()),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use groundwave_propagation::polarization::Polarization;
    use groundwave_propagation::profile::GroundCover;

    use super::super::Model;
    use super::*;
    use crate::radio::Environment;

    /// Attenuation at 868 MHz from 15 m to 2 m above ground with clutter of one height along the path.
    fn prepared(clutter_m: Option<f64>, time_percent: f64) -> Box<dyn PreparedModel> {
        let environment = Environment { time_percent, ..Environment::default() };
        let values = environment.setting_values();
        let direction = Direction::new(868.0, Polarization::Vertical, [15.0, 2.0], values);
        Model::P1812.get().prepare(&direction.with_clutter([clutter_m; 2])).unwrap()
    }

    /// Hills of 20 m every 4 km, as posts every `step_m` have them.
    fn hills(step_m: f64) -> Vec<f64> {
        let count = (12e3 / step_m).round() as usize + 1;
        let height = |point: usize| 20.0 * (point as f64 * step_m * 1.57e-3).sin();
        (0..count).map(height).collect()
    }

    #[test]
    fn posts_of_one_and_three_arc_seconds_give_the_same_loss() {
        let model = prepared(Some(10.0), 50.0);
        let loss = |step_m: f64| {
            model.attenuation(&PathProfile::bare(step_m, &hills(step_m))).unwrap().total_db()
        };
        let [fine_db, coarse_db] = [30.0, 90.0].map(loss);
        let [uneven_db, finest_db] = [23.0, 10.0].map(|step_m| {
            let step_m = 12e3 / (12e3_f64 / step_m).round();
            loss(step_m)
        });
        for loss_db in [coarse_db, uneven_db, finest_db] {
            assert!((loss_db - fine_db).abs() < 0.5, "{fine_db} {loss_db}");
        }
        assert!(fine_db > 25.0, "{fine_db}");
    }

    #[test]
    fn clutter_of_the_profile_replaces_that_of_the_settings() {
        let ground_msl_m = [0.0; 101];
        let bare = PathProfile::bare(30.0, &ground_msl_m);
        let loss = |model: &dyn PreparedModel, profile: &PathProfile<'_>| {
            model.attenuation(profile).unwrap().total_db()
        };
        let open_db = loss(&*prepared(None, 50.0), &bare);
        let urban_db = loss(&*prepared(Some(15.0), 50.0), &bare);
        let cover = [GroundCover::UrbanOrForest; 101];
        let clutter = PathClutter { height_agl_m: None, cover: Some(&cover) };
        let covered = PathProfile { clutter: Some(&clutter), ..bare };
        assert_eq!(loss(&*prepared(None, 50.0), &covered), urban_db);
        assert_eq!(loss(&*prepared(Some(3.0), 50.0), &covered), urban_db);
        assert!(urban_db > open_db + 15.0, "{open_db} {urban_db}");
        // Heights at points of their own, and those that nobody knows.
        for (heights_m, model, expected_db) in [
            ([15.0; 41], prepared(None, 50.0), urban_db),
            ([f64::NAN; 41], prepared(Some(15.0), 50.0), urban_db),
            ([f64::NAN; 41], prepared(None, 50.0), open_db),
        ] {
            let clutter = PathClutter { height_agl_m: Some(&heights_m), cover: None };
            let covered = PathProfile { clutter: Some(&clutter), ..bare };
            assert_eq!(loss(&*model, &covered), expected_db, "{heights_m:?}");
        }
    }

    #[test]
    fn stated_surroundings_stand_next_to_an_end_over_open_land_cover() {
        let ground_msl_m = [0.0; 101];
        let bare = PathProfile::bare(30.0, &ground_msl_m);
        let clutter = PathClutter { height_agl_m: Some(&[0.0; 101]), cover: None };
        let open = PathProfile { clutter: Some(&clutter), ..bare };
        let loss = |stated_m| prepared(stated_m, 50.0).attenuation(&open).unwrap().total_db();
        let (open_db, stated_db) = (loss(None), loss(Some(15.0)));
        assert!(stated_db > open_db + 10.0, "{open_db} {stated_db}");
    }

    /// ITU-R P.1812-8 eq. 66: in full within the clutter at the receiver, half 5 m above it, none 10 m above it.
    #[test]
    fn receiver_above_clutter_gives_less_variability_over_places() {
        let ground_msl_m = [0.0; 101];
        let bare = PathProfile::bare(30.0, &ground_msl_m);
        let heights_m: Vec<f64> = (0..101).map(|point| f64::from(point) * 0.1).collect();
        let clutter = PathClutter { height_agl_m: Some(&heights_m), cover: None };
        let covered = PathProfile { clutter: Some(&clutter), ..bare };
        let at = |rx_agl_m, location_percent, profile: &PathProfile<'_>| {
            let environment = Environment { location_percent, ..Environment::default() };
            let values = environment.setting_values();
            let heights_agl_m = [30.0, rx_agl_m];
            let direction = Direction::new(868.0, Polarization::Vertical, heights_agl_m, values);
            Model::P1812.get().prepare(&direction).unwrap().attenuation(profile).unwrap()
        };
        let whole_db = location_sigma_db(868.0, AREA_WIDTH_M).unwrap();
        // Open ground, and clutter of 10 m at the receiver.
        for (rx_agl_m, profile, share) in [
            (2.0, &bare, 0.8),
            (10.0, &bare, 0.0),
            (30.0, &bare, 0.0),
            (2.0, &covered, 1.0),
            (10.0, &covered, 1.0),
            (15.0, &covered, 0.5),
            (20.0, &covered, 0.0),
        ] {
            let [half, most] = [50.0, 90.0].map(|percent| at(rx_agl_m, percent, profile));
            assert!((half.sigma_db - share * whole_db).abs() < 1e-9, "{rx_agl_m} {share}");
            let added_db = most.total_db() - half.total_db();
            assert!((added_db - share * 1.2816 * whole_db).abs() < 2e-3, "{rx_agl_m} {added_db}");
        }
    }

    #[test]
    fn smaller_share_of_time_has_less_loss_and_a_larger_one_is_refused() {
        let ground = hills(30.0);
        let profile = PathProfile::bare(30.0, &ground);
        let half = prepared(None, 50.0).attenuation(&profile).unwrap();
        let tenth = prepared(None, 10.0).attenuation(&profile).unwrap();
        assert!(tenth.total_db() < half.total_db());
        assert_eq!(tenth.median_total_db(), half.total_db());
        let environment = Environment { time_percent: 90.0, ..Environment::default() };
        let values = environment.setting_values();
        let direction = Direction::new(868.0, Polarization::Vertical, [15.0, 2.0], values);
        let refusal = Model::P1812.get().prepare(&direction).err();
        assert_eq!(refusal, Some(Warning::ModelOutOfRange));
    }
}
