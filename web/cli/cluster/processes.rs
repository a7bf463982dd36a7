//! Scheduler, executor and status.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundwave_cluster::executor::Executor as Process;
use groundwave_cluster::job::Address;
use groundwave_cluster::{Ground, Store, Units, scheduler, status};
use groundwave_files::wall::wall_ns;
use groundwave_http::Failure;
use groundwave_model::terrain::Terrain;
use groundwave_setup::terrain::{OpenTerrain, TerrainOptions};
use groundwave_sweep::{Plan, TerrainFiles};
use groundwave_text::{Align, Table};
use nix::sys::signal::{Signal, raise};
use tokio::runtime::Runtime;

use super::super::output::{self, Output};
use super::{Cluster, Command, Executor, Scheduler, Status};

/// Address of a scheduler out of an option.
pub fn address(option: &str, text: &str) -> Result<Address, Failure> {
    let address = text.parse();
    address.map_err(|wrong: String| Failure::Input(format!("invalid {option}: {wrong}")))
}

/// Opens a store out of an option.
pub fn store(address: &str) -> Result<Store, Failure> {
    Store::open(address).map_err(Failure::input)
}

fn require_private(listen: SocketAddr) -> Result<(), Failure> {
    match scheduler::is_private(listen.ip()) {
        true => Ok(()),
        false => Err(Failure::Input(format!(
            "invalid --listen: found {}, allowed an address of loopback or of a private network (10.0.0.0/8, \
             172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, 169.254.0.0/16, fc00::/7, fe80::/10); the port has no \
             authentication",
            listen.ip()
        ))),
    }
}

fn runtime() -> Result<Runtime, Failure> {
    Runtime::new().map_err(Failure::machine)
}

impl Cluster {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        match self.command {
            Command::Scheduler(scheduler) => scheduler.run(),
            Command::Executor(executor) => executor.run(),
            Command::Status(status) => status.run(output),
        }
    }
}

impl Scheduler {
    fn run(self) -> Result<(), Failure> {
        require_private(self.listen)?;
        let ready = |address| tracing::info!(%address, "scheduler listens");
        let serve = scheduler::serve(self.listen, ready);
        runtime()?.block_on(serve).map_err(Failure::machine)
    }
}

/// Terrain of a plan on an executor.
struct Opened(OpenTerrain);

impl Ground for Opened {
    fn terrain(&self) -> &dyn Terrain {
        &*self.0.terrain
    }

    fn check(&self) -> Result<(), String> {
        let checked = self.0.check_tiles();
        checked.map_err(|failure| failure.message().to_owned())
    }
}

fn open(plan: &Plan, tiles: &Path, memory_mb: Option<u64>) -> Result<Box<dyn Ground>, String> {
    let options = TerrainOptions {
        // Nothing but the files of the plan, whatever else this machine has.
        srtm_dir: Some(tiles.to_owned()),
        memory_mb,
        ..TerrainOptions::default()
    };
    let opened = options
        .open_for_sweep(plan, &TerrainFiles::default())
        .map_err(|failure| failure.message().to_owned())?;
    Ok(Box::new(Opened(opened)))
}

impl Executor {
    fn run(self) -> Result<(), Failure> {
        require_private(self.listen)?;
        let scheduler = address("--scheduler", &self.scheduler)?;
        let store = store(&self.store)?;
        // Removed at the end, where it is temporary.
        let mut temporary = None;
        let folder: PathBuf = match &self.work_dir {
            Some(folder) => {
                std::fs::create_dir_all(folder)?;
                folder.canonicalize()?
            }
            None => temporary.insert(tempfile::tempdir()?).path().to_owned(),
        };
        let memory_mb = self.memory_mb;
        let open: groundwave_cluster::OpenGround =
            Box::new(move |plan, tiles| open(plan, tiles, memory_mb));
        let leave = Box::new(|what: &str| {
            tracing::error!(what, "the folder of this executor takes no more; it ends");
            // Its handler gives the tasks back.
            raise(Signal::SIGTERM).ok();
        });
        let process = Process {
            scheduler,
            listen: self.listen,
            host: self.host,
            units_at_a_time: rayon::current_num_threads(),
            units: Arc::new(Units::new(store, folder.clone(), open, leave)),
        };
        tracing::info!(scheduler = %process.scheduler, store = self.store, listen = %self.listen, "executor starts");
        let run = process.run(&folder);
        runtime()?.block_on(run).map_err(Failure::machine)
    }
}

impl Status {
    fn run(self, output: Output) -> Result<(), Failure> {
        let address = address("address", &self.scheduler)?;
        let found = runtime()?.block_on(status::status(&address)).map_err(Failure::Machine)?;
        if output.json {
            return output.json(&found);
        }
        let mut executors = Table::new(&[
            ("executor", Align::Left),
            ("address", Align::Left),
            ("units at a time", Align::Right),
            ("last seen", Align::Right),
        ]);
        for one in &found.executors {
            let seen = one.last_seen.map_or_else(String::new, |ms| {
                let ago_ms = (wall_ns() / 1_000_000).saturating_sub(ms);
                format!("{} s ago", ago_ms / 1000)
            });
            executors.row([
                one.id.clone(),
                format!("{}:{}", one.host, one.port),
                one.specification.vcores.to_string(),
                seen,
            ]);
        }
        let mut jobs = Table::new(&[("job", Align::Left), ("state", Align::Left)]);
        for job in &found.jobs {
            jobs.row([job.job_id.clone(), job.job_status.clone()]);
        }
        let mut text = match executors.is_empty() {
            true => format!("{address} has no executor\n"),
            false => output::table(&executors, None),
        };
        if !jobs.is_empty() {
            text += &format!("\n{}", output::table(&jobs, None));
        }
        output.text(&text)
    }
}
