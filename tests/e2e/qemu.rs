//! A virtual machine with Debian's stock kernel (`scripts/guest.sh`): what happens in it depends neither
//! on the processor of this machine nor on its load.

use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The virtual machine. It boots the kernel in a folder that `make guest` filled, sees the files of this
/// machine read-only, and runs the script `job` of the folder `out`, to which it writes.
pub fn command(kernel: &Path, out: &Path) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/guest.sh");
    let mut command = Command::new("sh");
    command.arg(script).arg(kernel).arg(out);
    command
}

/// A word for the shell.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Runs to its end, or kills it at the limit; answers what it wrote.
pub fn run(mut command: Command, limit: Duration) -> String {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (read, console) = mpsc::channel();
    thread::spawn(move || {
        let mut transcript = Vec::new();
        // A pipe that breaks ends the console like one that closes.
        let _ = stdout.read_to_end(&mut transcript);
        let _ = stderr.read_to_end(&mut transcript);
        // Nobody waits for a console that comes too late.
        let _ = read.send(String::from_utf8_lossy(&transcript).into_owned());
    });
    let step = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    let ended = loop {
        thread::sleep(step);
        waited += step;
        if child.try_wait().unwrap().is_some() {
            break true;
        }
        if waited > limit {
            break false;
        }
    };
    if !ended {
        // It may have ended since.
        let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        child.wait().unwrap();
    }
    // A process of the machine that outlives it holds the pipe.
    let mut console = console
        .recv_timeout(Duration::from_secs(10))
        .unwrap_or_else(|_| "console held by a process".to_owned());
    if !ended {
        write!(console, "\nkilled after {waited:?}").unwrap();
    }
    console
}
