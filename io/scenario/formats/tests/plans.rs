//! Arbitrary plans, all of which the world accepts.

use groundwave_model::radio::pattern::Cuts;
use groundwave_model::radio::presets::{ANTENNAS, RADIOS, ROLES};
use groundwave_model::radio::{
    Antenna, Clutter, Environment, Indoor, Model, Multipath, NoiseCategory, Pattern, Pointing,
    Radio, Role, Station, Surroundings, Vegetation, Waveform,
};
use groundwave_model::terrain::GeoPoint;
use groundwave_propagation::polarization::Polarization;
use groundwave_simulation::deployment::{Outline, Region};
use groundwave_simulation::site::NodeId;
use proptest::prelude::*;

use super::super::{PlanFile, PlanNode};

/// Numbers of an interval: any, its edges, and those whose bits get lost most easily.
fn number(low: f64, high: f64) -> impl Strategy<Value = f64> {
    let within = move |value: &f64| (low..=high).contains(value);
    let odd = prop::sample::select(
        [low, high, 0.0, -0.0, 5e-324, 1e-7, 0.1 + 0.2, 1.0 / 3.0, -1e-300]
            .into_iter()
            .filter(within)
            .collect::<Vec<_>>(),
    );
    prop_oneof![3 => low..=high, 1 => odd]
}

/// Names the world accepts, pleasant and not.
fn name() -> impl Strategy<Value = String> {
    let hard = prop::sample::select(vec![
        " ",
        "=1+1",
        "'=x",
        "'t Harde",
        "a,b;c\t".trim_end(),
        "\"q\"",
        "<a>&amp;]]>",
        "&#0;",
        "{\"deployment\":1}",
        "[[node]]",
        "57,7",
        "#x",
        "\u{feff}bom",
        "\u{fffe}\u{ffff}",
        "\u{2028}",
        "e\u{301}",
        " lead",
        "trail ",
        "true",
        "null",
        "1e5",
        "0x1",
        "NaN",
        "\\u0041",
        "'''",
        "\"\"\"",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "node-1",
        "lat",
        "région 🛰",
        "-",
        "--",
        "..",
    ]);
    let any = prop::collection::vec(any::<char>(), 1..12).prop_map(|chars| {
        let good = chars.into_iter().filter(|c| !c.is_control());
        let text: String = good.collect();
        if text.is_empty() { "x".to_owned() } else { text }
    });
    let long = Just("🛰".repeat(64));
    prop_oneof![4 => any, 4 => hard.prop_map(str::to_owned), 1 => long]
}

fn point() -> impl Strategy<Value = GeoPoint> {
    let all = (number(-90.0, 90.0), number(-180.0, 180.0));
    all.prop_map(|(lat, lon)| GeoPoint::new(lat, lon).unwrap())
}

fn region() -> impl Strategy<Value = Region> {
    let ring = prop::collection::vec(point(), 3..8).prop_map(|mut ring| {
        ring.push(ring[0]);
        ring
    });
    prop::collection::vec(ring, 1..4).prop_map(|rings| Region::new(rings).unwrap())
}

fn waveform() -> impl Strategy<Value = Waveform> {
    prop_oneof![
        (1..=8_u8, number(0.01, 1.0)).prop_map(|(spatial_streams, mac_efficiency_prob)| {
            Waveform::Ofdm { spatial_streams, mac_efficiency_prob }
        }),
        (6..=12_u8, 5..=8_u8).prop_map(|(spreading_factor, coding_rate)| Waveform::Lora {
            spreading_factor,
            coding_rate,
        }),
        (number(1.0, 1e9), number(-180.0, 0.0)).prop_map(|(bit_rate_bps, sensitivity_dbm)| {
            Waveform::Narrowband { bit_rate_bps, sensitivity_dbm }
        }),
    ]
}

fn radio() -> impl Strategy<Value = Radio> {
    let preset = prop::sample::select(RADIOS.to_vec()).prop_map(|preset| preset.radio);
    // All but equal to a preset.
    let near = prop::sample::select(RADIOS.to_vec())
        .prop_map(|preset| Radio { feeder_loss_db: -0.0, ..preset.radio });
    let own = (
        number(10.0, 100_000.0),
        number(100.0, 2e9),
        number(-50.0, 80.0),
        number(0.0, 40.0),
        number(0.0, 100.0),
        waveform(),
    )
        .prop_map(|(frequency_mhz, bandwidth_hz, tx_power_dbm, noise, feeder, waveform)| Radio {
            frequency_mhz,
            bandwidth_hz,
            tx_power_dbm,
            noise_figure_db: noise,
            feeder_loss_db: feeder,
            waveform,
        });
    prop_oneof![2 => preset, 1 => near, 4 => own]
}

