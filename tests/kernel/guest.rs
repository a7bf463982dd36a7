//! A virtual machine that runs this test binary as root.
//!
//! One [`Boot`] runs all cases of its groups, in their order; each case is a test of its own on the
//! host, which reads its outcome from the virtual machine's report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};
use std::thread;
use std::time::Duration;

use groundwave_test_data::fetched;

use crate::daemon::PROGRAM;
use crate::qemu;
use crate::testbed::soak;

/// Environment variable that is set inside the virtual machine.
const INSIDE: &str = "GROUNDWAVE_GUEST";

/// A virtual machine that runs longer than this is killed. Time in it does not depend on the load of
/// this machine, how long it runs does.
const LIMIT: Duration = Duration::from_secs(3600);

/// Cases that share modules of the kernel: the tests below a module of this crate.
pub struct Group {
    /// The module.
    pub module: &'static str,
    /// Sets of kernel modules (`scripts/guest-kernel.sh`) that are loaded before the cases run, each
    /// with a parameter of its last module where one follows.
    pub load: &'static [&'static str],
    /// Last part of the names of its cases.
    arm: &'static str,
    /// Folder of its kernel among the fetched data.
    kernel: &'static str,
}

/// Groups that run in one virtual machine, one after the other.
pub struct Boot {
    groups: &'static [&'static Group],
    report: OnceLock<Result<Report, String>>,
}

impl Group {
    /// Cases `vm` below a module, on Debian's stock kernel.
    pub const fn new(module: &'static str, load: &'static [&'static str]) -> Self {
        Self { module, load, arm: "vm", kernel: "kernel" }
    }

    /// Cases `newer` below a module, on kernel 6.12.
    pub const fn on_newer(module: &'static str, load: &'static [&'static str]) -> Self {
        Self { module, load, arm: "newer", kernel: "kernel-6.12" }
    }

    /// The group of the same module on the newer kernel.
    pub fn on_the_newer(&self) -> &'static Group {
        let mut groups = crate::BOOTS.iter().flat_map(|boot| boot.groups.iter().copied());
        let is_newer = |group: &&Group| group.arm == "newer" && group.module == self.module;
        groups.find(is_newer).expect("a group on the newer kernel")
    }

    /// Asserts that a case passed in the virtual machine, and prints its output.
    pub fn assert(&self, case: &str) {
        AHEAD.call_once(boot_ahead);
        let has = |boot: &&Boot| boot.groups.iter().any(|one| std::ptr::eq(*one, self));
        let boot = crate::BOOTS.iter().find(has).expect("a group of a boot");
        let report = boot.report.wait().as_ref().unwrap_or_else(|why| panic!("{why}"));
        let Some((passed, lines)) = report.cases.get(case) else {
            panic!("the virtual machine did not finish {case}:\n{}", report.rest);
        };
        println!("{lines}");
        assert!(passed, "{case} failed in the virtual machine: see above");
    }

    /// `true` for the cases of this group.
    fn has(&self, case: &str) -> bool {
        let below = case.strip_prefix(self.module).and_then(|rest| rest.strip_prefix("::"));
        below.is_some_and(|rest| rest.rsplit("::").next() == Some(self.arm))
    }
}

impl Boot {
    /// A virtual machine that has not run.
    pub const fn new(groups: &'static [&'static Group]) -> Self {
        Self { groups, report: OnceLock::new() }
    }

    /// Runs those of the cases that are of its groups, and waits for the end.
    fn run(&self, cases: &[String]) {
        // A panic would leave the tests of the groups waiting.
        let report = || {
            let run = std::panic::catch_unwind(|| Report::of(self, cases));
            run.unwrap_or_else(|_| Err("the virtual machine did not start: see above".to_owned()))
        };
        self.report.get_or_init(report);
    }
}

/// Start of all virtual machines of a whole run.
static AHEAD: Once = Once::new();

/// Boots all that have cases to run, in the order of [`crate::BOOTS`], one for each processor at a
/// time: a virtual machine keeps one busy, as it skips its waits.
fn boot_ahead() {
    let cases = Arc::new(selected());
    let next = Arc::new(AtomicUsize::new(0));
    let processors = thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..processors.min(crate::BOOTS.len()) {
        let (next, cases) = (Arc::clone(&next), Arc::clone(&cases));
        thread::spawn(move || {
            while let Some(boot) = crate::BOOTS.get(next.fetch_add(1, Ordering::Relaxed)) {
                boot.run(&cases);
            }
        });
    }
}

