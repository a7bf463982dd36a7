//! Positions of the posts of a raster.

use std::sync::OnceLock;

use groundwave_model::terrain::Projection;

/// Metres of an arc-second along a meridian, mean.
const ARC_SECOND_M: f64 = 30.87;

/// Spacing of the knots of a projection, deg; a quadratic between them errs below a millimetre.
const KNOTS_DEG: f64 = 0.04;

/// Most knots along an axis.
const KNOTS_MAX: usize = 1024;

/// Points along each edge that bound a projected raster.
const EDGE_POINTS: usize = 17;

/// Coordinates that posts are counted in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Frame {
    /// Latitude and longitude, deg.
    Geographic,
    /// Metres of a projection.
    Projected(Projection),
}

/// Grid of posts, rows from the north.
#[derive(Debug)]
pub(super) struct Grid {
    pub frame: Frame,
    pub rows: usize,
    pub columns: usize,
    /// Coordinates of the first post of the first row: eastwards, northwards.
    pub origin: [f64; 2],
    /// Distance between posts: eastwards, southwards.
    pub step: [f64; 2],
    /// None of a raster that is too large for them.
    knots: OnceLock<Option<Knots>>,
}

impl PartialEq for Grid {
    fn eq(&self, other: &Self) -> bool {
        (&self.frame, self.rows, self.columns, self.origin, self.step)
            == (&other.frame, other.rows, other.columns, other.origin, other.step)
    }
}

/// Longitude, or difference of longitudes, within [-180, 180), deg.
pub(in super::super) fn turned(degrees: f64) -> f64 {
    if (-180.0..180.0).contains(&degrees) {
        degrees
    } else {
        (degrees + 180.0).rem_euclid(360.0) - 180.0
    }
}

impl Grid {
    pub fn new(
        frame: Frame,
        [rows, columns]: [usize; 2],
        origin: [f64; 2],
        step: [f64; 2],
    ) -> Self {
        Self { frame, rows, columns, origin, step, knots: OnceLock::new() }
    }

    /// Coordinates of a row and a column: eastwards, northwards.
    fn coordinates(&self, row: f64, column: f64) -> [f64; 2] {
        [column * self.step[0] + self.origin[0], -row * self.step[1] + self.origin[1]]
    }

    /// Latitude and longitude, deg, of a row and a column.
    pub fn position(&self, row: f64, column: f64) -> [f64; 2] {
        let [east, north] = self.coordinates(row, column);
        match &self.frame {
            Frame::Geographic => [north, east],
            Frame::Projected(projection) => projection.unproject(east, north),
        }
    }

    /// Row and column, with fractions, of a position, deg.
    pub fn place(&self, lat_deg: f64, lon_deg: f64) -> [f64; 2] {
        let [east, north] = match &self.frame {
            Frame::Geographic => {
                let middle = (self.columns as f64 - 1.0) / 2.0 * self.step[0];
                let away = turned(lon_deg - self.origin[0] - middle);
                [self.origin[0] + middle + away, lat_deg]
            }
            Frame::Projected(projection) => {
                let knots = self.knots.get_or_init(|| Knots::new(projection, self.bounds_deg()));
                match knots {
                    Some(knots) => knots.project(lat_deg, lon_deg),
                    None => projection.project(lat_deg, lon_deg),
                }
            }
        };
        let row = (self.origin[1] - north) / self.step[1];
        [row, (east - self.origin[0]) / self.step[0]].map(snapped)
    }

    /// Edges of what the posts stand for and one post more: south, west, north, east, deg. The
    /// longitudes may lie outside [-180, 180).
    pub fn bounds_deg(&self) -> [f64; 4] {
        let (last_row, last_column) = (self.rows as f64, self.columns as f64);
        if self.frame == Frame::Geographic {
            let [west, north] = self.coordinates(-1.0, -1.0);
            let [east, south] = self.coordinates(last_row, last_column);
            return [south, west, north, east];
        }
        let mut bounds = [f64::INFINITY, f64::INFINITY, -f64::INFINITY, -f64::INFINITY];
        // An edge beyond the edge of the map says nothing about the posts inside.
        let mut is_open = false;
        for index in 0..EDGE_POINTS {
            let share = index as f64 / (EDGE_POINTS as f64 - 1.0);
            let (row, column) = (share * (last_row + 1.0) - 1.0, share * (last_column + 1.0) - 1.0);
            for place in [[-1.0, column], [last_row, column], [row, -1.0], [row, last_column]] {
                let [lat, lon] = self.position(place[0], place[1]);
                is_open |= !(lat.is_finite() && lon.is_finite());
                bounds[0] = bounds[0].min(lat);
                bounds[1] = bounds[1].min(lon);
                bounds[2] = bounds[2].max(lat);
                bounds[3] = bounds[3].max(lon);
            }
        }
        // Edges are curved: the outermost point may lie between two of those above.
        let [south, west, north, east] = bounds;
        if is_open {
            return [-91.0, -181.0, 91.0, 181.0];
        }
        let room = ((north - south) + (east - west)) / EDGE_POINTS.pow(2) as f64;
        [south - room, west - room, north + room, east + room]
    }

