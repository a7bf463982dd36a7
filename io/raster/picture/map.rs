//! Maps: title, layer on hillshade, graticule, scale bar, legend, sites, credit.

use std::borrow::Cow;

use super::super::contour::Line;
use super::super::geometry::{GridGeometry, METRES_PER_DEGREE};
use super::super::grid::Grid;
use super::super::site::Site;
use super::ground;
use super::key::{self, KEY};
use super::legend::Legend;
use super::overlay::WorldFile;
use super::relief::{LitTerrain, Relief};
use super::style::Style;
use super::{marks, paper};
use crate::scene::labels::Rect;
use crate::scene::scale::{number, ticks, trimmed};
use crate::scene::svg::{Anchor, Canvas, Font, Point};
use crate::scene::{Bitmap, PictureError};

/// Content of a map.
#[derive(Debug, Clone, Copy)]
pub struct Map<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading; may be empty.
    pub subtitle: &'a str,
    /// The layer; the map covers its area. [`Grid::reduce`] makes one of fitting size.
    pub layer: &'a Grid,
    /// Colours and legend.
    pub style: &'a Style,
    /// Label of cells within the computed area that have no colour, e.g. `not covered`.
    pub no_data: &'a str,
    /// A layer that is NaN where nothing was computed, and the label of that area; without it all
    /// cells without a value have the label `no_data`.
    pub outside: Option<(&'a Grid, &'a str)>,
    /// Line along which a threshold is passed, if it is drawn.
    pub threshold: Option<Threshold<'a>>,
    /// Terrain of at least the same area, for hillshade.
    pub terrain: Option<&'a LitTerrain>,
    /// The same as [`Map::relief`] made it, where several maps of an area share it.
    pub relief: Option<&'a Relief>,
    /// Sites to mark.
    pub sites: &'a [Site],
    /// Facts on the data below the map, a paragraph each: model, transmitters, receiver.
    pub facts: &'a [String],
    /// Source of the data; may be empty.
    pub credit: &'a str,
}

/// A line along which a threshold is passed.
#[derive(Debug, Clone, Copy)]
pub struct Threshold<'a> {
    /// Longitudes and latitudes (degrees), as [`contour_lines`](crate::geojson::contour_lines) has them.
    pub lines: &'a [Line],
    /// Label in the legend, e.g. `covered from 6 dB`.
    pub label: &'a str,
}

/// A drawn map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapPicture {
    /// The picture.
    pub bitmap: Bitmap,
    /// Georeference of the picture, margins included.
    pub world: WorldFile,
}

/// Margins around the frame (px): left, top, right, bottom.
const MARGIN: [u32; 4] = [84, 84, 232, 74];

/// Lines of facts and credit that fit below the labels of the frame; more make the picture higher.
const CREDIT_LINES: usize = 3;

/// Height of a line of the credit, px.
const CREDIT_PITCH: u32 = 14;

const CREDIT: Font = Font::plain(11.0, paper::SOFT_SVG);
const FACT: Font = Font::plain(11.0, paper::INK_SVG);

/// Least width of a panel (px): that of its key.
const PANEL_WIDTH: u32 = 240;

/// Height in which the legend lists categories in any frame, px.
const LEGEND_HEIGHT_MIN: f64 = 480.0;

/// Shortest extent of a line that is drawn, px: isolated cells have their colour and need no outline.
const LINE_EXTENT_MIN: f64 = 6.0;

/// Least and largest side of the frame (px).
const SIDE_PX: [u32; 2] = [200, 8000];