/// Cases that the command line selects and that this machine does not ignore: what the test runner
/// lists for it.
fn selected() -> Vec<String> {
    let listed = |more: &[&str]| -> BTreeSet<String> {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(std::env::args().skip(1)).arg("--list");
        let output = command.args(more).output().unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        let names = listed.lines().filter_map(|line| line.strip_suffix(": test"));
        names.map(str::to_owned).collect()
    };
    let ignored = listed(&["--ignored"]);
    let all = listed(&[]).into_iter();
    let is_of_guest = |case: &String| case.ends_with("::vm") || case.ends_with("::newer");
    all.filter(|case| is_of_guest(case) && !ignored.contains(case)).collect()
}

/// `true` if this process runs in the virtual machine.
pub fn inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Output of a virtual machine after its end.
struct Report {
    /// Outcome and output by the name of the case.
    cases: BTreeMap<String, (bool, String)>,
    /// Complete output, for a case that is missing.
    rest: String,
}

impl Report {
    fn of(boot: &Boot, cases: &[String]) -> Result<Self, String> {
        let Some(job) = job(boot, cases) else {
            return Err("no case of the virtual machine was selected".to_owned());
        };
        let folder = boot.groups.first().map_or("kernel", |group| group.kernel);
        let kernel = fetched(folder)
            .canonicalize()
            .map_err(|_| "no kernel of the virtual machine: run `make setup guest`".to_owned())?;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job"), job).unwrap();
        let command = qemu::command(&kernel, folder.path());
        let console = qemu::run(command, LIMIT + soak::lasts().unwrap_or_default());
        let read = |name: &str| {
            let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (stdout, stderr) = (read("stdout"), read("stderr"));
        let cases = self::cases(&stdout);
        let rest = format!("{stdout}\n{stderr}\nconsole:\n{console}");
        if cases.is_empty() {
            return Err(format!("no case ran in the virtual machine:\n{rest}"));
        }
        Ok(Self { cases, rest })
    }
}

/// Shell script that the virtual machine runs: this binary with the cases of each group. `None` without
/// cases.
fn job(boot: &Boot, cases: &[String]) -> Option<String> {
    let mut job = format!("export {INSIDE}=1\n");
    for (key, value) in std::env::vars() {
        if ["PROPTEST_", "RUST_", "GROUNDWAVE_", "SOAK_"].iter().any(|start| key.starts_with(start))
        {
            writeln!(job, "export {key}={}", qemu::quoted(&value)).unwrap();
        }
    }
    let here = std::env::current_dir().unwrap();
    let binary = std::env::current_exe().unwrap();
    writeln!(job, "cd {}", qemu::quoted(&here.display().to_string())).unwrap();
    let binary = qemu::quoted(&binary.display().to_string());
    writeln!(job, "in_memory {binary} {} || exit 1", qemu::quoted(PROGRAM)).unwrap();
    let mut any = false;
    for group in boot.groups {
        let cases = cases.iter().filter(|case| group.has(case));
        let cases: Vec<String> = cases.map(|case| qemu::quoted(case)).collect();
        if cases.is_empty() {
            continue;
        }
        any = true;
        for set in group.load {
            writeln!(job, "load {set}").unwrap();
        }
        writeln!(
            job,
            "at {module}\n{binary} --exact {cases} --test-threads=1 --show-output\nat \"{module} ended\"",
            module = group.module,
            cases = cases.join(" "),
        )
        .unwrap();
    }
    any.then_some(job)
}

/// The outcomes in what libtest wrote: a line `test NAME ... ok` for each, then, after
/// `---- NAME stdout ----`, what it printed.
fn cases(stdout: &str) -> BTreeMap<String, (bool, String)> {
    let mut cases = BTreeMap::new();
    let mut speaker: Option<&str> = None;
    for line in stdout.lines() {
        let outcome = line.strip_prefix("test ").and_then(|line| line.split_once(" ... "));
        let header = line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----"));
        if let Some((name, outcome)) = outcome {
            cases.insert(name.to_owned(), (outcome == "ok", String::new()));
        } else if header.is_some() {
            speaker = header;
        } else if ["successes:", "failures:"].contains(&line) {
            speaker = None;
        } else if let Some((_, lines)) = speaker.and_then(|name| cases.get_mut(name)) {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    cases
}

#[test]
fn what_libtest_writes_is_understood() {
    let stdout = "running 2 tests\ntest a::b ... ok\ntest c ... FAILED\n\nsuccesses:\n\n\
                  ---- a::b stdout ----\nset 1\n\n\nsuccesses:\n    a::b\n\nfailures:\n\n\
                  ---- c stdout ----\npanicked\n\nfailures:\n    c\n";
    let cases = cases(stdout);
    assert_eq!(cases["a::b"], (true, "set 1\n\n\n".to_owned()));
    assert_eq!(cases["c"], (false, "panicked\n\n".to_owned()));
}
