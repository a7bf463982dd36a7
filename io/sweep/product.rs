//! Selection of products, and the error of one that cannot be written.

use std::collections::BTreeSet;

use groundwave_files::causes::with_causes;
use groundwave_raster::cog::Compression;
use groundwave_raster::picture::Choice;
use groundwave_raster::{Crs, RasterError};
use groundwave_scenario::coverage::Interference;

use super::drawing::{Choices, map_layer};
use super::fold_tile::Layer;
use super::shared_file::is_busy;
use super::site_marks::Labels;
use super::unit::Column;
use super::work::{Sweep, SweepError};

/// A product of a sweep besides the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Product {
    /// Raster and map of the largest link margin.
    Margin,
    /// Raster and map of the power received from the site with the largest margin.
    Power,
    /// Raster and map of the path loss to the site with the largest margin.
    PathLoss,
    /// Raster and map of the field strength of the site with the largest margin.
    FieldStrength,
    /// Raster and map of the data rate of the site with the largest margin.
    Rate,
    /// Raster and map of the probability that the link to the site with the largest margin works.
    Probability,
    /// Raster and map of the site with the largest margin.
    BestServer,
    /// Raster of the site with the second largest margin.
    SecondServer,
    /// Raster and map of the number of sites that serve.
    Servers,
    /// Raster and map of the SINR of the best server by SINR.
    Sinr,
    /// Raster and map of the ratio of its power to that of interference.
    CarrierToInterference,
    /// Raster and map of the best server by SINR.
    SinrServer,
    /// Raster and map of the probability that its link works among interference.
    SinrProbability,
    /// A raster for each site.
    Sites,
    /// A map and an overlay for a globe of the margin of each site.
    SiteMaps,
    /// The margin as a bare picture with its place.
    Overlay,
    /// The margin as an overlay for a globe.
    Kmz,
    /// Outlines of the margin, and the sites, as GeoJSON.
    Outlines,
    /// A small map of the margin of each variant on one page.
    Sheet,
    /// A table with a line for each cell of the network.
    Cells,
}

impl Product {
    /// All of them, in the order of [`Product`], with their names on the command line.
    pub const ALL: [(&str, Self); 20] = [
        ("margin", Self::Margin),
        ("power", Self::Power),
        ("path_loss", Self::PathLoss),
        ("field_strength", Self::FieldStrength),
        ("rate", Self::Rate),
        ("probability", Self::Probability),
        ("best_server", Self::BestServer),
        ("second_server", Self::SecondServer),
        ("servers", Self::Servers),
        ("sinr", Self::Sinr),
        ("carrier_to_interference", Self::CarrierToInterference),
        ("sinr_server", Self::SinrServer),
        ("sinr_probability", Self::SinrProbability),
        ("sites", Self::Sites),
        ("site_maps", Self::SiteMaps),
        ("overlay", Self::Overlay),
        ("kmz", Self::Kmz),
        ("outlines", Self::Outlines),
        ("sheet", Self::Sheet),
        ("cells", Self::Cells),
    ];

    /// Those that are made unless others are named: all but the table, maps of single sites, levels
    /// beside the margin, and layers among interference.
    #[must_use]
    pub fn usual() -> BTreeSet<Self> {
        let all = Self::ALL.into_iter().map(|(_, product)| product);
        all.filter(|product| !matches!(product, Self::Power | Self::SiteMaps | Self::Cells))
            .filter(|product| product.column().is_none() && !Self::OF_AIR.contains(product))
            .collect()
    }

    /// The column of units that the product is made of, besides those that all have.
    #[must_use]
    pub fn column(self) -> Option<Column> {
        match self {
            Self::PathLoss => Some(Column::PathLoss),
            Self::FieldStrength => Some(Column::FieldStrength),
            Self::Rate => Some(Column::Rate),
            Self::Probability => Some(Column::Probability),
            _ => None,
        }
    }

    /// Those made of the cells of single sites.
    pub(super) const OF_SITES: [Self; 2] = [Self::Sites, Self::SiteMaps];

