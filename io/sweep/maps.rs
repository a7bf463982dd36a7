//! Maps for people, overlays for a globe, outlines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use groundwave_model::sweep::Variant;
use groundwave_model::terrain::Terrain;
use groundwave_raster::geojson::{
    Levels, Line, contour_lines, write_contours, write_lines, write_sites,
};
use groundwave_raster::kmz::{Overlay, write_kmz_of};
use groundwave_raster::picture::{
    LitTerrain, Map, Relief, Scale, Spread, Style, Threshold, WorldFile, coloured, qgis_style,
    write_encoded, write_png,
};
use groundwave_raster::scene::{Bitmap, PictureError};
use groundwave_raster::{Grid, GridGeometry, RasterError, Site, write_whole};
use groundwave_scenario::MapLayer;
use rayon::prelude::*;

use super::contact_sheet::Panels;
use super::drawing::map_layer;
use super::fold_tile::Layer;
use super::interference::Air;
use super::map_styles::{is_strength, map_of, shown, style};
use super::overview::map_level;
use super::plan::Plan;
use super::product::{Job, Product, Wanted, product};
use super::rasters::{SiteMargin, raster_of};
use super::work::SweepError;

/// Longer side of a map's frame, px.
const MAP_SIDE_PX: u32 = 1400;

/// Sides of a panel of the contact sheet, px.
const PANEL_PX: [u32; 2] = [460, 460];

/// The ground of all maps.
pub(super) struct Ground {
    /// Heights, at the size of a map; `None` when there are none at all.
    terrain: Option<LitTerrain>,
    relief: Relief,
}

/// Reads and shades the ground under the raster, where a product shows it.
pub(super) fn ground(plan: &Plan, terrain: &dyn Terrain, wanted: &Wanted) -> Ground {
    let whole = plan.grid.geometry();
    let area = whole.reduced(1 << map_level(&whole));
    if wanted.shows_terrain() {
        return ground_of(area, terrain);
    }
    Ground { relief: Map::relief(area, None, MAP_SIDE_PX), terrain: None }
}

fn ground_of(area: GridGeometry, terrain: &dyn Terrain) -> Ground {
    let terrain = elevation(area, terrain).map(LitTerrain::new);
    Ground { relief: Map::relief(area, terrain.as_ref(), MAP_SIDE_PX), terrain }
}

fn elevation(geometry: GridGeometry, terrain: &dyn Terrain) -> Option<Grid> {
    let cols = geometry.cols as usize;
    let lon_deg: Vec<f64> = (0..geometry.cols).map(|col| geometry.lon_deg(col)).collect();
    let mut cells = vec![f32::NAN; cols * geometry.rows as usize];
    // A degree at a time: a row across all tiles would need all of them at once.
    let mut left = 0;
    for lon_deg in lon_deg.chunk_by(|one, next| one.floor() == next.floor()) {
        let rows = cells.par_chunks_mut(cols).zip(0..geometry.rows);
        rows.for_each_init(
            || vec![f64::NAN; lon_deg.len()],
            |row_cells, (out, row)| {
                let lat_deg = vec![geometry.lat_deg(row).clamp(-90.0, 90.0); lon_deg.len()];
                terrain.sample(&lat_deg, lon_deg, row_cells);
                for (out, &height_m) in out[left..].iter_mut().zip(&*row_cells) {
                    *out = height_m as f32;
                }
            },
        );
        left += lon_deg.len();
    }
    let grid = Grid::new(geometry, cells).ok()?;
    // Level ground has no relief; unknown ground is shown as such.
    let is_level = grid.range().is_some_and(|[low, high]| low == high);
    let has_voids = grid.cells.iter().any(|height_m| height_m.is_nan());
    (!is_level || has_voids).then_some(grid)
}

/// Source of the maps of a variant.
#[derive(Clone, Copy)]
pub(super) struct Drawing<'a> {
    pub plan: &'a Plan,
    pub variant: &'a Variant,
    pub folder: &'a Path,
    pub wanted: &'a Wanted,
    pub marks: &'a [Site],
    pub ground: &'a Ground,
    /// Spreads of the layers whose scales come from the data.
    pub spreads: &'a Spreads,
    /// Model, transmitters and receiver, in paragraphs.
    pub facts: &'a [String],
    /// Sources of the terrain, and what was assumed.
    pub credit: &'a str,
}