impl Map<'_> {
    /// The terrain under maps of `area` whose frames are `side_px` long.
    #[must_use]
    pub fn relief(area: GridGeometry, terrain: Option<&LitTerrain>, side_px: u32) -> Relief {
        let side_px = side_px.clamp(SIDE_PX[0], SIDE_PX[1]);
        Relief::new(terrain, frame(area, [side_px; 2]))
    }

    /// Draws the map with the longer side of its frame `side_px` long, within [200, 8000].
    ///
    /// # Errors
    /// When the picture cannot be rendered.
    pub fn draw(&self, side_px: u32) -> Result<MapPicture, PictureError> {
        let side_px = side_px.clamp(SIDE_PX[0], SIDE_PX[1]);
        let frame = frame(self.layer.geometry, [side_px; 2]);
        let [left, top, right, bottom] = MARGIN;
        let relief = match self.relief.filter(|relief| relief.frame() == frame) {
            Some(relief) => Cow::Borrowed(relief),
            None => Cow::Owned(Relief::new(self.terrain, frame)),
        };
        let mut legend = self.legend(&relief);
        legend.height_max = f64::from(frame.rows).max(LEGEND_HEIGHT_MIN);
        let legend_width = f64::from(right - 56);
        let inner = frame.rows.max(legend.height(legend_width) as u32);
        let width = left + frame.cols + right;
        let footer = self.footer(f64::from(width));
        let more = footer.len().saturating_sub(CREDIT_LINES) as u32;
        let height = top + inner + bottom + more * CREDIT_PITCH;
        let mut bitmap = Bitmap::new(width, height, paper::PAGE);
        self.ground(&mut bitmap, [left, top], &relief, 0.3);
        let size = [width, height].map(f64::from);
        let mut canvas = Canvas::new(size, self.title, self.subtitle);
        let origin = [left, top].map(f64::from);
        graticule(&mut canvas, origin, frame);
        self.threshold(&mut canvas, origin, frame, 1.0);
        let obstacles = Some(vec![scale_bar(&mut canvas, origin, frame)]);
        marks::draw(&mut canvas, origin, frame, self.sites, self.style, obstacles);
        outline(&mut canvas, [origin[0] - 0.5, origin[1] - 0.5], frame, 1.0);
        let corner = [origin[0] + f64::from(frame.cols) + 28.0, origin[1]];
        legend.draw(&mut canvas, corner, legend_width);
        self.texts(&mut canvas, size, &footer);
        bitmap.draw(&canvas.finish())?;
        let world = WorldFile::new(frame, [left, top]);
        Ok(MapPicture { bitmap, world })
    }

    /// Draws the layer alone into a small picture of at most this size, with a legend below it.
    ///
    /// # Errors
    /// When the picture cannot be rendered.
    pub fn panel(&self, size_px: [u32; 2]) -> Result<Bitmap, PictureError> {
        let [width, height] = size_px.map(|side| side.clamp(PANEL_WIDTH, SIDE_PX[1]));
        let frame = frame(self.layer.geometry, [width, height - KEY]);
        let [width, height] = [frame.cols.max(PANEL_WIDTH), frame.rows + KEY];
        let mut bitmap = Bitmap::new(width, height, paper::PAGE);
        let relief = Relief::new(self.terrain, frame);
        self.ground(&mut bitmap, [0, 0], &relief, 0.12);
        let mut canvas = Canvas::new([width, height].map(f64::from), self.title, self.subtitle);
        self.threshold(&mut canvas, [0.0, 0.0], frame, 0.6);
        marks::draw(&mut canvas, [0.0, 0.0], frame, self.sites, self.style, None);
        outline(&mut canvas, [0.5, 0.5], frame, -1.0);
        let top = f64::from(frame.rows) + 8.0;
        key::draw(&self.legend(&relief), &mut canvas, f64::from(width), top);
        bitmap.draw(&canvas.finish())?;
        Ok(bitmap)
    }

    /// Draws the layer into a frame, its coastline with opacity `coast` in [0, 1].
    fn ground(&self, bitmap: &mut Bitmap, origin: [u32; 2], relief: &Relief, coast: f64) {
        let computed = self.outside.map(|(computed, _)| computed);
        ground::draw(bitmap, origin, self.layer, self.style, relief, computed, coast);
    }

    /// Draws the line of the threshold, `width` times as wide as usual.
    fn threshold(&self, canvas: &mut Canvas, origin: Point, frame: GridGeometry, width: f64) {
        for line in self.threshold.iter().flat_map(|threshold| threshold.lines) {
            let point = |&[lon_deg, lat_deg]: &[f64; 2]| {
                let [x, y] = frame.at(lat_deg, lon_deg);
                [x + origin[0], y + origin[1]]
            };
            let points: Vec<Point> = line.iter().map(point).collect();
            let extent = |axis: usize| {
                let values = points.iter().map(|point| point[axis]);
                let start = [f64::INFINITY, f64::NEG_INFINITY];
                let [low, high] =
                    values.fold(start, |[low, high], value| [value.min(low), value.max(high)]);
                high - low
            };
            if extent(0).max(extent(1)) >= LINE_EXTENT_MIN {
                marks::threshold(canvas, &points, width);
            }
        }
    }

    fn legend(&self, relief: &Relief) -> Legend<'_> {
        let has_gaps = |grid: &Grid| grid.cells.iter().any(|v| v.is_nan());
        let has_bare = match self.outside {
            None => has_gaps(self.layer),
            Some((computed, _)) => {
                let mut cells = self.layer.cells.iter().zip(&computed.cells);
                cells.any(|(&value, computed_value)| {
                    !computed_value.is_nan() && !self.style.shows(value)
                })
            }
        };
        Legend {
            range: self.style.range_of(self.layer),
            no_data: has_bare.then_some(self.no_data).filter(|text| !text.is_empty()),
            outside: self
                .outside
                .filter(|(computed, _)| has_gaps(computed))
                .map(|(_, label)| label),
            has_voids: relief.has_voids(),
            threshold: self.threshold.map(|threshold| threshold.label),
            has_sites: self.sites.iter().any(|site| site.sector.is_none()),
            has_sectors: self.sites.iter().any(|site| site.sector.is_some()),
            ..Legend::new(self.style)
        }
    }

    /// Title, subtitle and credit.
    fn texts(&self, canvas: &mut Canvas, [width, height]: Point, footer: &[(Font, String)]) {
        let left = f64::from(MARGIN[0]);
        let mut text = |class: &str, y: f64, font: Font, text: &str| {
            canvas.text(class, [left, y], font, &font.fit(text, width - left - 24.0));
        };
        text("title", 40.0, Font::plain(23.0, paper::INK_SVG).bold(), self.title);
        text("subtitle", 66.0, Font::plain(14.0, paper::SOFT_SVG), self.subtitle);
        for (index, (font, line)) in footer.iter().rev().enumerate() {
            let up = f64::from(CREDIT_PITCH) * index as f64;
            text("credit", height - 12.0 - up, *font, line);
        }
    }

    /// Facts and credit, which are never cut, in lines of a picture of this width.
    fn footer(&self, width: f64) -> Vec<(Font, String)> {
        let wrap = |font: Font, text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let lines = font.wrap(&words, " ", width - f64::from(MARGIN[0]) - 24.0);
            lines.into_iter().map(move |line| (font, line))
        };
        let facts = self.facts.iter().flat_map(|fact| wrap(FACT, fact));
        facts.chain(wrap(CREDIT, self.credit)).collect()
    }
}

