//! `groundwave import` and `export`: deployments of a planning server as documents.

use std::path::PathBuf;

use axum::http::Method;
use clap::Args;
use groundwave_command::waiting::with_spinner;
use groundwave_http::Failure;
use groundwave_http::client::{Client, RequestError};
use groundwave_http::option_value::require_existing;
use groundwave_planning::wire::radio::default_station;
use groundwave_scenario::formats;
use groundwave_scenario::formats::{Format, FormatError, ReadOptions, Source, geojson, scenario};
use serde_json::{Value, json};
use uuid::Uuid;

use super::output::{self, Output, warning, write_whole};

/// Make a deployment on a planning server from a document
#[derive(Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct Import {
    /// The document
    #[arg(value_name = "FILE")]
    from: PathBuf,

    /// Format, where content and extension do not determine it; `convert --help` lists all
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Where the server listens
    #[arg(long, env = "PLAN_BIND", value_name = "ADDR", default_value = "127.0.0.1:8787")]
    bind: String,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  groundwave import examples/masts.geojson
  groundwave import --bind 10.0.0.7:8787 examples/masts.csv
  groundwave import --format csv examples/masts.csv
  groundwave import examples/meshviewer.json

All of the document is taken or nothing; what was dropped or filled in is told.";

/// Write a deployment of a planning server as a document
#[derive(Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct Export {
    /// The deployment, by its id or its name
    #[arg(value_name = "DEPLOYMENT")]
    deployment: String,

    /// The document to write; its ending decides the format; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The format, where it does not follow from the ending
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Write over an existing file
    #[arg(long)]
    force: bool,

    /// Where the server listens
    #[arg(long, env = "PLAN_BIND", value_name = "ADDR", default_value = "127.0.0.1:8787")]
    bind: String,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  groundwave export Ridge -o ridge.toml
  groundwave export 018f6d2c-7f2e-7cc0-9f43-0f7a5d1a2b3c -o ridge.kmz

A scenario that was exported runs with `groundwave run`.";

/// The format called `name`, of those that servers exchange.
fn exchanged(name: &str) -> Result<&'static Format, Failure> {
    let entry = formats::by_name(name).filter(|format| format.write_plan.is_some());
    entry.ok_or_else(|| {
        let allowed = formats::names(|format| format.write_plan.is_some());
        Failure::Input(format!("invalid format: found {name:?}, allowed {allowed}"))
    })
}

/// The format called `name`, of those that are read.
fn readable(name: &str) -> Result<&'static Format, Failure> {
    let entry = formats::by_name(name).filter(|format| format.read.is_some());
    entry.ok_or_else(|| {
        let allowed = formats::names(|format| format.read.is_some());
        Failure::Input(format!("invalid format: found {name:?}, allowed {allowed}"))
    })
}

/// Sends a request to a server and returns the body of its answer.
fn ask(bind: &str, method: Method, path: &str, body: Option<Vec<u8>>) -> Result<Vec<u8>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async {
        let mut client = Client::tcp(bind).await?;
        client.send(method, path, body).await
    });
    let (status, body) = answer.map_err(|err| match err {
        RequestError::Connection { .. } => Failure::Machine(format!(
            "{}; is `groundwave serve planning` running?",
            Failure::machine(err).message()
        )),
        err => Failure::input(err),
    })?;
    if status.is_success() {
        return Ok(body);
    }
    let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
    let detail = problem["detail"].as_str().unwrap_or("no reason given");
    Err(Failure::Input(format!("the server answered {status}: {detail}")))
}

impl Import {
    /// Sends the document.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if !output::is_stdio(&self.from) {
            require_existing("FILE", &self.from, "a plan or a map of nodes")?;
        }
        let source = Source::open(&self.from).map_err(Failure::Input)?;
        let format = match &self.format {
            Some(name) => readable(name)?,
            None => formats::identify(&source).map_err(Failure::input)?,
        };
        let is_single = format.write_plan.is_some() && source.documents.len() == 1;
        let (format, body) = match is_single && !names_files(format, &source) {
            true => (format, source.bytes().to_vec()),
            false => (&geojson::FORMAT, self.plan(format, &source)?),
        };
        let path = format!("/api/v1/deployments/import?format={format}");
        let answer = ask(&self.bind, Method::POST, &path, Some(body))?;
        let summary: Value = serde_json::from_slice(&answer).map_err(Failure::machine)?;
        if output.json {
            return output.json(&summary);
        }
        for note in summary["notes"].as_array().into_iter().flatten() {
            let what = note["what"].as_str().unwrap_or_default();
            let line = format!("{} x {what} (first: {})", note["count"], note["first"]);
            output::note(&warning(&line));
        }
        let deployment = &summary["deployment"];
        let name = deployment["name"].as_str().unwrap_or_default();
        let id = deployment["id"].as_str().unwrap_or_default();
        output.text(&format!("{name}: {} nodes, {id}\n", summary["nodes"]))
    }
}

/// `true` for a scenario that is valid beside the files it names, antenna patterns among them, which a server does
/// not have.
fn names_files(format: &Format, source: &Source) -> bool {
    let options = ReadOptions::new(default_station());
    let is_valid = |source: &Source| format.read(source, &options).is_ok();
    let alone = || Source::of(source.bytes().to_vec());
    *format == scenario::FORMAT && !is_valid(&alone()) && is_valid(source)
}

impl Import {
    /// The plan of a document that servers do not exchange, or of one beside files, as one that they do.
    fn plan(&self, format: &'static Format, source: &Source) -> Result<Vec<u8>, Failure> {
        let invalid =
            |error: FormatError| Failure::Input(format!("{}: {error}", self.from.display()));
        let station = default_station();
        let reading = format!("reading {}", self.from.display());
        let options = ReadOptions::new(station.clone());
        let mut dataset =
            with_spinner(&reading, || format.read(source, &options)).map_err(invalid)?;
        dataset.name_after(&source.stem());
        let (plan, report) = dataset.into_plan(format, &station).map_err(invalid)?;
        super::convert::tell(&report);
        let mut body = Vec::new();
        let write = geojson::FORMAT.write_plan.expect("GeoJSON is written");
        write(&plan, &mut body)?;
        Ok(body)
    }
}

impl Export {
    /// Fetches the document.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        output.refuse_stdout("--output", &self.output)?;
        let format = match &self.format {
            Some(name) => exchanged(name)?,
            None => super::convert::plan_format(&self.output)?,
        };
        output::refuse_existing(&self.output, self.force)?;
        let id = self.find()?;
        let path = format!("/api/v1/deployments/{id}/export?format={format}");
        let document = ask(&self.bind, Method::GET, &path, None)?;
        write_whole(&self.output, &document)?;
        if output::is_stdio(&self.output) {
            return Ok(());
        }
        if output.json {
            let summary = json!({ "file": self.output, "bytes": document.len(), "deployment": id });
            return output.json(&summary);
        }
        output.text(&format!("{}: {} bytes\n", self.output.display(), document.len()))
    }

    fn find(&self) -> Result<Uuid, Failure> {
        if let Ok(id) = Uuid::try_parse(&self.deployment) {
            return Ok(id);
        }
        let all = ask(&self.bind, Method::GET, "/api/v1/deployments", None)?;
        let all: Vec<Value> = serde_json::from_slice(&all).map_err(Failure::machine)?;
        let named: Vec<_> = all
            .iter()
            .filter(|candidate| candidate["name"] == json!(self.deployment))
            .filter_map(|candidate| Uuid::try_parse(candidate["id"].as_str()?).ok())
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
