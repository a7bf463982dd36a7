//! `testbed up` and `testbed attach`: start and takeover of a testbed.

use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use groundwave_engine::Pacer;
use groundwave_files::wall::MachineClock;
use groundwave_http::Failure;
use groundwave_http::option_value::file_path;
use groundwave_scenario::Scenario;
use groundwave_setup::recording::Source;
use groundwave_setup::terrain::TerrainOptions;
use groundwave_simulation::testbed::{Protocol, Settings};
use groundwave_testbed::State;
use groundwave_web_testbed::serve::{self, RunningTestbed, StopSignals, UnrestoredPorts};
use groundwave_web_testbed::wire::{Link, Testbed};

use super::Selection;
use super::client::{is_running, show};
use super::show::{headline, text};
use crate::cli::output::Output;

/// Time limit for the start of a controller in the background; 200 nodes take some seconds.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum wait of a controller in the background for the first report of each link direction.
const REPORT_TIMEOUT: Duration = Duration::from_secs(3);
/// Most characters of the name of a testbed.
const NAME_CHARS_MAX: usize = 16;

const EXAMPLES: &str = "\
Examples:
  sudo groundwave testbed up scenarios/failover.toml --detach --json
  sudo groundwave testbed up scenarios/failover.toml --name fast --speed 10 --detach
  sudo groundwave testbed up scenarios/failover.toml
  sudo groundwave testbed up walk.gwlog --routing babel --record played.gwlog

A log is played in real time: nodes move, fail and come as recorded, and routing programs run in them;
`groundwave testbed compare` then shows their routes beside the predicted ones. In the foreground the testbed ends with its controller (Ctrl-C), unless --keep;
`groundwave testbed attach` resumes it.";

/// Create the network of a scenario and keep it in step with the simulation
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Up {
    /// Scenario file (TOML); section `[testbed]` configures the emulation. Or a log, as `convert`, `record` and
    /// `run --record` make it
    scenario: PathBuf,

    /// Routing of the nodes: static, babel, batman or none [default: that of the scenario, static for a log]
    #[arg(long, value_name = "PROTOCOL", value_parser = protocol)]
    routing: Option<Protocol>,

    #[command(flatten)]
    ground: TerrainOptions,

    /// Name of the testbed [default: from the scenario, else its file name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Return when it is up; the controller runs in the background
    #[arg(long)]
    detach: bool,

    /// Keep the network when the controller ends
    #[arg(long)]
    keep: bool,

    /// Simulated seconds per second, [0, 1000]; 0 starts paused
    #[arg(long, default_value_t = 1.0)]
    speed: f64,

    /// Copy the log to this file when the testbed ends
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(file_path))]
    record: Option<PathBuf>,

    /// Run as the controller in the background
    #[arg(long, hide = true)]
    background: bool,
}

/// Take over a testbed without a controller: replay its log, then correct differences of its network
#[derive(Args)]
#[command(
    after_help = "Examples:\n  sudo groundwave testbed attach\n  sudo groundwave testbed attach --detach"
)]
pub struct Attach {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    ground: TerrainOptions,

    /// Return when it runs; the controller runs in the background
    #[arg(long)]
    detach: bool,

    /// Run as the controller in the background
    #[arg(long, hide = true)]
    background: bool,
}

impl Up {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let source = Source::open(&self.scenario)?;
        let settings = self.settings(&source.scenario)?;
        let state = State::of(&settings.name).map_err(Failure::input)?;
        require_absent(&state)?;
        if !(0.0..=1000.0).contains(&self.speed) {
            let message = format!("invalid --speed: found {}, allowed 0 to 1000", self.speed);
            return Err(Failure::Input(message));
        }
        if self.detach {
            // Terrain errors are reported here rather than in the message file.
            source.ground(&self.ground)?;
            let arguments = std::env::args_os().skip(1).filter(|argument| argument != "--detach");
            return detach(&state, arguments.collect(), output);
        }
        let (path, terrain) = (&self.scenario, &self.ground);
        let signals = StopSignals::listen()?;
        let prepared = serve::prepare(&state, path, &source, settings, terrain, self.speed)?;
        let running = RunningTestbed::start(&state, prepared, signals);
        let came_up = running.is_ok();
        let outcome =
            running.and_then(|running| announce_and_run(running, output, self.background));
        // A testbed that did not come up is removed.
        if !came_up || !(self.background || self.keep) {
            let log = self.record.as_deref().filter(|_| came_up);
            serve::remove(&state, log, UnrestoredPorts::Keep)?;
        }
        outcome
    }

    fn settings(&self, scenario: &Scenario) -> Result<Settings, Failure> {
        let mut settings = scenario.testbed.clone();
        if let Some(name) = &self.name {
            settings.name.clone_from(name);
        }
        if let Some(routing) = self.routing {
            settings.routing = routing;
        }
        if settings.name.is_empty() {
            settings.name = name_from_file(&self.scenario);
        }
        settings.scenario = self.scenario.canonicalize().ok();
        settings.validate().map_err(Failure::input)?;
        Ok(settings)
    }
}

