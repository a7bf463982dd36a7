//! Candidate positions of relays: along the great circle, and on high ground beside it.

use super::stretch::Task;
use crate::terrain::{GeoPoint, Path, Terrain, geodesic};

/// Places tested along the great circle, evenly apart.
const STRAIGHT: usize = 39;

/// Half-width of the corridor searched for high ground, as a share of the path length: a relay
/// farther out makes two hops longer than the path they save.
const CORRIDOR_SHARE: f64 = 0.25;

/// Maximum half-width of the corridor, m: the range of a mesh radio.
const CORRIDOR_M_MAX: f64 = 25_000.0;

/// Columns of the lattice along the way.
const COLUMNS: usize = 97;

/// Rows of the lattice across the way.
const ROWS: usize = 33;

/// Stretches of the way that each keep their own highest places, so that one range of hills does
/// not take all of them.
const STRETCHES: usize = 16;

/// Highest places kept of each stretch.
const HILLTOPS_PER_STRETCH: usize = 6;

/// Steps to either side in which a hilltop is sought between the points of the lattice.
const CLIMB: i32 = 3;

/// Places for relays, ordered by how far along the way they lie, then across it.
///
/// `walked` are the places of the greedy walk, which rise along the way and keep their bits.
pub(super) fn candidates(task: &Task<'_>, walked: &[GeoPoint]) -> Vec<GeoPoint> {
    let path = Path::between(task.tx.0, task.rx.0);
    let from_tx_m = |at| geodesic::inverse(task.tx.0, at).distance_m;
    let mut places: Vec<(f64, f64, GeoPoint)> =
        walked.iter().map(|&at| (from_tx_m(at), 0.0, at)).collect();
    let straight = positions(&path, STRAIGHT + 2);
    let between = straight[1..=STRAIGHT].iter().filter(|at| task.has_ground(**at));
    places.extend(between.map(|&at| (from_tx_m(at), 0.0, at)));
    places.extend(hilltops(task.inputs.terrain, &path, task.rx.0));
    places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    places.dedup_by(|a, b| a.2 == b.2);
    places.into_iter().map(|(_, _, at)| at).collect()
}

fn positions(path: &Path, samples: usize) -> Vec<GeoPoint> {
    let (mut lat_deg, mut lon_deg) = (Vec::new(), Vec::new());
    path.positions(samples, &mut lat_deg, &mut lon_deg);
    let point = |(lat, lon)| GeoPoint::wrapping(lat, lon).expect("a path lies on the Earth");
    lat_deg.into_iter().zip(lon_deg).map(point).collect()
}

/// The point `along_m` ahead and `across_m` to the right of `from` heading `azimuth_deg`.
fn aside(from: GeoPoint, azimuth_deg: f64, along_m: f64, across_m: f64) -> GeoPoint {
    let step = |at, azimuth_deg, distance_m| {
        geodesic::direct(at, azimuth_deg, distance_m).expect("bearings and lengths are finite")
    };
    step(step(from, azimuth_deg, along_m), azimuth_deg + 90.0, across_m)
}

/// Ground heights, m; NaN where there is none.
fn heights_m(terrain: &dyn Terrain, points: &[GeoPoint]) -> Vec<f64> {
    let lat_deg: Vec<f64> = points.iter().map(|at| at.lat_deg()).collect();
    let lon_deg: Vec<f64> = points.iter().map(|at| at.lon_deg()).collect();
    let mut heights_m = vec![f64::NAN; points.len()];
    terrain.sample(&lat_deg, &lon_deg, &mut heights_m);
    heights_m
}

/// The highest hilltops of a lattice over the corridor, each with its place along and across, m.
fn hilltops(terrain: &dyn Terrain, path: &Path, rx: GeoPoint) -> Vec<(f64, f64, GeoPoint)> {
    let reach_m = (path.distance_m() * CORRIDOR_SHARE).min(CORRIDOR_M_MAX);
    let (along_m, across_m) = (path.step_m(COLUMNS), 2.0 * reach_m / (ROWS - 1) as f64);
    if along_m == 0.0 {
        return Vec::new();
    }
    let axis = positions(path, COLUMNS);
    let mut azimuths_deg: Vec<f64> =
        axis[..COLUMNS - 1].iter().map(|&at| geodesic::inverse(at, rx).azimuth_deg).collect();
    azimuths_deg.push(path.back_azimuth_deg() + 180.0);
    let offset_m = |row: usize| row as f64 * across_m - reach_m;
    let cell =
        |column: usize, row: usize| aside(axis[column], azimuths_deg[column], 0.0, offset_m(row));
    let lattice: Vec<GeoPoint> = (0..COLUMNS)
        .flat_map(|column| (0..ROWS).map(move |row| (column, row)))
        .map(|(column, row)| cell(column, row))
        .collect();
    let height_m = heights_m(terrain, &lattice);
    let mut hilltops = Vec::new();
    for stretch in 0..STRETCHES {
        let columns = stretch * COLUMNS / STRETCHES..(stretch + 1) * COLUMNS / STRETCHES;
        let cells = columns.flat_map(|column| (0..ROWS).map(move |row| (column, row)));
        let mut tops: Vec<_> = cells.filter(|&at| is_top(&height_m, at)).collect();
        // Stable: of equals the one that comes first along the way.
        let key = |(column, row): (usize, usize)| height_m[column * ROWS + row];
        tops.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
        tops.truncate(HILLTOPS_PER_STRETCH);
        for (column, row) in tops {
            let at = climb(
                terrain,
                lattice[column * ROWS + row],
                azimuths_deg[column],
                [along_m, across_m],
            );
            hilltops.push((column as f64 * along_m, offset_m(row), at));
        }
    }
    hilltops
}

/// `true` if a point of the lattice is as high as all its neighbours and higher than one of them.
fn is_top(height_m: &[f64], (column, row): (usize, usize)) -> bool {
    let own = height_m[column * ROWS + row];
    let around = (column.saturating_sub(1)..=(column + 1).min(COLUMNS - 1)).flat_map(|column| {
        (row.saturating_sub(1)..=(row + 1).min(ROWS - 1)).map(move |row| column * ROWS + row)
    });
    let mut stands_out = false;
    for other in around.map(|index| height_m[index]) {
        if other > own {
            return false;
        }
        stands_out |= other < own;
    }
    stands_out
}

/// The highest point within one step of the lattice, `step_m` along and across, around `at`.
fn climb(terrain: &dyn Terrain, at: GeoPoint, azimuth_deg: f64, step_m: [f64; 2]) -> GeoPoint {
    let share = |i: i32| f64::from(i) / f64::from(CLIMB);
    let around = (-CLIMB..=CLIMB).flat_map(|i| (-CLIMB..=CLIMB).map(move |j| (i, j)));
    let points: Vec<GeoPoint> = std::iter::once(at)
        .chain(
            around.map(|(i, j)| aside(at, azimuth_deg, share(i) * step_m[0], share(j) * step_m[1])),
        )
        .collect();
    let heights_m = heights_m(terrain, &points);
    let mut best = 0;
    for (i, height_m) in heights_m.iter().enumerate() {
        if *height_m > heights_m[best] {
            best = i;
        }
    }
    points[best]
}
