//! Recordings of others as logs: read, run through a world over the ground that is there, recorded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use groundwave::planning::wire::radio::default_station;
use groundwave_engine::Engine;
use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::{FORMAT, Header};
use groundwave_io::exchange::{self, Format, maps};
use groundwave_io::import::{self, ImportError, Lowered, Recording};
use groundwave_io::journal::FileJournal;
use groundwave_io::tracks;
use groundwave_systems::terrain::GeoPoint;
use groundwave_systems::{Snapshot, world};
use serde_json::json;

use super::failure::Failure;
use super::ground::GroundArgs;
use super::output::{self, Output, warning};

/// How a recording is read.
#[derive(Args, Debug)]
pub struct RecordingArgs {
    /// What the columns of a table mean (TOML), for CSV
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,

    /// A plan that says where nodes stand, by name, for recordings that do not
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,

    /// Where motion of ns-2 has its origin, deg
    #[arg(long, value_name = "LAT,LON")]
    origin: Option<String>,

    /// Seconds between snapshots that do not say when they were made
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    step: f64,

    #[command(flatten)]
    ground: GroundArgs,
}

impl RecordingArgs {
    /// Reads the recording at `from` and writes the log `to`.
    pub fn import(&self, from: &Path, to: &Path, output: Output) -> Result<(), Failure> {
        let mut recording = self.read(from)?;
        if let Some(path) = &self.places {
            place(&mut recording, path)?;
        }
        let lowered = recording.lower(&default_station());
        for dropped in &recording.dropped {
            let at = dropped.first_line;
            let line = format!("{} x {} (first: {at})", dropped.count, dropped.what);
            anstream::eprintln!("{}", warning(&line));
        }
        if lowered.unplaced > 0 {
            let count = lowered.unplaced;
            let line = format!("{count} x no place: on a ring at 0 N 0 E; say --places");
            anstream::eprintln!("{}", warning(&line));
        }
        let digest = self.record(&recording, &lowered, to)?;
        let told = json!({
            "file": to,
            "title": recording.title,
            "nodes": recording.nodes.len(),
            "unplaced": lowered.unplaced,
            "measurements": recording.measurements(),
            "ticks": lowered.last_tick,
            "step_s": recording.step_s,
            "begin_unix_s": recording.begin_unix_s,
            "dropped": recording.dropped,
            "digest": digest,
        });
        if output.json {
            return output.json(&told);
        }
        output.text(&format!(
            "{}: {} nodes, {} measurements, {} ticks of {} s\n",
            to.display(),
            recording.nodes.len(),
            recording.measurements(),
            lowered.last_tick,
            recording.step_s,
        ))
    }

    /// Writes the log `from` in the format of `to`.
    pub fn export(&self, from: &Path, to: &Path, output: Output) -> Result<(), Failure> {
        super::recording_out::export(from, to, &self.ground, output)
    }

    fn read(&self, from: &Path) -> Result<Recording, Failure> {
        let wrong = |err: ImportError| Failure::Input(format!("{}: {err}", from.display()));
        let title = from.file_stem().unwrap_or_default().to_string_lossy();
        let name = from
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if let Some(path) = &self.mapping {
            let (mapping, station) = import::mapping::load(path).map_err(Failure::input)?;
            let folder = path.parent().unwrap_or(Path::new("."));
            return import::read_table(from, &mapping, station.as_ref(), folder).map_err(wrong);
        }
        if ends(&[".csv", ".csv.gz", ".tsv"]) {
            let what = format!("{}: a table needs --mapping FILE", from.display());
            return Err(Failure::Input(what));
        }
        if from.is_dir() {
            let documents = documents(from)?;
            return import::read_snapshots(&title, &documents, self.step).map_err(wrong);
        }
        let bytes = bounded(from)?;
        if ends(&[".eel"]) {
            return import::read_eel(&title, &bytes).map_err(wrong);
        }
        if ends(&[".gpx"]) {
            let found = tracks::read(tracks::Kind::Gpx, &bytes);
            let found =
                found.map_err(|err| Failure::Input(format!("{}: {err}", from.display())))?;
            return import::tracks(&title, found).map_err(wrong);
        }
        let text = String::from_utf8_lossy(&bytes);
        if ends(&[".scen", ".tcl", ".ns_movements", ".ns2"]) {
            return import::read_ns2(&title, &text, self.origin()?).map_err(wrong);
        }
        if ends(&[".up", ".down", ".mahi", ".pps"]) {
            return import::trace(&title, &text).map_err(wrong);
        }
        let documents = [(name, bytes)];
        import::read_snapshots(&title, &documents, self.step).map_err(wrong)
    }

