//! The process of a controller.

use std::fs;
use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Time that the kernel has to end a killed process.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// True while the process runs; one that nobody has waited for has ended.
#[must_use]
pub fn is_alive(pid: i32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    // The name, in parentheses, may have any character.
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X'))
}

/// Kills a process and waits for its end.
///
/// # Errors
/// When the system refuses, or the process does not end.
pub fn kill_process(pid: i32) -> io::Result<()> {
    match kill(Pid::from_raw(pid), Signal::SIGKILL) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(err) => return Err(err.into()),
    }
    let interval = Duration::from_millis(20);
    for _ in 0..KILL_TIMEOUT.as_millis() / interval.as_millis() {
        if !is_alive(pid) {
            return Ok(());
        }
        std::thread::sleep(interval);
    }
    let what = format!("process {pid} does not end");
    Err(io::Error::new(io::ErrorKind::TimedOut, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_process_has_ended_before_anybody_waited_for_it() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id().cast_signed();
        assert!(is_alive(pid));
        kill_process(pid).unwrap();
        assert!(!is_alive(pid));
        child.wait().unwrap();
        kill_process(pid).unwrap();
    }
}
