//! The kernel by an adapter that the processor imitates, against the exact evaluation. `Imitated` is opened once a
//! test: an instance costs a tenth of a second.

mod cases;

use groundwave_model::coverage::{
    Block, Cell, CoverageRequest, Evaluation, Flags, Grid, KnownCounts, KnownFlags, KnownLoss,
    Scratch, coverage, evaluate, evaluate_known,
};
use groundwave_model::terrain::{GeoPoint, PostWindow};
use groundwave_needs::needs;
use ndarray::Array2;
use wgpu::naga;

use super::device::kernel;
use super::{Adapters, Engine, ServersRequest};
use cases::{Case, case, cases};

/// Exact cells, cells with known losses, these losses, and counts of a case.
struct Outcome {
    exact: Array2<Cell>,
    known: Array2<Cell>,
    losses: Array2<KnownLoss>,
    counts: KnownCounts,
}

fn block(grid: &Grid) -> Block {
    Block { row: 0, column: 0, rows: grid.rows(), columns: grid.columns() }
}

fn losses(engine: &Engine, case: &Case) -> Array2<KnownLoss> {
    let site = case.request.prepare(&case.terrain).unwrap();
    let terms = site.terms().unwrap();
    let window = PostWindow::around(case.per_deg, case.request.position, case.request.radius_m);
    let grid = &case.grid;
    let all = engine.losses(&case.terrain, window, &[&terms], grid, block(grid)).unwrap();
    all.into_iter().next().unwrap()
}

fn outcome(engine: &Engine, case: &Case, thresholds_db: &[f64]) -> Outcome {
    let site = case.request.prepare(&case.terrain).unwrap();
    let evaluation = Evaluation { site: &site, terrain: &case.terrain, grid: &case.grid };
    let losses = losses(engine, case);
    let blank = || Array2::from_elem(losses.dim(), Cell::default());
    let (mut exact, mut mixed) = (blank(), blank());
    let mut scratch = Scratch::default();
    evaluate(&evaluation, [0, 0], exact.view_mut(), &mut scratch);
    let losses_view = losses.view();
    let counts = evaluate_known(
        &evaluation,
        [0, 0],
        mixed.view_mut(),
        &losses_view,
        thresholds_db,
        &mut scratch,
    );
    Outcome { exact, known: mixed, losses, counts }
}

/// Differences of path loss and of the quantiles of received power of the usable cells, dB, ascending.
fn differences_db(of: &Outcome) -> Vec<f64> {
    let both = of.exact.iter().zip(&of.known).zip(&of.losses);
    let mut differences: Vec<f64> = both
        .filter(|(_, loss)| loss.flags.is_usable())
        .map(|((exact, known), _)| {
            let quantiles = exact.rx_power_quantiles_dbm.iter().zip(&known.rx_power_quantiles_dbm);
            let of_quantiles = quantiles.map(|(one, other)| f64::from(one - other).abs());
            of_quantiles.fold((exact.path_loss_db - known.path_loss_db).abs(), f64::max)
        })
        .collect();
    differences.sort_by(f64::total_cmp);
    differences
}

#[test]
fn kernels_are_valid_without_an_adapter() {
    for has_subgroups in [false, true] {
        let source = kernel(has_subgroups);
        let module = naga::front::wgsl::parse_str(&source)
            .map_err(|error| error.emit_to_string(&source))
            .unwrap();
        let capabilities = match has_subgroups {
            true => naga::valid::Capabilities::SUBGROUP,
            false => naga::valid::Capabilities::empty(),
        };
        let mut validator =
            naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
        validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
        validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
        validator.validate(&module).map_err(|error| error.emit_to_string(&source)).unwrap();
        assert!(module.entry_points.iter().any(|entry| entry.name == "main"));
    }
}

#[needs(vulkan, shared("data/srtm"))]
#[test]
fn cells_with_known_losses_are_those_of_the_exact_evaluation() {
    let engine = Engine::open(Adapters::Any).unwrap();
    let mut totals = KnownCounts::default();
    for case in cases() {
        let thresholds_db = [6.0, -3.0];
        let of = outcome(&engine, &case, &thresholds_db);
        let mut worst_db = 0.0_f64;
        for (exact, known) in of.exact.iter().zip(&of.known) {
            assert_eq!(exact.flags, known.flags, "{}", case.name);
            assert_eq!(exact.verdict, known.verdict, "{}", case.name);
            assert_eq!(exact.modulation_id, known.modulation_id, "{}", case.name);
            for threshold_db in thresholds_db {
                let is_covered = exact.covered(threshold_db);
                assert_eq!(is_covered, known.covered(threshold_db), "{}", case.name);
            }
            if !exact.flags.intersects(Flags::OUTSIDE) {
                worst_db = worst_db.max((exact.path_loss_db - known.path_loss_db).abs());
            }
        }
        let differences = differences_db(&of);
        let median_db = differences[differences.len() / 2];
        assert!(worst_db <= 0.002, "{}: {worst_db} dB", case.name);
        assert!(differences.last().is_some_and(|db| *db <= 0.002), "{}", case.name);
        assert!(median_db <= 1e-4, "{}: {median_db} dB", case.name);
        assert!(of.counts.cells > 2_000, "{}: {:?}", case.name, of.counts);
        let share = of.counts.flagged as f64 / of.counts.cells as f64;
        assert!(share <= case.flagged_max, "{}: {share}", case.name);
        totals.add(of.counts);
    }
    assert!(totals.other_model > 0 && totals.flagged > 0 && totals.decisions > 0, "{totals:?}");
}

