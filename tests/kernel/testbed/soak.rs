//! A testbed whose world changes at random, whose network others change, and whose controller is killed
//! at random: a few rounds in ordinary tests, SOAK_MINUTES in `make soak`.
//!
//! It fails when something is not in force in the end of a round, when the log does not replay, when
//! namespaces are left over, or when memory or descriptors of the controller grow: the peaks of the last
//! third may exceed those of the middle third by a quarter and 24 MiB, and by 16 descriptors.

use std::fs;
use std::time::Duration;

use groundwave_engine::Seed;

use super::bed::{Testbed, seconds};
use super::guest;
use crate::wire::{now_ns, tool};

guest!(
    "testbed::soak":
    changes_and_kills_at_random_leave_a_testbed_in_force,
);

/// Rounds of an ordinary test.
const ROUNDS: usize = 6;
/// Growth of the resident memory from the middle third to the last, at most.
const MEMORY_SHARE: f64 = 1.25;
const MEMORY_MIB: f64 = 24.0;
/// Growth of the number of open descriptors, at most.
const DESCRIPTORS: usize = 16;

/// Time of `make soak`; `None` in ordinary tests.
pub fn lasts() -> Option<Duration> {
    let minutes = std::env::var("SOAK_MINUTES").ok()?;
    let minutes: f64 = minutes.parse().expect("SOAK_MINUTES is a number");
    Some(Duration::from_secs_f64(60.0 * minutes))
}

/// Resident memory of a process, MiB, and its open descriptors.
fn used(pid: i32) -> (f64, usize) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib: f64 = kib.unwrap().trim().parse().unwrap();
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    (kib / 1024.0, descriptors)
}

/// Peaks of a share of the samples.
fn peaks(samples: &[(f64, usize)]) -> (f64, usize) {
    let memory_mib = samples.iter().map(|sample| sample.0).fold(0.0, f64::max);
    let descriptors = samples.iter().map(|sample| sample.1).max().unwrap_or(0);
    (memory_mib, descriptors)
}

/// One change of the world, of its network, or of its controller.
fn disturb(testbed: &Testbed, number: u64, share: f64) {
    match number {
        0 => {
            testbed.output_of(&["fail", "save"]);
            testbed.output_of(&["repair", "save"]);
        }
        1 => {
            testbed.output_of(&["cut", "nolvik", "save"]);
            testbed.output_of(&["mend", "nolvik", "save"]);
        }
        2 => {
            let power_dbm = format!("{:.1}", 15.0 + 5.0 * share);
            testbed.output_of(&["radio", "nolvik", "--tx-power-dbm", &power_dbm]);
        }
        3 => {
            let place = format!("{:.5},11.95667", 57.78 + 0.01 * share);
            testbed.output_of(&["move", "save", &place]);
        }
        4 => drop(tool("ip", "netns exec gw.soak.save tc qdisc del dev to-nolvik root")),
        _ => {
            testbed.kill_controller();
            testbed.output_of(&["attach", "--detach"]);
        }
    }
}

fn changes_and_kills_at_random_leave_a_testbed_in_force() {
    let testbed = Testbed::up("soak", &[("routing = \"babel\"", "routing = \"static\"")]);
    testbed.in_force();
    let spaces = tool("ip", "netns list").lines().count();
    let mut chance = Seed(15).stream("soak.testbed", 0, 0);
    let (began_ns, mut samples, mut kills) = (now_ns(), Vec::new(), 0);
    let goes_on = |rounds: usize| match lasts() {
        Some(lasts) => seconds(began_ns) < lasts.as_secs_f64(),
        None => rounds < ROUNDS,
    };
    while goes_on(samples.len()) {
        // Each kind once, then at random.
        let round = samples.len() as u64;
        let number = if round < 6 { round } else { chance.bits() % 6 };
        disturb(&testbed, number, chance.unit_prob());
        kills += usize::from(number == 5);
        testbed.in_force();
        samples.push(used(testbed.controller()));
        assert_eq!(tool("ip", "netns list").lines().count(), spaces);
    }
    testbed.output_of(&["move", "save", "57.78917,11.95667"]);
    testbed.await_answers("bohus", &testbed.address("ramberget"));
    let third = samples.len() / 3;
    let (middle, last) = (peaks(&samples[third..2 * third]), peaks(&samples[2 * third..]));
    println!(
        "{} rounds in {:.1} min, {kills} kills; peaks of the middle and the last third: {:.1} and {:.1} MiB, \
         {} and {} descriptors",
        samples.len(),
        seconds(began_ns) / 60.0,
        middle.0,
        last.0,
        middle.1,
        last.1
    );
    assert!(last.0 <= middle.0 * MEMORY_SHARE + MEMORY_MIB, "the memory grows");
    assert!(last.1 <= middle.1 + DESCRIPTORS, "the number of descriptors grows");
    let log = tempfile::NamedTempFile::new().unwrap();
    let path = log.path().display().to_string();
    testbed.output_of(&["down", "--keep-log", &path]);
    assert_eq!(tool("ip", "netns list"), "", "nothing is left");
    let replayed = tool(env!("CARGO_BIN_EXE_groundwave"), &format!("replay {path}"));
    // A long log has several digests.
    let equal = ["its digest equals that of the log", "digests equal those of the log"];
    assert!(equal.iter().any(|phrase| replayed.contains(phrase)), "{replayed}");
}