    fn origin(&self) -> Result<GeoPoint, Failure> {
        let Some(text) = &self.origin else {
            anstream::eprintln!("{}", warning("motion without an --origin: around 0 N 0 E"));
            return GeoPoint::new(0.0, 0.0).map_err(Failure::input);
        };
        let mut numbers = text.split(',').map(|part| part.trim().parse::<f64>());
        let pair = (numbers.next(), numbers.next(), numbers.next());
        let (Some(Ok(lat)), Some(Ok(lon)), None) = pair else {
            let what = format!("--origin is {text:?}; allowed: LAT,LON in degrees");
            return Err(Failure::Input(what));
        };
        GeoPoint::new(lat, lon).map_err(Failure::input)
    }

    /// Runs the commands through a world and records it.
    fn record(
        &self,
        recording: &Recording,
        lowered: &Lowered,
        to: &Path,
    ) -> Result<String, Failure> {
        let ground = self.ground.open()?;
        let step_ns = recording.step_ns();
        let mut engine: Engine<Snapshot> = world(ground.terrain.clone())
            .build(0, step_ns)
            .map_err(Failure::input)?;
        for (tick, name, body) in &lowered.commands {
            let command = engine
                .registry()
                .from_bytes(name, body)
                .map_err(Failure::Machine)?;
            engine.script(*tick, command);
        }
        let mut inputs: BTreeMap<String, String> = ground.inputs.clone();
        inputs.insert("title".to_owned(), recording.title.clone());
        inputs.insert("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        if let Some(begin) = recording.begin_unix_s {
            inputs.insert("begin_unix_s".to_owned(), begin.to_string());
        }
        let header = Header {
            format: FORMAT,
            seed: 0,
            step_ns,
            inputs,
        };
        let journal = FileJournal::create(to, &header).map_err(Failure::input)?;
        engine.record(journal).checkpoint_every(CHECKPOINT_TICKS);
        let progress = output::progress(
            lowered.last_tick,
            "{bar:30} {pos}/{len} ticks  {per_sec}  {eta} left",
        );
        let mut refused = 0_usize;
        let mut first = None;
        for tick in 1..=lowered.last_tick {
            let ticked = engine.tick(None).map_err(Failure::machine)?;
            refused += ticked.refused.len();
            first = first.or_else(|| ticked.refused.into_iter().next());
            progress.set_position(tick);
        }
        progress.finish_and_clear();
        if let Some((name, refusal)) = first {
            let line = format!("{refused} x refused by the world (first: {name}: {refusal})");
            anstream::eprintln!("{}", warning(&line));
        }
        ground.check_tiles()?;
        let digest = engine.mark()?;
        engine.stop();
        Ok(digest)
    }
}

/// The files of a folder in the order of their names.
fn documents(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.is_file());
    paths.sort();
    let read = |path: &PathBuf| Ok((path.display().to_string(), bounded(path)?));
    paths.iter().map(read).collect()
}

fn bounded(path: &Path) -> Result<Vec<u8>, Failure> {
    let wrong = |err: std::io::Error| Failure::Input(format!("read {}: {err}", path.display()));
    let bytes = std::fs::metadata(path).map_err(wrong)?.len();
    if bytes > import::BYTES_MAX as u64 {
        let most = import::BYTES_MAX;
        let what = format!("{}: {bytes} bytes; allowed: up to {most}", path.display());
        return Err(Failure::Input(what));
    }
    std::fs::read(path).map_err(wrong)
}

/// Places and stations from a plan, by name.
fn place(recording: &mut Recording, path: &Path) -> Result<(), Failure> {
    let bytes = bounded(path)?;
    let wrong = |err: &dyn std::fmt::Display| Failure::Input(format!("{}: {err}", path.display()));
    let plan = match maps::read(&bytes, &default_station()) {
        Some(map) => map.map_err(|err| wrong(&err))?.1,
        None => {
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            let format = Format::from_name(&extension);
            let format = format.ok_or_else(|| wrong(&"no format of plans we know"))?;
            let read = exchange::read(format, &bytes, &default_station());
            read.map_err(|err| wrong(&err))?.0
        }
    };
    let known: BTreeMap<&str, _> = plan
        .nodes
        .iter()
        .map(|node| (node.name.as_str(), node))
        .collect();
    for spot in &mut recording.nodes {
        if let Some(node) = known.get(spot.name.as_str()) {
            spot.position = Some(node.position);
            spot.station = Some(node.station.clone());
        }
    }
    Ok(())
}
