//! A job: a plan of one stage, sent to a scheduler, watched, cancelled.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::client::BallistaClient;
use ballista_core::config::BallistaConfig;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::execute_query_result::Result as Answer;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, ExecuteQueryParams, GetJobStatusParams, KeyValuePair, PartitionLocation,
    job_status::Status,
};
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use ballista_core::version;
use datafusion::arrow::array::{Array, AsArray, RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::expressions::{Column, Literal};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::prelude::SessionConfig;
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures_util::TryStreamExt;
use groundwave_files::causes::with_causes;
use thiserror::Error;
use tonic::Request;
use tonic::transport::Channel;
use url::Url;

use super::function::{Outcome, function};

/// Port of a scheduler.
pub const SCHEDULER_PORT: u16 = 50_050;

/// Largest message, bytes.
pub const MESSAGE_MAX_BYTES: u32 = 64 << 20;

/// Address of a scheduler: `df://host:50050`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Name or address of its machine.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("found {text:?}, allowed df://HOST or df://HOST:PORT");
        let url = Url::parse(text).map_err(|_| wrong())?;
        let rest = [url.path(), url.query().unwrap_or("")];
        let host = url.host_str().filter(|_| url.scheme() == "df");
        match host {
            Some(host) if matches!(rest, ["" | "/", ""]) => {
                Ok(Self { host: host.to_owned(), port: url.port().unwrap_or(SCHEDULER_PORT) })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "df://{}:{}", self.host, self.port)
    }
}

/// Reasons why a job has no result.
#[derive(Debug, Error)]
pub enum JobError {
    /// The scheduler does not answer.
    #[error("scheduler {address}: {reason}")]
    Scheduler {
        /// Address of the scheduler.
        address: Address,
        /// Cause.
        reason: String,
    },
    /// The scheduler ended the job.
    #[error("job {job}: {reason}")]
    Failed {
        /// Id of the job.
        job: String,
        /// Message of the scheduler.
        reason: String,
    },
    /// The plan cannot be made or its rows cannot be read.
    #[error("plan of a job")]
    Plan(#[from] DataFusionError),
}

/// The plan of a job: a row for each unit, in partitions of which each is a task. One stage: an
/// exchange between stages would lose rows of an executor that dies.
///
/// # Errors
/// Those of the engine, which would be a bug here.
pub fn plan(digest: &str, tasks: &[Vec<u64>]) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    let schema = Arc::new(Schema::new(vec![Field::new("unit", DataType::UInt64, false)]));
    let batch = |units: &Vec<u64>| {
        let column = Arc::new(UInt64Array::from(units.clone()));
        Ok(vec![RecordBatch::try_new(schema.clone(), vec![column])?])
    };
    let partitions = tasks.iter().map(batch).collect::<Result<Vec<_>, DataFusionError>>()?;
    let rows = MemorySourceConfig::try_new_exec(&partitions, schema.clone(), None)?;
    let digest = ScalarValue::Utf8(Some(digest.to_owned()));
    let call = ScalarFunctionExpr::try_new(
        function(None),
        vec![Arc::new(Literal::new(digest)), Arc::new(Column::new("unit", 0))],
        &schema,
        Arc::default(),
    )?;
    let outcome = ProjectionExpr { expr: Arc::new(call), alias: "outcome".to_owned() };
    Ok(Arc::new(ProjectionExec::try_new([outcome], rows)?))
}

/// A job that was taken by a scheduler.
pub struct Job {
    /// Id at the scheduler.
    pub id: String,
    address: Address,
    scheduler: SchedulerGrpcClient<Channel>,
}

/// State of a job.
pub enum State {
    /// It waits for executors, or they work.
    Running,
    /// The scheduler does not know it: it was just sent, or the scheduler started again.
    Unknown,
    /// All tasks are done.
    Done(Vec<Outcome>),
}

impl Job {
    /// Sends the plan of `tasks` to a scheduler. Sessions with the same name share its settings.
    ///
    /// # Errors
    /// [`JobError`].
    pub async fn submit(
        address: &Address,
        session: &str,
        digest: &str,
        tasks: &[Vec<u64>],
    ) -> Result<Self, JobError> {
        let config = SessionConfig::new_with_ballista();
        let codec = config.ballista_physical_extension_codec();
        let plan = plan(digest, tasks)?;
        let mut bytes = Vec::new();
        PhysicalPlanNode::try_from_physical_plan(plan, codec.as_ref())?.try_encode(&mut bytes)?;
        let settings = config
            .options()
            .entries()
            .into_iter()
            .map(|entry| KeyValuePair { key: entry.key, value: entry.value });
        let query = ExecuteQueryParams {
            query: Some(Query::PhysicalPlan(bytes)),
            settings: settings.collect(),
            session_id: session.to_owned(),
            operation_id: session.to_owned(),
        };
        let mut scheduler = connect(address).await?;
        let mut request = Request::new(query);
        version::insert_version_header(request.metadata_mut());
        let answer =
            scheduler.execute_query(request).await.map_err(|status| refused(address, &status))?;
        let found = version::version_from_metadata(answer.metadata());
        let compatible = version::check_compatibility(Some(ballista_core::BALLISTA_VERSION), found);
        compatible.map_err(|reason| JobError::Scheduler { address: address.clone(), reason })?;
        match answer.into_inner().result {
            Some(Answer::Success(taken)) => {
                Ok(Self { id: taken.job_id, address: address.clone(), scheduler })
            }
            other => Err(JobError::Scheduler {
                address: address.clone(),
                reason: format!("refused the job: {other:?}"),
            }),
        }
    }

