//! Restart of the machine, as its init does it on Ctrl-Alt-Del: SIGINT to process 1.
//!
//! systemd, sysvinit, busybox and procd stop their services and restart the machine on that signal. A
//! process 1 without a handler ignores it, as in most containers; then there is nothing to permit.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Bit of SIGINT in the masks of `/proc/PID/status`.
const SIGINT_BIT: u64 = 1 << 1;

/// Permission to restart this machine.
#[derive(Debug)]
pub struct Reboot(());

impl Reboot {
    /// The permission, if process 1 restarts the machine on a signal of this process.
    ///
    /// # Errors
    /// The reason why it does not.
    pub fn probe() -> Result<Self, String> {
        let path = Path::new("/proc/1/status");
        let status =
            std::fs::read_to_string(path).map_err(|err| format!("{}: {err}", path.display()))?;
        if !handles_interrupt(&status) {
            return Err("process 1 has no handler of SIGINT, as an init has".to_owned());
        }
        let allowed = test_kill_process(Pid::INIT);
        allowed.map_err(|err| format!("no signals to process 1: {err}"))?;
        Ok(Self(()))
    }

    /// Asks process 1 for the restart.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(&self) -> std::io::Result<()> {
        Ok(kill_process(Pid::INIT, Signal::INT)?)
    }
}

/// `true` if a process with this status catches SIGINT, or blocks it to read it from a descriptor.
fn handles_interrupt(status: &str) -> bool {
    let lines = status.lines().filter_map(|line| line.split_once(':'));
    let mut masks = lines
        .filter(|(name, _)| ["SigCgt", "SigBlk"].contains(name))
        .filter_map(|(_, mask)| u64::from_str_radix(mask.trim(), 16).ok());
    masks.any(|mask| mask & SIGINT_BIT != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_init_is_known_by_its_handler_of_interrupts() {
        // Of systemd 252 and of a shell without traps.
        let systemd = "Name:\tsystemd\nSigBlk:\t7be3c0fe28014a03\nSigCgt:\t00000001000004ec\n";
        let shell = "Name:\tsh\nSigBlk:\t0000000000000000\nSigCgt:\t0000000000010000\n";
        let trapped = "SigBlk:\t0000000000000000\nSigCgt:\t0000000000010002\n";
        assert!(handles_interrupt(systemd) && handles_interrupt(trapped));
        assert!(!handles_interrupt(shell) && !handles_interrupt(""));
    }
}