#[needs(vulkan, shared("data/srtm"))]
#[test]
fn losses_have_the_same_bits_twice_and_in_parts() {
    let engine = Engine::open(Adapters::Any).unwrap();
    let case = case("rough land");
    let first = losses(&engine, &case);
    assert!(first == losses(&engine, &case));
    let site = case.request.prepare(&case.terrain).unwrap();
    let terms = site.terms().unwrap();
    let window = PostWindow::around(case.per_deg, case.request.position, 2e4);
    let half = Block { row: 11, column: 7, rows: 20, columns: 40 };
    let sites = [&terms, &terms];
    let parts = engine.losses(&case.terrain, window, &sites, &case.grid, half).unwrap();
    for part in parts {
        for ((row, column), loss) in part.indexed_iter() {
            assert_eq!(*loss, first[[row + 11, column + 7]], "{row} {column}");
        }
    }
}

#[needs(vulkan, shared("data/srtm"))]
#[test]
fn every_reason_to_evaluate_a_cell_as_a_whole_occurs() {
    let engine = Engine::open(Adapters::Any).unwrap();
    let mut bits = 0;
    for case in cases() {
        let losses = losses(&engine, &case);
        bits |= losses.iter().fold(0, |bits, loss| bits | loss.flags.0);
    }
    for (name, bit) in [
        ("valid", KnownFlags::VALID),
        ("clear", KnownFlags::CLEAR),
        ("Fresnel zone clear", KnownFlags::FRESNEL_CLEAR),
        ("tie", KnownFlags::TIE),
        ("span", KnownFlags::SPAN),
        ("count", KnownFlags::COUNT),
        ("void", KnownFlags::VOID),
        ("near", KnownFlags::NEAR),
    ] {
        assert!(bits & bit != 0, "no cell has the flag {name}");
    }
}

#[needs(vulkan, shared("data/srtm"))]
#[test]
fn servers_of_many_sites_are_those_of_the_exact_evaluation() {
    let engine = Engine::open(Adapters::Any).unwrap();
    let case = case("rough land");
    // Two sites at one place, whose margins nearly agree, and some around them.
    let offsets_deg = [[0.0, 0.0], [0.0, 0.0], [0.03, 0.02], [-0.05, 0.06], [0.04, -0.07]];
    let requests: Vec<CoverageRequest> = (0..)
        .zip(offsets_deg)
        .map(|(number, [north_deg, east_deg])| {
            let mut request = case.request.clone();
            let [lat_deg, lon_deg] = [request.position.lat_deg(), request.position.lon_deg()];
            request.position = GeoPoint::new(lat_deg + north_deg, lon_deg + east_deg).unwrap();
            request.transmitter.height_agl_m += f64::from(number) * 0.02;
            request.radius_m = 9e3;
            request
        })
        .collect();
    let sites: Vec<_> = requests.iter().map(|of| of.prepare(&case.terrain).unwrap()).collect();
    let margin_db = 12.0;
    let request = ServersRequest {
        sites: &sites,
        thresholds_db: &[margin_db; 5],
        grid: &case.grid,
        terrain: &case.terrain,
        serves: &|_, cell| cell.covered(margin_db),
    };
    let servers = engine.servers(&request).unwrap();
    let exact: Vec<_> =
        sites.iter().map(|site| coverage(site, &case.terrain, &case.grid)).collect();
    let mut largest_apart_db = 0.0_f64;
    for cell in 0..case.grid.len() as usize {
        let mut best: Option<(u16, f64)> = None;
        for (site, cells) in (0..).zip(&exact) {
            let own = cells[cell].link_margin_db;
            if cells[cell].has_data() && best.is_none_or(|(_, margin_db)| own > margin_db) {
                best = Some((site, own));
            }
            let is_served = servers.served[usize::from(site)].binary_search(&(cell as u32)).is_ok();
            assert_eq!(is_served, cells[cell].covered(margin_db), "{site} {cell}");
        }
        assert_eq!(servers.best[cell], best.map_or(u16::MAX, |(site, _)| site), "{cell}");
        if let Some((_, margin_db)) = best {
            let apart_db = (f64::from(servers.margin_db[cell]) - margin_db).abs();
            largest_apart_db = largest_apart_db.max(apart_db);
        }
    }
    assert!(largest_apart_db <= 0.002, "{largest_apart_db} dB");
    assert!(servers.counts.flagged > 0 && servers.served.iter().all(|cells| !cells.is_empty()));
    // The order of threads on the device changes nothing.
    assert!(engine.servers(&request).unwrap() == servers);
}