    /// State of the job; the outcomes of its units once all tasks are done.
    ///
    /// # Errors
    /// [`JobError`].
    pub async fn state(&mut self) -> Result<State, JobError> {
        let params = GetJobStatusParams { job_id: self.id.clone() };
        let status = self.scheduler.get_job_status(params).await;
        let status = status.map_err(|status| refused(&self.address, &status))?;
        match status.into_inner().status.and_then(|status| status.status) {
            None => Ok(State::Unknown),
            Some(Status::Queued(_) | Status::Running(_)) => Ok(State::Running),
            Some(Status::Failed(failed)) => {
                Err(JobError::Failed { job: self.id.clone(), reason: failed.error })
            }
            Some(Status::Successful(done)) => {
                let mut outcomes = Vec::new();
                for location in done.partition_location {
                    outcomes.extend(self.fetch(location).await?);
                }
                Ok(State::Done(outcomes))
            }
        }
    }

    /// Rows of one partition, through the scheduler: a driver need not reach the executors.
    async fn fetch(&self, location: PartitionLocation) -> Result<Vec<Outcome>, JobError> {
        let lost = |reason: String| JobError::Failed {
            job: self.id.clone(),
            reason: format!("rows of a partition: {reason}"),
        };
        let layout = location.layout();
        let (executor, partition) = (location.executor_meta)
            .zip(location.partition_id)
            .ok_or_else(|| lost("the scheduler does not say where they are".to_owned()))?;
        let Address { host, port } = &self.address;
        let wrong = |error: ballista_core::error::BallistaError| lost(error.to_string());
        let message_max = MESSAGE_MAX_BYTES as usize;
        let client =
            BallistaClient::try_new(host, *port, message_max, false, None, 3, 500, 0, 0).await;
        let rows = client
            .map_err(wrong)?
            .fetch_partition_proxied(
                &executor.id,
                &partition.into(),
                location.file_id,
                layout,
                &executor.host,
                executor.port as u16,
                true,
            )
            .await;
        let batches: Vec<RecordBatch> = rows.map_err(wrong)?.try_collect().await?;
        let mut outcomes = Vec::new();
        for batch in &batches {
            let column = batch.column(0).as_string::<i32>();
            for row in column.iter().flatten() {
                let outcome = serde_json::from_str(row).map_err(|err| lost(err.to_string()))?;
                outcomes.push(outcome);
            }
            debug_assert_eq!(column.null_count(), 0, "outcomes are never null");
        }
        Ok(outcomes)
    }

    /// The error of a job that its scheduler does not know any more.
    #[must_use]
    pub fn forgotten(&self) -> JobError {
        JobError::Failed {
            job: self.id.clone(),
            reason: format!("{} does not know it any more", self.address),
        }
    }

    /// Ends it; units that executors are evaluating are finished and kept.
    ///
    /// # Errors
    /// [`JobError::Scheduler`].
    pub async fn cancel(&mut self) -> Result<(), JobError> {
        let params = CancelJobParams { job_id: self.id.clone() };
        let cancelled = self.scheduler.cancel_job(params).await;
        cancelled.map(drop).map_err(|status| refused(&self.address, &status))
    }
}

fn refused(address: &Address, status: &tonic::Status) -> JobError {
    JobError::Scheduler {
        address: address.clone(),
        reason: format!("{}: {}", status.code(), status.message()),
    }
}

async fn connect(address: &Address) -> Result<SchedulerGrpcClient<Channel>, JobError> {
    let wrong = |error: &dyn std::error::Error| JobError::Scheduler {
        address: address.clone(),
        reason: with_causes(error),
    };
    let mut config = GrpcClientConfig::from(&BallistaConfig::default());
    config.connect_timeout_seconds = 5;
    let url = format!("http://{}:{}", address.host, address.port);
    let endpoint = create_grpc_client_endpoint(url, Some(&config)).map_err(|err| wrong(&err))?;
    let channel = endpoint.timeout(Duration::from_secs(30)).connect().await;
    let message_max = MESSAGE_MAX_BYTES as usize;
    Ok(SchedulerGrpcClient::new(channel.map_err(|err| wrong(&err))?)
        .max_encoding_message_size(message_max)
        .max_decoding_message_size(message_max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed() {
        let address = |text: &str| text.parse::<Address>();
        let whole = address("df://10.0.0.7:1234").unwrap();
        assert_eq!((whole.host.as_str(), whole.port), ("10.0.0.7", 1234));
        assert_eq!(address("df://node").unwrap().to_string(), "df://node:50050");
        for wrong in
            ["", "node:50050", "http://node", "df://", "df://a/b", "df://a:b", "df://a?b=c"]
        {
            let refused = address(wrong).unwrap_err();
            assert!(refused.contains("allowed df://HOST"), "{wrong}: {refused}");
        }
    }

    /// Between stages rows would travel through an exchange, which does not survive an executor that
    /// dies.
    #[test]
    fn the_plan_has_a_partition_a_task_and_no_exchange() {
        let plan = plan("abc", &[vec![0, 1], vec![2], vec![7, 8, 9]]).unwrap();
        assert_eq!(plan.properties().partitioning.partition_count(), 3);
        let mut names = Vec::new();
        let mut next = Some(plan);
        while let Some(node) = next {
            names.push(node.name().to_owned());
            next = node.children().first().map(|&child| child.clone());
        }
        assert_eq!(names, ["ProjectionExec", "DataSourceExec"]);
    }
}