/// Values of the layers whose scales come from the data.
#[derive(Default)]
pub(super) struct Spreads(BTreeMap<MapLayer, Spread>);

impl Spreads {
    /// Counts the layers of a variant.
    pub fn add(&mut self, wanted: &Wanted, grids: &[(Layer, Grid)]) {
        for (layer, grid) in grids {
            self.count(wanted, *layer, grid);
        }
    }

    fn count(&mut self, wanted: &Wanted, layer: Layer, grid: &Grid) {
        if wanted.is_auto(layer) {
            let layer = map_layer(layer).expect("a layer with a scale");
            self.0.entry(layer).or_default().add(grid);
        }
    }

    /// Percentiles of a layer; `None` without values.
    fn of(&self, layer: MapLayer) -> Option<[f64; 2]> {
        self.0.get(&layer)?.percentiles()
    }
}

/// A layer with its map: file stem, title, colours.
struct Sheeted<'a> {
    layer: Layer,
    grid: Cow<'a, Grid>,
    /// NaN where nothing was computed.
    computed: &'a Grid,
    /// Lines along which cells begin to be covered; none for layers that do not show them.
    covered: Arc<Vec<Line>>,
    stem: &'a str,
    title: &'a str,
    style: Style,
}

impl<'a> Drawing<'a> {
    /// Files to write for these layers, those that take longest first; one of them adds the panel with
    /// this caption to the contact sheet.
    pub fn jobs(
        self,
        grids: &'a [(Layer, Grid)],
        panels: &'a mut Panels<'_>,
        caption: String,
    ) -> Vec<Job<'a>> {
        let (mut jobs, mut shorter): (Vec<Job<'a>>, Vec<Job<'a>>) = (Vec::new(), Vec::new());
        let mut panel = Some((panels, caption));
        let margin = grids.iter().find(|(layer, _)| *layer == Layer::Margin).map(|(_, grid)| grid);
        let covered = Arc::new(margin.map_or_else(Vec::new, |grid| self.covered(grid)));
        for (layer, grid) in grids {
            let Some((own, stem, title)) = map_of(*layer) else {
                continue;
            };
            // The best server of cells that none serves is not known; all else is where it was computed.
            let computed = match (layer, margin) {
                (Layer::Best | Layer::Air(Air::Server), Some(margin)) => margin,
                _ => grid,
            };
            let covered = covered.clone();
            let sheet = move || Sheeted {
                layer: *layer,
                grid: shown(self.plan, *layer, grid, margin.filter(|_| !self.clears(*layer))),
                computed,
                covered: if is_strength(*layer) { covered.clone() } else { Arc::default() },
                stem,
                title,
                style: self.style(*layer, grid),
            };
            if self.wanted.has(own) {
                let sheet = sheet.clone();
                jobs.push(Box::new(move || {
                    let sheet = sheet();
                    self.map(&sheet)?;
                    self.colours(&sheet)
                }));
            }
            if self.wanted.has(Product::Outlines) && self.wanted.has(own) && *layer != Layer::Margin
            {
                shorter.push(Box::new(move || self.chosen_outlines(*layer, grid, stem)));
            }
            if *layer != Layer::Margin {
                continue;
            }
            if self.wanted.has(Product::Outlines) {
                shorter.push(Box::new(move || self.outlines(grid)));
            }
            if self.wanted.any(&[Product::Overlay, Product::Kmz]) {
                let sheet = sheet.clone();
                shorter.push(Box::new(move || self.overlays(&sheet())));
            }
            if self.wanted.has(Product::Sheet)
                && let Some((panels, caption)) = panel.take()
            {
                shorter.push(Box::new(move || panels.add(caption, || self.panel(&sheet()))));
            }
        }
        jobs.append(&mut shorter);
        jobs
    }

    /// Lines along which cells of a margin begin to be covered.
    fn covered(self, margin: &Grid) -> Vec<Line> {
        // As units are judged: in 32 bits.
        let level = f64::from(self.plan.margin_db as f32);
        contour_lines(margin, &[level]).remove(0)
    }

    /// True if it was chosen what the map of a layer leaves out; else it is what is not covered.
    fn clears(self, layer: Layer) -> bool {
        let choice = map_layer(layer).and_then(|layer| self.wanted.maps.get(&layer));
        choice.is_some_and(|choice| choice.clear_below.is_some() || choice.clear_above.is_some())
    }

    /// The style of a layer, as it was chosen.
    fn style(self, layer: Layer, grid: &Grid) -> Style {
        let mut style = style(self.plan, layer, grid, self.marks);
        if layer == Layer::Margin && !self.clears(layer) {
            style.visible[0] = f64::from(self.plan.margin_db as f32);
            style.hidden = NOT_COVERED;
        }
        if let Some(layer) = map_layer(layer)
            && let Some(choice) = self.wanted.maps.get(&layer)
        {
            choice.apply(&mut style, self.spreads.of(layer));
        }
        style
    }

    /// Calls `draw` with the map of a layer.
    fn with_map<T>(
        self,
        sheet: &Sheeted<'_>,
        draw: impl FnOnce(&Map<'_>) -> Result<T, PictureError>,
    ) -> Result<T, SweepError> {
        let (initial, rest) = sheet.title.split_at(1);
        let title = format!("{}: {}{rest}", self.plan.title, initial.to_lowercase());
        let subtitle = subtitle(self.plan, self.variant, self.marks.len());
        let left_out = sheet.style.left_out().unwrap_or_default();
        let outside = outside(self.plan);
        let no_data = match sheet.layer {
            Layer::Best | Layer::Servers => NOT_COVERED,
            layer if is_strength(layer) && left_out.is_empty() => NOT_COVERED,
            _ => &left_out,
        };
        let label = format!("covered from {} dB margin", self.plan.margin_db);
        let threshold = Threshold { lines: &sheet.covered, label: &label };
        let map = Map {
            title: &title,
            subtitle: &subtitle,
            layer: &sheet.grid,
            style: &sheet.style,
            no_data,
            outside: Some((sheet.computed, &outside)),
            threshold: Some(threshold).filter(|threshold| !threshold.lines.is_empty()),
            terrain: self.ground.terrain.as_ref(),
            relief: Some(&self.ground.relief),
            sites: self.marks,
            facts: self.facts,
            credit: self.credit,
        };
        product(sheet.stem, draw(&map).map_err(RasterError::from))
    }

    fn map(self, sheet: &Sheeted<'_>) -> Result<(), SweepError> {
        let file = format!("{}.png", sheet.stem);
        let drawn = self.with_map(sheet, |map| map.draw(MAP_SIDE_PX))?;
        product(&file, write_png(&self.folder.join(&file), &drawn.bitmap, &drawn.world))
    }

    /// Writes the colours of a map for QGIS, beside the raster of its layer.
    fn colours(self, sheet: &Sheeted<'_>) -> Result<(), SweepError> {
        let (stem, _) = raster_of(sheet.layer);
        let file = format!("{stem}.qml");
        let document = qgis_style(&sheet.style);
        product(&file, write_whole(&self.folder.join(&file), document.as_bytes()))
    }

    fn panel(self, sheet: &Sheeted<'_>) -> Result<Bitmap, SweepError> {
        self.with_map(sheet, |map| map.panel(PANEL_PX))
    }

    /// The margin for other programs: a bare picture with its place, an overlay for a globe.
    fn overlays(self, sheet: &Sheeted<'_>) -> Result<(), SweepError> {
        let picture = coloured(&sheet.grid, &sheet.style).to_fast_png();
        let picture = product("overlay.png", picture.map_err(RasterError::from))?;
        if self.wanted.has(Product::Overlay) {
            let world = WorldFile::new(sheet.grid.geometry, [0, 0]);
            let path = self.folder.join("overlay.png");
            product("overlay.png", write_encoded(&path, &picture, &world))?;
        }
        if self.wanted.has(Product::Kmz) {
            self.kmz("coverage.kmz", &self.plan.title, sheet, &picture)?;
        }
        Ok(())
    }

    /// An overlay for a globe, of a layer that is already drawn, as PNG, one pixel a cell.
    fn kmz(
        self,
        file: &str,
        title: &str,
        sheet: &Sheeted<'_>,
        picture: &[u8],
    ) -> Result<(), SweepError> {
        let description = format!(
            "{}. Not computed: {}. {}. {}",
            subtitle(self.plan, self.variant, self.marks.len()),
            self.plan.not_computed(),
            self.facts.join(". "),
            self.credit
        );
        let outside = outside(self.plan);
        let overlay = Overlay {
            title,
            description: &description,
            outside: Some(&outside),
            layer: &sheet.grid,
            style: &sheet.style,
            sites: self.marks,
        };
        product(file, write_kmz_of(&self.folder.join(file), &overlay, picture))
    }

    /// The map of a site and its overlay for a globe. An automatic scale is that of the site alone.
    pub fn site(self, margin: &SiteMargin, terrain: &dyn Terrain) -> Result<(), SweepError> {
        let SiteMargin { site, stem, grid } = margin;
        let mut spreads = Spreads::default();
        spreads.count(self.wanted, Layer::Margin, grid);
        let drawing = Drawing {
            folder: &self.folder.join("sites"),
            marks: &self.marks[*site..=*site],
            ground: &ground_of(grid.geometry, terrain),
            spreads: &spreads,
            ..self
        };
        let title = format!("Link margin of {}", self.marks[*site].label());
        let mut style = drawing.style(Layer::Margin, grid);
        style.title.clone_from(&title);
        let sheet = Sheeted {
            layer: Layer::Margin,
            grid: Cow::Borrowed(grid),
            computed: grid,
            covered: Arc::new(self.covered(grid)),
            stem,
            title: &title,
            style,
        };
        drawing.map(&sheet)?;
        let picture = coloured(grid, &sheet.style).to_fast_png();
        let picture = product(stem, picture.map_err(RasterError::from))?;
        let name = format!("{}: {title}", self.plan.title);
        drawing.kmz(&format!("{stem}.kmz"), &name, &sheet, &picture)
    }

    /// Thresholds that were chosen for the map of a layer.
    fn thresholds(self, layer: Layer) -> &'a [f64] {
        let choice = map_layer(layer).and_then(|layer| self.wanted.maps.get(&layer));
        match choice.and_then(|choice| choice.scale.as_ref()) {
            Some(Scale::Thresholds(borders)) => borders,
            _ => &[],
        }
    }

    /// Areas and lines of the thresholds that were chosen for a layer.
    fn chosen_outlines(self, layer: Layer, grid: &Grid, stem: &str) -> Result<(), SweepError> {
        let levels = self.thresholds(layer);
        if levels.is_empty() {
            return Ok(());
        }
        let style = self.style(layer, grid);
        let unit = &style.unit;
        let levels = Levels { layer: stem, unit, levels, covered: None, style: Some(&style) };
        self.write_levels(grid, &levels, &format!("{stem}_"))
    }

    /// Writes areas and lines under names with this beginning.
    fn write_levels(
        self,
        grid: &Grid,
        levels: &Levels<'_>,
        prefix: &str,
    ) -> Result<(), SweepError> {
        let file = format!("{prefix}contours.geojson");
        product(&file, write_contours(&self.folder.join(&file), grid, levels))?;
        let file = format!("{prefix}contour_lines.geojson");
        product(&file, write_lines(&self.folder.join(&file), grid, levels))
    }

    /// Outlines where a verdict changes, where a cell begins to count as covered and at the thresholds that
    /// were chosen.
    fn outlines(self, grid: &Grid) -> Result<(), SweepError> {
        let mut at_least = vec![0.0, 3.0, 10.0, 20.0, self.plan.margin_db];
        at_least.extend(self.thresholds(Layer::Margin));
        at_least.sort_by(f64::total_cmp);
        at_least.dedup();
        let covered = Some(self.plan.margin_db);
        let style = self.style(Layer::Margin, grid);
        let levels = Levels {
            layer: "link_margin",
            unit: "dB",
            levels: &at_least,
            covered,
            style: Some(&style),
        };
        self.write_levels(grid, &levels, "")?;
        let path = self.folder.join("sites.geojson");
        product("sites.geojson", write_sites(&path, self.marks))
    }
}

/// Label of cells without the margin of a covered one, in maps and legends.
const NOT_COVERED: &str = "not covered";

/// Label of what was not computed.
fn outside(plan: &Plan) -> String {
    format!("beyond {} km: not computed", plan.radius_m / 1e3)
}

fn subtitle(plan: &Plan, variant: &Variant, sites: usize) -> String {
    let mut varied = variant.words();
    if !varied.is_empty() {
        varied.push_str("; ");
    }
    format!(
        "{varied}{sites} site{}, {} km radius, covered at {} dB margin",
        if sites == 1 { "" } else { "s" },
        plan.radius_m / 1e3,
        plan.margin_db
    )
}
