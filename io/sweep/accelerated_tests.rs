use groundwave_gpu::Adapters;
use groundwave_model::radio::presets;
use groundwave_model::sweep::Network;
use groundwave_model::terrain::GeoPoint;
use groundwave_needs::needs;
use groundwave_terrain::TerrainStack;
use groundwave_test_data::shared;

use super::super::fixtures;
use super::*;

/// Three sites whose circles overlap, two of them at one place.
fn plan() -> Plan {
    let at = |lat, lon| GeoPoint::new(lat, lon).unwrap();
    let places = [at(50.6, -114.5), at(50.6, -114.5), at(50.63, -114.42)];
    let mut plan = fixtures::plan(&places, 9_000.0, 9.0);
    // Not the same margins everywhere.
    plan.sites[1].station.height_agl_m = 20.5;
    plan.sites[2].station.antenna = presets::antenna("omni_5").unwrap().antenna.clone();
    plan.margin_db = 3.0;
    plan
}

fn network(plan: &Plan, tiles: &[SiteTile], cell: usize) -> Network {
    let mut network = Network::default();
    for tile in tiles {
        network.hear(tile.site, tile.answers.answer(cell), plan.margin_db as f32);
    }
    network
}

#[needs(vulkan, shared("data/srtm"))]
#[test]
fn units_have_the_classes_and_best_servers_of_the_exact_evaluation() {
    let terrain = TerrainStack::open(Some(&shared("data/srtm")), None).unwrap();
    let plan = plan();
    let engine = Engine::open(Adapters::Any).unwrap();
    let accelerated = Accelerated::new(&plan, &terrain, &engine).unwrap();
    let exact = evaluator(&plan, &terrain).unwrap();
    let mut cells = 0;
    for unit in plan.units() {
        let sites = plan.reaching(unit.row, unit.col);
        let tiles = |evaluate: &dyn Fn(u16) -> Result<SiteTile, String>| -> Vec<SiteTile> {
            sites.iter().map(|site| evaluate(*site).unwrap()).collect()
        };
        let exact = tiles(&|site| exact(unit, site));
        let accelerated_tiles = tiles(&|site| accelerated.evaluate(unit, site));
        for (one, other) in exact.iter().zip(&accelerated_tiles) {
            assert_eq!(one.answers.flags, other.answers.flags);
            for (one_dbm, other_dbm) in one.rx_power_dbm.iter().zip(&other.rx_power_dbm) {
                let is_near = (one_dbm - other_dbm).abs() <= 0.002;
                assert!(is_near || one_dbm == other_dbm, "{one_dbm} {other_dbm}");
            }
        }
        for cell in 0..exact[0].answers.cells() {
            let [one, other] =
                [&exact, &accelerated_tiles].map(|tiles| network(&plan, tiles, cell));
            assert_eq!((one.best, one.second), (other.best, other.second), "{unit:?} {cell}");
            assert_eq!((one.servers, one.verdict), (other.servers, other.verdict));
            cells += 1;
        }
    }
    assert!(locked(&accelerated.units).is_empty());
    let summary = accelerated.summary();
    let counts = summary.cells.unwrap();
    assert!(cells > 10_000 && counts.cells > 10_000, "{cells} {counts:?}");
    assert!(counts.decisions > 0 && counts.flagged > 0 && counts.other_model > 0, "{counts:?}");
    assert_eq!(summary.fallback, None);
}

#[needs(vulkan, shared("data/srtm"))]
#[test]
fn terrain_without_posts_gives_the_exact_cells_with_a_reason() {
    let plan = plan();
    let engine = Engine::open(Adapters::Any).unwrap();
    let flat = groundwave_model::terrain::Flat::default();
    let accelerated = Accelerated::new(&plan, &flat, &engine).unwrap();
    let exact = evaluator(&plan, &flat).unwrap();
    let unit = plan.units()[0];
    let site = plan.reaching(unit.row, unit.col)[0];
    assert_eq!(accelerated.evaluate(unit, site).unwrap(), exact(unit, site).unwrap());
    let fallback = accelerated.summary().fallback.unwrap();
    assert!(fallback.contains("whole metres"), "{fallback}");
}
