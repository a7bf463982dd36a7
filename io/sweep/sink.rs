//! Units becoming rasters, grids of maps and areas while others are still computed.
//!
//! A unit gives its layers to a pyramid for each product, whose complete tiles are compressed by
//! the thread that completed them. Memory holds the units being made and the tiles that have
//! begun, whatever the raster.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use groundwave_raster::{Cells, Grid, Pyramid, RasterWriter, Tile, Window};
use rayon::prelude::*;

use super::fold::{Joining, Network};
use super::fold_tile::{Layer, TileFold};
use super::interference::{Air, AirPlan};
use super::overview::{map_level, paste};
use super::plan::Unit;
use super::product::{Product, Wanted, product};
use super::rasters::{SiteRaster, layer_writer, raster_of};
use super::unit::{Column, Level, SiteTile};
use super::unit_file::PackedSite;
use super::work::{Supply, Sweep, SweepError, across};

/// Sites whose rasters are made beside those of the network. More are made one after another,
/// because each holds tiles that have begun.
const SITES_BESIDE: usize = 16;

/// One layer of the network on its way into a raster and the grid of a map.
struct LayerSink {
    layer: Layer,
    file: &'static str,
    pyramid: Pyramid,
    writer: Option<RasterWriter>,
    grid: Mutex<Grid>,
}

/// Layers with the products that need them. The margin is drawn in several.
const LAYERS: [(Layer, Product, &[Product]); 13] = [
    (Layer::Best, Product::BestServer, &[Product::BestServer]),
    (Layer::Second, Product::SecondServer, &[Product::SecondServer]),
    (
        Layer::Margin,
        Product::Margin,
        &[
            Product::Margin,
            // Its map tells what is not covered from what was not computed.
            Product::BestServer,
            Product::Overlay,
            Product::Kmz,
            Product::Outlines,
            Product::Sheet,
            Product::SinrServer,
            // Covered is what has the margin.
            Product::Power,
            Product::PathLoss,
            Product::FieldStrength,
        ],
    ),
    (Layer::Servers, Product::Servers, &[Product::Servers]),
    (Layer::Level(Level::Power), Product::Power, &[Product::Power]),
    (Layer::Level(Level::Column(Column::PathLoss)), Product::PathLoss, &[Product::PathLoss]),
    (
        Layer::Level(Level::Column(Column::FieldStrength)),
        Product::FieldStrength,
        &[Product::FieldStrength],
    ),
    (Layer::Level(Level::Column(Column::Rate)), Product::Rate, &[Product::Rate]),
    (
        Layer::Level(Level::Column(Column::Probability)),
        Product::Probability,
        &[Product::Probability],
    ),
    (Layer::Air(Air::Sinr), Product::Sinr, &[Product::Sinr]),
    (
        Layer::Air(Air::CarrierToInterference),
        Product::CarrierToInterference,
        &[Product::CarrierToInterference],
    ),
    (Layer::Air(Air::Server), Product::SinrServer, &[Product::SinrServer]),
    (Layer::Air(Air::Probability), Product::SinrProbability, &[Product::SinrProbability]),
];

/// Receives the units of one variant.
pub(super) struct Sink<'a> {
    sweep: &'a Sweep,
    /// The units of the variant in the plan's order.
    order: Vec<Unit>,
    level: usize,
    layers: Vec<LayerSink>,
    /// Interference, where a product needs it.
    air: Option<AirPlan>,
    sites: Vec<SiteRaster<'a>>,
    joining: Mutex<Joining>,
}

/// Contents of a sink that received all units.
pub(super) struct Gathered<'a> {
    /// Areas.
    pub network: Network,
    /// Layers of maps.
    pub grids: Vec<(Layer, Grid)>,
    /// Rasters with all of their tiles, with their file names.
    pub rasters: Vec<(String, RasterWriter)>,
    /// Rasters of sites with all of their tiles.
    pub sites: Vec<SiteRaster<'a>>,
}