/// A routing protocol by its name in scenarios.
fn protocol(name: &str) -> Result<Protocol, String> {
    serde_json::from_value(serde_json::Value::from(name))
        .map_err(|_| format!("found {name:?}, allowed static, babel, batman, none"))
}

/// Name of a testbed from the file name of its scenario.
fn name_from_file(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = stem
        .chars()
        .map(|c| if c == '_' { '-' } else { c })
        .filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-');
    let name: String = plain.take(NAME_CHARS_MAX).collect();
    if name.is_empty() { "testbed".to_owned() } else { name }
}

/// Fails if the testbed is up already.
fn require_absent(state: &State) -> Result<(), Failure> {
    if !state.is_there().map_err(Failure::machine)? {
        return Ok(());
    }
    let name = &state.testbed;
    Err(Failure::Input(if is_running(state) {
        format!("testbed {name} is up; `groundwave testbed down --name {name}` removes it")
    } else {
        format!(
            "testbed {name} is up without a controller; `groundwave testbed attach --name {name}` \
             resumes it, `groundwave testbed down --name {name}` removes it"
        )
    }))
}

/// Starts this program as a controller in the background and waits until it is up.
fn detach(
    state: &State,
    arguments: Vec<std::ffi::OsString>,
    output: Output,
) -> Result<(), Failure> {
    state.create().map_err(Failure::machine)?;
    // Kept open: a failing controller removes its folder.
    let mut log = std::fs::File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(state.messages())?;
    let messages = log.try_clone()?;
    let program = std::env::current_exe()?;
    let mut child = Command::new(program)
        .args(arguments)
        .arg("--background")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(messages)
        .process_group(0)
        .spawn()?;
    let interval = Duration::from_millis(20);
    for _ in 0..START_TIMEOUT.as_millis() / interval.as_millis() {
        if is_running(state) {
            return announce(&show_reported(state)?, output, false);
        }
        if let Some(status) = child.try_wait()? {
            let mut text = String::new();
            log.rewind()?;
            log.read_to_string(&mut text)?;
            if !state.is_there().map_err(Failure::machine)? {
                serve::remove(state, None, UnrestoredPorts::Keep)?;
            }
            let cause = match text.trim() {
                "" => status.to_string(),
                text => text.to_owned(),
            };
            let what = format!("the controller ended: {cause}");
            return Err(Failure::Machine(what));
        }
        std::thread::sleep(interval);
    }
    // One that is still starting would make namespaces beside a removal.
    child.kill()?;
    child.wait()?;
    let name = &state.testbed;
    Err(Failure::Machine(format!(
        "the controller did not start within {} s and was ended; `groundwave testbed down --name {name}` removes \
         what it made; see {}",
        START_TIMEOUT.as_secs(),
        state.messages().display()
    )))
}

/// The testbed when each link direction has been read back or has failed, or after [`REPORT_TIMEOUT`]: the
/// controller reports what it has set up with its next tick.
fn show_reported(state: &State) -> Result<Testbed, Failure> {
    let mut clock = MachineClock::start();
    loop {
        let testbed = show(state)?;
        let is_over = Duration::from_nanos(clock.monotonic_ns()) >= REPORT_TIMEOUT;
        if is_over || testbed.links.iter().all(Link::is_reported) {
            return Ok(testbed);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Shows the testbed, then serves until a stop signal.
fn announce_and_run(
    running: RunningTestbed,
    output: Output,
    background: bool,
) -> Result<(), Failure> {
    let announced = announce(&running.show(), output, background);
    if announced.is_err() {
        running.stop_token().cancel();
    }
    let outcome = running.run();
    announced?;
    outcome
}

fn announce(testbed: &Testbed, output: Output, silent: bool) -> Result<(), Failure> {
    if silent {
        return Ok(());
    }
    if output.json {
        return output.json(testbed);
    }
    output.text(&text(testbed))?;
    output.text("\n`groundwave testbed shell NODE` opens a shell in a node\n")
}

impl Attach {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let state = self.selection.state()?;
        let name = &state.testbed;
        if is_running(&state) {
            let testbed = show(&state)?;
            return Err(Failure::Input(format!(
                "{}; its controller is running",
                headline(&testbed)
            )));
        }
        if !state.log().exists() {
            let what = format!(
                "testbed {name} is not up, or its controller ended before it had a log; \
                 `groundwave testbed down --name {name}` removes it"
            );
            return Err(Failure::Input(what));
        }
        if self.detach {
            let arguments = std::env::args_os().skip(1).filter(|argument| argument != "--detach");
            return detach(&state, arguments.collect(), output);
        }
        let signals = StopSignals::listen()?;
        let prepared = serve::take_over(&state, &self.ground)?;
        let running = RunningTestbed::start(&state, prepared, signals)?;
        announce_and_run(running, output, self.background)
    }
}