fn antenna() -> impl Strategy<Value = Antenna> {
    let preset = prop::sample::select(ANTENNAS.to_vec()).prop_map(|preset| preset.antenna);
    let own = || {
        (
            number(-30.0, 60.0),
            number(0.1, 360.0),
            number(0.1, 360.0),
            number(0.0, 80.0),
            any::<bool>(),
            number(-90.0, 90.0),
        )
            .prop_map(
                |(gain_dbi, azimuth, elevation, front_to_back_db, flat, tilt_deg)| Antenna {
                    gain_dbi,
                    azimuth_beamwidth_deg: azimuth,
                    elevation_beamwidth_deg: elevation,
                    front_to_back_db,
                    polarization: if flat {
                        Polarization::Horizontal
                    } else {
                        Polarization::Vertical
                    },
                    // Zero of either sign is left out.
                    electrical_tilt_deg: tilt_deg + 0.0,
                    pattern: None,
                },
            )
    };
    let turn = || prop::collection::vec(number(0.0, 100.0), 4..40);
    let measured = (own(), turn(), turn()).prop_map(|(own, horizontal, vertical)| {
        let cuts = Cuts { horizontal_loss_db: horizontal, vertical_loss_db: vertical };
        own.with_pattern(Pattern::new(cuts).unwrap())
    });
    prop_oneof![1 => preset, 2 => own(), 1 => measured]
}

fn station() -> impl Strategy<Value = Station> {
    let pointing = (number(0.0, 359.9), number(-90.0, 90.0))
        .prop_map(|(azimuth, elevation)| Pointing::new(azimuth, elevation));
    let around = prop::sample::select(Surroundings::ALL.to_vec());
    let inside = prop::sample::select(Indoor::ALL.to_vec());
    let pointing = prop::option::of(pointing);
    let woods = prop_oneof![2 => Just(0.0), 1 => number(0.5, 100_000.0)];
    let parts = (number(0.0, 20_000.0), radio(), antenna(), pointing, around, inside, woods);
    parts.prop_map(|(height_agl_m, radio, antenna, pointing, around, inside, woodland_depth_m)| {
        Station {
            height_agl_m,
            radio,
            antenna,
            pointing,
            surroundings: around.0,
            indoor: inside.0,
            woodland_depth_m,
        }
    })
}

fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(ROLES.map(|preset| preset.id).to_vec())
}

fn environment() -> impl Strategy<Value = Environment> {
    let full = (number(250.0, 400.0), number(0.3, 10.0), any::<bool>());
    let full = full.prop_map(|(refractivity_n_units, k_factor, dense)| Environment {
        model: Model::DeltaBullington,
        refractivity_n_units,
        k_factor,
        rain_rate_001_mm_h: Some(22.5),
        multipath: dense.then(|| from_json::<Multipath>(MULTIPATH)),
        man_made_noise: Some(NoiseCategory::QuietRural),
        clutter: dense.then(|| from_json::<Clutter>(CLUTTER)),
        vegetation: dense.then(|| from_json::<Vegetation>(VEGETATION)),
        interference_dbm: Some(-0.0),
        ..Environment::default()
    });
    prop_oneof![1 => Just(Environment::default()), 1 => full]
}

const MULTIPATH: &str = r#"{"gradient_1_percent_n_units_km":-400.0,"terrain_roughness_m":0.1}"#;
const CLUTTER: &str = r#"{"kind":"statistical","location_percent":60.0}"#;
const VEGETATION: &str =
    r#"{"depth_m":12.5,"specific_attenuation_db_m":0.3,"maximum_attenuation_db":25.0}"#;

fn from_json<T: serde::de::DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap()
}

/// A plan with up to a dozen nodes.
pub(super) fn plan() -> impl Strategy<Value = PlanFile> {
    let outline =
        (name(), prop::option::of(point()), prop::option::of(region()), environment()).prop_map(
            |(name, center, region, environment)| Outline { name, center, region, environment },
        );
    let node = (any::<bool>(), name(), role(), point(), station());
    (outline, prop::collection::vec(node, 0..12)).prop_map(|(outline, nodes)| {
        let node = |(index, (stable, name, role, position, station)): (
            usize,
            (bool, String, Role, GeoPoint, Station),
        )| {
            // Unique, and spread over all bits.
            let uuid = (index as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            let id = stable.then(|| NodeId::from_u128(uuid));
            PlanNode { id, name, role, position, height_msl_m: None, station }
        };
        let nodes = nodes.into_iter().enumerate().map(node).collect();
        PlanFile { outline, names_model: true, nodes }
    })
}
