//! Fetching terrain into the cache of the user: sources, consent, squares of an area.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use groundwave_http::Failure;
use groundwave_model::terrain::{CoverKind, GeoPoint, Terrain, TileId};
use groundwave_scenario;
use groundwave_scenario::Scenario;
use groundwave_terrain::cache::{
    AREA_MAX, Cache, Client, Event, FetchError, LAND_COVER, Proxy, SOURCES, Source, check_address,
    squares_around, squares_within,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Margin around the nodes of a scenario, m: paths between them and some ground beside.
const ROOM_M: f64 = 2_000.0;

/// Source, address and way of a fetch.
pub struct Fetching {
    /// The cache.
    pub cache: Cache,
    /// The source.
    pub source: &'static Source,
    /// Address that names of files are appended to.
    pub base_url: String,
    client: Client,
}

/// The message of an area that is too large.
#[must_use]
pub fn too_large() -> Failure {
    Failure::Input(format!(
        "invalid area: found more than {AREA_MAX} square degrees, or edges out of order; allowed 1 to {AREA_MAX}"
    ))
}

/// Value of an option with the address of a mirror.
///
/// # Errors
/// With the value found and those allowed.
pub fn mirror(text: &str) -> Result<String, String> {
    check_address(text).map(|()| text.to_owned()).map_err(|error| error.to_string())
}

/// Value of an option with the name of a data set of heights.
pub fn source_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(SOURCES.map(|source| source.id))
}

impl Fetching {
    /// A fetch from a source, by its own address or a mirror, through a proxy or that of the environment.
    ///
    /// # Errors
    /// When the source is unknown or an address is malformed.
    pub fn new(
        cache: PathBuf,
        source: Option<&str>,
        url: Option<&str>,
        proxy: Option<&str>,
    ) -> Result<Self, Failure> {
        let source = match source {
            None => &SOURCES[0],
            Some(id) if id == LAND_COVER.id => &LAND_COVER,
            Some(id) => Source::of(id).ok_or_else(|| {
                let names = SOURCES.map(|source| source.id).join(", ");
                Failure::Input(format!("invalid --source: found {id:?}, allowed {names}"))
            })?,
        };
        let proxy = match proxy {
            Some(address) => Proxy::all(address),
            None => Proxy::from_variables(|name| std::env::var(name).ok()),
        };
        Ok(Self {
            cache: Cache::new(cache),
            source,
            base_url: url.unwrap_or(source.base_url).to_owned(),
            client: Client::new(proxy.map_err(Failure::input)?),
        })
    }

    /// Squares that are not in the cache yet.
    ///
    /// # Errors
    /// When the cache cannot be read.
    pub fn wanted(&self, squares: &[TileId]) -> Result<Vec<TileId>, Failure> {
        self.cache.wanted(self.source, squares).map_err(Failure::input)
    }

    /// The same, ended when `stop` is cancelled.
    #[must_use]
    pub fn stopped_by(mut self, stop: CancellationToken) -> Self {
        self.client.stop = stop;
        self
    }

    /// Squares that are not in the cache yet and whose middle has no ground, or no land cover where that is fetched.
    ///
    /// # Errors
    /// When the cache cannot be read.
    pub fn lacking(
        &self,
        squares: &[TileId],
        terrain: &dyn Terrain,
    ) -> Result<Vec<TileId>, Failure> {
        let lacks = |square: &&TileId| {
            let [lat, lon] =
                [square.south_deg(), square.west_deg()].map(|edge| f64::from(edge) + 0.5);
            let centre = GeoPoint::new(lat, lon);
            centre.is_ok_and(|at| match self.source.id == LAND_COVER.id {
                true => terrain.cover_kind(at) == CoverKind::Unknown,
                false => terrain.resolution_arcsec(at).is_none(),
            })
        };
        self.wanted(&squares.iter().filter(lacks).copied().collect::<Vec<_>>())
    }

    /// Sizes, folder and terms of a fetch, for a question.
    #[must_use]
    pub fn terms(&self, squares: &[TileId]) -> String {
        let about = (self.source.about)();
        let (count, most_mb) = (squares.len(), squares.len() as u64 * self.source.tile_mb);
        let licence = about.licence.unwrap_or_default();
        format!(
            "{count} tiles of {} from {}, up to {most_mb} MB, into {}; licence: {licence}; attribution: {}",
            about.name,
            self.base_url,
            self.cache.folder().display(),
            about.attribution.unwrap_or_default()
        )
    }

