//! A scheduler and executors on loopback, and the sweeps that they compute.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A sweep over real terrain: some 60 units of a few tenths of a second.
const SCENARIO: &str = "[scenario]\ntitle = \"cluster\"\nduration_s = 1\n[terrain]\ntiles = [\"N57E011\"]\n\
    [[node]]\nname = \"west\"\nlat_deg = 57.7\nlon_deg = 11.80\nheight_agl_m = 20\n\
    radio = \"wifi_2g4_mesh\"\nantenna = \"omni_5\"\n\
    [[node]]\nname = \"east\"\nlat_deg = 57.71\nlon_deg = 11.87\nheight_agl_m = 30\n\
    radio = \"wifi_2g4_mesh\"\nantenna = \"omni_5\"\n\
    [coverage]\nradius_km = 6\ncell_arcsec = 0.4\nchoose = 1\n";

/// Products that are compared.
const FEW: [&str; 2] = ["--products", "margin,best_server"];

/// A child that does not outlive the test.
pub struct Process {
    child: Child,
    log: PathBuf,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Process {
    fn start(log: PathBuf, command: &mut Command) -> Self {
        let file = File::create(&log).unwrap();
        let child = command
            .env(
                "RUST_LOG",
                "info,groundwave_cluster=debug,ballista_executor=warn,ballista_scheduler=warn",
            )
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .unwrap();
        Self { child, log }
    }

    /// Ends it as a machine that loses its power.
    pub fn kill(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }

    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Units that it made.
    pub fn made(&self) -> usize {
        self.log().matches("unit made").count()
    }

    /// Waits for its end.
    pub fn end(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

/// A folder with a scenario, a store, and what one process makes of the scenario.
pub struct Mesh {
    pub folder: tempfile::TempDir,
    pub store: String,
    pub port: u16,
    /// Variables of all processes.
    pub variables: Vec<(&'static str, String)>,
    started: u16,
}

/// A port that is free now.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Mesh {
    pub fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap(), SCENARIO, Vec::new())
    }

    pub fn of(
        folder: tempfile::TempDir,
        scenario: &str,
        variables: Vec<(&'static str, String)>,
    ) -> Self {
        std::fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
        let store = folder.path().join("store").display().to_string();
        let mesh = Self { folder, store, port: free_port(), variables, started: 0 };
        let whole = mesh.sweep("whole", &[]).output().unwrap();
        assert_success(&whole);
        mesh
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn groundwave(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundwave"));
        let data = std::env::var_os("GROUNDWAVE_DATA")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".data"), PathBuf::from);
        command
            .env("PLAN_SRTM_DIR", data.join("srtm"))
            .env_remove("GROUNDWAVE_STORE")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .args(["--threads", "1"]);
        command
    }

    /// A sweep into the folder `out`.
    pub fn sweep(&self, out: &str, more: &[&str]) -> Command {
        let mut command = self.groundwave();
        command
            .arg("sweep")
            .arg(self.path("scenario.toml"))
            .arg("-o")
            .arg(self.path(out))
            .args(FEW)
            .args(more)
            .arg("--json");
        command
    }

    pub fn address(&self) -> String {
        format!("df://127.0.0.1:{}", self.port)
    }

    pub fn scheduler(&self) -> Process {
        let listen = format!("127.0.0.1:{}", self.port);
        let mut command = self.groundwave();
        command.args(["cluster", "scheduler", "--listen", &listen]);
        let process = Process::start(self.path("scheduler.log"), &mut command);
        wait_for("the scheduler", || process.log().contains("scheduler listens"));
        process
    }

    pub fn executor(&mut self) -> Process {
        self.executor_with(&self.store.clone(), &[])
    }

    pub fn executor_with(&mut self, store: &str, more: &[&str]) -> Process {
        self.started += 1;
        let listen = format!("127.0.0.1:{}", free_port());
        let mut command = self.groundwave();
        command
            .args(["cluster", "executor", "--scheduler", &self.address()])
            .args(["--store", store, "--listen", &listen])
            .args(more);
        let log = self.path(&format!("executor{}.log", self.started));
        Process::start(log, &mut command)
    }

    /// A sweep on the cluster, that runs.
    pub fn drive(&self, out: &str) -> Process {
        let (address, store) = (self.address(), self.store.clone());
        let mut command = self.sweep(out, &["--cluster", &address, "--store", &store]);
        Process::start(self.path(&format!("{out}.log")), &mut command)
    }

    /// A sweep on the cluster that leaves the bytes of one process.
    pub fn check(&self, driver: &mut Process, out: &str) {
        assert_eq!(driver.end(), Some(0), "{}", driver.log());
        self.assert_same(out);
    }

    pub fn assert_same(&self, out: &str) {
        let (whole, found) = (files(&self.path("whole")), files(&self.path(out)));
        let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&whole), names(&found));
        for (name, bytes) in &whole {
            assert!(found[name] == *bytes, "{} differs", name.display());
        }
    }

    /// Units in a folder of a sweep.
    pub fn units(&self, out: &str) -> usize {
        let found = files(&self.path(out)).into_keys();
        found.filter(|path| path.extension().is_some_and(|end| end == "unit")).count()
    }
}

/// Every file below a folder.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), bytes);
            }
        }
    }
    found
}

/// Waits up to two minutes.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited in vain for {what}");
}

pub fn assert_success(output: &Output) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}
