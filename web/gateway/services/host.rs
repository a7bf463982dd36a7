//! Host of the gateway: system, processor, board, kernel facilities.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use groundwave_files::{ReadingError, Root};
use groundwave_host::readings::board;
use groundwave_host::readings::cpu;
use groundwave_host::readings::cpu::Ticks;
use groundwave_host::readings::host;
use groundwave_host::readings::probe::probe;

pub use groundwave_host::readings::board::Board;
pub use groundwave_host::readings::cpu::Cpu;
pub use groundwave_host::readings::host::SystemInfo;

use super::kernel::unread;
use groundwave_http::Problem;

/// Minimum interval between two compared samples of the processor, ns.
const CPU_INTERVAL_NS: u64 = 1_000_000_000;
/// Validity of a probe of the facilities, ns: the operation needs no authentication, and a probe opens
/// sockets.
const PROBE_VALID_NS: u64 = 10_000_000_000;

/// Value and time of its sampling, ns.
type Sampled<T> = Mutex<Option<(u64, T)>>;

/// Host of the gateway.
#[derive(Debug, Default)]
pub struct Host {
    cpu: Sampled<Vec<Ticks>>,
    facilities: Sampled<BTreeMap<String, String>>,
}

impl Host {
    /// Names, memory, storage, clock. Blocks.
    ///
    /// # Errors
    /// 500 or 503.
    pub fn info(&self) -> Result<SystemInfo, Problem> {
        host::info(&Root::default()).map_err(unread)
    }

    /// Load, frequency and temperature of the processor. Blocks.
    ///
    /// # Errors
    /// 500 or 503.
    pub fn cpu(&self, now_ns: u64) -> Result<Cpu, Problem> {
        self.sample_cpu(&Root::default(), now_ns).map_err(unread)
    }

    fn sample_cpu(&self, root: &Root, now_ns: u64) -> Result<Cpu, ReadingError> {
        let mut sample = self.cpu.lock().unwrap_or_else(PoisonError::into_inner);
        let before =
            sample.as_ref().filter(|(at_ns, _)| now_ns.saturating_sub(*at_ns) >= CPU_INTERVAL_NS);
        let usage = cpu::read(root, before.map(|(_, ticks)| ticks.as_slice()))?;
        if before.is_some() || sample.is_none() {
            *sample = Some((now_ns, cpu::ticks(root)?));
        }
        Ok(usage)
    }

    /// Model and serial number of the board. Blocks.
    #[must_use]
    pub fn board(&self) -> Board {
        board::read(&Root::default())
    }

    /// Kernel facilities by name: `netlink`, `cli`, `fixture` or `absent`. Blocks.
    pub fn facilities(&self, now_ns: u64) -> BTreeMap<String, String> {
        let mut cached = self.facilities.lock().unwrap_or_else(PoisonError::into_inner);
        let valid = |at_ns: u64| now_ns.saturating_sub(at_ns) < PROBE_VALID_NS;
        if let Some((_, facilities)) = cached.as_ref().filter(|(at_ns, _)| valid(*at_ns)) {
            return facilities.clone();
        }
        let probed = serde_json::to_value(probe(&Root::default(), None)).unwrap_or_default();
        let facilities: BTreeMap<_, _> = probed
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, word)| (name.clone(), word.as_str().unwrap_or("absent").to_owned()))
            .collect();
        *cached = Some((now_ns, facilities.clone()));
        facilities
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_measured_between_samples_a_second_apart() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        let lay = |busy: u64, idle: u64| {
            let line = format!("cpu {busy} 0 0 {idle}\ncpu0 {busy} 0 0 {idle}\n");
            std::fs::write(folder.path().join("proc/stat"), line).unwrap();
        };
        let (host, root) = (Host::default(), Root::at(folder.path()));
        let usage = |now_ns| host.sample_cpu(&root, now_ns).unwrap().usage_pct[0];
        lay(50, 50);
        assert_eq!(usage(0), 50.0);
        // Too soon for a difference: since the start again.
        lay(51, 50);
        assert!((usage(10) - 5100.0 / 101.0).abs() < 1e-9);
        lay(50, 150);
        assert_eq!(usage(CPU_INTERVAL_NS), 0.0);
        lay(125, 175);
        assert_eq!(usage(3 * CPU_INTERVAL_NS), 75.0);
    }
}
