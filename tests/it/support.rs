//! Shared fixtures of the tests: scenarios, worlds, the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex};

use axum::http::{Method, StatusCode};
use groundwave_engine::log::{Entry, FORMAT, Header, Journal, Writer};
use groundwave_engine::{Engine, Execution};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::client::Client;
use groundwave_model::terrain::{Flat, Terrain};
use groundwave_scenario::Scenario;
use groundwave_terrain::TerrainStack;
use groundwave_test_data::fetched;

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Makes `authority.pem`, the certificate of an authority with this common name, and `NAME.pem` and
/// `NAME.key`, a certificate it signed for `host`, e.g. `DNS:localhost`, with the tool openssl.
pub fn certify(folder: &Path, authority: &str, name: &str, host: &str) {
    let make = |name: &str, subject: &str, more: &[&str]| {
        let output = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-nodes", "-days", "3650"])
            .args(["-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-subj", &format!("/CN={subject}")])
            .args(["-out", &format!("{name}.pem")])
            .args(["-keyout", &format!("{name}.key")])
            .args(more)
            .current_dir(folder)
            .stderr(Stdio::null())
            .status();
        assert!(output.unwrap().success(), "{name}");
    };
    make("authority", authority, &[]);
    let host = format!("subjectAltName={host}");
    let mut signed = vec!["-CA", "authority.pem", "-CAkey", "authority.key"];
    signed.extend(["-addext", &host]);
    signed.extend(["-addext", "basicConstraints=critical,CA:FALSE"]);
    make(name, name, &signed);
}

/// A shipped scenario file.
pub fn scenario_path(name: &str) -> PathBuf {
    root().join("scenarios").join(name)
}

/// The tile folder and the geoid that `make data` fetched; for tests that need terrain.
pub fn data() -> (PathBuf, PathBuf) {
    (fetched("srtm"), fetched("geoid/WW15MGH.DAC"))
}

/// The terrain a scenario asks for.
pub fn terrain(scenario: &Scenario) -> Arc<dyn Terrain> {
    match &scenario.terrain {
        groundwave_scenario::Terrain::Flat { elevation_msl_m } => {
            Arc::new(Flat { elevation_msl_m: *elevation_msl_m })
        }
        groundwave_scenario::Terrain::Tiles { .. } => {
            let (tiles, geoid) = data();
            Arc::new(TerrainStack::open(Some(&tiles), Some(&geoid)).unwrap())
        }
    }
}

/// A world with the scenario's commands queued.
pub fn engine(
    scenario: &Scenario,
    terrain: Arc<dyn Terrain>,
    execution: Execution,
) -> Engine<Snapshot> {
    let mut builder = world(terrain);
    builder.execution(execution);
    let mut engine = builder.build::<Snapshot>(scenario.seed, scenario.step_ns).unwrap();
    let clock = engine.clock();
    for record in &scenario.records {
        let command = engine.registry().from_json(&record.name, record.timed_body()).unwrap();
        engine.script(clock.tick_at(record.at_ns), command);
    }
    engine
}

/// Compares an interface with the file that the page is compiled against; `BLESS` writes the file.
pub fn compare_document(file: &str, document: &serde_json::Value) {
    let path = root().join(file);
    let now = serde_json::to_string_pretty(document).unwrap() + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let reference = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        reference == now,
        "{file} is not the document of the server: BLESS=1 writes it, then run make web"
    );
}

/// Browsers that may still be started: one a processor, more would slow each other past their patience.
static BROWSERS: LazyLock<(Mutex<usize>, Condvar)> = LazyLock::new(|| {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    (Mutex::new(count), Condvar::new())
});

/// The right to run a browser, returned when it is dropped.
struct Browser;

impl Browser {
    fn acquire() -> Self {
        let (count, change) = &*BROWSERS;
        let free = change.wait_while(count.lock().unwrap(), |count| *count == 0);
        *free.unwrap() -= 1;
        Self
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let (count, change) = &*BROWSERS;
        *count.lock().unwrap() += 1;
        change.notify_one();
    }
}

/// Runs a file of browser tests in Chromium.
pub fn browse(file: &str) {
    browse_with("chromium", file);
}

