//! A virtual machine that runs this very test binary as root.

use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use groundwave_systems::testing::fetched;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The environment variable that is set inside the guest.
const INSIDE: &str = "GROUNDWAVE_GUEST";
/// A guest that runs longer than this is killed; an idle machine needs some two minutes.
const LIMIT: Duration = Duration::from_secs(900);
/// Runs the body of a stage in the guest; outside, boots the guest once for all stages and asserts
/// that this one passed there.
pub fn stage(name: &str, body: impl FnOnce()) {
    static REPORT: OnceLock<String> = OnceLock::new();
    if std::env::var_os(INSIDE).is_some() {
        body();
        println!("passed: {name}");
        return;
    }
    let report = REPORT.get_or_init(run);
    println!("{report}");
    let passed = report
        .lines()
        .any(|line| line.ends_with(&format!("passed: {name}")));
    assert!(passed, "{name} did not pass in the guest: {}", why(report));
}

/// What failed in the guest, and how far it was.
fn why(report: &str) -> String {
    let guest = report.split("gateway.log:").next().unwrap_or_default();
    let said: Vec<&str> = guest.lines().filter(|line| line.starts_with('[')).collect();
    let failed = guest.lines().skip_while(|line| !line.contains("panicked"));
    let far = said.iter().rev().take(8).rev();
    far.copied().chain(failed).collect::<Vec<_>>().join("\n")
}

fn run() -> String {
    // Paths are the same inside, where there is no other way to them.
    let kernel = fetched("kernel").canonicalize().unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job"), job()).unwrap();
    let console = console_of(command(&kernel, folder.path()));
    let read = |name: &str| {
        let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let logs = ["gateway.log", "n1.log", "n2.log", "dnsmasq.log"];
    let logs: String = logs
        .iter()
        .map(|name| format!("{name}:\n{}\n", read(name)))
        .collect();
    let (stdout, stderr) = (read("stdout"), read("stderr"));
    format!("{stdout}\n{stderr}\n{logs}console:\n{console}")
}

fn command(kernel: &Path, out: &Path) -> Command {
    let init = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/init.sh");
    let share = |tag: &str, path: &Path, id: &str, more: &str| {
        let path = path.display();
        format!(
            "local,path={path},mount_tag={tag},security_model=none,multidevs=remap,id={id}{more}"
        )
    };
    let said = format!(
        "console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off tsc=reliable no_timer_check nokaslr \
         groundwave_modules={} groundwave_init={}",
        kernel.join("modules").display(),
        init.display(),
    );
    // A machine does not outlive who asked for it.
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "qemu-system-x86_64"])
        .args([
            "-accel",
            "tcg,thread=multi",
            "-cpu",
            "max",
            "-smp",
            "2",
            "-m",
            "1024",
        ])
        .args(["-machine", "pc,usb=off,hpet=off,graphics=off,vmport=off"])
        .args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ])
        .args([
            "-serial",
            "stdio",
            "-nic",
            "none",
            "-device",
            "virtio-rng-pci",
        ])
        .arg("-kernel")
        .arg(kernel.join("vmlinux"))
        .arg("-initrd")
        .arg(kernel.join("initrd.gz"))
        .arg("-virtfs")
        .arg(share("root", Path::new("/"), "root", ",readonly=on"))
        .arg("-virtfs")
        .arg(share("out", out, "out", ""))
        .args(["-append", &said]);
    command
}

/// The shell script the guest runs: this binary, with the stages in order.
fn job() -> String {
    let mut job = format!("export RUST_BACKTRACE=0 NO_COLOR=1 {INSIDE}=1\n");
    for (key, value) in std::env::vars() {
        if ["RUST_LOG", "GROUNDWAVE_"]
            .iter()
            .any(|start| key.starts_with(start))
        {
            writeln!(job, "export {key}={}", quoted(&value)).unwrap();
        }
    }
    let binary = std::env::current_exe().unwrap();
    writeln!(job, "cd {}", quoted(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let binary = quoted(&binary.display().to_string());
    // Stages are named in their order, in which one thread runs them.
    writeln!(job, "exec {binary} stage_ --test-threads=1 --nocapture").unwrap();
    job
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Runs to its end, or kills it at the limit; answers what it wrote.
fn console_of(mut command: Command) -> String {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let said = move || {
        let mut said = Vec::new();
        // A pipe that breaks ends the console like one that closes.
        let _ = stdout.read_to_end(&mut said);
        let _ = stderr.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    };
    let reader = thread::spawn(said);
    let step = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    let ended = loop {
        thread::sleep(step);
        waited += step;
        if child.try_wait().unwrap().is_some() {
            break true;
        }
        if waited > LIMIT {
            break false;
        }
    };
    if !ended {
        // It may have ended since.
        let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        child.wait().unwrap();
    }
    let mut console = reader.join().unwrap();
    if !ended {
        write!(console, "\nkilled after {waited:?}").unwrap();
    }
    console
}
