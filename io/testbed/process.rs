//! The process of a controller.

use std::fs;
use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Time that the kernel has to end a killed process.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// True while the process runs; one that nobody has waited for has ended. Number 0, that of a process in another
/// namespace of processes, counts as running.
#[must_use]
pub fn is_alive(pid: i32) -> bool {
    if pid == 0 {
        return true;
    }
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
    let process = single(pid)?;
    match kill(process, Signal::SIGKILL) {
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

/// The process with a number; to kill(2), 0 and below are groups of processes, that of this one among them.
fn single(pid: i32) -> io::Result<Pid> {
    if pid > 0 {
        return Ok(Pid::from_raw(pid));
    }
    let what = format!(
        "invalid process: found {pid}, allowed one of this namespace of processes, such as of this container"
    );
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
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

    #[test]
    fn process_of_another_namespace_is_not_killed() {
        assert!(is_alive(0));
        for pid in [0, -1] {
            let error = single(pid).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        }
        assert_eq!(single(7).unwrap(), Pid::from_raw(7));
    }
}
