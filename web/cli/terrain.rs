//! `terrain`: terrain that was fetched, and fetching of more.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Subcommand};
use groundwave_http::Failure;
use groundwave_http::option_value::folder_path;
use groundwave_model::terrain::{GeoPoint, TileId};
use groundwave_setup::fetch::{Fetching, command, mirror, source_parser, squares_of, too_large};
use groundwave_setup::simulation::load;
use groundwave_setup::terrain::{TerrainOptions, has_consent, is_dialogue};
use groundwave_terrain::cache::{
    Cache, Counts, Entry, Event, LAND_COVER, State, squares_around, squares_within,
};
use groundwave_text::{Align, Table};
use serde::Serialize;

use super::output::{self, Output};
use super::{place, terrain_folder};

const EXAMPLES: &str = "\
Examples:
  groundwave terrain fetch 57.6,11.5,57.9,12.1
  groundwave terrain fetch 60.17,24.94 --radius-km 30 --yes
  groundwave terrain list
  groundwave terrain verify";

/// Fetch terrain of any place into a folder of the user, list it, verify it
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Terrain {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Fetch tiles of an area; interrupted downloads continue
    #[command(after_help = FETCH_EXAMPLES)]
    Fetch(Fetch),
    /// List fetched files, or those of a folder of yours, with their data sets
    #[command(after_help = LIST_EXAMPLES)]
    List(Folders),
    /// Compare fetched files with the digests of their receipt and count posts without a height, or decode all
    /// files of a folder of yours
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(Folders),
}

const FETCH_EXAMPLES: &str = "\
Examples:
  groundwave terrain fetch 57.6,11.5,57.9,12.1
  groundwave terrain fetch N57E011 --source srtm --yes
  groundwave terrain fetch --scenario scenarios/failover.toml --yes
  groundwave terrain fetch 57.6,11.5,57.9,12.1 --land-cover --yes
  groundwave terrain fetch N57E011 --url https://mirror.example/glo30 --proxy http://proxy.example:3128";

const LIST_EXAMPLES: &str = "\
Examples:
  groundwave terrain list
  groundwave terrain list --srtm-dir scenarios/terrain
  groundwave terrain list --json | jq '.files[].name'";

const VERIFY_EXAMPLES: &str = "\
Examples:
  groundwave terrain verify
  groundwave terrain verify --srtm-dir scenarios/terrain";

/// Hint where nothing was fetched.
const FETCH_HINT: &str = "`groundwave terrain fetch` fetches some";

/// Folder of fetched terrain.
#[derive(Args)]
struct Place {
    /// Folder of fetched terrain [default: groundwave/terrain in the cache folder of the user]
    #[arg(long, value_name = "DIR", env = "GROUNDWAVE_TERRAIN_CACHE",
        value_parser = PathBufValueParser::new().try_map(folder_path))]
    terrain_cache: Option<PathBuf>,
}

/// A folder of terrain: that of fetched terrain, or another.
#[derive(Args)]
struct Folders {
    #[command(flatten)]
    place: Place,

    /// Folder of your own instead: .hgt tiles, GeoTIFF files
    #[arg(long, value_name = "DIR")]
    srtm_dir: Option<PathBuf>,
}

#[derive(Args)]
struct Fetch {
    /// SOUTH,WEST,NORTH,EAST in degrees, LAT,LON or the name of a town with --radius-km, or names of tiles such as
    /// N57E011,N57E012
    #[arg(allow_hyphen_values = true, required_unless_present = "scenario")]
    area: Option<String>,

    /// Distance around LAT,LON, km, up to 1000
    #[arg(long, value_name = "KM", default_value_t = 10.0)]
    radius_km: f64,

    /// Fetch under the nodes and coverages of a scenario
    #[arg(long, value_name = "FILE", conflicts_with = "area")]
    scenario: Option<PathBuf>,

    /// Data set: glo30 (Copernicus, 30 m, surface) or srtm (30 m, surface)
    #[arg(
        long,
        value_name = "NAME",
        env = "GROUNDWAVE_TERRAIN_SOURCE",
        value_parser = source_parser(),
        hide_possible_values = true,
        default_value = "glo30"
    )]
    source: String,

    /// Land cover instead of heights: ESA WorldCover 2021, 10 m, in tiles of 3 degrees, into groundwave/land-cover
    /// in the cache folder of the user; name that folder with --land-cover where it is to count
    #[arg(long)]
    land_cover: bool,

    /// Address of a mirror with the same paths [default: that of the source]
    #[arg(long, value_name = "URL", env = "GROUNDWAVE_TERRAIN_URL", value_parser = mirror)]
    url: Option<String>,

    /// HTTP proxy [default: https_proxy, http_proxy, all_proxy and no_proxy of the environment]
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,

    /// Consent to the terms and sizes without a question
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    place: Place,
}

impl Place {
    fn options(&self) -> TerrainOptions {
        TerrainOptions { terrain_cache: self.terrain_cache.clone(), ..TerrainOptions::default() }
    }

    fn cache(&self) -> Result<Cache, Failure> {
        Ok(Cache::new(self.options().cache_folder()?))
    }
}

