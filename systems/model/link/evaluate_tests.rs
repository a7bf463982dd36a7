use super::*;
use crate::radio::{Clutter, ClutterCategory, Model, Warning};
use crate::terrain::test_ground::Holed;
use crate::terrain::{TerrainSource, TerrainUse, geodesic};

const GROUND: Holed = Holed { void_lon: 11.55..11.552, missing_lon: 11.62..11.7 };

/// Stations of three kinds, two of them with the same radio.
fn stations() -> [Station; 3] {
    let mesh = crate::sample::station();
    let mut mast = mesh.clone();
    mast.height_agl_m = 30.0;
    let mut lower = mesh.clone();
    lower.radio.frequency_mhz = 915.0;
    lower.radio.tx_power_dbm = 30.0;
    [mesh, mast, lower]
}

/// Links of 40 m to 40 km in many directions, in no order of their stations, each end with a station
/// of its own.
fn links(stations: &[Station]) -> Vec<[End<'_>; 2]> {
    let centre = GeoPoint::new(57.5, 11.5).unwrap();
    let link = |number: usize| {
        let turn_deg = number as f64 * 137.5 % 360.0;
        let far_m = 40.0 * 1000f64.powf(number as f64 / 299.0);
        let from = geodesic::direct(centre, 360.0 - turn_deg, 30.0 * (number % 7) as f64).unwrap();
        let to = geodesic::direct(from, turn_deg, far_m).unwrap();
        let [a, b] = [number * 2, number * 2 + 1].map(|end| &stations[end]);
        [(from, a), (to, b)]
    };
    (0..stations.len() / 2).map(link).collect()
}

fn environments() -> Vec<Environment> {
    let usual = Environment::default();
    let with = |change: fn(&mut Environment)| {
        let mut environment = usual.clone();
        change(&mut environment);
        environment
    };
    let mut all: Vec<_> =
        Model::ALL.iter().map(|&model| Environment { model, ..usual.clone() }).collect();
    all.push(with(|env| env.time_percent = 0.1));
    all.push(with(|env| env.rain_rate_mm_h = 40.0));
    all.push(with(|env| {
        env.clutter = Some(Clutter::HeightGain {
            category: ClutterCategory::Suburban,
            representative_height_m: None,
        });
    }));
    all
}

#[test]
fn links_evaluated_together_have_the_bits_of_each_alone() {
    let kinds = stations();
    let kind = |end: usize| kinds[(end * 7 + end / 5) % 3].clone();
    let stations: Vec<_> = (0..600).map(kind).collect();
    let links = links(&stations);
    for environment in environments() {
        let inputs = Inputs {
            terrain: &GROUND,
            environment: &environment,
            packet_bytes: 700,
            spacing_m: None,
        };
        let mut together = vec![None; links.len()];
        budgets(&inputs, &links, |link, budget| {
            assert_eq!(together[link].replace(budget), None, "each once");
        });
        let (mut viable, mut fallback, mut gaps) = (0, 0, 0);
        for (link, budget) in links.iter().zip(together) {
            let (there, back) = score(&inputs, link[0], link[1]).unwrap();
            let single = LinkBudget::of(&there, &back);
            // As text, which differs with any bit.
            assert_eq!(format!("{budget:?}"), format!("{:?}", Some(single)));
            viable += usize::from(single.etx().is_some());
            fallback += usize::from(single.model != environment.model);
            gaps += usize::from(single.void_samples + single.missing_samples > 0);
        }
        let expected_fallbacks = if environment.model == Model::Itm { 40 } else { 0 };
        assert!(
            viable > 50 && fallback >= expected_fallbacks && gaps > 20,
            "{viable} viable, {fallback} by the fallback model, {gaps} with gaps"
        );
    }
}

/// The same hills in fine posts of a surface.
struct FineSurface;

impl Terrain for FineSurface {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], heights_m: &mut [f64]) -> TerrainUse {
        GROUND.sample(lat_deg, lon_deg, heights_m)
    }

    fn undulation_m(&self, at: GeoPoint) -> f64 {
        GROUND.undulation_m(at)
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        GROUND.resolution_arcsec(at)
    }

    fn is_fine_surface(&self, _: GeoPoint) -> bool {
        true
    }

    fn has_fine_surface(&self) -> bool {
        true
    }

    fn describe(&self) -> TerrainSource {
        GROUND.describe()
    }
}

#[test]
fn fine_surfaces_are_not_given_to_itm() {
    let [station, ..] = stations();
    let environment = Environment { model: Model::Itm, ..Environment::default() };
    let ends = [(57.5, 11.4), (57.5, 11.48)].map(|(lat, lon)| GeoPoint::new(lat, lon).unwrap());
    let model = |terrain: &dyn Terrain| {
        let inputs =
            Inputs { terrain, environment: &environment, packet_bytes: 100, spacing_m: None };
        let (result, _) = score(&inputs, (ends[0], &station), (ends[1], &station)).unwrap();
        (result.model, result.warnings.contains(Warning::FineSurface))
    };
    assert_eq!(model(&GROUND), (Model::Itm, false));
    assert_eq!(model(&FineSurface), (Model::DeltaBullington, true));
}
