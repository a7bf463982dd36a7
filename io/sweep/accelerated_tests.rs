use std::sync::Arc;

use groundwave_gpu::Adapters;
use groundwave_model::radio::presets;
use groundwave_model::sweep::Network;
use groundwave_model::terrain::GeoPoint;
use groundwave_needs::needs;
use groundwave_simulation::coverage::live::LiveCoverage;
use groundwave_simulation::coverage::{CoverageJob, Sampling};
use groundwave_simulation::site::NodeId;
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

/// Requests of the sites of a plan, and a grid over two of them.
fn coverage_of(plan: &Plan, sampling: Sampling) -> (Vec<CoverageRequest>, Grid) {
    let request = |site| CoverageRequest { sampling, ..setup(plan, &plan.variants[0], site) };
    let grid = Grid::square(plan.sites[0].position, 7_000.0, 96).unwrap();
    (plan.sites.iter().map(request).collect(), grid)
}

#[needs(vulkan, shared("data/srtm"))]
#[test]
fn a_job_has_the_verdicts_and_servers_of_the_exact_evaluation() {
    let terrain: Arc<dyn Terrain> =
        Arc::new(TerrainStack::open(Some(&shared("data/srtm")), None).unwrap());
    let engine = Arc::new(Engine::open(Adapters::Any).unwrap());
    let (mut requests, grid) = coverage_of(&plan(), Sampling::Count(200));
    requests.iter_mut().for_each(|request| request.radius_m = f64::INFINITY);
    let job = || CoverageJob::of_sites(requests.clone(), grid, Arc::clone(&terrain)).unwrap();
    let (mut exact, mut accelerated) = (job(), job().with_losses(engine));
    exact.step(u32::MAX);
    // Blocks of rows of any height.
    for cells in [96, 3_000, u32::MAX] {
        accelerated.step(cells);
    }
    assert!(accelerated.progress().is_done());
    let mut by_server = [0; 3];
    for row in 0..grid.rows() {
        assert_eq!(exact.servers(row), accelerated.servers(row), "{row}");
        for (one, other) in exact.row(row).iter().zip(accelerated.row(row)) {
            assert_eq!((one.verdict, one.flags), (other.verdict, other.flags));
            assert_eq!(one.modulation_id, other.modulation_id);
            assert_eq!(one.covered(0.0), other.covered(0.0));
            let apart_db = (one.rx_power_dbm - other.rx_power_dbm).abs();
            assert!(apart_db <= 0.002 || one.rx_power_dbm == other.rx_power_dbm, "{apart_db}");
        }
        exact.servers(row).iter().for_each(|server| by_server[usize::from(server.0)] += 1);
    }
    assert!(by_server.iter().all(|cells| *cells > 100), "{by_server:?}");
    let engine_use = accelerated.engine_use().unwrap();
    let counts = engine_use.counts;
    assert_eq!(engine_use.fallback, None);
    assert_eq!(counts.cells, 3 * grid.len());
    let processor = counts.other_model + counts.flagged + counts.decisions;
    assert!(counts.decisions > 0 && processor < counts.cells / 2, "{counts:?}");
}

#[needs(vulkan, shared("data/srtm"))]
#[test]
fn a_live_coverage_has_the_servers_of_the_exact_evaluation_after_each_change() {
    let terrain: Arc<dyn Terrain> =
        Arc::new(TerrainStack::open(Some(&shared("data/srtm")), None).unwrap());
    let engine = Arc::new(Engine::open(Adapters::Any).unwrap());
    let (requests, grid) = coverage_of(&plan(), Sampling::Posts);
    let live = || LiveCoverage::new(grid, Arc::clone(&terrain)).unwrap();
    let (mut exact, mut accelerated) = (live(), live().with_losses(engine));
    let mut all: Vec<_> = (1..).map(NodeId::from_u128).zip(requests).collect();
    for height_agl_m in [20.0, 21.0, 45.0] {
        all[2].1.transmitter.height_agl_m = height_agl_m;
        for live in [&mut exact, &mut accelerated] {
            live.set(all.clone()).unwrap();
            while live.progress().stale > 0 {
                live.step();
            }
        }
        for row in 0..grid.rows() {
            for (one, other) in exact.row(row).iter().zip(accelerated.row(row)) {
                assert_eq!(one.slot, other.slot, "{one:?} {other:?}");
                assert!(one.power_cdbm.abs_diff(other.power_cdbm) <= 1, "{one:?} {other:?}");
                assert!(one.link_percent.abs_diff(other.link_percent) <= 1, "{one:?} {other:?}");
            }
        }
    }
    let views = exact.transmitters();
    for slot in views.iter().flatten() {
        let covered = |live: &LiveCoverage| -> usize {
            let rows = (0..grid.rows()).flat_map(|row| live.row(row));
            rows.filter(|own| f64::from(own.power_cdbm) >= slot.sensitivity_dbm * 100.0).count()
        };
        assert_eq!(covered(&exact), covered(&accelerated));
    }
    let engine_use = accelerated.engine_use().unwrap();
    assert_eq!(engine_use.fallback, None);
    assert!(engine_use.counts.cells > 20_000 && engine_use.counts.decisions > 0);
}
