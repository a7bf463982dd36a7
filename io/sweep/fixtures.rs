//! Plans for tests.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::radio::{Environment, Station, presets};
use groundwave_model::sweep::Variant;
use groundwave_model::terrain::GeoPoint;

use super::plan::{EVALUATION, Plan, PlanGrid, PlanSite};

/// A plan of a site at each place.
pub fn plan(places: &[GeoPoint], radius_m: f64, cell_arcsec: f64) -> Plan {
    let radio = presets::radio("lora_868_eu").unwrap().radio.clone();
    let station = Station::new(20.0, radio, presets::antenna("omni_2_15").unwrap().antenna.clone());
    let site = |(number, place): (usize, &GeoPoint)| PlanSite {
        name: format!("site {number}"),
        position: *place,
        station: station.clone(),
        receiver: station.clone(),
    };
    Plan {
        evaluation: EVALUATION,
        title: "fixture".to_owned(),
        grid: PlanGrid::around(places, radius_m, cell_arcsec).unwrap(),
        variants: vec![Variant::default()],
        sites: places.iter().enumerate().map(site).collect(),
        radius_m,
        margin_db: 0.0,
        environment: Environment::default(),
        packet_bytes: 20,
        samples: None,
        sample_spacing_m: None,
        columns: BTreeSet::new(),
        engine: None,
        points: Vec::new(),
        choose: None,
        terrain: BTreeMap::new(),
    }
}
