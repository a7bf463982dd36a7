//! The host: its names, how long it runs, how much of it is used, whether its clock is right.

use groundwave_files::ReadingError;
use groundwave_files::Root;
pub use groundwave_files::memory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most file systems listed.
const STORAGE_MAX: usize = 32;

/// A file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SystemStorage")]
pub struct Storage {
    /// Mount point.
    pub mount: String,
    /// Size, bytes.
    pub total_bytes: u64,
    /// Space available to programs, bytes.
    pub free_bytes: u64,
}

/// State of clock synchronisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockState {
    /// `true` if the clock is synchronised; `None` if the time service does not report it.
    pub synced: Option<bool>,
    /// Time service, for example `systemd-timesyncd`.
    pub source: Option<String>,
    /// Offset of the clock, ms; `None` where it is unknown.
    pub offset_ms: Option<f64>,
}

/// The host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemInfo {
    /// Hostname.
    pub hostname: String,
    /// Distribution.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Processor architecture, for example `x86_64`.
    pub arch: String,
    /// Time since boot, s.
    pub uptime_s: u64,
    /// Runnable tasks, averaged over 1, 5 and 15 minutes.
    pub load: [f64; 3],
    /// Memory.
    pub memory: memory::Memory,
    /// File systems.
    pub storage: Vec<Storage>,
    /// Clock.
    pub clock: ClockState,
}

/// Reads the host below `root`.
///
/// # Errors
/// When `/proc` is not there or not as Linux writes it.
pub fn info(root: &Root) -> Result<SystemInfo, ReadingError> {
    Ok(SystemInfo {
        hostname: root.line("proc/sys/kernel/hostname").unwrap_or_default(),
        os: os(root),
        kernel: root.line("proc/sys/kernel/osrelease").unwrap_or_default(),
        arch: std::env::consts::ARCH.to_owned(),
        uptime_s: uptime_s(root)?,
        load: load(root)?,
        memory: memory::memory(root)?,
        storage: storage(root),
        clock: clock(root),
    })
}

/// Time since boot, s.
///
/// # Errors
/// As [`info`].
pub fn uptime_s(root: &Root) -> Result<u64, ReadingError> {
    let text = root.text("proc/uptime")?;
    let whole = text.split(['.', ' ']).next().and_then(|word| word.parse().ok());
    whole.ok_or_else(|| ReadingError::decode("/proc/uptime"))
}

/// Runnable tasks, averaged over 1, 5 and 15 minutes.
///
/// # Errors
/// As [`info`].
pub fn load(root: &Root) -> Result<[f64; 3], ReadingError> {
    let text = root.text("proc/loadavg")?;
    let mut words =
        text.split(' ').map(|word| word.parse().ok().filter(|load: &f64| load.is_finite()));
    let mut next = || words.next().flatten().ok_or_else(|| ReadingError::decode("/proc/loadavg"));
    Ok([next()?, next()?, next()?])
}

fn os(root: &Root) -> String {
    let text = root.text("etc/os-release").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or_else(|| "Linux".to_owned(), |name| name.trim_matches('"').to_owned())
}

/// The width of counts depends on the machine.
fn wide(count: impl Into<u64>) -> u64 {
    count.into()
}

/// Used share of the file system that has `path`, %, as seen by programs without privileges.
///
/// # Errors
/// When it cannot be read.
pub fn disk_used_percent(path: &std::path::Path) -> std::io::Result<f64> {
    let stat = nix::sys::statvfs::statvfs(path)?;
    let used = wide(stat.blocks()).saturating_sub(wide(stat.blocks_free()));
    let usable = used + wide(stat.blocks_available());
    Ok(100.0 * used as f64 / usable.max(1) as f64)
}

/// File systems on devices, and the root whatever it is on.
fn storage(root: &Root) -> Vec<Storage> {
    let text = root.text("proc/mounts").unwrap_or_default();
    let mut found: Vec<Storage> = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (Some(source), Some(mount)) = (words.next(), words.next()) else {
            continue;
        };
        let seen = found.iter().any(|one| one.mount == mount);
        if seen || found.len() >= STORAGE_MAX || (!source.starts_with("/dev/") && mount != "/") {
            continue;
        }
        let mount = mount.replace("\\040", " ");
        let Ok(stat) = nix::sys::statvfs::statvfs(&root.path(mount.trim_start_matches('/'))) else {
            continue;
        };
        let bytes = |blocks| wide(blocks).saturating_mul(wide(stat.fragment_size()));
        found.push(Storage {
            mount,
            total_bytes: bytes(stat.blocks()),
            free_bytes: bytes(stat.blocks_available()),
        });
    }
    found
}

/// Clock state from the files of the time services.
fn clock(root: &Root) -> ClockState {
    let there = |relative: &str| root.path(relative).exists();
    let (synced, source) = if there("run/systemd/timesync") {
        (Some(there("run/systemd/timesync/synchronized")), Some("systemd-timesyncd"))
    } else if there("run/chrony/chronyd.pid") || there("run/chronyd.pid") {
        (None, Some("chrony"))
    } else if there("run/ntpd.pid") || there("run/ntpsec/ntpd.pid") {
        (None, Some("ntpd"))
    } else {
        (None, None)
    };
    ClockState { synced, source: source.map(str::to_owned), offset_ms: None }
}