    /// Fetches a square.
    ///
    /// # Errors
    /// With the folder, the files and the command that continues.
    pub fn fetch(&self, square: TileId, progress: impl FnMut(Event)) -> Result<(), Failure> {
        let fetched = self.cache.fetch(&self.client, self.source, &self.base_url, square, progress);
        fetched.map_err(|error| {
            if let FetchError::Url { .. } = error {
                return Failure::input(error);
            }
            let folder = self.cache.folder().display();
            Failure::Machine(format!(
                "{error}; the cache is {folder}, `{}` continues",
                command(self.source, &[square])
            ))
        })
    }
}

/// Command line that fetches squares.
#[must_use]
pub fn command(source: &Source, squares: &[TileId]) -> String {
    let names: Vec<_> = squares.iter().map(ToString::to_string).collect();
    let source = match source.id {
        id if id == SOURCES[0].id => String::new(),
        id if id == LAND_COVER.id => " --land-cover".to_owned(),
        id => format!(" --source {id}"),
    };
    format!("groundwave terrain fetch {}{source}", names.join(","))
}

/// Square degrees between positions.
///
/// # Errors
/// When they are too many.
pub fn squares_between(positions: &[GeoPoint]) -> Result<Vec<TileId>, Failure> {
    let Some(first) = positions.first() else { return Ok(Vec::new()) };
    // Positions on both sides of 180 degrees are neighbours.
    let about_deg = first.lon_deg();
    let turned = |lon_deg: f64| lon_deg - 360.0 * ((lon_deg - about_deg) / 360.0).round();
    let everything = [90.0_f64, f64::INFINITY, -90.0_f64, f64::NEG_INFINITY];
    let edges = positions.iter().fold(everything, |[south, west, north, east], at| {
        let (lat, lon) = (at.lat_deg(), turned(at.lon_deg()));
        [south.min(lat), west.min(lon), north.max(lat), east.max(lon)]
    });
    squares_within(edges).ok_or_else(too_large)
}

/// Squares that a scenario names, and those under its nodes and coverages.
///
/// # Errors
/// When they are too many.
pub fn squares_of(scenario: &Scenario) -> Result<Vec<TileId>, Failure> {
    let mut squares = Vec::new();
    if let groundwave_scenario::Terrain::Tiles { names, .. } = &scenario.terrain {
        for name in names {
            squares.push(name.parse().map_err(Failure::input)?);
        }
    }
    let positions = positions_of(scenario);
    let radius_m = scenario.coverage.as_ref().map_or(0.0, |coverage| coverage.radius_m);
    // Paths between nodes cross what lies between.
    squares.extend(squares_between(&positions)?);
    squares.extend(squares_around(&positions, radius_m.max(ROOM_M)).ok_or_else(too_large)?);
    squares.sort_unstable();
    squares.dedup();
    Ok(squares)
}

/// Squares under the nodes of a scenario and between them.
///
/// # Errors
/// When they are too many.
pub fn squares_under(scenario: &Scenario) -> Result<Vec<TileId>, Failure> {
    squares_between(&positions_of(scenario))
}

fn positions_of(scenario: &Scenario) -> Vec<GeoPoint> {
    let mut positions = Vec::new();
    for record in &scenario.records {
        add_positions(&record.body, &mut positions);
    }
    positions
}

/// Adds every position in a command.
fn add_positions(value: &Value, positions: &mut Vec<GeoPoint>) {
    let degrees = |key: &str| value.get(key).and_then(Value::as_f64);
    if let (Some(lat), Some(lon)) = (degrees("lat_deg"), degrees("lon_deg")) {
        positions.extend(GeoPoint::new(lat, lon));
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| add_positions(item, positions)),
        Value::Object(fields) => fields.values().for_each(|item| add_positions(item, positions)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_between_positions_across_180_degrees_are_few() {
        let at = |lat, lon| GeoPoint::new(lat, lon).unwrap();
        let names = |positions: &[GeoPoint]| {
            let squares = squares_between(positions).unwrap();
            let mut names: Vec<_> = squares.iter().map(ToString::to_string).collect();
            names.sort();
            names
        };
        assert_eq!(names(&[at(-16.5, 179.9), at(-16.6, -179.9)]), ["S17E179", "S17W180"]);
        assert_eq!(names(&[at(-16.5, -179.9), at(-16.6, 179.9)]), ["S17E179", "S17W180"]);
        assert_eq!(names(&[at(57.5, 11.9), at(57.6, 12.1)]), ["N57E011", "N57E012"]);
        assert!(squares_between(&[at(-60.0, -80.0), at(60.0, 80.0)]).is_err());
    }
}
