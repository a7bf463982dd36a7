//! Adapters, and reasons for doing without.

use serde::Serialize;
use thiserror::Error;

/// Adapters that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Adapters {
    /// GPUs. One that the processor imitates is some 40 times slower than the exact evaluation.
    #[default]
    Gpu,
    /// Any, for tests.
    Any,
}

/// A GPU and its driver, as the system names them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Adapter {
    /// Name of the adapter.
    pub name: String,
    /// Name and version of the driver.
    pub driver: String,
}

/// Reasons for having no device.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unavailable {
    /// The program was built without one.
    #[error("this program was built without the feature gpu")]
    NotBuilt,
    /// No driver, or no adapter.
    #[error("no GPU with a Vulkan driver was found")]
    NoAdapter,
    /// The only adapter is the processor.
    #[error("the only adapter, {name}, is the processor itself")]
    Processor {
        /// Name of the adapter.
        name: String,
    },
    /// The adapter refuses.
    #[error("the GPU {name} cannot be used: {reason}")]
    Refused {
        /// Name of the adapter.
        name: String,
        /// Cause by the driver.
        reason: String,
    },
}

/// A device that stopped working.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the GPU failed: {reason}")]
pub struct DeviceFailure {
    /// Cause by the driver, in one line.
    pub reason: String,
}