/// Runs a file of browser tests; `engine` is `chromium`, or for `engines.spec.ts` another one.
pub fn browse_with(engine: &str, file: &str) {
    let _browser = Browser::acquire();
    let folder = root().join("web/app");
    // Each run empties its folder of pictures first.
    let output = folder.join("test-results").join(format!("{engine}-{file}"));
    // The whole path: a name is a pattern that others may end with.
    let file = format!("tests/{file}");
    let mut command = launcher("node");
    command.args(["node_modules/@playwright/test/cli.js", "test", &file, "--output"]).arg(output);
    // As on a desktop: without a locale a browser has no names of files beyond ASCII.
    command.current_dir(&folder).env("ENGINE", engine).env("LC_ALL", "C.UTF-8");
    for name in ["CHROMIUM", "FIREFOX", "SHOTS"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let ran = command.env("GROUNDWAVE", env!("CARGO_BIN_EXE_groundwave")).output().unwrap();
    assert!(
        ran.status.success(),
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}

/// The program with arguments, run in an empty folder with the fetched data.
pub fn groundwave(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    command(args).current_dir(folder.path()).output().unwrap()
}

/// The program with arguments, in an environment of its own.
pub fn command(args: &[&str]) -> Command {
    let mut command = launcher(env!("CARGO_BIN_EXE_groundwave"));
    command.args(args);
    command
}

/// Variables with places of programs and data, without effect on behaviour.
const INHERITED: [&str; 8] = [
    "PATH",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "GROUNDWAVE_DATA",
    "GROUNDWAVE_SHARED",
    "LLVM_PROFILE_FILE",
    "RUST_BACKTRACE",
    "RUST_MIN_STACK",
];

/// A program that starts `groundwave`, in an environment of its own: an empty home, so that it has the
/// caches and settings of nobody; no other variables of whoever runs the tests; UTC.
pub fn launcher(program: &str) -> Command {
    let mut command = Command::new(program);
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    static HOMES: LazyLock<PathBuf> = LazyLock::new(|| {
        let homes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("homes");
        // An earlier run may have left some.
        let _ = std::fs::remove_dir_all(&homes);
        homes
    });
    let home = HOMES.join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
    std::fs::create_dir_all(&home).unwrap();
    command.env_clear().env("HOME", home).env("TZ", "UTC");
    command.env("GROUNDWAVE_DATA", root().join(".data"));
    for name in INHERITED {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Waits until something holds, for minutes on a busy machine; `false` if it never does.
pub fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    (0..3_600).any(|_| {
        let does = holds();
        if !does {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        does
    })
}

/// The answer of a server at `ADDRESS:PORT`.
pub fn get(address: &str, path: &str) -> (StatusCode, Vec<u8>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = Client::tcp(address).await.unwrap();
        client.send(Method::GET, path, None).await.unwrap()
    })
}

/// Standard output as text, of a program that must have succeeded.
pub fn stdout(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "exit {:?}: {errors}", output.status.code());
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Standard error of a program that must have refused its input: exit code 2, one clear error, no
/// panic, nothing on stdout.
pub fn refusal(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("error"), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    errors
}

/// Standard output of a program without terrain data under its result: exit code 3, one error that
/// names the ways out.
pub fn blind(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{errors}");
    for expected in ["no terrain data", "--srtm-dir", "--flat-earth"] {
        assert!(errors.contains(expected), "no {expected:?} in {errors}");
    }
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A log in memory.
#[derive(Clone)]
pub struct Memory(Arc<Mutex<Writer<Vec<u8>>>>);

impl Memory {
    /// A log that begins with the header of a world with this seed and step.
    pub fn begun(seed: u64, step_ns: u64) -> Self {
        let header = Header { format: FORMAT, seed, step_ns, inputs: Default::default() };
        let writer = Writer::begin(Vec::new(), &header).unwrap();
        Self(Arc::new(Mutex::new(writer)))
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().get_ref().clone()
    }
}

impl Journal for Memory {
    fn append(&mut self, entry: &Entry) -> std::io::Result<()> {
        self.0.lock().unwrap().append(entry)
    }
    fn commit(&mut self) -> std::io::Result<()> {
        self.0.lock().unwrap().flush()
    }
}
