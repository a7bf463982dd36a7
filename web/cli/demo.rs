//! `demo`: a storm over a mesh, recorded and served on a page of this machine.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use axum::http::{Method, StatusCode};
use clap::builder::Resettable;
use clap::{Args, FromArgMatches};
use groundwave::serve::server::{Server, ServerConfig};
use groundwave_http::Failure;
use groundwave_http::client::Client;
use groundwave_setup::simulation::{header, load, prepare};
use groundwave_setup::terrain::TerrainOptions;
use groundwave_store::journal_file::FileJournal;
use serde::Serialize;
use serde_json::Value;

use super::browser;
use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave demo
  groundwave demo --no-browser --port 8790
  groundwave demo --check --json

The program holds the scenario (scenarios/demo.toml) and the SRTM tile N57E011, which is in the public
domain. Everything is kept in a temporary folder that is gone after the end.";

/// Scenario of the demonstration.
const SCENARIO: &str = include_str!("../../scenarios/demo.toml");

/// Ground of the scenario: SRTM3 of NASA and USGS, public domain, as `make data` fetches it.
const TILE: &[u8] = include_bytes!("../../scenarios/terrain/N57E011.hgt.gz");

/// Speed at which the page plays, multiple of real time.
const SPEED: u32 = 20;

/// Ticks between checkpoints of the log: a window of frames begins at one.
const CHECKPOINT_EVERY_TICKS: u64 = 60;

/// Show a demonstration: a mesh that grows, a storm that passes, a relay that fails
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Demo {
    /// Port of the page on the loopback interface; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// Print the address and start no browser
    #[arg(long)]
    no_browser: bool,

    /// End as soon as the page, its ground and its replay have answered
    #[arg(long)]
    check: bool,
}

/// Result of the start.
#[derive(Serialize)]
struct Started {
    /// Address of the page, with the replay that plays.
    address: String,
    /// Address of the planning API.
    api: String,
    replay_id: String,
    deployment_id: String,
}

impl Demo {
    /// Serves until a stop signal.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let folder = tempfile::Builder::new().prefix("groundwave-demo-").tempdir()?;
        let log = record(folder.path())?;
        let server = Server::start(&config(folder.path(), &log, self.port)?)?;
        let address = server
            .planning_address()
            .ok_or_else(|| Failure::Machine("no planning service".to_owned()))?;
        let stop = server.stop_token();
        let guide = std::thread::spawn(move || {
            let guided = self.guide(address, output);
            if self.check || guided.is_err() {
                stop.cancel();
            }
            guided
        });
        let served = server.run();
        let guided =
            guide.join().map_err(|_| Failure::Machine("the demonstration broke".to_owned()))?;
        served.and(guided)
    }

    /// Loads the deployment and shows the address, once the server answers.
    fn guide(&self, address: SocketAddr, output: Output) -> Result<(), Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let started = runtime.block_on(async {
            let started = prepare_page(address).await?;
            if self.check {
                check(address, &started).await?;
            }
            Ok::<_, Failure>(started)
        })?;
        match (output.json, self.check) {
            (true, _) => output.json(&started)?,
            (false, true) => output.text(&format!(
                "Demo: {}\nThe page, its ground and its replay answer; --check ends here.\n",
                started.address
            ))?,
            (false, false) => {
                output.text(&format!("Demo: {}\nCtrl-C ends it.\n", started.address))?;
            }
        }
        std::io::stdout().flush()?;
        if !self.check && !self.no_browser {
            browser::open(&started.address);
        }
        Ok(())
    }
}

/// Writes scenario and ground, simulates, and returns the log.
fn record(folder: &Path) -> Result<PathBuf, Failure> {
    let (path, tiles) = (folder.join("demo.toml"), folder.join("srtm"));
    std::fs::write(&path, SCENARIO)?;
    std::fs::create_dir(&tiles)?;
    std::fs::write(tiles.join("N57E011.hgt.gz"), TILE)?;
    let scenario = load(&path)?;
    let ground = TerrainOptions { srtm_dir: Some(tiles), ..TerrainOptions::default() }
        .for_scenario(&scenario)?;
    let mut engine = prepare(&path, &scenario, &ground)?;
    let log = folder.join("demo.gwlog");
    let journal = FileJournal::create(&log, &header(&scenario, &ground));
    engine.record(journal.map_err(Failure::input)?);
    engine.checkpoint_every(CHECKPOINT_EVERY_TICKS);
    for _ in 0..scenario.ticks() {
        engine.tick(None).map_err(Failure::machine)?;
    }
    engine.mark()?;
    engine.stop();
    Ok(log)
}

/// Configuration of the server, independent of the environment.
fn config(folder: &Path, log: &Path, port: u16) -> Result<ServerConfig, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port)).to_string();
    let text = |path: PathBuf| path.into_os_string();
    let arguments = [
        "demo".into(),
        "planning".into(),
        "--bind".into(),
        address.into(),
        "--db".into(),
        text(folder.join("plan.db")),
        "--offline".into(),
        "--srtm-dir".into(),
        text(folder.join("srtm")),
        "--replay".into(),
        text(log.to_owned()),
    ];
    let command = ServerConfig::augment_args(clap::Command::new("demo"))
        .mut_args(|argument| argument.env(Resettable::Reset));
    let parsed = command
        .try_get_matches_from(arguments)
        .and_then(|matches| ServerConfig::from_arg_matches(&matches));
    parsed.map_err(Failure::machine)
}

/// Loads the scenario as a deployment; the page begins with the coverage of its nodes that work.
async fn prepare_page(address: SocketAddr) -> Result<Started, Failure> {
    let api = format!("http://{address}");
    let import = "/api/v1/deployments/import?format=scenario";
    let imported = ask(address, Method::POST, import, Some(SCENARIO.into())).await?;
    let id = |document: &Value| document["id"].as_str().unwrap_or_default().to_owned();
    let deployment_id = id(&imported["deployment"]);
    let replays = ask(address, Method::GET, "/api/v1/replays", None).await?;
    let replay_id = id(&replays[0]);
    let page =
        format!("{api}/#v=replay&r={replay_id}&speed={SPEED}&play=1&cover=1&d={deployment_id}");
    Ok(Started { address: page, api, replay_id, deployment_id })
}

/// Asks for the page, a square of its ground and a frame of its replay.
async fn check(address: SocketAddr, started: &Started) -> Result<(), Failure> {
    let frames = format!("/api/v1/replays/{}/frames?to_s=0", started.replay_id);
    for path in ["/", "/api/v1/terrain/relief/9/272/155.png", &frames] {
        answer(address, Method::GET, path, None).await?;
    }
    Ok(())
}

async fn ask(
    address: SocketAddr,
    method: Method,
    path: &str,
    body: Option<Vec<u8>>,
) -> Result<Value, Failure> {
    let answer = answer(address, method, path, body).await?;
    serde_json::from_slice(&answer).map_err(Failure::machine)
}

async fn answer(
    address: SocketAddr,
    method: Method,
    path: &str,
    body: Option<Vec<u8>>,
) -> Result<Vec<u8>, Failure> {
    let mut client = Client::tcp(&address.to_string()).await.map_err(Failure::machine)?;
    let answered = client.send(method, path, body).await;
    match answered.map_err(Failure::machine)? {
        (StatusCode::OK | StatusCode::CREATED, body) => Ok(body),
        (status, body) => {
            let text = String::from_utf8_lossy(&body);
            Err(Failure::Machine(format!("{path}: {status}: {text}")))
        }
    }
}
