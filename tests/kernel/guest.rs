//! A virtual machine that runs this test binary as root.
//!
//! One boot runs all cases of a [`Group`]; each case is a test of its own on the host, which reads
//! its outcome from the virtual machine's report.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};
use std::thread;
use std::time::Duration;

use groundwave_systems::testing::fetched;

use crate::daemon::PROGRAM;
use crate::qemu;
use crate::testbed::soak;

/// Environment variable that is set inside the virtual machine.
const INSIDE: &str = "GROUNDWAVE_GUEST";

/// The kernel that a group runs on.
#[derive(Clone, Copy)]
pub enum Machine {
    /// User-mode Linux, with these modules loaded at boot, below `kernel/` in the folder of modules;
    /// `NAME:KEY=VALUE` gives one a parameter. Its clock is that of this machine.
    UserMode(&'static str),
    /// Debian's stock kernel in QEMU, whose clock counts instructions: what is measured in it does
    /// not depend on the load of this machine.
    VirtualTime,
}

impl Machine {
    /// `true` where the machine's kernel is in its place.
    fn is_installed(self) -> bool {
        match self {
            Self::UserMode(_) => Path::new(USER_MODE).exists(),
            Self::VirtualTime => fetched("kernel").join("vmlinux").exists(),
        }
    }
}

/// Kernel of Debian's package `user-mode-linux`.
const USER_MODE: &str = "/usr/bin/linux.uml";

/// A nanosecond an instruction; an idle processor jumps to its next timer.
const VIRTUAL_TIME: [&str; 6] = [
    "-accel",
    "tcg,thread=single",
    "-icount",
    "shift=0,sleep=off",
    "-smp",
    "1",
];

/// Cases that run together in one boot: the tests below a module of this crate.
pub struct Group {
    /// The module.
    pub module: &'static str,
    /// Kernel of the virtual machine.
    pub machine: Machine,
    /// A virtual machine that runs longer than this is killed.
    pub limit: Duration,
    report: OnceLock<Result<Report, String>>,
}

impl Group {
    /// A group that has not run.
    pub const fn new(module: &'static str, machine: Machine, limit: Duration) -> Self {
        Self {
            module,
            machine,
            limit,
            report: OnceLock::new(),
        }
    }

    /// Asserts that a case passed in the virtual machine, and prints its output.
    pub fn assert(&'static self, case: &str) {
        if asked().is_empty() {
            AHEAD.call_once(boot_ahead);
        } else {
            self.boot();
        }
        let report = self.report.wait();
        let report = report.as_ref().unwrap_or_else(|why| panic!("{why}"));
        let Some((passed, said)) = report.cases.get(case) else {
            panic!(
                "the virtual machine did not finish {case}:\n{}",
                report.rest
            );
        };
        println!("{said}");
        assert!(passed, "{case} failed in the virtual machine: see above");
    }

    /// Boots, and waits for the end, unless it did.
    fn boot(&'static self) {
        // A panic would leave the tests of the group waiting.
        let report = || {
            let run = std::panic::catch_unwind(|| Report::of(self));
            run.unwrap_or_else(|_| Err("the virtual machine did not start: see above".to_owned()))
        };
        self.report.get_or_init(report);
    }
}

/// Virtual machines that run at a time: one more than the processors of a small machine, as those with
/// routing programs mostly wait.
const AT_ONCE: usize = 3;

/// Start of all virtual machines of a whole run.
static AHEAD: Once = Once::new();

/// Boots all groups in the order of [`crate::GROUPS`], a few at a time: tests that wait for one group
/// would leave processors idle.
fn boot_ahead() {
    let next = Arc::new(AtomicUsize::new(0));
    for _ in 0..AT_ONCE {
        let next = Arc::clone(&next);
        thread::spawn(move || {
            while let Some(group) = crate::GROUPS.get(next.fetch_add(1, Ordering::Relaxed)) {
                group.boot();
            }
        });
    }
}

/// Names of tests on the command line.
fn asked() -> Vec<String> {
    let arguments = std::env::args().skip(1);
    arguments
        .filter(|argument| !argument.starts_with('-'))
        .collect()
}

/// `true` if this process runs in the virtual machine.
pub fn inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// The kernel and its modules, as Debian's package `user-mode-linux` installs them.
struct Kernel {
    program: PathBuf,
    modules: PathBuf,
}

impl Kernel {
    fn installed() -> Self {
        let program = PathBuf::from(USER_MODE);
        let version = Command::new(&program).arg("--version").output().unwrap();
        let version = String::from_utf8(version.stdout).unwrap();
        Self {
            program,
            modules: Path::new("/usr/lib/uml/modules").join(version.trim()),
        }
    }

