//! State of a cluster, as its scheduler tells it.

use std::time::Duration;

use groundwave_files::causes::with_causes;
use serde::{Deserialize, Serialize};

use super::job::Address;

/// An executor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutorStatus {
    /// Id, random.
    pub id: String,
    /// Name or address of its machine.
    pub host: String,
    /// TCP port of its results.
    pub port: u16,
    /// Time of its last request, ms since the Unix epoch; absent before the first.
    pub last_seen: Option<u64>,
    /// Resources.
    pub specification: Specification,
}

/// Resources of an executor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Specification {
    /// Units at a time.
    pub vcores: u32,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobStatus {
    /// Id at the scheduler.
    pub job_id: String,
    /// `Queued`, `Running`, `Completed`, `Failed` or `Invalid`.
    pub status: String,
    /// State with times or the reason of a failure, as text.
    pub job_status: String,
}

/// State of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterStatus {
    /// Executors, by their ids.
    pub executors: Vec<ExecutorStatus>,
    /// Jobs, by their ids.
    pub jobs: Vec<JobStatus>,
}

/// Asks the scheduler at `address`.
///
/// # Errors
/// Why there is no answer, in words.
pub async fn status(address: &Address) -> Result<ClusterStatus, String> {
    let client = reqwest::Client::builder()
        .timeout(Duration::from_secs(10))
        .no_proxy()
        .build()
        .map_err(|err| with_causes(&err))?;
    let mut executors: Vec<ExecutorStatus> = get(&client, address, "executors").await?;
    executors.sort_by(|one, other| one.id.cmp(&other.id));
    let mut jobs: Vec<JobStatus> = get(&client, address, "jobs").await?;
    jobs.sort_by(|one, other| one.job_id.cmp(&other.job_id));
    Ok(ClusterStatus { executors, jobs })
}

async fn get<T: for<'de> Deserialize<'de>>(
    client: &reqwest::Client,
    address: &Address,
    what: &str,
) -> Result<T, String> {
    let Address { host, port } = address;
    let url = format!("http://{host}:{port}/api/{what}");
    let failed = |err: reqwest::Error| format!("scheduler {address}: {}", with_causes(&err));
    let answer =
        client.get(url).send().await.map_err(failed)?.error_for_status().map_err(failed)?;
    answer.json().await.map_err(failed)
}
