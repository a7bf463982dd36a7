//! A whole map: title, layer on hillshade, graticule, scale bar, legend, sites, source.

use super::super::geometry::{GridGeometry, METRES_PER_DEGREE};
use super::super::grid::Grid;
use super::super::site::Site;
use super::canvas::Canvas;
use super::font::{Anchor, Font};
use super::key::{KEY, lying};
use super::legend::Legend;
use super::overlay::WorldFile;
use super::scale::{degrees, length, multiples, round_step};
use super::style::Style;
use super::{ground, marks, paper};

/// What a map shows.
#[derive(Debug, Clone, Copy)]
pub struct Map<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading; may be empty.
    pub subtitle: &'a str,
    /// The layer; the map covers its area. [`Grid::reduce`] makes one of fitting size.
    pub layer: &'a Grid,
    /// Its colours.
    pub style: &'a Style,
    /// What a cell without a value means, e.g. `beyond 20 km`.
    pub no_data: &'a str,
    /// Heights (m) of at least the same area, for hillshade.
    pub elevation: Option<&'a Grid>,
    /// Sites to mark.
    pub sites: &'a [Site],
    /// Where the data come from; may be empty.
    pub credit: &'a str,
}

/// A drawn map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapPicture {
    /// The picture.
    pub canvas: Canvas,
    /// Where it lies, margins included.
    pub world: WorldFile,
}

/// Room around the frame (px): left, top, right, bottom.
const MARGIN: [u32; 4] = [84, 84, 232, 74];

/// Least width of a panel (px): that of its key.
const PANEL_WIDTH: u32 = 240;

/// Sides of the frame (px): below these a map cannot be read, or is a poster.
const SIDE_PX: [u32; 2] = [200, 8000];

impl Map<'_> {
    /// Draws the map with the longer side of its frame `side_px` long, within [200, 8000].
    #[must_use]
    pub fn draw(&self, side_px: u32) -> MapPicture {
        let frame = frame(
            self.layer.geometry,
            [side_px.clamp(SIDE_PX[0], SIDE_PX[1]); 2],
        );
        let [left, top, right, bottom] = MARGIN;
        let legend = self.legend().draw(right - 56);
        let inner = frame.rows.max(legend.height());
        let size = [left + frame.cols + right, top + inner + bottom];
        let mut canvas = Canvas::new(size[0], size[1], paper::PAGE);
        let origin = [i64::from(left), i64::from(top)];
        canvas.paste(&self.ground(frame, 0.3), origin);
        graticule(&mut canvas, origin, frame);
        let bar = scale_bar(&mut canvas, origin, frame);
        let names = Some(&[bar][..]);
        marks::draw(&mut canvas, origin, frame, self.sites, self.style, names);
        canvas.frame(
            [origin[0] - 1, origin[1] - 1],
            [i64::from(frame.cols) + 2, i64::from(frame.rows) + 2],
            paper::INK,
        );
        canvas.paste(&legend, [i64::from(left + frame.cols) + 28, origin[1]]);
        self.words(&mut canvas);
        MapPicture {
            canvas,
            world: WorldFile::new(frame, [left, top]),
        }
    }

    /// Draws the layer into a frame, the coast as dark as `coast` in [0, 1].
    fn ground(&self, frame: GridGeometry, coast: f64) -> Canvas {
        ground::draw(self.layer, self.style, self.elevation, frame, coast)
    }

    /// Draws the layer alone into a small picture of at most this size, its key below it.
    #[must_use]
    pub fn panel(&self, size_px: [u32; 2]) -> Canvas {
        let [width, height] = size_px.map(|side| side.clamp(PANEL_WIDTH, SIDE_PX[1]));
        let frame = frame(self.layer.geometry, [width, height - KEY]);
        let mut canvas = Canvas::new(frame.cols.max(PANEL_WIDTH), frame.rows + KEY, paper::PAGE);
        let origin = [0, 0];
        canvas.paste(&self.ground(frame, 0.12), origin);
        marks::draw(&mut canvas, origin, frame, self.sites, self.style, None);
        canvas.frame(
            origin,
            [i64::from(frame.cols), i64::from(frame.rows)],
            paper::INK,
        );
        lying(&self.legend(), &mut canvas, i64::from(frame.rows) + 8);
        canvas
    }

    fn legend(&self) -> Legend<'_> {
        let has = |grid: &Grid| grid.cells.iter().any(|v| v.is_nan());
        Legend {
            style: self.style,
            range: self.layer.range(),
            no_data: has(self.layer)
                .then_some(self.no_data)
                .filter(|text| !text.is_empty()),
            has_voids: self.elevation.is_some_and(has),
            has_sites: !self.sites.is_empty(),
        }
    }

    /// Heading and source.
    fn words(&self, canvas: &mut Canvas) {
        let (left, room) = (
            f64::from(MARGIN[0]),
            f64::from(canvas.width() - MARGIN[0]) - 24.0,
        );
        let title = Font::plain(25.0, paper::INK).bold();
        title.draw(
            canvas,
            [left, 40.0],
            Anchor::Start,
            &title.fit(self.title, room),
        );
        let small = Font::plain(15.0, paper::SOFT);
        small.draw(
            canvas,
            [left, 66.0],
            Anchor::Start,
            &small.fit(self.subtitle, room),
        );
        let foot = Font::plain(12.0, paper::SOFT);
        let y = f64::from(canvas.height()) - 18.0;
        foot.draw(
            canvas,
            [left, y],
            Anchor::Start,
            &foot.fit(self.credit, room),
        );
    }
}