    fn command(&self, folder: &Path, load: &str) -> Command {
        let init = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/init.sh");
        let mut command = Command::new(&self.program);
        command
            .args(["mem=256M", "quiet", "loglevel=3"])
            .args(["umid=guest", &format!("uml_dir={}", folder.display())])
            .args(["rootfstype=hostfs", "rootflags=/", "ro"])
            .args(["con=null", "con0=null,fd:1", "ssl=null"])
            .arg(format!("GROUNDWAVE_OUT={}", folder.display()))
            .arg(format!("GROUNDWAVE_MODULES={}", self.modules.display()))
            .arg(format!("GROUNDWAVE_LOAD={load}"))
            .args(["init=/bin/busybox", "--", "sh"])
            .arg(init);
        command
    }
}

/// Output of a virtual machine after its end.
struct Report {
    /// Outcome and output by the name of the case.
    cases: BTreeMap<String, (bool, String)>,
    /// Complete output, for a case that is missing.
    rest: String,
}

impl Report {
    fn of(group: &Group) -> Result<Self, String> {
        if !group.machine.is_installed() {
            return Err("no kernel of the virtual machine: run `make setup guest`".to_owned());
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job"), job(group)).unwrap();
        let command = match group.machine {
            Machine::UserMode(load) => Kernel::installed().command(folder.path(), load),
            Machine::VirtualTime => {
                let kernel = fetched("kernel").canonicalize().unwrap();
                qemu::command(&kernel, folder.path(), &VIRTUAL_TIME)
            }
        };
        let console = qemu::run(command, group.limit + soak::lasts().unwrap_or_default());
        let read = |name: &str| {
            let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (stdout, stderr) = (read("stdout"), read("stderr"));
        let cases = cases(&stdout);
        let rest = format!("{stdout}\n{stderr}\nconsole:\n{console}");
        if cases.is_empty() {
            return Err(format!("no case ran in the virtual machine:\n{rest}"));
        }
        Ok(Self { cases, rest })
    }
}

/// Shell script that the virtual machine runs: this binary, with the group's cases.
fn job(group: &Group) -> String {
    let mut job = format!("export {INSIDE}=1\n");
    for (key, value) in std::env::vars() {
        if ["PROPTEST_", "RUST_", "GROUNDWAVE_", "SOAK_"]
            .iter()
            .any(|start| key.starts_with(start))
        {
            writeln!(job, "export {key}={}", qemu::quoted(&value)).unwrap();
        }
    }
    let here = std::env::current_dir().unwrap();
    let binary = std::env::current_exe().unwrap();
    writeln!(job, "cd {}", qemu::quoted(&here.display().to_string())).unwrap();
    // Only the cases named on the command line are run.
    let asked: Vec<String> = asked()
        .iter()
        .filter(|argument| argument.contains("::"))
        .map(|argument| qemu::quoted(argument))
        .collect();
    let which = if asked.is_empty() {
        format!("{}::", group.module)
    } else {
        asked.join(" ")
    };
    let binary = qemu::quoted(&binary.display().to_string());
    if matches!(group.machine, Machine::VirtualTime) {
        // In memory: reading a page from a file while packets are under way would take time, and a
        // processor that waits for a file is idle, so that its clock jumps to the next timer.
        for (file, name) in [(&binary, "tests"), (&qemu::quoted(PROGRAM), "program")] {
            let copy = format!("/run/tmp/{name}");
            writeln!(
                job,
                "cp {file} {copy} && mount --bind {copy} {file} || exit 1"
            )
            .unwrap();
        }
    }
    let other = match group.machine {
        Machine::UserMode(_) => "::vm",
        Machine::VirtualTime => "::uml",
    };
    writeln!(
        job,
        "exec {binary} {which} --test-threads=1 --show-output --skip ::fake --skip ::host --skip {other}",
    )
    .unwrap();
    job
}

/// The outcomes in what libtest wrote: a line `test NAME ... ok` for each, then, after
/// `---- NAME stdout ----`, what it printed.
fn cases(stdout: &str) -> BTreeMap<String, (bool, String)> {
    let mut cases = BTreeMap::new();
    let mut speaker: Option<&str> = None;
    for line in stdout.lines() {
        let outcome = line
            .strip_prefix("test ")
            .and_then(|line| line.split_once(" ... "));
        let header = line
            .strip_prefix("---- ")
            .and_then(|line| line.strip_suffix(" stdout ----"));
        if let Some((name, outcome)) = outcome {
            cases.insert(name.to_owned(), (outcome == "ok", String::new()));
        } else if header.is_some() {
            speaker = header;
        } else if ["successes:", "failures:"].contains(&line) {
            speaker = None;
        } else if let Some((_, said)) = speaker.and_then(|name| cases.get_mut(name)) {
            said.push_str(line);
            said.push('\n');
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
