//! `groundwave convert`: documents and recordings from one format into another.

mod from_log;
mod into_log;

use std::path::{Path, PathBuf};

use clap::Args;
use groundwave_command::waiting::with_spinner;
use groundwave_http::Failure;
use groundwave_http::option_value::{
    require_existing, require_existing_if_some, require_file_if_some,
};
use groundwave_model::link::{Probe, ProbeRate};
use groundwave_model::radio::{Station, presets};
use groundwave_model::terrain::{GeoPoint, SWAPPED, is_swapped};
use groundwave_scenario::formats;
use groundwave_scenario::formats::csv;
use groundwave_scenario::formats::csv::levels;
use groundwave_scenario::formats::scenario;
use groundwave_scenario::formats::{Content, Dataset, Datum, Format, ReadOptions, Report, Source};
use groundwave_scenario::limits::LINK_RANGE_M;
use groundwave_scenario::setdest::Dialect;
use groundwave_setup::terrain::TerrainOptions;
use groundwave_simulation::link::UPDATE_DISTANCE_M_MAX;
use serde_json::{Value, json};

use super::log;
use super::output::{self, Output, is_stdio, named, warning, write_whole};
use super::quantity::{SNAPSHOT_STEP_S, height_m, probe_rate, step_s};

/// Turn a document into one of another format, without a server
///
/// The format of FROM is recognized by its content, then by its ending; --format forces one. Plans and
/// maps of running meshes become plans; tracks become scenarios in which nodes move. Recordings of
/// measurements and movements become logs (.gwlog); a log becomes a recording in another format.
#[derive(Args)]
#[command(after_help = help())]
pub struct Convert {
    /// The document, a folder of snapshots, or a log; `-` is standard input
    #[arg(value_name = "FROM")]
    from: PathBuf,

    /// The document to write; its ending decides the format; `-` is standard output
    #[arg(value_name = "TO")]
    to: PathBuf,

    /// Format of TO, instead of the one of its ending
    #[arg(long, value_name = "NAME")]
    output_format: Option<String>,

    /// Write over TO where it exists
    #[arg(long)]
    force: bool,

    /// Format of FROM, instead of the one detected from its content
    #[arg(long, value_name = "NAME")]
    format: Option<String>,

    /// Columns of a table of levels (TOML), for CSV
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,

    /// A plan or map with the positions of nodes, by name or id, for recordings without them
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,

    /// Origin of ns-2 motion, deg
    #[arg(long, value_name = "LAT,LON", allow_hyphen_values = true)]
    origin: Option<String>,

    /// Meaning of a speed of 0 in ns-2 motion: ns2, a stop; core, a jump [default: by the content]
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,

    /// Order of dates in tables whose year comes last: dmy, the day first; mdy, the month first [default: by the rows]
    #[arg(long, value_name = "NAME")]
    date_order: Option<String>,

    /// Level of heights whose document states none: agl, the ground; msl, the sea; hae, the ellipsoid
    #[arg(long, value_name = "NAME")]
    datum: Option<String>,

    /// Rows to leave out: implausible, for fixes at 0 N 0 E, beyond reach or out of order; altitude, for heights above
    /// sea level. Both with the option twice
    #[arg(long, value_name = "KIND")]
    drop: Vec<String>,

    /// Nodes of tracks are there from their first fix to their last only, not throughout
    #[arg(long)]
    while_recorded: bool,

    /// Length beyond which links are not evaluated, m [default: that of the document, or 100 km]
    #[arg(long, value_name = "M")]
    range: Option<f64>,

    /// Distance after which links of a moving node are computed again, m [default: 0, whenever it moved]
    #[arg(long, value_name = "M", default_value_t = 0.0, hide_default_value = true)]
    update_distance: f64,

    /// Rate of the probes of OLSR or batman-adv, which recorded link qualities are compared with: see `probe` of
    /// [mesh]
    #[arg(long, value_name = "RATE", value_parser = probe_rate)]
    probe: Option<ProbeRate>,