    /// Those made of the signals of all sites together.
    pub(super) const OF_AIR: [Self; 4] =
        [Self::Sinr, Self::CarrierToInterference, Self::SinrServer, Self::SinrProbability];

    /// True if it shows the network over shaded terrain.
    fn shows_terrain(self) -> bool {
        match self {
            Self::Margin
            | Self::Power
            | Self::PathLoss
            | Self::FieldStrength
            | Self::Rate
            | Self::Probability
            | Self::BestServer
            | Self::Servers
            | Self::Sinr
            | Self::CarrierToInterference
            | Self::SinrServer
            | Self::SinrProbability
            | Self::Sheet => true,
            // Maps of sites have terrain of their own.
            Self::SecondServer
            | Self::Sites
            | Self::SiteMaps
            | Self::Overlay
            | Self::Kmz
            | Self::Outlines
            | Self::Cells => false,
        }
    }

    /// Name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, product)| *product == self);
        found.expect("all are listed").0
    }
}

/// Products to write besides the summary, and the form of their rasters.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The products.
    pub products: BTreeSet<Product>,
    /// Drawing of maps.
    pub maps: Choices,
    /// Labels of sites.
    pub labels: Labels,
    /// Duty of sites and correlation of shadowing, for products among interference.
    pub interference: Interference,
    /// Date in the footers of maps, as it was given; no clock is read.
    pub date: Option<String>,
    /// Coordinate reference system of rasters.
    pub crs: Crs,
    /// Codec of rasters.
    pub compression: Compression,
    /// `true` keeps values of rasters to the bit; else they are rounded to multiples of 2^-7.
    pub is_exact: bool,
}

impl Wanted {
    /// Columns that units need for these products.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<Column> {
        let products = self.products.iter();
        products.filter_map(|product| product.column()).collect()
    }

    /// Refuses products of columns that the units of a sweep do not hold, and a reference system in which
    /// its area does not lie.
    ///
    /// # Errors
    /// [`SweepError::NoColumn`], [`SweepError::Crs`].
    pub fn check(&self, sweep: &Sweep) -> Result<(), SweepError> {
        let zone = self.crs.zone(&sweep.plan.grid.geometry());
        zone.map_err(|err| SweepError::Crs { cause: err.to_string() })?;
        let held = &sweep.plan.columns;
        let lacks = |product: &&Product| {
            let column = product.column();
            column.is_some_and(|column| !held.contains(&column))
        };
        self.products.iter().find(lacks).map_or(Ok(()), |product| {
            Err(SweepError::NoColumn { folder: sweep.folder().to_owned(), product: product.name() })
        })
    }

    /// True if this product is wanted.
    #[must_use]
    pub fn has(&self, product: Product) -> bool {
        self.products.contains(&product)
    }

    /// True if the scale of the map of `layer` comes from the data.
    pub(super) fn is_auto(&self, layer: Layer) -> bool {
        let choice = map_layer(layer).and_then(|layer| self.maps.get(&layer));
        choice.is_some_and(Choice::is_auto)
    }

    /// True if a product shows the network over shaded terrain.
    pub(super) fn shows_terrain(&self) -> bool {
        self.products.iter().any(|product| product.shows_terrain())
    }

    /// True if one of these is wanted.
    pub(super) fn any(&self, products: &[Product]) -> bool {
        products.iter().any(|product| self.has(*product))
    }
}

/// A file to be written beside others.
pub(super) type Job<'j> = Box<dyn FnOnce() -> Result<(), SweepError> + Send + 'j>;

/// Adds the name of the product to an error.
pub(super) fn product<T>(what: &str, outcome: Result<T, RasterError>) -> Result<T, SweepError> {
    outcome.map_err(|err| match err {
        RasterError::Write { path, source } if is_busy(&source) => SweepError::InUse { path },
        err => SweepError::Product { what: what.to_owned(), cause: with_causes(&err) },
    })
}
