//! Follow-up of heartbeats: assigned sensors, results of node commands.

use groundwave_io_agent::finished::FollowUp;
use groundwave_io_agent::host_state::Source;
use groundwave_sensor::SensorPlan;
use hyper::Method;
use uuid::Uuid;

use super::Agent;
use crate::connection::{RequestFailure, decode};
use crate::wire::CommandOutcome;

impl Agent {
    /// Reads the sensors that the gateway assigns; where they cannot be fetched, again with the next
    /// heartbeat.
    pub(super) async fn follow_sensors(&mut self, node_id: Uuid, revision: Option<u64>) {
        let is_fixture = matches!(self.options.source, Source::Fixture(_));
        if is_fixture || revision == self.sensors_revision {
            return;
        }
        let plan = match revision {
            None => SensorPlan::default(),
            Some(_) => {
                let address = self.address(true);
                let token = self.token.clone();
                let path = format!("/v1/nodes/{node_id}/sensors");
                let response = self.send(Method::GET, &address, token.as_deref(), &path, &());
                let plan = response.await.and_then(|response| decode(&response));
                let Some(plan) = self.or_report("assigned sensors", plan) else {
                    return;
                };
                plan
            }
        };
        for refusal in self.options.sensors.replace(&plan) {
            tracing::warn!("{refusal}");
        }
        self.sensors_revision = revision;
        tracing::info!("{} sensors are assigned by the gateway", plan.sensors.len());
    }

    /// Reports results of node commands; those that the gateway cannot take now go with the next heartbeat.
    pub(super) async fn report_results(&mut self, node_id: Uuid) {
        let mut results = std::mem::take(&mut self.finished).into_iter();
        while let Some(finished) = results.next() {
            let path = format!("/v1/nodes/{node_id}/commands/{}/result", finished.command_id);
            let result = self.post(&path, &CommandOutcome::from(&finished)).await;
            let is_taken = result.is_ok();
            let stays = result.as_ref().is_err_and(RequestFailure::may_pass);
            self.or_report("result of a command", result);
            if stays {
                // The others would fare no better.
                self.finished.push(finished);
                self.finished.extend(results);
                return;
            }
            match finished.follow_up {
                FollowUp::Nothing => {}
                FollowUp::RenewToken => self.machine.renew_now(),
                FollowUp::Reboot if is_taken => self.reboot(),
                FollowUp::Reboot => {}
            }
        }
    }

    fn reboot(&self) {
        tracing::warn!("restart of this machine, commanded by the gateway");
        if let Err(err) = self.commands.reboot() {
            tracing::error!(%err, "the machine does not restart");
        }
    }
}