/// The area of a raster as pixels that are as wide as high on the ground, in a box of this size.
fn frame(area: GridGeometry, [width, height]: [u32; 2]) -> GridGeometry {
    let wide = f64::from(area.cols) * area.cell_lon_deg;
    let high = f64::from(area.rows) * area.cell_lat_deg;
    let shape = wide * area.squeeze() / high;
    let [max_cols, max_rows] = [f64::from(width), f64::from(height)];
    let cols = max_cols.min(max_rows * shape).round().max(1.0);
    let rows = (cols / shape).round().clamp(1.0, max_rows);
    GridGeometry {
        cell_lon_deg: wide / cols,
        cell_lat_deg: high / rows,
        cols: cols as u32,
        rows: rows as u32,
        ..area
    }
}

/// Faint lines at round degrees, labelled at the left and below.
fn graticule(canvas: &mut Canvas, [left, top]: [i64; 2], frame: GridGeometry) {
    let (cols, rows) = (i64::from(frame.cols), i64::from(frame.rows));
    let font = Font::plain(12.5, paper::SOFT);
    let line = [20, 28, 38, 34];
    let span = frame.north_deg - frame.south_deg();
    let step = round_step(span, (rows as f64 / 110.0).clamp(1.0, 8.0));
    for lat_deg in multiples(frame.south_deg(), frame.north_deg, step) {
        let y = (frame.at(lat_deg, frame.west_deg)[1].round() as i64).clamp(0, rows - 1);
        canvas.fill([left, top + y], [cols, 1], line);
        canvas.fill([left - 6, top + y], [5, 1], paper::INK);
        let label = degrees(lat_deg, step, ["N", "S"]);
        font.draw(
            canvas,
            [left as f64 - 10.0, (top + y) as f64 + 4.5],
            Anchor::End,
            &label,
        );
    }
    let span = frame.east_deg() - frame.west_deg;
    let step = round_step(span, (cols as f64 / 130.0).clamp(1.0, 8.0));
    for lon_deg in multiples(frame.west_deg, frame.east_deg(), step) {
        let x = ((lon_deg - frame.west_deg) / frame.cell_lon_deg).round() as i64;
        let x = x.clamp(0, cols - 1);
        canvas.fill([left + x, top], [1, rows], line);
        canvas.fill([left + x, top + rows + 1], [1, 5], paper::INK);
        let shown_deg = if lon_deg > 180.0 {
            lon_deg - 360.0
        } else {
            lon_deg
        };
        let label = degrees(shown_deg, step, ["E", "W"]);
        font.draw(
            canvas,
            [(left + x) as f64, (top + rows) as f64 + 20.0],
            Anchor::Middle,
            &label,
        );
    }
}

/// A round length, true at the middle of the map. Returns the area that it takes.
fn scale_bar(canvas: &mut Canvas, [left, top]: [i64; 2], frame: GridGeometry) -> [[f64; 2]; 2] {
    let metres_per_px = frame.cell_lon_deg * frame.squeeze() * METRES_PER_DEGREE;
    let room = f64::from(frame.cols) * 0.25;
    // The longest of the series that is no longer than the room.
    let bar_m = [5.0, 2.0, 1.0]
        .into_iter()
        .map(|n| n * 10_f64.powf((room * metres_per_px).log10().floor()));
    let bar_m = bar_m
        .into_iter()
        .find(|&m| m <= room * metres_per_px)
        .unwrap_or(1.0);
    let width = bar_m / metres_per_px;
    let [x, y] = [
        left as f64 + 20.0,
        (top + i64::from(frame.rows)) as f64 - 20.0,
    ];
    let bar = [
        [[x, y], [x + width, y]],
        [[x, y - 5.0], [x, y]],
        [[x + width, y - 5.0], [x + width, y]],
    ];
    canvas.stroke(&bar, 6.0, paper::HALO);
    canvas.stroke(&bar, 2.2, paper::INK);
    let font = Font::plain(13.0, paper::INK).bold().with_halo(paper::HALO);
    font.draw(
        canvas,
        [x + width / 2.0, y - 9.0],
        Anchor::Middle,
        &length(bar_m),
    );
    [[x - 4.0, y - 24.0], [x + width + 4.0, y + 4.0]]
}