impl Terrain {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        match self.action {
            Action::Fetch(args) => args.run(output),
            Action::List(Folders { srtm_dir: Some(own), .. }) => terrain_folder::list(&own, output),
            Action::List(Folders { place, .. }) => list(&place, output),
            Action::Verify(Folders { srtm_dir: Some(own), .. }) => {
                terrain_folder::verify(&own, output)
            }
            Action::Verify(Folders { place, .. }) => verify(&place, output),
        }
    }
}

fn list(place: &Place, output: Output) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        folder: String,
        files: Vec<&'a Entry>,
    }
    let cache = place.cache()?;
    let index = cache.index().map_err(Failure::input)?;
    let folder = cache.folder().display().to_string();
    let files: Vec<_> = index.files.values().collect();
    if output.json {
        return output.json(&Document { folder, files });
    }
    if files.is_empty() {
        return output.text(&format!("no terrain in {folder}; {FETCH_HINT}\n"));
    }
    let heads = [
        ("source", Align::Left),
        ("file", Align::Left),
        ("MB", Align::Right),
        ("data", Align::Left),
    ];
    let mut table = Table::new(&heads);
    for entry in &files {
        let size_mb = format!("{:.1}", entry.length as f64 / 1e6);
        let data = entry.about.with_files(1).summary();
        table.row([entry.source.clone(), entry.name.clone(), size_mb, data]);
    }
    let mut out = format!("{folder}\n\n{}", output::table(&table, None));
    let mut terms: Vec<_> =
        files.iter().filter_map(|entry| entry.about.attribution.as_deref()).collect();
    terms.dedup();
    for text in terms {
        let _ = writeln!(out, "{}", output::faint(text));
    }
    output.text(&out)
}

/// Posts of a file without a height, and those that stand alone.
#[derive(Serialize)]
struct Gaps {
    file: String,
    /// Posts in all.
    posts: u64,
    /// Posts marked as voids.
    void_posts: u64,
    /// Posts outside the heights of the Earth, taken as voids.
    outside_posts: u64,
    /// Posts that stand alone; they keep their heights.
    spike_posts: u32,
    /// Doubts about the posts.
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<String>,
}

impl Gaps {
    fn new(file: &str, counts: Counts) -> Option<Self> {
        let Counts { posts, voids, outside, spikes, doubt } = counts;
        (voids > 0 || doubt.is_some()).then(|| Self {
            file: file.to_owned(),
            posts,
            void_posts: voids,
            outside_posts: outside,
            spike_posts: spikes,
            doubt,
        })
    }

    /// One line.
    fn line(&self) -> String {
        match &self.doubt {
            Some(doubt) => output::warning(&format!("{}: {doubt}", self.file)),
            None => format!("{}: {} of {} posts are voids", self.file, self.void_posts, self.posts),
        }
    }
}

fn verify(place: &Place, output: Output) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Document {
        folder: String,
        sound: Vec<String>,
        missing: Vec<String>,
        damaged: Vec<String>,
        /// Files with posts without a height, or with posts that stand alone.
        gaps: Vec<Gaps>,
    }
    let cache = place.cache()?;
    let index = cache.index().map_err(Failure::input)?;
    let folder = cache.folder().display().to_string();
    if index.files.is_empty() {
        return Err(Failure::Input(format!(
            "invalid folder of terrain: found no file to verify in {folder}; {FETCH_HINT}"
        )));
    }
    let mut report = Document {
        folder: folder.clone(),
        sound: Vec::new(),
        missing: Vec::new(),
        damaged: Vec::new(),
        gaps: Vec::new(),
    };
    let mut faults = Vec::new();
    for (key, entry) in &index.files {
        let names = match cache.verify(entry) {
            State::Sound => match cache.counts(entry) {
                Ok(counts) => {
                    report.gaps.extend(Gaps::new(key, counts));
                    &mut report.sound
                }
                Err(fault) => {
                    faults.push(fault.to_string());
                    &mut report.damaged
                }
            },
            State::Missing => &mut report.missing,
            State::Damaged => &mut report.damaged,
        };
        names.push(key.clone());
    }
    let bad: Vec<_> = report.missing.iter().chain(&report.damaged).cloned().collect();
    match output.json {
        true => output.json(&report)?,
        false => {
            let sound = report.sound.len();
            let mut out = format!("{sound} of {} files in {folder} are sound\n", index.files.len());
            for gaps in &report.gaps {
                let _ = writeln!(out, "{}", gaps.line());
            }
            output.text(&out)?;
        }
    }
    if bad.is_empty() {
        return Ok(());
    }
    faults.insert(0, bad.join(", "));
    Err(Failure::Machine(format!(
        "missing or damaged in {folder}: {}; remove a damaged file, then `groundwave terrain fetch` fetches it again",
        faults.join("; ")
    )))
}