impl<'a> Sink<'a> {
    /// A sink for `units`, those of a variant in the plan's order.
    ///
    /// # Errors
    /// When a file cannot be begun.
    pub fn new(
        sweep: &'a Sweep,
        units: Vec<Unit>,
        folder: &Path,
        wanted: &Wanted,
    ) -> Result<Self, SweepError> {
        let plan = &sweep.plan;
        let geometry = plan.grid.geometry();
        let level = map_level(&geometry);
        let small = geometry.reduced(1 << level);
        let mut layers = Vec::new();
        for (layer, own, users) in LAYERS {
            if !wanted.any(users) {
                continue;
            }
            let (file, resampling) = raster_of(layer);
            let writer =
                wanted.has(own).then(|| layer_writer(plan, folder, layer, wanted)).transpose()?;
            let count =
                if layer == Layer::Second { 0 } else { small.cols as usize * small.rows as usize };
            layers.push(LayerSink {
                layer,
                file,
                pyramid: Pyramid::new(geometry.cols, geometry.rows, vec![resampling]),
                writer,
                grid: Mutex::new(Grid { geometry: small, cells: vec![f32::NAN; count] }),
            });
        }
        let variant = units.first().map_or(0, |unit| unit.variant as usize);
        let air = wanted
            .any(&Product::OF_AIR)
            .then(|| AirPlan::new(plan, &plan.variants[variant], &wanted.interference))
            .transpose()?;
        let beside = wanted.any(&Product::OF_SITES) && plan.sites.len() <= SITES_BESIDE;
        let mut sites = Vec::new();
        for site in 0..if beside { plan.sites.len() } else { 0 } {
            sites.push(SiteRaster::create(plan, site, folder, wanted)?);
        }
        let sink = Self {
            sweep,
            level,
            layers,
            air,
            sites,
            joining: Mutex::new(Joining::new(plan.sites.len())),
            order: units,
        };
        sink.fill_blanks()?;
        Ok(sink)
    }

    /// Marks the tiles that no site reaches.
    fn fill_blanks(&self) -> Result<(), SweepError> {
        let (cols, rows) = self.sweep.plan.grid.tiles();
        let mut units = self.order.iter().map(|unit| (unit.row, unit.col)).peekable();
        for row in 0..rows {
            for col in 0..cols {
                if units.next_if_eq(&(row, col)).is_some() {
                    continue;
                }
                let window = self.sweep.plan.grid.window(row, col);
                for layer in &self.layers {
                    self.put(layer, window, None)?;
                }
            }
        }
        self.sites.iter().try_for_each(|site| site.fill_blanks(&self.sweep.plan))
    }

    fn put(
        &self,
        layer: &LayerSink,
        window: Window,
        cells: Option<Cells<'_>>,
    ) -> Result<(), SweepError> {
        let done = |tile: &Tile| {
            if tile.level == self.level && layer.layer != Layer::Second {
                paste(tile, 0, &mut layer.grid.lock().unwrap_or_else(PoisonError::into_inner));
            }
            layer.writer.as_ref().map_or(Ok(()), |writer| writer.store(tile))
        };
        product(layer.file, layer.pyramid.put(window, cells, &done))
    }

    /// Begins a unit.
    pub fn unit(&self, unit: Unit) -> UnitSink<'_, 'a> {
        let plan = &self.sweep.plan;
        let sites = plan.reaching(unit.row, unit.col);
        let window = plan.grid.window(unit.row, unit.col);
        let levels = self.layers.iter().filter_map(|layer| match layer.layer {
            Layer::Level(level) => Some(level),
            _ => None,
        });
        let levels: Vec<Level> = levels.collect();
        UnitSink {
            fold: TileFold::new(
                plan,
                [window.cols, window.rows],
                sites,
                &levels,
                self.air.as_ref(),
            ),
            needs_levels: !levels.is_empty() || !self.sites.is_empty() || self.air.is_some(),
            heard: 0,
            window,
            unit,
            sink: self,
        }
    }

