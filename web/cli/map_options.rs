//! Options of how maps of layers are drawn.

use clap::Args;
use groundwave_http::Failure;
use groundwave_raster::picture::{Palette, Scale};
use groundwave_scenario::MapLayer;
use groundwave_sweep::Choices;

/// Drawing of maps, each option once or more, for a layer at a time.
#[derive(Args)]
pub struct MapOptions {
    /// Scale of the map of a layer (`margin`, `power`, `path_loss`, `field_strength`, `rate`,
    /// `probability`):
    /// `margin=-10..40`, in classes of 5 dB `margin=-10..40/5`, from the data of all variants
    /// `margin=auto`, or by thresholds `margin=0,3,10,20`
    #[arg(long, value_name = "LAYER=SCALE", value_parser = of_layer(Scale::parse))]
    scale: Vec<(MapLayer, Scale)>,

    /// Palette of the map of a layer: viridis, cividis or greys, with `_r` in reverse
    #[arg(long, value_name = "LAYER=NAME", value_parser = of_layer(palette))]
    palette: Vec<(MapLayer, String)>,

    /// Leave cells below a level transparent in map, overlay and KMZ, such as `margin=-10` [default: maps of
    /// levels leave out what is not covered]
    #[arg(long, value_name = "LAYER=LEVEL", value_parser = of_layer(level))]
    clear_below: Vec<(MapLayer, f64)>,

    /// Leave cells above a level transparent, such as `path_loss=150`
    #[arg(long, value_name = "LAYER=LEVEL", value_parser = of_layer(level))]
    clear_above: Vec<(MapLayer, f64)>,

    /// Date in the footers of maps, such as 2026-05-17 [default: none, so that the same sweep has the same
    /// bytes on any day]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    date: Option<String>,
}

impl MapOptions {
    /// Date in the footers of maps.
    pub fn date(&self) -> Option<String> {
        self.date.clone()
    }

    /// Drawing of maps: that of the options, else that of `noted`.
    pub fn choices(&self, noted: &Choices) -> Result<Choices, Failure> {
        let mut maps = Choices::new();
        for (layer, scale) in &self.scale {
            maps.entry(*layer).or_default().scale = Some(scale.clone());
        }
        for (layer, name) in &self.palette {
            maps.entry(*layer).or_default().palette = Some(name.clone());
        }
        for (layer, level) in &self.clear_below {
            maps.entry(*layer).or_default().clear_below = Some(*level);
        }
        for (layer, level) in &self.clear_above {
            maps.entry(*layer).or_default().clear_above = Some(*level);
        }
        for (layer, choice) in noted {
            let own = maps.remove(layer).unwrap_or_default();
            maps.insert(*layer, own.or(choice));
        }
        for (layer, choice) in &maps {
            let name = MapLayer::ALL.iter().find(|(_, known)| known == layer);
            let name = name.map_or("", |(name, _)| name);
            let check = choice.check();
            check.map_err(|(key, why)| Failure::Input(format!("map of {name}: {key}: {why}")))?;
        }
        Ok(maps)
    }
}

/// Parser of `LAYER=VALUE`.
fn of_layer<T>(
    parse: impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<(MapLayer, T), String> + Clone + Send + Sync + 'static {
    move |text| {
        let names = || MapLayer::ALL.map(|(name, _)| name).join(", ");
        let (layer, value) =
            text.split_once('=').ok_or_else(|| format!("no LAYER=; layers: {}", names()))?;
        let named = MapLayer::ALL.into_iter().find(|(name, _)| *name == layer);
        let (_, layer) = named.ok_or_else(|| format!("found {layer:?}; allowed: {}", names()))?;
        Ok((layer, parse(value)?))
    }
}

/// Reader of a day of the Gregorian calendar.
fn date(text: &str) -> Result<String, String> {
    let is_shaped = text.len() == 10;
    match text.parse::<jiff::civil::Date>() {
        Ok(day) if is_shaped => Ok(day.to_string()),
        _ => Err(format!("found {text:?}; allowed: a day as YYYY-MM-DD")),
    }
}

fn palette(name: &str) -> Result<String, String> {
    match Palette::named(name) {
        Ok(_) => Ok(name.to_owned()),
        Err(known) => Err(format!("found {name:?}; allowed: {known}")),
    }
}

fn level(text: &str) -> Result<f64, String> {
    let level = text.parse().ok().filter(|level: &f64| level.is_finite());
    level.ok_or_else(|| format!("found {text:?}; allowed: a finite number"))
}