/// Draws the outline of a frame, `wider` px wider than it.
fn outline(canvas: &mut Canvas, corner: Point, frame: GridGeometry, wider: f64) {
    let size = [frame.cols, frame.rows].map(|side| f64::from(side) + wider);
    canvas.rect("outline", corner, size, &paper::frame(paper::INK_SVG));
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
fn graticule(canvas: &mut Canvas, [left, top]: Point, frame: GridGeometry) {
    let (width, height) = (f64::from(frame.cols), f64::from(frame.rows));
    let font = Font::plain(11.5, paper::SOFT_SVG);
    let line = "stroke=\"#141c26\" stroke-opacity=\"0.13\"";
    let tick = format!("stroke=\"{}\"", paper::INK_SVG);
    let count = |length: f64, pitch: f64| (length / pitch).clamp(1.0, 8.0) as u32;
    let lats = ticks(frame.south_deg(), frame.north_deg, count(height, 110.0));
    for &lat_deg in &lats.values {
        let row = frame.at(lat_deg, frame.west_deg)[1].round();
        let y = top + row.clamp(0.0, height - 1.0) + 0.5;
        canvas.line("graticule", [left, y], [left + width, y], line);
        canvas.line("tick", [left - 6.0, y], [left - 1.0, y], &tick);
        let label = degrees(lat_deg, lats.decimals, ["N", "S"]);
        canvas.text("tick", [left - 10.0, y + 4.0], font.anchored(Anchor::End), &label);
    }
    let lons = ticks(frame.west_deg, frame.east_deg(), count(width, 130.0));
    for &lon_deg in &lons.values {
        let col = ((lon_deg - frame.west_deg) / frame.cell_lon_deg).round();
        let x = left + col.clamp(0.0, width - 1.0) + 0.5;
        let bottom = top + height;
        canvas.line("graticule", [x, top], [x, bottom], line);
        canvas.line("tick", [x, bottom + 1.0], [x, bottom + 6.0], &tick);
        let wrapped_deg = if lon_deg > 180.0 { lon_deg - 360.0 } else { lon_deg };
        let label = degrees(wrapped_deg, lons.decimals, ["E", "W"]);
        canvas.text("tick", [x, bottom + 20.0], font.anchored(Anchor::Middle), &label);
    }
}

/// A latitude or longitude with its hemisphere.
fn degrees(value_deg: f64, decimals: usize, hemispheres: [&str; 2]) -> String {
    let hemisphere = hemispheres[usize::from(value_deg < 0.0)];
    format!("{}°{hemisphere}", number(value_deg.abs(), decimals))
}

/// A scale bar of a round length, true at the middle of the map. Returns its area.
fn scale_bar(canvas: &mut Canvas, [left, top]: Point, frame: GridGeometry) -> Rect {
    let metres_per_px = frame.cell_lon_deg * frame.squeeze() * METRES_PER_DEGREE;
    let longest_m = f64::from(frame.cols) * 0.25 * metres_per_px;
    let bar_m = [5.0, 2.0, 1.0]
        .map(|n| n * 10_f64.powf(longest_m.log10().floor()))
        .into_iter()
        .find(|&m| m <= longest_m)
        .unwrap_or(1.0);
    let width = bar_m / metres_per_px;
    let [x, y] = [left + 20.0, top + f64::from(frame.rows) - 20.0];
    let bar = [[x, y - 5.0], [x, y], [x + width, y], [x + width, y - 5.0]];
    for (colour, stroke) in [(paper::PAGE_SVG, 6.0), (paper::INK_SVG, 2.2)] {
        let style =
            format!("stroke=\"{colour}\" stroke-width=\"{stroke}\" stroke-linecap=\"round\"");
        canvas.polyline("scale-bar", &bar, &style);
    }
    let font = Font::plain(12.0, paper::INK_SVG).bold().over(paper::PAGE_SVG);
    let label = if bar_m >= 1000.0 {
        format!("{} km", trimmed(bar_m / 1000.0, 3))
    } else {
        format!("{} m", trimmed(bar_m, 3))
    };
    let middle = [x + width / 2.0, y - 9.0];
    canvas.text("scale-bar", middle, font.anchored(Anchor::Middle), &label);
    let label_width = font.width(&label).max(width);
    Rect {
        corner: [middle[0] - label_width / 2.0 - 4.0, y - 24.0],
        size: [label_width + 8.0, 28.0],
    }
}
