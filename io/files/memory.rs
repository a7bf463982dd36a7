//! Memory of the machine, by `/proc/meminfo`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ReadingError, Root};

/// Memory, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SystemMemory")]
pub struct Memory {
    /// All there is.
    pub total: u64,
    /// Unused memory, bytes.
    pub free: u64,
    /// Memory available to programs, bytes: free or reclaimable.
    pub available: u64,
}

/// Memory of the host.
///
/// # Errors
/// When `/proc/meminfo` cannot be read or lacks a line.
pub fn memory(root: &Root) -> Result<Memory, ReadingError> {
    let text = root.text("proc/meminfo")?;
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number =
            line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        number
            .and_then(|kilobytes| kilobytes.checked_mul(1024))
            .ok_or_else(|| ReadingError::decode(format!("/proc/meminfo: {name}")))
    };
    let (total, free) = (bytes("MemTotal")?, bytes("MemFree")?);
    // Kernels before 3.14 do not say what is available.
    let available = bytes("MemAvailable").unwrap_or(free);
    Ok(Memory { total, free, available })
}
