//! `groundwave convert`: documents and recordings from one format into another.

mod from_log;
mod into_log;

use std::path::{Path, PathBuf};

use clap::Args;
use groundwave::planning::wire::radio::default_station;
use groundwave_io::formats::csv::{self, levels};
use groundwave_io::formats::scenario;
use groundwave_io::formats::{self, Content, Dataset, Format, ReadOptions, Report, Source};
use groundwave_systems::terrain::GeoPoint;
use serde_json::{Value, json};

use super::output::{Output, warning};
use groundwave::serve::Failure;
use groundwave::serve::terrain::TerrainOptions;

/// Turn a document into one of another format, without a server
///
/// The format of FROM is told by its content, then by its ending; --format forces one. Plans and
/// maps of running meshes become plans; tracks become scenarios in which nodes move. Recordings of
/// measurements and movements become logs (.gwlog); a log becomes a recording in another format.
#[derive(Args)]
#[command(after_help = help())]
pub struct Convert {
    /// The document, a folder of snapshots, or a log (.gwlog)
    #[arg(value_name = "FROM")]
    from: PathBuf,

    /// The document to write; its ending decides the format
    #[arg(value_name = "TO")]
    to: PathBuf,

    /// Format of FROM, instead of the one detected from its content
    #[arg(long, value_name = "NAME")]
    format: Option<String>,

    /// Columns of a table of levels (TOML), for CSV
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,

    /// A plan with the positions of nodes, by name, for recordings without them
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,

    /// Origin of ns-2 motion, deg
    #[arg(long, value_name = "LAT,LON")]
    origin: Option<String>,

    /// Seconds between snapshots without a time of their own
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    step: f64,

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
  groundwave record scenarios/failover.toml -o run.gwlog && groundwave convert run.gwlog run.eel
  groundwave convert run.gwlog run.parquet";

/// The examples, and the formats of the registry with what they read and write.
fn help() -> String {
    let mut help = format!("{EXAMPLES}\n\nFormats (r reads, p writes plans, l writes logs):");
    for format in formats::FORMATS {
        let can = |can: bool, flag| if can { flag } else { '-' };
        help += &format!(
            "\n  {:<12} {}{}{}  {} (.{})",
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
        let (path, allowed) = (path.display(), formats::names(writes));
        Failure::Input(format!(
            "{path}: invalid ending of a plan: allowed {allowed}"
        ))
    })
}

/// Writes a whole file or none.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    use std::io::Write;
    let folder = path.parent().filter(|parent| *parent != Path::new(""));
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|err| Failure::from(err.error))?;
    Ok(())
}

/// Prints the notes of a report as warnings.
fn tell(report: &Report) {
    for note in &report.notes {
        let line = format!("{} x {} (first: {})", note.count, note.what, note.first);
        anstream::eprintln!("{}", warning(&line));
    }
    if report.more > 0 {
        anstream::eprintln!(
            "{}",
            warning(&format!("{} x of further kinds", report.more))
        );
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
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let is_log = |path: &Path| path.extension().is_some_and(|ending| ending == "gwlog");
        if is_log(&self.from) {
            return from_log::export(&self.from, &self.to, &self.ground, output);
        }
        let into_log = is_log(&self.to);
        let source = Source::open(&self.from).map_err(Failure::Input)?;
        let format = self.format(&source)?;
        if into_log && format.holds(Content::Plan) && self.mapping.is_none() {
            let file = self.from.display();
            let what = "a plan holds no recording; a table of levels needs --mapping FILE";
            return Err(Failure::Input(format!("{file}: {what}")));
        }
        let to = match into_log {
            true => None,
            false => Some(plan_format(&self.to)?),
        };
        let mut dataset = format
            .read(&source, &self.options()?)
            .map_err(|err| self.invalid(err))?;
        dataset.title = dataset.title.take().or(into_log.then(|| source.stem()));
        match to {
            None => self.write_log(format, dataset, output),
            Some(to) if format.holds(Content::Tracks) => self.tracks(format, dataset, to, output),
            Some(to) => self.plan(format, dataset, to, output),
        }
    }

    fn invalid(&self, error: impl std::fmt::Display) -> Failure {
        Failure::Input(format!("{}: {error}", self.from.display()))
    }

    /// The format of the document: the one asked for, that of a mapping, or by its content.
    fn format(&self, source: &Source) -> Result<&'static Format, Failure> {
        let readable = |format: &Format| format.read.is_some();
        match &self.format {
            Some(name) => formats::by_name(name)
                .filter(|format| readable(format))
                .ok_or_else(|| {
                    let allowed = formats::names(readable);
                    let what = format!("invalid --format: found {name:?}, allowed {allowed}");
                    Failure::Input(what)
                }),
            None if self.mapping.is_some() => Ok(&csv::FORMAT),
            None => formats::identify(source).map_err(|err| self.invalid(err)),
        }
    }

    fn options(&self) -> Result<ReadOptions, Failure> {
        let mut options = ReadOptions::new(default_station());
        options.step_s = self.step;
        options.origin = self.origin.as_deref().map(origin).transpose()?;
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
        let plan = dataset.into_plan(format, &default_station());
        let (plan, report) = plan.map_err(|err| self.invalid(err))?;
        let mut out = Vec::new();
        if let Some(write) = to.write_plan {
            write(&plan, &mut out).map_err(Failure::input)?;
        }
        write_whole(&self.to, &out)?;
        let nodes = plan.nodes.len();
        if output.json {
            return output.json(&json!({ "file": self.to, "nodes": nodes, "notes": report }));
        }
        tell(&report);
        output.text(&format!("{}: {nodes} nodes\n", self.to.display()))
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
        let scenario = dataset.motion_scenario(format);
        let (text, nodes, report) = scenario.map_err(|err| self.invalid(err))?;
        write_whole(&self.to, text.as_bytes())?;
        if output.json {
            let told = json!({ "file": self.to, "nodes": nodes, "dropped": dropped(&report) });
            return output.json(&told);
        }
        tell(&report);
        output.text(&format!("{file}: {nodes} moving nodes\n"))
    }
}

/// A position of the form `LAT,LON`, degrees.
fn origin(text: &str) -> Result<GeoPoint, Failure> {
    let mut numbers = text.split(',').map(|part| part.trim().parse::<f64>());
    let pair = (numbers.next(), numbers.next(), numbers.next());
    let (Some(Ok(lat)), Some(Ok(lon)), None) = pair else {
        let what = format!("invalid --origin: found {text:?}, allowed LAT,LON in degrees");
        return Err(Failure::Input(what));
    };
    GeoPoint::new(lat, lon).map_err(Failure::input)
}
