//! `groundwave import`, `export` and `convert`: deployments as documents.

use std::path::{Path, PathBuf};

use axum::http::Method;
use clap::Args;
use groundwave::http::client::Client;
use groundwave::planning::wire::radio::default_station;
use groundwave_io::exchange::{self, Format, maps};
use groundwave_io::tracks;
use serde_json::{Value, json};
use uuid::Uuid;

use super::failure::Failure;
use super::output::{Output, warning};
use super::recording::RecordingArgs;

const FORMATS: &str = "geojson, kml, kmz, csv, scenario (or toml)";

/// Make a deployment on a planning server from a document
#[derive(Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct Import {
    /// The document
    #[arg(value_name = "FILE")]
    from: PathBuf,

    /// Its format, where its name does not say it: geojson, kml, kmz, csv, scenario
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Where the server listens
    #[arg(
        long,
        env = "PLAN_BIND",
        value_name = "ADDR",
        default_value = "127.0.0.1:8787"
    )]
    bind: String,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  groundwave import examples/masts.geojson
  groundwave import --bind 10.0.0.7:8787 examples/masts.csv
  groundwave import --format csv examples/masts.csv

All of the document is taken or nothing; what was dropped or filled in is told.";

/// Write a deployment of a planning server as a document
#[derive(Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct Export {
    /// The deployment, by its id or its name
    #[arg(value_name = "DEPLOYMENT")]
    deployment: String,

    /// The document to write; its name says the format
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The format, where the name does not say it
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Where the server listens
    #[arg(
        long,
        env = "PLAN_BIND",
        value_name = "ADDR",
        default_value = "127.0.0.1:8787"
    )]
    bind: String,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  groundwave export Ridge -o ridge.toml
  groundwave export 018f6d2c-7f2e-7cc0-9f43-0f7a5d1a2b3c -o ridge.kmz

A scenario that was exported runs with `groundwave run`.";

/// Turn a document into one of another format, without a server
///
/// Maps of running meshes are read as well: NetJSON, meshviewer and hopglass, OpenWiFiMap, NYC Mesh,
/// CORE scenarios. Recordings of places, EMANE event logs (.eel) and GPX, become scenarios in which
/// nodes move.
///
/// Into a log (.gwlog) go recordings of what was measured: EMANE event logs, tables with a --mapping,
/// snapshots of batctl, OLSRd, respondd, meshviewer and NetJSON (a file, lines of it, or a folder),
/// Mahimahi traces, motion of ns-2, GPX. From a log recordings are written as EMANE event logs (.eel),
/// tables (.csv, .parquet), NetJSON (.json) and scenarios of CORE (.xml).
#[derive(Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub struct Convert {
    /// The document
    #[arg(value_name = "FROM")]
    from: PathBuf,

    /// The document to write
    #[arg(value_name = "TO")]
    to: PathBuf,

    #[command(flatten)]
    recording: RecordingArgs,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  groundwave convert examples/masts.csv masts.toml
  groundwave convert examples/meshviewer.json community.toml && groundwave run community.toml
  groundwave convert scenarios/gothenburg.toml gothenburg.kmz
  groundwave convert examples/emane.eel emane.gwlog && groundwave replay emane.gwlog --report emane.html
  groundwave convert examples/levels.csv levels.gwlog --mapping examples/levels.toml
  groundwave record scenarios/failover.toml -o run.gwlog && groundwave convert run.gwlog run.eel
  groundwave convert run.gwlog run.parquet";

fn format_of(path: &Path, said: Option<&str>) -> Result<Format, Failure> {
    let extension = path
        .extension()
        .map(|text| text.to_string_lossy().into_owned());
    let name = said.map(str::to_owned).or(extension).unwrap_or_default();
    Format::from_name(&name).ok_or_else(|| {
        Failure::Input(format!(
            "{} has no format we know ({name:?}); allowed: {FORMATS}",
            path.display()
        ))
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|err| Failure::Input(format!("read {}: {err}", path.display())))
}

/// Writes a whole file or none.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    use std::io::Write;
    let folder = path.parent().filter(|parent| *parent != Path::new(""));
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|err| Failure::from(err.error))?;
    Ok(())
}

/// Asks a server and returns the body of its answer.
fn ask(bind: &str, method: Method, path: &str, body: Option<Vec<u8>>) -> Result<Vec<u8>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let answer = runtime.block_on(async {
        let mut client = Client::tcp(bind).await?;
        client.send(method, path, body).await
    });
    let (status, body) = answer.map_err(Failure::input)?;
    if status.is_success() {
        return Ok(body);
    }
    let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
    let detail = problem["detail"].as_str().unwrap_or("no reason given");
    Err(Failure::Input(format!(
        "the server answered {status}: {detail}"
    )))
}