impl Fetch {
    fn squares(&self) -> Result<Vec<TileId>, Failure> {
        if let Some(path) = &self.scenario {
            return squares_of(&load(path)?);
        }
        let area = self.area.as_deref().unwrap_or_default();
        let invalid = || {
            Failure::Input(format!(
                "invalid AREA: found {area:?}, allowed SOUTH,WEST,NORTH,EAST, LAT,LON, a town such as \
                 Uppsala,SE, or names of tiles such as N57E011"
            ))
        };
        let parts: Vec<_> = area.split(',').map(str::trim).collect();
        let tiles: Result<Vec<TileId>, _> = parts.iter().map(|part| part.parse()).collect();
        if let Ok(tiles) = tiles {
            return Ok(tiles);
        }
        let numbers: Result<Vec<f64>, _> = parts.iter().map(|part| part.parse()).collect();
        let Ok(numbers) = numbers else {
            return match area.chars().any(char::is_alphabetic) {
                true => self.around(place::read(area).map_err(|_| invalid())?.0),
                false => Err(invalid()),
            };
        };
        match numbers[..] {
            [lat, lon] => self.around(GeoPoint::new(lat, lon).map_err(Failure::input)?),
            [south, west, north, east] => {
                GeoPoint::new(south, west).map_err(Failure::input)?;
                GeoPoint::new(north, east).map_err(Failure::input)?;
                if south > north {
                    return Err(Failure::Input(format!(
                        "invalid AREA: found south {south} above north {north}, allowed SOUTH,WEST,NORTH,EAST"
                    )));
                }
                squares_within([south, west, north, east]).ok_or_else(too_large)
            }
            _ => Err(invalid()),
        }
    }

    /// Squares around a place.
    fn around(&self, middle: GeoPoint) -> Result<Vec<TileId>, Failure> {
        if !(0.0..=1000.0).contains(&self.radius_km) {
            let radius_km = self.radius_km;
            return Err(Failure::Input(format!(
                "invalid --radius-km: found {radius_km}, allowed 0 to 1000"
            )));
        }
        squares_around(&[middle], self.radius_km * 1e3).ok_or_else(too_large)
    }

    /// Consent of the user, requested once for each source.
    fn consent(&self, fetching: &Fetching, tiles: &[TileId]) -> Result<(), Failure> {
        let index = fetching.cache.index().map_err(Failure::input)?;
        if index.consents.contains(fetching.source.id) {
            return Ok(());
        }
        let terms = fetching.terms(tiles);
        if !self.yes {
            if !is_dialogue() {
                return Err(Failure::Input(format!(
                    "no consent to fetch {terms}; `{} --yes` consents",
                    command(fetching.source, tiles)
                )));
            }
            if !has_consent(&terms)? {
                return Err(Failure::Input("no consent: nothing was fetched".to_owned()));
            }
        }
        fetching.cache.consent(fetching.source).map_err(Failure::machine)
    }

    fn run(self, output: Output) -> Result<(), Failure> {
        #[derive(Serialize)]
        struct Document<'a> {
            folder: String,
            source: &'a str,
            fetched: Vec<String>,
            absent: Vec<String>,
            present: Vec<String>,
        }
        let squares = self.squares()?;
        let options = self.place.options();
        let (folder, source) = match self.land_cover {
            true => (options.cover_folder()?, LAND_COVER.id),
            false => (options.cache_folder()?, &*self.source),
        };
        let fetching =
            Fetching::new(folder, Some(source), self.url.as_deref(), self.proxy.as_deref())?;
        let missing = fetching.wanted(&squares)?;
        if !missing.is_empty() {
            self.consent(&fetching, &missing)?;
        }
        let tiles = squares.iter().filter_map(|square| fetching.source.tile_of(*square));
        let present: BTreeSet<_> = tiles.filter(|tile| !missing.contains(tile)).collect();
        let mut report = Document {
            folder: fetching.cache.folder().display().to_string(),
            source: fetching.source.id,
            fetched: Vec::new(),
            absent: Vec::new(),
            present: present.iter().map(ToString::to_string).collect(),
        };
        for square in &missing {
            let bar =
                output::progress(0, "{prefix} {bar:30} {bytes} of {total_bytes} {bytes_per_sec}");
            bar.set_prefix(square.to_string());
            let mut is_absent = false;
            fetching.fetch(*square, |event| match event {
                Event::Bytes { received, length } => {
                    bar.set_length(length.unwrap_or(received));
                    bar.set_position(received);
                }
                Event::Stored => bar.finish_and_clear(),
                Event::Absent => is_absent = true,
            })?;
            let names = if is_absent { &mut report.absent } else { &mut report.fetched };
            names.push(square.to_string());
        }
        if output.json {
            return output.json(&report);
        }
        let mut out = String::new();
        for (what, names) in [
            ("fetched", &report.fetched),
            ("not published, mostly open sea", &report.absent),
            ("there before", &report.present),
        ] {
            if !names.is_empty() {
                let _ = writeln!(out, "{what}: {}", names.join(", "));
            }
        }
        let _ = match self.land_cover {
            true => writeln!(out, "used with --land-cover {}", report.folder),
            false => writeln!(
                out,
                "used where no other folder is named, or with --terrain-cache {}",
                report.folder
            ),
        };
        output.text(&out)
    }
}
