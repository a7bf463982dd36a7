//! Memory that terrain may take of this machine.

use groundwave_files::Root;
use groundwave_files::memory;

/// Least budget, MB: one tile of 1 arc-second.
pub const MEMORY_MIN_MB: u64 = 64;

/// Budget where the memory of the machine is not known, bytes.
const UNKNOWN_BYTES: u64 = 1 << 30;

/// The usual budget, bytes: a quarter of the memory of the machine, or of the control group that the
/// process is confined to, if that is less.
#[must_use]
pub fn usual_budget_bytes() -> u64 {
    budget_of(&Root::default())
}

fn budget_of(root: &Root) -> u64 {
    let machine = memory::memory(root).map(|memory| memory.total).ok();
    let confined = root.text("sys/fs/cgroup/memory.max").ok();
    // "max" where there is no limit.
    let confined = confined.and_then(|text| text.trim().parse::<u64>().ok());
    let least = machine.into_iter().chain(confined).min();
    least.map_or(UNKNOWN_BYTES, |bytes| bytes / 4).max(MEMORY_MIN_MB * 1_000_000)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_usual_budget_is_a_quarter_of_what_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        assert_eq!(budget_of(&root), UNKNOWN_BYTES);
        fs::create_dir_all(folder.path().join("proc")).unwrap();
        fs::create_dir_all(folder.path().join("sys/fs/cgroup")).unwrap();
        let meminfo = "MemTotal: 8000000 kB\nMemFree: 1 kB\nMemAvailable: 1 kB\n";
        fs::write(folder.path().join("proc/meminfo"), meminfo).unwrap();
        assert_eq!(budget_of(&root), 2_048_000_000);
        let limit = folder.path().join("sys/fs/cgroup/memory.max");
        fs::write(&limit, "max\n").unwrap();
        assert_eq!(budget_of(&root), 2_048_000_000);
        fs::write(&limit, "1000000000\n").unwrap();
        assert_eq!(budget_of(&root), 250_000_000);
        fs::write(&limit, "1000000\n").unwrap();
        assert_eq!(budget_of(&root), 64_000_000);
    }
}
