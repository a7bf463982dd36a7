//! Links to draw.

use groundwave_model::radio::{Environment, LinkResult, Multipath, Station, evaluate, presets};
use groundwave_model::terrain::Profile;

use super::super::{ProfilePicture, Theme, profile_svg};
use super::xml::{self, Element};

/// A link over some ground.
#[derive(Debug, Clone)]
pub struct Case {
    pub profile: Profile,
    pub result: LinkResult,
    pub names: [String; 2],
    pub title: String,
    pub theme: Theme,
}

impl Case {
    /// A link on `radio` with 5 dBi omnis `height_agl_m` above ground of these heights, evenly
    /// spaced over `distance_m`.
    pub fn over(
        elevation_msl_m: &[f64],
        distance_m: f64,
        height_agl_m: [f64; 2],
        radio: &str,
    ) -> Self {
        Self::within(&Environment::default(), elevation_msl_m, distance_m, height_agl_m, radio)
    }

    /// As [`Case::over`], in `environment`.
    pub fn within(
        environment: &Environment,
        elevation_msl_m: &[f64],
        distance_m: f64,
        height_agl_m: [f64; 2],
        radio: &str,
    ) -> Self {
        let gaps = elevation_msl_m.len() - 1;
        let profile = Profile {
            distance_m,
            azimuth_deg: 30.0,
            back_azimuth_deg: 210.5,
            step_m: distance_m / gaps as f64,
            lat_deg: vec![57.0; elevation_msl_m.len()],
            lon_deg: vec![11.0; elevation_msl_m.len()],
            elevation_msl_m: elevation_msl_m.to_vec(),
            ..Profile::default()
        };
        let radio = &presets::radio(radio).expect("a preset").radio;
        let antenna = &presets::antenna("omni_5").expect("a preset").antenna;
        let [a, b] = height_agl_m
            .map(|height_agl_m| Station::new(height_agl_m, radio.clone(), antenna.clone()));
        let result = evaluate(&profile, [0.0; 2], &a, &b, environment, 64).expect("valid input");
        let names = ["Alpha".to_owned(), "Bravo".to_owned()];
        Self { profile, result, names, title: String::new(), theme: Theme::Light }
    }

    pub fn named(mut self, from: &str, to: &str) -> Self {
        self.names = [from.to_owned(), to.to_owned()];
        self
    }

    pub fn svg(&self) -> String {
        profile_svg(&ProfilePicture {
            profile: &self.profile,
            result: &self.result,
            names: [&self.names[0], &self.names[1]],
            title: &self.title,
            theme: self.theme,
        })
    }

    pub fn elements(&self) -> Vec<Element> {
        xml::read(&self.svg())
    }
}

/// Level ground.
pub fn level(samples: usize, elevation_msl_m: f64) -> Vec<f64> {
    vec![elevation_msl_m; samples]
}

/// Level ground at 100 m with a hill of `top_m` at sample `at` of 101.
pub fn hill(at: usize, top_m: f64) -> Vec<f64> {
    let mut ground = level(101, 100.0);
    ground[at - 1] = f64::midpoint(100.0, top_m);
    ground[at] = top_m;
    ground[at + 1] = f64::midpoint(100.0, top_m);
    ground
}

/// Uneven ground between `low_m` and `high_m`, the same for one `seed`.
pub fn rough(samples: usize, low_m: f64, high_m: f64, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493);
    let mut height_m = f64::midpoint(low_m, high_m);
    let mut step = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share =
            f64::from(u32::try_from(state >> 33).expect("31 bits")) / f64::from(1_u32 << 31);
        height_m = (height_m + (share - 0.5) * (high_m - low_m) * 0.3).clamp(low_m, high_m);
        height_m
    };
    (0..samples).map(|_| step()).collect()
}

/// An environment that predicts availability.
pub fn rainy() -> Environment {
    Environment {
        rain_rate_001_mm_h: Some(32.0),
        multipath: Some(Multipath {
            gradient_1_percent_n_units_km: -200.0,
            terrain_roughness_m: 40.0,
        }),
        ..Environment::default()
    }
}

/// Clear, grazing, blocked and over the horizon.
fn usual() -> Vec<(&'static str, Case)> {
    vec![
        ("clear", Case::over(&level(101, 100.0), 5_000.0, [30.0, 20.0], "wifi_5g_mesh")),
        ("grazing", Case::over(&hill(60, 122.0), 8_000.0, [30.0, 20.0], "lora_868_eu")),
        ("blocked", Case::over(&hill(60, 160.0), 8_000.0, [30.0, 20.0], "lora_868_eu")),
        ("rain", Case::within(&rainy(), &level(64, 50.0), 1_500.0, [60.0; 2], "ptp_5g8")),
        ("horizon", Case::over(&rough(1_024, 0.0, 90.0, 1), 200e3, [60.0, 10.0], "uhf_mobile_25w")),
        (
            "500 km",
            Case::over(&rough(1_024, 0.0, 900.0, 2), 500e3, [30.0, 30.0], "vhf_handheld_5w"),
        ),
    ]
}

/// The ends of every range.
fn extreme() -> Vec<(&'static str, Case)> {
    vec![
        ("1 m", Case::over(&level(32, 22.0), 1.0, [1.0, 2.0], "wifi_2g4_mesh")),
        ("1 cm", Case::over(&level(32, 22.0), 0.01, [1.0, 2.0], "wifi_2g4_mesh")),
        ("one place", Case::over(&level(32, 22.0), 0.0, [5.0, 25.0], "lora_868_eu")),
        ("two samples", Case::over(&[10.0, 400.0], 3_000.0, [5.0, 2.0], "lora_868_eu")),
        ("steep", Case::over(&[0.0, 0.0, 0.0], 300.0, [0.0, 900.0], "lora_868_eu")),
        ("Dead Sea", Case::over(&level(40, -412.0), 8_000.0, [12.0; 2], "wifi_2g4_mesh")),
        ("polder", Case::over(&rough(200, -7.0, 3.0, 3), 9_000.0, [8.0; 2], "lora_868_eu")),
        ("all zero", Case::over(&level(2, 0.0), 1_000.0, [0.0; 2], "lora_915_us")),
        ("high", Case::over(&rough(300, 100.0, 8_848.0, 4), 60e3, [5.0; 2], "ptp_5g8")),
        ("aircraft", Case::over(&level(500, 20.0), 400e3, [5.0, 12_000.0], "vhf_handheld_5w")),
        ("plateau", Case::over(&level(50, 19_990.0), 2_000.0, [2.0; 2], "lora_868_eu")),
        ("trench", Case::over(&level(50, -19_990.0), 2_000.0, [2.0; 2], "lora_868_eu")),
    ]
}

/// One of every kind, every other one dark.
pub fn all() -> Vec<(&'static str, Case)> {
    let mut cases = usual();
    cases.extend(extreme());
    for (_, dark) in cases.iter_mut().skip(1).step_by(2) {
        dark.theme = Theme::Dark;
    }
    cases
}