    /// Takes units, from their files where they are there.
    ///
    /// # Errors
    /// As [`Sweep::work`]; [`SweepError::Unfinished`] when a unit is missing that nothing computes.
    pub fn feed(&self, units: Vec<Unit>, supply: Supply<'_>) -> Result<(), SweepError> {
        let sweep = self.sweep;
        across(&sweep.plan, units, |unit| {
            if supply.stop.load(Ordering::Relaxed) {
                return Err(SweepError::Stopped);
            }
            let failed = |err| sweep.unreadable(unit, err);
            let mut found = sweep.open(unit).map_err(failed)?;
            let mut sink = self.unit(unit);
            match (&mut found, supply.evaluate) {
                (Some(packed), _) => (packed.sites())
                    .try_for_each(|site| sink.hear_packed(&site.map_err(failed)?))?,
                (None, Some(evaluate)) => {
                    sweep.make(unit, supply.stop, evaluate, |tile| sink.hear(tile))?;
                }
                (None, None) => return Err(sweep.missing(1)),
            }
            sink.finish()?;
            (supply.done)(unit, found.is_some());
            Ok(())
        })
    }

    /// All that was received, when every unit was.
    pub fn finish(self) -> Gathered<'a> {
        let joining = self.joining.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (mut grids, mut rasters) = (Vec::new(), Vec::new());
        for layer in self.layers {
            let grid = layer.grid.into_inner().unwrap_or_else(PoisonError::into_inner);
            if layer.layer != Layer::Second {
                grids.push((layer.layer, grid));
            }
            rasters.extend(layer.writer.map(|writer| (format!("{}.tif", layer.file), writer)));
        }
        Gathered { network: joining.finish(), grids, rasters, sites: self.sites }
    }
}

/// A unit on its way into the products, site by site.
pub(super) struct UnitSink<'s, 'a> {
    sink: &'s Sink<'a>,
    unit: Unit,
    window: Window,
    fold: TileFold<'s>,
    needs_levels: bool,
    heard: usize,
}

impl UnitSink<'_, '_> {
    /// Adds the next site.
    ///
    /// # Errors
    /// When a raster cannot be written.
    pub fn hear(&mut self, tile: &SiteTile) -> Result<(), SweepError> {
        self.fold.hear_tile(self.heard, tile);
        self.heard += 1;
        match self.sink.sites.get(usize::from(tile.site)) {
            Some(site) => site.put(self.window, tile),
            None => Ok(()),
        }
    }

    /// Adds the next site from a file.
    ///
    /// # Errors
    /// When it cannot be unpacked or a raster cannot be written.
    pub fn hear_packed(&mut self, site: &PackedSite) -> Result<(), SweepError> {
        let sweep = self.sink.sweep;
        let failed = |err| sweep.unreadable(self.unit, err);
        if self.needs_levels {
            let tile = site.tile(&sweep.plan.columns).map_err(failed)?;
            return self.hear(&tile);
        }
        let answers = site.answers().map_err(failed)?;
        self.fold.hear(self.heard, &answers);
        self.heard += 1;
        Ok(())
    }

    /// Gives the unit to the products of the network.
    ///
    /// # Errors
    /// When a raster cannot be written.
    pub fn finish(self) -> Result<(), SweepError> {
        let Self { sink, unit, window, mut fold, .. } = self;
        fold.settle();
        // Side by side, so that a thread without units helps with the last one.
        let put = |layer: &LayerSink| {
            let values = fold.layer(layer.layer);
            let cells = Cells { bands: &[&values], stride: window.cols as usize };
            sink.put(layer, window, Some(cells))
        };
        let layers = sink.layers.par_iter().with_max_len(1);
        layers.try_for_each(put)?;
        let part = fold.count(&sink.sweep.plan, unit.row);
        let place = sink
            .order
            .binary_search_by_key(&(unit.row, unit.col), |unit| (unit.row, unit.col))
            .expect("a unit of this variant");
        let mut joining = sink.joining.lock().unwrap_or_else(PoisonError::into_inner);
        joining.add(place, part);
        Ok(())
    }
}