    /// Seconds between snapshots without a time of their own
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    step: f64,

    /// Write a first mapping file of a table of levels, to be checked, instead of a document
    #[arg(long, conflicts_with_all = ["mapping", "format", "output_format"])]
    sniff: bool,

    /// Radio preset of nodes whose document states none (see `groundwave presets radios`)
    #[arg(long, value_name = "ID", default_value = "wifi_5g_mesh")]
    radio: String,

    /// Antenna preset of nodes whose document states none (see `groundwave presets antennas`) [default: that of the device,
    /// or omni_2_15]
    #[arg(long, value_name = "ID")]
    antenna: Option<String>,

    /// Antenna height of nodes whose document states none, m above ground, or with a unit: 30ft
    #[arg(
        long,
        value_name = "M",
        default_value = "10",
        value_parser = height_m
    )]
    height: f64,

    #[command(flatten)]
    ground: TerrainOptions,
}

const EXAMPLES: &str = "\
Examples:
  groundwave convert examples/masts.csv masts.toml
  groundwave convert examples/meshviewer.json community.toml && groundwave run community.toml
  groundwave convert scenarios/gothenburg.toml gothenburg.kmz
  groundwave convert examples/emane.eel emane.gwlog && groundwave replay emane.gwlog --report emane.html
  groundwave convert examples/levels.csv levels.gwlog --mapping examples/levels.toml
  groundwave convert examples/levels.csv mapping.toml --sniff
  groundwave record scenarios/failover.toml -o run.gwlog && groundwave convert run.gwlog run.eel
  groundwave convert run.gwlog run.parquet
  cat examples/masts.geojson | groundwave convert - - --output-format csv";

/// The examples, and the formats of the registry with what they read and write.
fn help() -> String {
    let mut help = format!("{EXAMPLES}\n\nFormats (r reads, p writes plans, l writes logs):");
    for format in formats::FORMATS {
        let can = |can: bool, flag| if can { flag } else { '-' };
        help += &format!(
            "\n  {:<15} {}{}{}  {} (.{})",
            format.name,
            can(format.read.is_some(), 'r'),
            can(format.write_plan.is_some(), 'p'),
            can(format.write_recording.is_some(), 'l'),
            format.description,
            format.extensions.join(", ."),
        );
    }
    help
}

/// The format of a plan to write, by its ending.
pub fn plan_format(path: &Path) -> Result<&'static Format, Failure> {
    let writes = |format: &Format| format.write_plan.is_some();
    formats::by_extension(path, writes).ok_or_else(|| {
        let allowed = formats::names(writes);
        Failure::Input(match is_stdio(path) {
            true => format!("missing --output-format: allowed {allowed}"),
            false => format!("{}: invalid ending of a plan: allowed {allowed}", path.display()),
        })
    })
}

/// The format of this name, of those that can be written.
fn output_format(name: &str, writes: fn(&Format) -> bool) -> Result<&'static Format, Failure> {
    let entry = formats::by_name(name).filter(|format| writes(format));
    entry.ok_or_else(|| {
        let allowed = formats::names(writes);
        let what = format!("invalid --output-format: found {name:?}, allowed {allowed}");
        Failure::Input(what)
    })
}

/// Prints the notes of a report as warnings.
pub(super) fn tell(report: &Report) {
    for note in &report.notes {
        let line = format!("{} x {} (first: {})", note.count, note.what, note.first);
        output::note(&warning(&line));
    }
    if report.more > 0 {
        output::note(&warning(&format!("{} x of further kinds", report.more)));
    }
}

/// The notes of a report, as documents of recordings list them.
fn dropped(report: &Report) -> Vec<Value> {
    let notes = report.notes.iter();
    let note = notes.map(
        |note| json!({ "what": note.what, "count": note.count, "first_line": note.first.line }),
    );
    note.collect()
}

