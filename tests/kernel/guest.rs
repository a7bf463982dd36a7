//! A user-mode Linux kernel that runs this very test binary as root.
//!
//! One boot runs all cases of a [`Group`]; each case is a test of its own on the host, which looks
//! its outcome up in the guest's report.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// What the environment says inside a guest.
const INSIDE: &str = "GROUNDWAVE_GUEST";
/// Cases that run together in one boot: the tests below a module of this crate.
pub struct Group {
    /// The module.
    pub module: &'static str,
    /// Kernel modules loaded at boot, below `kernel/` in the folder of modules; `NAME:KEY=VALUE`
    /// gives one a parameter.
    pub load: &'static str,
    /// A guest that runs longer than this is killed.
    pub limit: Duration,
    report: OnceLock<Result<Report, String>>,
}

impl Group {
    /// A group that has not run.
    pub const fn new(module: &'static str, load: &'static str, limit: Duration) -> Self {
        Self {
            module,
            load,
            limit,
            report: OnceLock::new(),
        }
    }

    /// Asserts that a case passed in the guest, and prints what it printed there.
    pub fn assert(&'static self, case: &str) {
        let report = self
            .report
            .get_or_init(|| Report::of(&Kernel::installed(), self));
        let report = report.as_ref().unwrap_or_else(|why| panic!("{why}"));
        let Some((passed, said)) = report.cases.get(case) else {
            panic!("the guest did not finish {case}:\n{}", report.rest);
        };
        println!("{said}");
        assert!(passed, "{case} failed in the guest: see above");
    }
}

/// Whether this process runs in a guest.
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
        let program = PathBuf::from("/usr/bin/linux.uml");
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

/// What a guest said when it was over.
struct Report {
    /// Outcome and output by the name of the case.
    cases: BTreeMap<String, (bool, String)>,
    /// Everything, for a reader who misses a case.
    rest: String,
}

impl Report {
    fn of(kernel: &Kernel, group: &Group) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job"), job(group)).unwrap();
        let console = run(kernel.command(folder.path(), group.load), group.limit);
        let read = |name: &str| {
            let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (stdout, stderr) = (read("stdout"), read("stderr"));
        let cases = cases(&stdout);
        let rest = format!("{stdout}\n{stderr}\nconsole:\n{console}");
        if cases.is_empty() {
            return Err(format!("no case ran in the guest:\n{rest}"));
        }
        Ok(Self { cases, rest })
    }
}

/// The shell script the guest runs: this binary, with the group's cases.
fn job(group: &Group) -> String {
    let mut job = format!("export {INSIDE}=1\n");
    for (key, value) in std::env::vars() {
        if ["PROPTEST_", "RUST_", "GROUNDWAVE_"]
            .iter()
            .any(|start| key.starts_with(start))
        {
            writeln!(job, "export {key}={}", quoted(&value)).unwrap();
        }
    }
    let here = std::env::current_dir().unwrap();
    let binary = std::env::current_exe().unwrap();
    writeln!(job, "cd {}", quoted(&here.display().to_string())).unwrap();
    // Whoever asked for some cases only, does not want to wait for the rest.
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument.contains("::"))
        .map(|argument| quoted(&argument))
        .collect();
    let which = if asked.is_empty() {
        format!("{}::", group.module)
    } else {
        asked.join(" ")
    };
    writeln!(
        job,
        "exec {} {which} --test-threads=1 --show-output --skip ::fake --skip ::host",
        quoted(&binary.display().to_string()),
    )
    .unwrap();
    job
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Runs to its end, or kills it with all its threads at the limit; answers what it wrote.
fn run(mut command: Command, limit: Duration) -> String {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let mut console = Vec::new();
        // A pipe that breaks ends the console like one that closes.
        let _ = stdout.read_to_end(&mut console);
        String::from_utf8_lossy(&console).into_owned()
    });
    let late = !ends_within(&mut child, limit);
    if late {
        // It may have ended since.
        let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        child.wait().unwrap();
    }
    let mut console = reader.join().unwrap();
    if late {
        write!(console, "\nkilled after {limit:?}").unwrap();
    }
    console
}

fn ends_within(child: &mut Child, limit: Duration) -> bool {
    let step = Duration::from_millis(20);
    let steps = limit.as_millis() / step.as_millis();
    for _ in 0..steps {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        thread::sleep(step);
    }
    false
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