    /// Spacing of the posts on the ground, the larger of both ways, in arc-seconds of latitude.
    pub fn resolution_arcsec(&self) -> f64 {
        let arcsec = match self.frame {
            Frame::Geographic => {
                let [lat, _] = self.position(self.rows as f64 / 2.0, 0.0);
                let narrow = lat.to_radians().cos().max(0.0);
                self.step[1].max(self.step[0] * narrow) * 3600.0
            }
            Frame::Projected(ref projection) => {
                let [lat, _] = self.position(self.rows as f64 / 2.0, self.columns as f64 / 2.0);
                let ground_m = if lat.is_finite() { projection.ground_m(lat) } else { 1.0 };
                self.step[0].max(self.step[1]) * ground_m / ARC_SECOND_M
            }
        };
        // Steps of 1/3600 degree are not exact.
        (arcsec * 1e6).round() / 1e6
    }
}

/// A place within a hundred-thousandth of a post is at the post: its neighbours do not matter.
fn snapped(place: f64) -> f64 {
    let whole = place.round();
    if (place - whole).abs() < 1e-5 { whole } else { place }
}

/// Projected coordinates at knots of latitude and longitude, and quadratics between them.
#[derive(Debug)]
struct Knots {
    south_deg: f64,
    middle_deg: f64,
    half_deg: f64,
    step_deg: [f64; 2],
    columns: usize,
    rows: usize,
    /// Easting and northing, m, row by row from the south.
    values: Vec<[f64; 2]>,
}

impl Knots {
    /// Knots over an area, deg; `None` where they would be too many.
    fn new(projection: &Projection, [south, west, north, east]: [f64; 4]) -> Option<Self> {
        let count = |size: f64| (((size / KNOTS_DEG).ceil() as usize) + 1).max(3);
        let (rows, columns) = (count(north - south), count(east - west));
        if rows > KNOTS_MAX || columns > KNOTS_MAX {
            return None;
        }
        let step = [(north - south) / (rows as f64 - 1.0), (east - west) / (columns as f64 - 1.0)];
        let value = |index: usize| {
            let (row, column) = ((index / columns) as f64, (index % columns) as f64);
            projection.project(south + row * step[0], west + column * step[1])
        };
        Some(Self {
            south_deg: south,
            middle_deg: west.midpoint(east),
            half_deg: (east - west) / 2.0,
            step_deg: step,
            columns,
            rows,
            values: (0..rows * columns).map(value).collect(),
        })
    }

    /// Easting and northing, m; of a position far off, those of no post of the raster.
    fn project(&self, lat_deg: f64, lon_deg: f64) -> [f64; 2] {
        let y = (lat_deg - self.south_deg) / self.step_deg[0];
        let x = (turned(lon_deg - self.middle_deg) + self.half_deg) / self.step_deg[1];
        let (last_row, last_column) = ((self.rows - 1) as f64, (self.columns - 1) as f64);
        if !((-0.5..=last_row + 0.5).contains(&y) && (-0.5..=last_column + 0.5).contains(&x)) {
            return [f64::INFINITY; 2];
        }
        let (row, column) = (
            (y.round() as usize).clamp(1, self.rows - 2),
            (x.round() as usize).clamp(1, self.columns - 2),
        );
        let (down, across) = (weights(y - row as f64), weights(x - column as f64));
        let mut sum = [0.0; 2];
        for (up, weight) in down.into_iter().enumerate() {
            let start = (row + up - 1) * self.columns + column - 1;
            let three = &self.values[start..start + 3];
            for axis in 0..2 {
                let along = across[0] * three[0][axis]
                    + across[1] * three[1][axis]
                    + across[2] * three[2][axis];
                sum[axis] += weight * along;
            }
        }
        sum
    }
}