impl Convert {
    /// Reads one document and writes the other.
    pub fn run(mut self, output: Output) -> Result<(), Failure> {
        output.refuse_stdout("TO", &self.to)?;
        let more = named("--mapping", &self.mapping).chain(named("--places", &self.places));
        let inputs: Vec<_> = named("FROM", [&self.from]).chain(more).collect();
        output::refuse_shared(&[("TO", &self.to)], &inputs)?;
        self.require_inputs()?;
        self.refuse_document()?;
        output::refuse_existing(&self.to, self.force)?;
        let is_log = |path: &Path| {
            path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gwlog"))
        };
        let begins_like_one = |path: &Path| log::open(path).is_ok();
        if is_log(&self.from) || (self.from.is_file() && begins_like_one(&self.from)) {
            return self.export(output);
        }
        let into_log = is_log(&self.to);
        let reading = format!("reading {}", self.from.display());
        let source = match is_stdio(&self.from) {
            false => with_spinner(&reading, || Source::open(&self.from)).map_err(Failure::Input)?,
            true => {
                let whole = log::local(&self.from)?;
                if begins_like_one(whole.path()) {
                    self.from = whole.path().to_owned();
                    return self.export(output);
                }
                let source = Source::open(whole.path()).map_err(Failure::Input)?;
                Source { path: PathBuf::new(), folder: None, ..source }
            }
        };
        if self.sniff {
            let mapping = levels::guess(&source).map_err(|err| self.invalid(err))?;
            write_whole(&self.to, mapping.as_bytes())?;
            let summary = json!({ "file": self.to });
            let text = format!("{}: a first mapping, to be checked\n", self.to.display());
            return self.report(output, &summary, &text);
        }
        let format = self.format(&source)?;
        if into_log && format.holds(Content::Plan) && self.mapping.is_none() {
            return Err(into_log::refusal_of_plan(&self.from, &source));
        }
        let to = match into_log {
            true => None,
            false => Some(self.plan_format()?),
        };
        let options = self.options()?;
        let read = with_spinner(&reading, || format.read(&source, &options));
        let mut dataset = read.map_err(|err| self.invalid(err))?;
        dataset.title = dataset.title.take().or(into_log.then(|| source.stem()));
        self.limit(&mut dataset)?;
        if dataset.needs_geoid() {
            dataset.heights_over_geoid(&*self.ground.open()?.terrain);
        }
        if let Some(path) = &self.places {
            into_log::place(&mut dataset, path)?;
        }
        // A document of positions alone is a list of sites.
        let has_tracks = !format.holds(Content::Positions) || dataset.has_motion();
        let is_of_tracks = format.holds(Content::Tracks) && has_tracks;
        match to {
            None => self.write_log(format, dataset, output),
            Some(to) if is_of_tracks => self.tracks(format, dataset, to, output),
            Some(to) => self.plan(format, dataset, to, output),
        }
    }

    /// Refuses documents that are not there.
    fn require_inputs(&self) -> Result<(), Failure> {
        if !is_stdio(&self.from) {
            require_existing("FROM", &self.from, "a document, a folder of them, or a log")?;
        }
        let columns = "columns of a table of levels (TOML)";
        require_file_if_some("--mapping", self.mapping.as_deref(), columns)?;
        let places = self.places.as_deref().filter(|path| !is_stdio(path));
        require_existing_if_some("--places", places, "a plan or map with positions of nodes")
    }

    /// Refuses to write over a document of the folder that is read.
    fn refuse_document(&self) -> Result<(), Failure> {
        let paths = self.from.canonicalize().ok().zip(self.to.canonicalize().ok());
        match paths.filter(|(from, to)| from.is_dir() && to.is_file() && to.starts_with(from)) {
            None => Ok(()),
            Some(_) => Err(Failure::Input(format!(
                "invalid TO: found {}, a document of the folder {}, allowed another file",
                self.to.display(),
                self.from.display()
            ))),
        }
    }

