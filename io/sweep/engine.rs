//! The engine of a sweep: the exact evaluation on the processor, or a GPU with the same classes.

use std::fmt;

use groundwave_gpu::{Adapter, Adapters, Engine, Unavailable};
use groundwave_model::coverage::{KnownCounts, TERMS_RADIUS_MAX_M};
use groundwave_model::radio::Model;
use serde::Serialize;

use super::plan::Plan;

/// Cells times samples from which a GPU is worth its start: a second or so of one processor.
const WORTH_PATHS: u64 = 1_000_000;

/// Engine asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineChoice {
    /// The exact evaluation on the processor.
    #[default]
    Cpu,
    /// A GPU, or the processor with a reason.
    Gpu,
    /// A GPU for sweeps that are worth its start, or the processor with a reason.
    Auto,
}

/// Engine in use.
#[derive(Debug)]
pub enum SweepEngine {
    /// The processor, with the reason where a GPU was asked for.
    Cpu(Option<String>),
    /// A GPU.
    Gpu(Box<Engine>),
}

/// The engine of a sweep in its summary, with the cells computed by this process.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EngineSummary {
    /// `gpu` or `cpu`.
    pub engine: &'static str,
    /// The GPU and its driver.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Adapter>,
    /// Cells within the radii of sites, and of them those evaluated as a whole by the processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<KnownCounts>,
    /// Reason for evaluating all or some sites on the processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

impl SweepEngine {
    /// Opens the engine for a plan.
    ///
    /// # Errors
    /// When a GPU is asked for and the program was built without.
    pub fn open(choice: EngineChoice, plan: &Plan) -> Result<Self, String> {
        if choice == EngineChoice::Cpu {
            return Ok(Self::Cpu(None));
        }
        if choice == EngineChoice::Gpu && !groundwave_gpu::IS_BUILT {
            return Err(format!(
                "invalid engine: found gpu, allowed cpu: {}",
                Unavailable::NotBuilt
            ));
        }
        let cpu = |reason: String| Ok(Self::Cpu(Some(reason)));
        if plan.environment.model != Model::Itm {
            return cpu(format!("the path-loss model is {}, not itm", plan.environment.model));
        }
        if plan.radius_m > TERMS_RADIUS_MAX_M {
            return cpu("the radius is above 100 km".to_owned());
        }
        let paths = plan.paths_max();
        if choice == EngineChoice::Auto && paths < WORTH_PATHS {
            return cpu(format!("{paths} paths are too few for a GPU"));
        }
        match Engine::open(Adapters::Gpu) {
            Ok(engine) => Ok(Self::Gpu(Box::new(engine))),
            Err(reason) => cpu(reason.to_string()),
        }
    }

    /// The engine as plans name it: absent for the exact evaluation, whose bits do not depend on a machine.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Cpu(_) => None,
            Self::Gpu(engine) => {
                let Adapter { name, driver } = engine.adapter();
                Some(format!("gpu: {name}, {driver}"))
            }
        }
    }

    /// The reason for the processor where a GPU was asked for.
    #[must_use]
    pub fn fallback(&self) -> Option<&str> {
        match self {
            Self::Cpu(reason) => reason.as_deref(),
            Self::Gpu(_) => None,
        }
    }
}

impl fmt::Display for EngineSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Adapter { name, driver }) = &self.adapter else {
            let reason = self.fallback.as_deref().unwrap_or_default();
            return write!(f, "engine: cpu ({reason})");
        };
        write!(f, "engine: gpu, {name}, {driver}")?;
        if let Some(counts) = self.cells.filter(|counts| counts.cells > 0) {
            let percent = |cells: u64| 100.0 * cells as f64 / counts.cells as f64;
            write!(
                f,
                "; by the cpu: {:.2} % flagged, {:.2} % at decisions, {:.2} % short paths and voids",
                percent(counts.flagged),
                percent(counts.decisions),
                percent(counts.other_model)
            )?;
        }
        match &self.fallback {
            Some(reason) => write!(f, "; in part cpu ({reason})"),
            None => Ok(()),
        }
    }
}

impl Plan {
    /// Maximum number of paths: the cells of a square around each site, for each variant.
    fn paths_max(&self) -> u64 {
        // A degree of latitude has 111 km.
        let side = 2.0 * self.radius_m / (self.grid.cell_deg * 111e3);
        let cells = (side * side).min(self.grid.cols as f64 * f64::from(self.grid.rows));
        (cells * self.sites.len() as f64 * self.variants.len() as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use groundwave_model::terrain::GeoPoint;

    use super::super::fixtures::plan;
    use super::*;

    fn fallback(choice: EngineChoice, plan: &Plan) -> Option<String> {
        let engine = SweepEngine::open(choice, plan).unwrap();
        assert!(engine.name().is_none());
        engine.fallback().map(str::to_owned)
    }

    #[test]
    fn plans_that_no_gpu_computes_give_the_processor_with_a_reason() {
        let at = [GeoPoint::new(57.0, 11.0).unwrap()];
        let small = plan(&at, 2_000.0, 30.0);
        assert_eq!(fallback(EngineChoice::Cpu, &small), None);
        let reason = fallback(EngineChoice::Auto, &small).unwrap();
        assert!(reason.contains("too few"), "{reason}");
        let far = plan(&at, 120_000.0, 30.0);
        let reason = fallback(EngineChoice::Auto, &far).unwrap();
        assert!(reason.contains("100 km"), "{reason}");
        let mut other = small.clone();
        other.environment.model = Model::FreeSpace;
        let reason = fallback(EngineChoice::Auto, &other).unwrap();
        assert!(reason.contains("free_space"), "{reason}");
        if !groundwave_gpu::IS_BUILT {
            let error = SweepEngine::open(EngineChoice::Gpu, &small).unwrap_err();
            assert!(error.contains("without the feature gpu"), "{error}");
        }
    }

    #[test]
    fn summaries_name_the_engine_and_the_shares_of_the_processor() {
        let adapter = Adapter { name: "card".to_owned(), driver: "driver 1".to_owned() };
        let cells = KnownCounts { cells: 1_000, other_model: 20, flagged: 5, decisions: 1 };
        let gpu = EngineSummary {
            engine: "gpu",
            adapter: Some(adapter),
            cells: Some(cells),
            fallback: None,
        };
        assert_eq!(
            gpu.to_string(),
            "engine: gpu, card, driver 1; by the cpu: 0.50 % flagged, 0.10 % at decisions, 2.00 % short \
             paths and voids"
        );
        let fallback = Some("no GPU".to_owned());
        let cpu = EngineSummary { engine: "cpu", adapter: None, cells: None, fallback };
        assert_eq!(cpu.to_string(), "engine: cpu (no GPU)");
        let json = serde_json::to_value(&gpu).unwrap();
        assert_eq!(json["name"], "card");
        assert_eq!(json["cells"]["flagged"], 5);
    }
}
