//! The option `--engine`.

use clap::ValueEnum;
use groundwave_gpu::{Adapters, Engine, Unavailable};
use groundwave_sweep::EngineChoice;

/// Processor of coverages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum EngineArg {
    /// The exact evaluation on the processor
    #[default]
    Cpu,
    /// A GPU with the same classes, or the processor with the reason
    Gpu,
    /// A GPU where it is worth its start, or the processor with the reason
    Auto,
}

impl From<EngineArg> for EngineChoice {
    fn from(engine: EngineArg) -> Self {
        match engine {
            EngineArg::Cpu => Self::Cpu,
            EngineArg::Gpu => Self::Gpu,
            EngineArg::Auto => Self::Auto,
        }
    }
}

impl EngineArg {
    /// Opens a GPU for a service, which keeps it; the reason for the processor is logged.
    ///
    /// # Errors
    /// When a GPU is asked for and the program was built without.
    pub fn open(self) -> Result<Option<Engine>, String> {
        if self == Self::Cpu {
            return Ok(None);
        }
        match Engine::open(Adapters::Gpu) {
            Ok(engine) => {
                let adapter = engine.adapter();
                tracing::info!(name = %adapter.name, driver = %adapter.driver, "engine: gpu");
                Ok(Some(engine))
            }
            Err(reason @ Unavailable::NotBuilt) if self == Self::Gpu => {
                Err(format!("invalid engine: found gpu, allowed cpu: {reason}"))
            }
            Err(reason) => {
                tracing::warn!(%reason, "engine: cpu");
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_without_the_feature_gives_an_error_and_the_processor_needs_none() {
        assert!(EngineArg::Cpu.open().unwrap().is_none());
        if !groundwave_gpu::IS_BUILT {
            let error = EngineArg::Gpu.open().unwrap_err();
            assert!(error.contains("without the feature gpu"), "{error}");
            assert!(EngineArg::Auto.open().unwrap().is_none());
        }
    }
}
