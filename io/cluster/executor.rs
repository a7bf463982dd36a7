//! An executor: asks a scheduler for tasks and evaluates their units.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};

use super::function::{NAME, function};
use super::job::{Address, MESSAGE_MAX_BYTES};
use super::units::Units;

/// Seconds in which a scheduler that is being started is awaited.
const CONNECT_TIMEOUT_S: u16 = 60;

/// Options of an executor.
pub struct Executor {
    /// Address of the scheduler.
    pub scheduler: Address,
    /// Where the rows of its tasks are fetched, by the scheduler.
    pub listen: SocketAddr,
    /// Name or address under which the scheduler reaches it; absent takes that of its requests.
    pub host: Option<String>,
    /// Units evaluated at a time.
    pub units_at_a_time: usize,
    /// Evaluation of units.
    pub units: Arc<Units>,
}

impl Executor {
    /// Works until the process is told to end (SIGTERM, SIGINT); tasks that run are given back. Rows of
    /// tasks lie in `folder`.
    ///
    /// # Errors
    /// When the scheduler does not answer, or the address cannot be had.
    pub async fn run(self, folder: &Path) -> Result<(), BallistaError> {
        let units = self.units;
        let evaluate = Arc::new(move |plan: &str, unit| units.make(plan, unit));
        let mut registry = BallistaFunctionRegistry::default();
        let known = &mut registry.scalar_functions;
        known.insert(NAME.to_owned(), function(Some(evaluate)));
        let config = ExecutorProcessConfig {
            bind_host: self.listen.ip().to_string(),
            external_host: self.host,
            port: self.listen.port(),
            // Of no use where executors ask for tasks, but told to the scheduler.
            grpc_port: self.listen.port(),
            scheduler_host: self.scheduler.host,
            scheduler_port: self.scheduler.port,
            scheduler_connect_timeout_seconds: CONNECT_TIMEOUT_S,
            vcores: self.units_at_a_time,
            task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
            work_dir: Some(folder.display().to_string()),
            // Rows of a task are a few kilobytes; a day is enough to fetch them.
            job_data_ttl_seconds: 86_400,
            job_data_clean_up_interval_seconds: 3_600,
            grpc_max_decoding_message_size: MESSAGE_MAX_BYTES,
            grpc_max_encoding_message_size: MESSAGE_MAX_BYTES,
            // Units are not counted against the pool of the engine.
            memory_pool_size: Some(0),
            override_function_registry: Some(Arc::new(registry)),
            ..ExecutorProcessConfig::default()
        };
        start_executor_process(Arc::new(config)).await
    }
}
