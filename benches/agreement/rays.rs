//! Where SPLAT! 1.4.2 puts the samples of a coverage, worked out from its table of results.
//!
//! It sends one great circle on a sphere to every post of the edge of the loaded tiles, and takes
//! samples along it one post apart in the plane of latitude and longitude. A sample that falls on
//! a post not met before is a cell. Longitudes are west, as in the table.

use groundwave_model::terrain::GeoPoint;

/// Radius of SPLAT!'s sphere, 3959 miles, m.
const SPHERE_M: f64 = 3959.0 * 1609.344;

/// Farthest a sample may lie from the table's position, degrees: the table has seven decimals.
const NEAR_DEG: f64 = 2e-7;

/// The same for longitudes this close to the transmitter's, which come from the arc cosine of
/// almost 1.
const MERIDIAN_DEG: f64 = 1e-5;
const NEAR_MERIDIAN_DEG: f64 = 3e-6;

/// Latitude and west longitude, degrees.
pub type Place = (f64, f64);

/// One great circle from the transmitter.
#[derive(Debug, Clone, Copy)]
pub struct Ray {
    from: Place,
    azimuth_rad: f64,
    length_m: f64,
    /// Distance between samples, m.
    pub step_m: f64,
}

impl Ray {
    fn new(from: Place, edge: Place, posts_per_deg: f64) -> Self {
        let [(lat, west), (edge_lat, edge_west)] =
            [from, edge].map(|(lat, west)| (lat.to_radians(), west.to_radians()));
        let arc = (lat.sin() * edge_lat.sin()
            + lat.cos() * edge_lat.cos() * (west - edge_west).cos())
        .acos();
        let azimuth = ((edge_lat.sin() - lat.sin() * arc.cos()) / (lat.cos() * arc.sin()))
            .clamp(-1.0, 1.0)
            .acos();
        // SPLAT! counts posts per radian, in whole numbers.
        let posts_per_rad = posts_per_deg.to_degrees().round();
        let samples = posts_per_rad * (edge_lat - lat).hypot(edge_west - west);
        Self {
            from,
            azimuth_rad: if edge_west > west { -azimuth } else { azimuth },
            length_m: SPHERE_M * arc,
            step_m: SPHERE_M * arc / samples,
        }
    }

    /// The place `distance_m` along the ray.
    pub fn at(&self, distance_m: f64) -> Place {
        let (lat, arc) = (self.from.0.to_radians(), distance_m / SPHERE_M);
        let there = (lat.sin() * arc.cos() + self.azimuth_rad.cos() * arc.sin() * lat.cos()).asin();
        let turn = (arc.cos() - lat.sin() * there.sin()) / (lat.cos() * there.cos());
        let turn_deg = turn.min(1.0).acos().to_degrees();
        let west = self.from.1 - turn_deg.copysign(self.azimuth_rad);
        (there.to_degrees(), west)
    }
}

/// A row of the table and the sample that it stands for.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// Path loss in the table, dB.
    pub loss_db: f64,
    /// The ray that met the cell.
    pub ray: Ray,
    /// Which sample of the ray it is, 2 or more.
    pub sample: usize,
}

/// A position as our side takes it.
pub fn point((lat_deg, west_deg): Place) -> GeoPoint {
    GeoPoint::wrapping(lat_deg, -west_deg).expect("a place on Earth")
}

/// SPLAT!'s table: the box of its tiles, places and path losses.
struct Table {
    west_deg: [f64; 2],
    north_deg: [f64; 2],
    rows: Vec<(Place, f64)>,
}

impl Table {
    fn read(path: &str) -> Self {
        let text = std::fs::read(path).expect("the table can be read");
        let text = String::from_utf8_lossy(&text);
        let numbers = |line: &str| -> Vec<f64> {
            let line = line.split(';').next().unwrap_or_default().replace('*', "");
            line.split(',').filter_map(|cell| cell.trim().parse().ok()).collect()
        };
        let mut lines = text.lines().map(numbers);
        let mut corner = || match lines.next().as_deref() {
            Some(&[high, low]) => [low, high],
            other => panic!("two lines with the box of the tiles, found {other:?}"),
        };
        let (west_deg, north_deg) = (corner(), corner());
        let row = |cells: Vec<f64>| match *cells.as_slice() {
            [lat, west, _, _, loss_db] => Some(((lat, west), loss_db)),
            _ => None,
        };
        Self { west_deg, north_deg, rows: lines.filter_map(row).collect() }
    }

    /// The posts of the edge in the order in which SPLAT! sends rays to them.
    fn edge(&self, posts_per_deg: f64) -> Vec<Place> {
        let ([east, west], [south, north]) = (self.west_deg, self.north_deg);
        let posts = |low: f64, high: f64| (posts_per_deg * (high - low)).round() as usize;
        let across = (1..=posts(east, west)).map(|i| east + i as f64 / posts_per_deg);
        let down = (1..=posts(south, north)).map(|i| north - i as f64 / posts_per_deg);
        let up = (0..posts(south, north)).map(|i| south + i as f64 / posts_per_deg);
        let mut edge: Vec<Place> = across.clone().map(|west| (north, west)).collect();
        edge.extend(down.map(|lat| (lat, east)));
        edge.extend(across.map(|west| (south, west)));
        edge.extend(up.map(|lat| (lat, west)));
        edge
    }
}

/// The cells of the table at `path` with the rays they came from, and how many rows it has.
///
/// Rows stand in the order of the rays, so one pass over all samples finds them.
pub fn cells(path: &str, from: Place, posts_per_deg: f64) -> (Vec<Cell>, usize) {
    let table = Table::read(path);
    let near = |row: Place, sample: Place| {
        let off_meridian = (sample.1 - from.1).abs() > MERIDIAN_DEG;
        let near_deg = if off_meridian { NEAR_DEG } else { NEAR_MERIDIAN_DEG };
        (row.0 - sample.0).abs() < NEAR_DEG && (row.1 - sample.1).abs() < near_deg
    };
    let mut rows = table.rows.iter().peekable();
    let mut cells = Vec::with_capacity(table.rows.len());
    for edge in table.edge(posts_per_deg) {
        let ray = Ray::new(from, edge, posts_per_deg);
        let mut sample = 2;
        while sample as f64 * ray.step_m <= ray.length_m {
            let Some(&&(at, loss_db)) = rows.peek() else {
                break;
            };
            if near(at, ray.at(sample as f64 * ray.step_m)) {
                cells.push(Cell { loss_db, ray, sample });
                rows.next();
            }
            sample += 1;
        }
    }
    (cells, table.rows.len())
}
