//! Sweeps that several processes carry out: none of their comings and goings shows in the bytes.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{self, refusal, stdout};
use crate::sweep::{FLAT, assert_same, files, sweep};

/// A folder with a scenario of some twenty units, and what one process makes of it.
struct Case {
    folder: tempfile::TempDir,
    scenario: PathBuf,
}

impl Case {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scenario = folder.path().join("flat.toml");
        let text = FLAT.replace("cell_arcsec = 9", "cell_arcsec = 0.5\nsamples = 8");
        std::fs::write(&scenario, text).unwrap();
        let case = Self { folder, scenario };
        stdout(&sweep(&case.scenario, &case.out("whole"), &FEW));
        case
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A worker on the folder `shared`.
    fn worker(&self, more: &[&str]) -> Child {
        let (scenario, out) = (&self.scenario, self.out("shared"));
        let mut arguments = vec!["sweep", scenario.to_str().unwrap(), "-o", out.to_str().unwrap()];
        arguments.extend(["--join", "--json", "--threads", "1"]);
        arguments.extend(more);
        let mut command = support::command(&arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The units and products of all workers are those of one process.
    fn check(&self) {
        let shared = self.out("shared");
        let merge = ["sweep", "merge", shared.to_str().unwrap()];
        stdout(&support::groundwave(&[&merge[..], &FEW].concat()));
        assert_same(&self.out("whole"), &shared);
    }

    fn units(&self) -> u64 {
        let paths = files(&self.out("whole")).into_keys();
        paths.filter(|place| place.extension().is_some_and(|e| e == "unit")).count() as u64
    }

    /// Waits for a lease of a worker.
    fn wait_for_lease(&self, worker: &mut Child) {
        let mark = format!("\"process\":{},", worker.id());
        for _ in 0..6000 {
            if leases(&self.out("shared")).iter().any(|lease| lease.contains(&mark)) {
                return;
            }
            assert!(worker.try_wait().unwrap().is_none(), "it ended without a lease");
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("no lease of {}", worker.id());
    }
}

/// Products that are compared; all come from the same units.
const FEW: [&str; 2] = ["--products", "margin"];

/// Contents of all leases.
fn leases(out: &Path) -> Vec<String> {
    if !out.exists() {
        return Vec::new();
    }
    let all = files(out).into_iter();
    let is_lease = |place: &Path| place.to_string_lossy().contains(".lease");
    all.filter(|(place, _)| is_lease(place))
        .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

fn outcome(worker: Child) -> serde_json::Value {
    serde_json::from_str(&stdout(&worker.wait_with_output().unwrap())).unwrap()
}

fn signal(worker: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &worker.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn two_and_three_workers_that_start_together_leave_the_bytes_of_one() {
    let case = Case::new();
    let units = case.units();
    assert!(units >= 12, "{units} units");
    for workers in [2, 3] {
        let started: Vec<_> = (0..workers).map(|_| case.worker(&[])).collect();
        let outcomes: Vec<_> = started.into_iter().map(outcome).collect();
        let sum = |key: &str| -> u64 {
            outcomes.iter().map(|outcome| outcome[key].as_u64().unwrap()).sum()
        };
        assert_eq!((sum("computed"), sum("taken_over")), (units, 0), "{outcomes:?}");
        assert!(outcomes.iter().all(|outcome| outcome["units"] == units));
        case.check();
        std::fs::remove_dir_all(case.out("shared")).unwrap();
    }
}

#[test]
fn a_killed_worker_is_replaced_by_one_that_comes_later() {
    let case = Case::new();
    let mut dead = case.worker(&["--lease", "1"]);
    case.wait_for_lease(&mut dead);
    // It cannot finish its unit between here and the kill.
    signal(&dead, "-STOP");
    dead.kill().unwrap();
    dead.wait().unwrap();
    let (remainder, claims) = (files(&case.out("shared")), leases(&case.out("shared")));
    let unit_count =
        remainder.keys().filter(|place| place.extension().is_some_and(|e| e == "unit")).count();
    let outcome = outcome(case.worker(&["--lease", "1"]));
    assert_eq!(outcome["computed"].as_u64().unwrap() + unit_count as u64, case.units());
    assert_eq!(outcome["taken_over"].as_u64().unwrap(), claims.len() as u64);
    assert!(claims.len() <= 1, "{claims:?}");
    case.check();
}

#[test]
fn a_late_worker_takes_work_and_leaves_what_a_live_one_holds() {
    let case = Case::new();
    let mut early = case.worker(&[]);
    case.wait_for_lease(&mut early);
    signal(&early, "-STOP");
    let mut late = case.worker(&[]);
    case.wait_for_lease(&mut late);
    signal(&early, "-CONT");
    let (early, late) = (outcome(early), outcome(late));
    let computed = [&early, &late].map(|worker| worker["computed"].as_u64().unwrap());
    assert!(computed[1] > 0, "{late}");
    assert_eq!(computed[0] + computed[1], case.units());
    case.check();
}

#[test]
fn a_stale_lease_of_a_dead_process_is_taken_over() {
    let case = Case::new();
    let units = files(&case.out("whole")).into_keys();
    let unit = units.into_iter().find(|place| place.extension().is_some_and(|e| e == "unit"));
    let lease = case.out("shared").join(unit.unwrap().with_extension("lease"));
    std::fs::create_dir_all(lease.parent().unwrap()).unwrap();
    std::fs::write(
        &lease,
        r#"{"host":"gone","process":1,"worker":"00","lease_s":1,"written":"2026-01-01T00:00:00Z","renewals":3,"is_released":false}"#,
    )
    .unwrap();
    let outcome = outcome(case.worker(&[]));
    assert_eq!(outcome["taken_over"], 1);
    assert_eq!(outcome["computed"], case.units());
    case.check();
}

#[test]
fn an_interrupted_worker_gives_its_unit_back() {
    let case = Case::new();
    let mut stopped = case.worker(&[]);
    case.wait_for_lease(&mut stopped);
    signal(&stopped, "-TERM");
    let output = stopped.wait_with_output().unwrap();
    // It may have been at its last unit.
    assert!(matches!(output.status.code(), Some(0 | 130)), "{output:?}");
    // With a lease far longer than this test: nothing lapses.
    let outcome = outcome(case.worker(&[]));
    assert_eq!(outcome["units"], case.units());
    case.check();
}

#[test]
fn a_worker_in_the_folder_of_another_sweep_is_refused() {
    let case = Case::new();
    let text = std::fs::read_to_string(&case.scenario).unwrap();
    let other = case.out("other.toml");
    std::fs::write(&other, text.replace("height_agl_m = 20", "height_agl_m = 21")).unwrap();
    let whole = case.out("whole");
    let before = files(&whole);
    let refused = refusal(&sweep(&other, &whole, &["--join"]));
    assert!(refused.contains("another folder"), "{refused}");
    assert_eq!(before, files(&whole));
    for wrong in [&["--join", "--shard", "1/2"][..], &["--lease", "5"], &["--join", "--lease", "0"]]
    {
        refusal(&sweep(&case.scenario, &case.out("none"), wrong));
    }
    let output = stdout(&support::groundwave(&[
        "sweep",
        case.scenario.to_str().unwrap(),
        "-o",
        whole.to_str().unwrap(),
        "--join",
    ]));
    assert!(output.contains("0 by this worker; next: groundwave sweep merge"), "{output}");
}