    /// The format of a plan to write: the requested one, or by the ending.
    fn plan_format(&self) -> Result<&'static Format, Failure> {
        let writes = |format: &Format| format.write_plan.is_some();
        match &self.output_format {
            Some(name) => output_format(name, writes),
            None => plan_format(&self.to).map_err(|failure| match failure {
                Failure::Input(what) => {
                    Failure::Input(format!("{what}; .gwlog for movements and measurements"))
                }
                failure => failure,
            }),
        }
    }

    /// Prints a summary of the conversion, unless the document itself went to standard output.
    fn report(&self, output: Output, summary: &Value, text: &str) -> Result<(), Failure> {
        match output.json {
            _ if is_stdio(&self.to) => Ok(()),
            true => output.json(summary),
            false => output.text(text),
        }
    }

    fn invalid(&self, error: impl std::fmt::Display) -> Failure {
        Failure::Input(format!("{}: {error}", self.from.display()))
    }

    /// The format of the document: the requested one, that of a mapping, or by its content.
    fn format(&self, source: &Source) -> Result<&'static Format, Failure> {
        let readable = |format: &Format| format.read.is_some();
        match &self.format {
            Some(name) => {
                formats::by_name(name).filter(|format| readable(format)).ok_or_else(|| {
                    let allowed = formats::names(readable);
                    let what = format!("invalid --format: found {name:?}, allowed {allowed}");
                    Failure::Input(what)
                })
            }
            None if self.mapping.is_some() => Ok(&csv::FORMAT),
            None => formats::identify(source).map_err(|err| self.invalid(err)),
        }
    }

    /// Takes range, update distance and probe from the options.
    fn limit(&self, dataset: &mut Dataset) -> Result<(), Failure> {
        let within = |name: &str, value_m: f64, (least_m, greatest_m): (f64, f64)| match (least_m
            ..=greatest_m)
            .contains(&value_m)
        {
            true => Ok(value_m),
            false => Err(Failure::Input(format!(
                "invalid {name}: found {value_m} m, allowed {least_m} to {greatest_m}"
            ))),
        };
        if let Some(range_m) = self.range {
            dataset.range_m = Some(within("--range", range_m, LINK_RANGE_M)?);
        }
        let updates_m = (0.0, UPDATE_DISTANCE_M_MAX);
        dataset.update_distance_m = within("--update-distance", self.update_distance, updates_m)?;
        dataset.probe = self.probe.map(|rate| Probe { rate, ..Probe::default() });
        Ok(())
    }

    /// Station of nodes whose document states none.
    fn station(&self) -> Result<Station, Failure> {
        let invalid = |what: &str, id: &str| {
            let allowed = format!("a name that `groundwave presets {what}` lists");
            Failure::Input(format!(
                "invalid --{}: found {id:?}, allowed {allowed}",
                &what[..what.len() - 1]
            ))
        };
        let radio = presets::radio(&self.radio).ok_or_else(|| invalid("radios", &self.radio))?;
        let antenna = match &self.antenna {
            None => presets::antenna_where_unnamed(&self.radio),
            Some(id) => presets::antenna(id).ok_or_else(|| invalid("antennas", id))?,
        };
        let station = Station::new(self.height, radio.radio.clone(), antenna.antenna.clone());
        station.validate().map_err(|refusal| Failure::Input(refusal.to_string()))?;
        Ok(station)
    }

    fn options(&self) -> Result<ReadOptions, Failure> {
        let mut options = ReadOptions::new(self.station()?);
        options.step_s = step_s("--step", self.step, SNAPSHOT_STEP_S)?;
        options.origin = self.origin.as_deref().map(origin).transpose()?;
        let dialect = self.dialect.as_deref().map(|name| {
            Dialect::named(name).ok_or_else(|| {
                let what = format!("invalid --dialect: found {name:?}, allowed ns2, core");
                Failure::Input(what)
            })
        });
        options.dialect = dialect.transpose()?;
        let date_order = self.date_order.as_deref().map(|name| {
            csv::DateOrder::named(name).ok_or_else(|| {
                let what = format!("invalid --date-order: found {name:?}, allowed dmy, mdy");
                Failure::Input(what)
            })
        });
        options.date_order = date_order.transpose()?;
        let datum = self.datum.as_deref().map(|name| {
            Datum::named(name).ok_or_else(|| {
                let allowed = Datum::NAMES.join(", ");
                Failure::Input(format!("invalid --datum: found {name:?}, allowed {allowed}"))
            })
        });
        options.datum = datum.transpose()?;
        options.is_bounded = self.while_recorded;
        for kind in &self.drop {
            match kind.as_str() {
                "implausible" => options.drop_implausible = true,
                "altitude" => options.drop_altitudes = true,
                kind => {
                    let allowed = "implausible, altitude";
                    let what = format!("invalid --drop: found {kind:?}, allowed {allowed}");
                    return Err(Failure::Input(what));
                }
            }
        }
        let mapping = self.mapping.as_deref().map(levels::load);
        options.mapping = mapping.transpose().map_err(Failure::input)?;
        Ok(options)
    }

    /// Writes a plan.
    fn plan(
        &self,
        format: &Format,
        dataset: Dataset,
        to: &Format,
        output: Output,
    ) -> Result<(), Failure> {
        let plan = dataset.into_plan(format, &self.station()?);
        let (plan, report) = plan.map_err(|err| self.invalid(err))?;
        if plan.nodes.is_empty() {
            let notes = report.summary();
            let what =
                format!("{format}: found no node with a position{notes}, allowed at least one");
            return Err(self.invalid(what));
        }
        let positions: Vec<_> = plan.nodes.iter().map(|node| node.position).collect();
        if is_swapped(&*self.ground.open()?.terrain, &positions) {
            output::note(&warning(SWAPPED));
        }
        let mut out = Vec::new();
        if let Some(write) = to.write_plan {
            write(&plan, &mut out).map_err(Failure::input)?;
        }
        write_whole(&self.to, &out)?;
        let nodes = plan.nodes.len();
        if !output.json {
            tell(&report);
        }
        let summary = json!({ "file": self.to, "nodes": nodes, "notes": report });
        let text = format!("{}: {nodes} nodes\n", self.to.display());
        self.report(output, &summary, &text)
    }

    /// Writes a scenario of moving nodes.
    fn tracks(
        &self,
        format: &Format,
        dataset: Dataset,
        to: &Format,
        output: Output,
    ) -> Result<(), Failure> {
        let file = self.to.display();
        if *to != scenario::FORMAT {
            let allowed = "a scenario (NAME.toml) or a log (NAME.gwlog)";
            let what = format!("{file}: invalid format of tracks: found {to}, allowed {allowed}");
            return Err(Failure::Input(what));
        }
        let moving = dataset.moving_nodes();
        let station = self.station()?;
        let making = format!("making {file}");
        let scenario = with_spinner(&making, || dataset.motion_scenario(format, &station));
        let (text, nodes, report) = scenario.map_err(|err| self.invalid(err))?;
        write_whole(&self.to, text.as_bytes())?;
        if !output.json {
            tell(&report);
        }
        let summary = json!({
            "file": self.to, "nodes": nodes, "moving": moving, "dropped": dropped(&report),
        });
        self.report(output, &summary, &format!("{file}: nodes: {nodes}, of which {moving} move\n"))
    }
}

/// Value of `--origin`.
fn origin(text: &str) -> Result<GeoPoint, Failure> {
    groundwave_coordinate::parse(text).map_err(|error| {
        Failure::Input(format!(
            "invalid --origin: found {:?}, allowed {}",
            error.found, error.allowed
        ))
    })
}
