//! Names, colours and legends of the maps of a sweep.

use std::borrow::Cow;

use groundwave_raster::picture::{Colours, Palette, Style, VERDICTS, colours_apart};
use groundwave_raster::{Grid, Site};

use super::evaluate::rates;
use super::fold_tile::Layer;
use super::interference::Air;
use super::plan::Plan;
use super::product::Product;
use super::unit::{Column, Level};

/// Product, file stem and title of the map of a layer.
pub(super) fn map_of(layer: Layer) -> Option<(Product, &'static str, &'static str)> {
    match layer {
        Layer::Margin => Some((Product::Margin, "margin", "Link margin")),
        Layer::Level(Level::Power) => Some((Product::Power, "rx_power", "Received power")),
        Layer::Level(Level::Column(column)) => Some(match column {
            Column::PathLoss => (Product::PathLoss, "path_loss", "Path loss"),
            Column::FieldStrength => (Product::FieldStrength, "field_strength", "Field strength"),
            Column::Rate => (Product::Rate, "rate", "Data rate"),
            Column::Probability => {
                (Product::Probability, "link_probability", "Probability that the link works")
            }
        }),
        Layer::Best => Some((Product::BestServer, "best_server", "Best server")),
        Layer::Servers => Some((Product::Servers, "servers", "Number of servers")),
        Layer::Air(air) => Some(match air {
            Air::Sinr => (Product::Sinr, "sinr", "Signal to interference and noise"),
            Air::CarrierToInterference => (
                Product::CarrierToInterference,
                "carrier_to_interference",
                "Carrier to interference",
            ),
            Air::Server => (Product::SinrServer, "sinr_server", "Best server by SINR"),
            Air::Probability => (
                Product::SinrProbability,
                "sinr_probability",
                "Probability that the link works among interference",
            ),
        }),
        Layer::Second => None,
    }
}

/// Colours and legend of the map of a layer, unless others were chosen; `sites` are those of the plan.
pub(super) fn style(plan: &Plan, layer: Layer, grid: &Grid, sites: &[Site]) -> Style {
    match layer {
        Layer::Margin => {
            let title = "Link margin of the best server";
            Style::ramp(title, "dB", [-10.0, 40.0], Some(5.0))
        }
        Layer::Level(Level::Power) => {
            let title = "Received power of the best server";
            Style::ramp(title, "dBm", [-140.0, -40.0], Some(10.0))
        }
        Layer::Level(Level::Column(Column::PathLoss)) => {
            let title = "Path loss to the best server";
            let mut style = Style::ramp(title, "dB", [70.0, 190.0], Some(10.0));
            // The least loss in the colour of the largest margin.
            style.colours.set_palette(Palette::VIRIDIS.reversed());
            style
        }
        Layer::Level(Level::Column(Column::FieldStrength)) => {
            let title = "Field strength of the best server";
            Style::ramp(title, "dBµV/m", [-10.0, 110.0], Some(10.0))
        }
        Layer::Level(Level::Column(Column::Rate)) => rate_style(plan),
        Layer::Level(Level::Column(Column::Probability)) => {
            percent_style("Probability that the link to the best server works")
        }
        Layer::Air(Air::Probability) => {
            percent_style("Probability that a link works among interference")
        }
        Layer::Air(Air::Sinr) => {
            Style::ramp("SINR of the best server by SINR", "dB", [-20.0, 40.0], Some(5.0))
        }
        Layer::Air(Air::CarrierToInterference) => {
            Style::ramp("Carrier to interference", "dB", [-20.0, 40.0], Some(5.0))
        }
        Layer::Best | Layer::Second => site_style("Best server", grid, sites),
        Layer::Air(Air::Server) => site_style("Best server by SINR", grid, sites),
        Layer::Servers => servers_style(plan),
    }
}

/// Percent, clear where there is next to nothing.
fn percent_style(title: &str) -> Style {
    let mut style = Style::ramp(title, "%", [0.0, 100.0], Some(10.0));
    style.visible[0] = 1.0;
    style.hidden = "below 1 %";
    style
}

/// A colour a site.
fn site_style(title: &str, grid: &Grid, sites: &[Site]) -> Style {
    let names = sites.iter().map(Site::label);
    Style::sites(title, names, &colours_apart(sites.len(), grid))
}

/// True for layers that are left out where no cell is covered, with a line around what is.
pub(super) fn is_strength(layer: Layer) -> bool {
    match layer {
        Layer::Margin | Layer::Level(Level::Power) => true,
        // Rates have their own class without a link; probabilities are of interest where the median has none.
        Layer::Level(Level::Column(column)) => {
            !matches!(column, Column::Rate | Column::Probability)
        }
        // Of interest where noise alone leaves no margin, too.
        Layer::Air(_) | Layer::Best | Layer::Second | Layer::Servers => false,
    }
}

/// Rates that a legend lists; more are drawn as a scale.
const RATES_MAX: usize = 16;

/// The rates of the radios as classes.
fn rate_style(plan: &Plan) -> Style {
    let title = "Data rate of the best server";
    let mut rates: Vec<f64> = rates(plan).into_iter().map(f64::from).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let most_bps = rates.last().copied().unwrap_or(1.0);
    let (unit, unit_size) = [("Mbit/s", 1e6), ("kbit/s", 1e3)]
        .into_iter()
        .find(|(_, size)| most_bps >= *size)
        .unwrap_or(("bit/s", 1.0));
    let mut style = if (1..=RATES_MAX).contains(&rates.len()) {
        let mut style = Style::thresholds(title, unit, rates);
        if let Colours::Thresholds { lowest, .. } = &mut style.colours {
            *lowest = Some(("no link".to_owned(), VERDICTS[0]));
        }
        style
    } else {
        Style::ramp(title, unit, [0.0, most_bps], None)
    };
    style.unit_size = unit_size;
    style
}

/// Counts of servers with a colour of their own.
const SERVERS_MAX: usize = 8;

fn servers_style(plan: &Plan) -> Style {
    let most = u32::try_from(plan.sites.len().min(SERVERS_MAX)).expect("at most eight");
    let mut style = Style::counts("Number of servers", most);
    if let Colours::Categories(all) = &mut style.colours
        && let Some(last) = all.last_mut()
        && plan.sites.len() > SERVERS_MAX
    {
        last.label = format!("\u{2265} {most}");
    }
    style
}

/// The cells of a layer as its map shows them: the largest counts have one colour, and levels are left out
/// where `margin` is below that of a covered cell.
pub(super) fn shown<'a>(
    plan: &Plan,
    layer: Layer,
    grid: &'a Grid,
    margin: Option<&Grid>,
) -> Cow<'a, Grid> {
    let each = |value: &dyn Fn(usize, f32) -> f32| {
        let cells = grid.cells.iter().enumerate().map(|(at, &cell)| value(at, cell));
        Cow::Owned(Grid { geometry: grid.geometry, cells: cells.collect() })
    };
    match (layer, margin) {
        // `min` alone would take the number for NaN.
        (Layer::Servers, _) => each(&|_, count| match count.is_nan() {
            true => count,
            false => count.min(SERVERS_MAX as f32),
        }),
        (Layer::Level(_), Some(margin)) if is_strength(layer) => each(&|at, level| {
            let is_covered = margin.cells[at] >= plan.margin_db as f32;
            if is_covered { level } else { f32::NAN }
        }),
        _ => Cow::Borrowed(grid),
    }
}