impl Import {
    /// Sends the document.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let format = format_of(&self.from, self.format.as_deref())?;
        let path = format!("/api/v1/deployments/import?format={}", format.name());
        let body = read(&self.from)?;
        let answer = ask(&self.bind, Method::POST, &path, Some(body))?;
        let told: Value = serde_json::from_slice(&answer).map_err(Failure::machine)?;
        if output.json {
            return output.json(&told);
        }
        for note in told["notes"].as_array().into_iter().flatten() {
            let what = note["what"].as_str().unwrap_or_default();
            let line = format!("{} x {what} (first: {})", note["count"], note["first"]);
            anstream::eprintln!("{}", warning(&line));
        }
        let made = &told["deployment"];
        let name = made["name"].as_str().unwrap_or_default();
        let id = made["id"].as_str().unwrap_or_default();
        output.text(&format!("{name}: {} nodes, {id}\n", told["nodes"]))
    }
}

impl Export {
    /// Fetches the document.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let format = format_of(&self.output, self.format.as_deref())?;
        let id = self.find()?;
        let path = format!("/api/v1/deployments/{id}/export?format={}", format.name());
        let document = ask(&self.bind, Method::GET, &path, None)?;
        write(&self.output, &document)?;
        if output.json {
            let told = json!({ "file": self.output, "bytes": document.len(), "deployment": id });
            return output.json(&told);
        }
        output.text(&format!(
            "{}: {} bytes\n",
            self.output.display(),
            document.len()
        ))
    }

    fn find(&self) -> Result<Uuid, Failure> {
        if let Ok(id) = Uuid::try_parse(&self.deployment) {
            return Ok(id);
        }
        let all = ask(&self.bind, Method::GET, "/api/v1/deployments", None)?;
        let all: Vec<Value> = serde_json::from_slice(&all).map_err(Failure::machine)?;
        let named: Vec<_> = all
            .iter()
            .filter(|found| found["name"] == json!(self.deployment))
            .filter_map(|found| Uuid::try_parse(found["id"].as_str()?).ok())
            .collect();
        match named[..] {
            [id] => Ok(id),
            [] => Err(Failure::Input(format!(
                "the server at {} has no deployment called {:?}",
                self.bind, self.deployment
            ))),
            _ => {
                let ids: Vec<_> = named.iter().map(Uuid::to_string).collect();
                Err(Failure::Input(format!(
                    "{} deployments are called {:?}; say which id: {}",
                    named.len(),
                    self.deployment,
                    ids.join(", ")
                )))
            }
        }
    }
}

impl Convert {
    /// Reads one document and writes the other.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if self
            .to
            .extension()
            .is_some_and(|extension| extension == "gwlog")
        {
            return self.recording.import(&self.from, &self.to, output);
        }
        if self
            .from
            .extension()
            .is_some_and(|extension| extension == "gwlog")
        {
            return self.recording.export(&self.from, &self.to, output);
        }
        let to = format_of(&self.to, None)?;
        let extension = self.from.extension().map(|text| text.to_string_lossy());
        if let Some(kind) = extension.and_then(|text| tracks::Kind::from_extension(&text)) {
            return self.tracks(kind, to, output);
        }
        let bytes = read(&self.from)?;
        let wrong =
            |err: &dyn std::fmt::Display| Failure::Input(format!("{}: {err}", self.from.display()));
        let (plan, notes) = match maps::read(&bytes, &default_station()) {
            Some(map) => {
                let (_, plan, notes) = map.map_err(|err| wrong(&err))?;
                (plan, notes)
            }
            None => {
                let from = format_of(&self.from, None)?;
                let read = exchange::read(from, &bytes, &default_station());
                read.map_err(|err| wrong(&err))?
            }
        };
        let mut out = Vec::new();
        exchange::write(to, &plan, &mut out).map_err(Failure::input)?;
        write(&self.to, &out)?;
        if output.json {
            let told = json!({ "file": self.to, "nodes": plan.nodes.len(), "notes": notes });
            return output.json(&told);
        }
        for note in &notes.notes {
            let line = format!("{} x {} (first: {})", note.count, note.what, note.first);
            anstream::eprintln!("{}", warning(&line));
        }
        output.text(&format!(
            "{}: {} nodes\n",
            self.to.display(),
            plan.nodes.len()
        ))
    }

    /// A recording of places, whose nodes move: only a scenario can say that.
    fn tracks(&self, kind: tracks::Kind, to: Format, output: Output) -> Result<(), Failure> {
        if to != Format::Scenario {
            let file = self.to.display();
            let what = format!("{file}: tracks move; allowed: a scenario, NAME.toml");
            return Err(Failure::Input(what));
        }
        let found = tracks::read(kind, &read(&self.from)?)
            .map_err(|err| Failure::Input(format!("{}: {err}", self.from.display())))?;
        write(&self.to, tracks::scenario(&found).as_bytes())?;
        let (file, nodes) = (self.to.display(), found.nodes.len());
        if output.json {
            let told = json!({ "file": self.to, "nodes": nodes, "dropped": found.dropped });
            return output.json(&told);
        }
        for dropped in &found.dropped {
            let at = dropped.first_line;
            let line = format!("{} x {} (first: line {at})", dropped.count, dropped.what);
            anstream::eprintln!("{}", warning(&line));
        }
        output.text(&format!("{file}: {nodes} nodes that move\n"))
    }
}
