//! Measured points of a cut as even samples of one turn.

/// Numbers of samples of a turn; the least that has all points of a file on samples counts.
const COUNTS: [usize; 9] = [36, 72, 120, 180, 360, 720, 1440, 1800, 3600];

/// Distance from a sample at which a point lies on it, in samples.
const ON_SAMPLE: f64 = 1e-6;

/// An angle, deg, and the loss there, dB.
pub(super) type Point = (f64, f64);

/// Samples of one turn of `points`, straight between them. Of two points at one angle the first counts. Points
/// of half a turn, [0, 180], are those of a symmetric cut.
///
/// `points` has at least one.
pub(super) fn turn(points: &[Point]) -> Vec<f64> {
    let is_half = points.iter().all(|(deg, _)| (0.0..=180.0).contains(deg));
    let has_back = points.iter().any(|(deg, _)| *deg > 170.0);
    let mirror = points.iter().map(|(deg, db)| (-deg, *db)).filter(|_| is_half && has_back);
    let turned = points.iter().copied().chain(mirror).map(|(deg, db)| (deg.rem_euclid(360.0), db));
    let mut sorted: Vec<Point> = turned.collect();
    // Stable: the first of those alike stays before the others.
    sorted.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    sorted.dedup_by(|(later, _), (earlier, _)| later == earlier);
    let is_on_sample = |count: usize| {
        sorted.iter().all(|(deg, _)| {
            let place = deg * count as f64 / 360.0;
            (place - place.round()).abs() < ON_SAMPLE
        })
    };
    let count = COUNTS.into_iter().find(|count| is_on_sample(*count)).unwrap_or(3600);
    (0..count).map(|index| between(&sorted, index as f64 * 360.0 / count as f64)).collect()
}

/// Loss at an angle of a turn, dB.
fn between(sorted: &[Point], angle_deg: f64) -> f64 {
    let behind = sorted.partition_point(|(deg, _)| *deg <= angle_deg + ON_SAMPLE);
    let last = sorted[sorted.len() - 1];
    let (from_deg, from_db) = match behind {
        0 => (last.0 - 360.0, last.1),
        behind => sorted[behind - 1],
    };
    let (to_deg, to_db) = match sorted.get(behind) {
        Some(point) => *point,
        None => (sorted[0].0 + 360.0, sorted[0].1),
    };
    if (angle_deg - from_deg).abs() <= ON_SAMPLE || to_deg <= from_deg {
        return from_db;
    }
    from_db + (angle_deg - from_deg) / (to_deg - from_deg) * (to_db - from_db)
}

/// Vertical cut of the half ahead alone: `points` at angles below the horizon, [-90, 90] deg, which keep
/// their last loss beyond them. The half behind is its mirror, `behind_db` more.
///
/// `points` has at least one.
pub(super) fn mirrored(points: &[Point], behind_db: f64) -> Vec<f64> {
    let mut ahead: Vec<Point> =
        points.iter().copied().filter(|(deg, _)| deg.abs() <= 90.0).collect();
    ahead.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (Some(top), Some(bottom)) = (ahead.first().copied(), ahead.last().copied()) else {
        return turn(points);
    };
    ahead.extend([(-90.0, top.1), (90.0, bottom.1)]);
    let mut losses_db = turn(&ahead);
    // All numbers of samples are multiples of 4: the zenith and the nadir lie on samples.
    let count = losses_db.len();
    for index in count / 4 + 1..3 * count / 4 {
        losses_db[index] = losses_db[(3 * count / 2 - index) % count] + behind_db;
    }
    losses_db
}

/// True if `points` of a vertical cut are those of the half ahead alone.
pub(super) fn is_ahead(points: &[Point]) -> bool {
    points.iter().all(|(deg, _)| deg.abs() <= 90.0)
}

/// Losses of a horizontal cut of even samples ahead, and how much more it has behind, dB.
pub(super) fn ends_db(horizontal_db: &[f64]) -> (f64, f64) {
    let ahead_db = horizontal_db[0];
    (ahead_db, horizontal_db[horizontal_db.len() / 2] - ahead_db)
}