/// Weights of three knots at -1, 0 and 1 for a position between.
fn weights(at: f64) -> [f64; 3] {
    [at * (at - 1.0) / 2.0, 1.0 - at * at, at * (at + 1.0) / 2.0]
}

#[cfg(test)]
mod tests {
    use groundwave_model::terrain::Utm;

    use super::*;

    #[test]
    fn quadratics_between_knots_err_below_a_centimetre() {
        // 50 km square of zone 32 at 69 degrees north, 10 m posts.
        let utm = Utm::zone(32, false);
        let frame = Frame::Projected(Projection::Utm(utm.clone()));
        let grid = Grid::new(frame, [5_000; 2], [600_000.0, 7_700_000.0], [10.0; 2]);
        for index in 0..500 {
            let (row, column) = (f64::from(index * 37 % 5_000), f64::from(index * 911 % 5_000));
            let [lat, lon] = grid.position(row, column);
            let [found_row, found_column] = grid.place(lat + 1e-5, lon + 2e-5);
            let [east, north] = utm.project(lat + 1e-5, lon + 2e-5);
            assert!((found_row - (7_700_000.0 - north) / 10.0).abs() < 1e-3, "{found_row}");
            assert!((found_column - (east - 600_000.0) / 10.0).abs() < 1e-3, "{found_column}");
        }
        assert!(grid.place(-60.0, 9.0)[0].is_infinite());
        assert!((grid.resolution_arcsec() - 10.0 / 30.87).abs() < 1e-6);
    }

    #[test]
    fn bounds_hold_every_post() {
        let frame = Frame::Projected(Projection::Utm(Utm::zone(60, false)));
        let grid = Grid::new(frame, [1_000; 2], [790_000.0, 1_500_000.0], [100.0; 2]);
        let [south, west, north, east] = grid.bounds_deg();
        assert!(east > 180.0 && west < 180.0, "{west} to {east}");
        for index in 0..2_000 {
            let (row, column) = (f64::from(index * 37 % 1_000), f64::from(index * 911 % 1_000));
            for [row, column] in [[0.0, column], [999.0, column], [row, 0.0], [row, 999.0]] {
                let [lat, lon] = grid.position(row, column);
                assert!((south..north).contains(&lat) && (west..east).contains(&lon));
                // The same position, wrapped.
                let lon = turned(lon);
                let place = grid.place(lat, lon);
                assert!((place[0] - row).abs() < 1e-3 && (place[1] - column).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn rasters_of_a_continent_and_of_the_world_have_their_posts() {
        // The world in Mollweide's projection: its corners are off the map.
        let world = Frame::Projected(Projection::Mollweide);
        let world = Grid::new(world, [180, 360], [-17.95e6, 8.95e6], [1e5; 2]);
        assert_eq!(world.bounds_deg(), [-91.0, -181.0, 91.0, 181.0]);
        let [row, column] = world.place(57.7, 11.9);
        let [lat, lon] = world.position(row, column);
        assert!((lat - 57.7).abs() < 1e-9 && (lon - 11.9).abs() < 1e-9, "{lat} {lon}");
        // Web Mercator at 60 degrees: posts are half as far apart on the ground.
        let web = Frame::Projected(Projection::WebMercator);
        let web = Grid::new(web, [3, 3], [1.2e6, 8_399_737.9], [30.0; 2]);
        assert!((web.resolution_arcsec() - 15.0 / 30.87).abs() < 1e-3, "{web:?}");
        let [row, column] = web.place(60.0, web.position(1.0, 1.0)[1]);
        assert!(row.abs() < 0.01 && (column - 1.0).abs() < 1e-6, "{row} {column}");
    }

    #[test]
    fn geographic_grids_wrap_and_give_their_spacing() {
        let third = 1.0 / 3600.0;
        let grid = Grid::new(Frame::Geographic, [3600, 1800], [179.0, 62.0], [third * 2.0, third]);
        assert_eq!(grid.place(61.5, 179.5), [1800.0, 900.0]);
        assert_eq!(grid.place(61.5, -180.5), [1800.0, 900.0]);
        assert_eq!(grid.resolution_arcsec(), 1.0);
        let [row, column] = grid.place(62.0 - third / 4.0, -178.999);
        assert!((row - 0.25).abs() < 1e-9 && column > 1800.0);
    }
}
