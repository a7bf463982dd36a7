//! The agent's tasks, done.

mod enrol;
mod firmware;
mod follow;
mod reload;
mod troubles;

use std::collections::BTreeMap;
use std::time::Duration;

use groundwave_files::ReadingError;
use groundwave_files::Root;
use groundwave_files::wall::{MachineClock, boot_ns, wall_ns};
use groundwave_host::i2c::Sensors;
use groundwave_host::readings::board;
use groundwave_http::time::{self, rfc3339};
use groundwave_io_agent::backlog::{Backlog, Readings};
use groundwave_io_agent::finished::Finished;
use groundwave_io_agent::host_state::{HostState, Ready};
use groundwave_io_agent::mesh_settings::Values;
use groundwave_io_agent::node_commands::NodeCommands;
use groundwave_io_agent::tunnel::Plan;
use groundwave_io_agent::{
    FailureLog, GatewayTime, Gpsd, Machine, MachineChance, Meter, Outcome, Task, report,
};
use groundwave_protocol::{Credentials, WgRegisterResult};
use groundwave_protocol::{Heartbeat, HeartbeatAck};
use groundwave_values::Pacer;
use hyper::Method;
use uuid::Uuid;

pub use reload::{Files, Reload};

use super::Options;
use super::connection::{GatewayConnection, RequestFailure, decode};
use super::wire::{Batch, Join, JoinReply, Login, ReplayReply, Token};

/// Most readings of one late batch; the gateway accepts no more.
const BATCH_MAX: usize = 512;

/// State seen by an agent at one moment.
#[derive(Debug)]
pub struct Seen<'a> {
    /// The machine.
    pub host: &'a HostState,
    /// The readings.
    pub readings: &'a Readings,
    /// The heartbeat it would be, where there is a link to send it over.
    pub beat: Option<Heartbeat>,
    /// The sensors.
    pub sensors: &'a Sensors,
    /// Errors of sensors.
    pub faults: &'a [String],
}

/// An agent at work.
pub struct Agent {
    options: Options,
    machine: Machine,
    chance: MachineChance,
    clock: MachineClock,
    meter: Meter,
    gpsd: Gpsd,
    backlog: Backlog,
    gateway_time: GatewayTime,
    commands: NodeCommands,
    connection: GatewayConnection,
    failures: FailureLog,
    host: HostState,
    readings: Readings,
    faults: Vec<String>,
    ready: Option<Ready>,
    /// Obstacle of the mesh interface, which the log has.
    mesh_obstacle: Option<&'static str>,
    registered: Option<WgRegisterResult>,
    credentials: Option<Credentials>,
    token: Option<String>,
    node_id: Option<Uuid>,
    seq: u64,
    /// Number of the last heartbeat that was acknowledged.
    acknowledged_seq: Option<u64>,
    finished: Vec<Finished>,
    /// Settings as reported last.
    reported_settings: Values,
    /// Version of the firmware as reported last.
    reported_version: Option<String>,
    /// Revision of the sensors that the gateway assigned, as they are read now.
    sensors_revision: Option<u64>,
}

impl Agent {
    /// An agent that has done nothing yet.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn new(mut options: Options) -> std::io::Result<Self> {
        Ok(Self {
            machine: Machine::new(options.rhythm, 0),
            chance: MachineChance::new()?,
            clock: MachineClock::start(),
            meter: Meter::default(),
            gpsd: Gpsd::at(options.gpsd),
            backlog: Backlog::new(options.rhythm.period_ms),
            gateway_time: GatewayTime::default(),
            commands: NodeCommands::new(std::mem::take(&mut options.permissions)),
            connection: GatewayConnection::of(options.rhythm.period_ms),
            failures: FailureLog::default(),
            host: HostState::default(),
            readings: Readings::new(),
            faults: Vec::new(),
            ready: None,
            mesh_obstacle: None,
            registered: None,
            credentials: None,
            token: None,
            node_id: None,
            seq: 0,
            acknowledged_seq: None,
            finished: Vec::new(),
            reported_settings: Values::new(),
            reported_version: None,
            sensors_revision: None,
            options,
        })
    }

    fn now_ms(&mut self) -> u64 {
        self.clock.monotonic_ns() / 1_000_000
    }

    /// One reading of the machine, and the heartbeat it would be.
    ///
    /// # Errors
    /// When the machine cannot be read.
    pub fn once(&mut self) -> Result<Seen<'_>, ReadingError> {
        self.sample()?;
        let beat = self.ready.and_then(|ready| self.beat(ready).ok());
        Ok(Seen {
            host: &self.host,
            readings: &self.readings,
            beat,
            sensors: &self.options.sensors,
            faults: &self.faults,
        })
    }

    /// Works until `stop` is over; reads files of the configuration again when it is asked to.
    pub async fn run(mut self, stop: impl Future<Output = ()>, mut reload: Reload) {
        tokio::pin!(stop);
        loop {
            let now_ms = self.now_ms();
            let task = self.machine.next(now_ms);
            if let Task::Wait(until_ms) = task {
                let wait = Duration::from_millis(until_ms.saturating_sub(now_ms).max(1));
                tokio::select! {
                    () = &mut stop => return,
                    () = reload.signal.next() => {
                        self.reload((reload.read)());
                        continue;
                    }
                    () = tokio::time::sleep(wait) => continue,
                }
            }
            let attempt = tokio::select! {
                () = &mut stop => return,
                attempt = self.attempt(task) => attempt,
            };
            let now_ms = self.now_ms();
            let outcome = self.report_attempt(task, attempt, now_ms);
            self.machine.done(task, outcome, now_ms, &mut self.chance);
            self.machine.set_backlog(!self.backlog.is_empty());
        }
    }

    async fn attempt(&mut self, task: Task) -> Result<Outcome, RequestFailure> {
        let attempt = match task {
            Task::Wait(_) => Ok(()),
            Task::ReadHost => self.sample().map_err(local).and_then(|()| {
                self.ready.map(|_| ()).ok_or(RequestFailure::NoAnswer(String::new()))
            }),
            Task::Sample => self.keep(),
            Task::Register => return self.register(false).await,
            Task::Fetch => return self.register(true).await,
            Task::Tunnel => self.tunnel().map_err(local),
            Task::LogIn => self.log_in().await,
            Task::Join => self.join().await,
            Task::Heartbeat => self.report_heartbeat().await,
            Task::Replay => self.replay().await,
        };
        attempt.map(|()| Outcome::Done)
    }

    fn sample(&mut self) -> Result<(), ReadingError> {
        let mut host = self.options.source.read()?;
        if host.fix.is_none() {
            host.fix = self.gpsd.fix();
        }
        let now_ms = self.now_ms();
        let name = &self.options.mesh_ifname;
        let ready = host.ready(name);
        let obstacle = ready.err();
        if let Some(obstacle) = obstacle.filter(|_| obstacle != self.mesh_obstacle) {
            tracing::info!("waiting for {name}: it {obstacle}");
        }
        self.ready = ready.ok();
        self.mesh_obstacle = obstacle;
        self.readings = self.meter.read(&host, now_ms, self.options.rhythm.period_ms);
        self.host = host;
        self.sense(now_ms);
        Ok(())
    }

    /// Reads the sensors into the readings.
    fn sense(&mut self, now_ms: u64) {
        let (sensed, faults) = self.options.sensors.read(now_ms);
        for fault in &faults {
            tracing::warn!("{fault}");
        }
        self.faults = faults;
        for (name, value) in sensed {
            self.readings.insert(name.into(), value);
        }
    }

    /// Reads the state of the machine, and stores the readings until they are reported.
    fn keep(&mut self) -> Result<(), RequestFailure> {
        self.sample().map_err(local)?;
        let now_ms = self.now_ms();
        self.finished.extend(self.commands.expire(now_ms));
        self.backlog.push(boot_ns() / 1_000_000, &self.readings);
        Ok(())
    }

    /// Address of the gateway: through the tunnel once it is set up.
    fn address(&self, inside: bool) -> String {
        let tunnel = self.options.tunnel_ifname.as_ref().filter(|_| inside);
        let gateway = self.registered.as_ref().and_then(|answer| answer.gateway.as_ref());
        let port = self.options.gateway.rsplit(':').next().unwrap_or("8080");
        match (tunnel, gateway) {
            (Some(_), Some(gateway)) => format!("{}:{port}", gateway.overlay_ip),
            _ => self.options.gateway.clone(),
        }
    }

    fn tunnel(&mut self) -> Result<(), ReadingError> {
        let (Some(ifname), Some(answer)) = (&self.options.tunnel_ifname, &self.registered) else {
            return Ok(());
        };
        let plan = Plan::of(answer)?;
        plan.apply(ifname, &self.options.key, self.options.listen_port)
    }

    async fn log_in(&mut self) -> Result<(), RequestFailure> {
        let address = self.address(true);
        let Some(credentials) = &self.credentials else {
            return Err(RequestFailure::Refused(401, None));
        };
        let credentials = credentials.clone();
        let login = Login { username: &credentials.username, password: &credentials.password };
        let response = self.post_to(&address, None, "/api/auth/login", &login).await;
        if matches!(response, Err(RequestFailure::Refused(401 | 403, None))) {
            self.credentials = None;
        }
        self.token = Some(decode::<Token>(&response?)?.access_token);
        Ok(())
    }

    async fn join(&mut self) -> Result<(), RequestFailure> {
        let ready = self.ready.ok_or_else(|| RequestFailure::NoAnswer("no link".to_owned()))?;
        let beat = self.beat(ready).map_err(RequestFailure::NoAnswer)?;
        let Some(node_id) = self.node_id else {
            return Ok(());
        };
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let version = self.commands.firmware_version();
        let mut firmware = BTreeMap::from([("kernel".to_owned(), kernel.trim().to_owned())]);
        firmware.extend(version.clone().map(|version| ("firmware".to_owned(), version)));
        let join = Join {
            node_id,
            boot_id: &beat.boot_id,
            agent_version: &beat.agent_version,
            board: board::read(&Root::default()).model,
            firmware,
            interfaces: &beat.interfaces,
            capabilities: &beat.capabilities,
            supported_commands: self.commands.supported(),
            settings: self.commands.settings(),
        };
        let settings = join.settings.clone();
        let response = self.post("/v1/nodes/join", &join).await?;
        // Earlier gateways list no rejected entries, or do not count them.
        let reply = decode::<JoinReply>(&response).unwrap_or_default();
        let count = reply.rejected_count.max(reply.rejected.len());
        self.report_rejected("report of the node", &reply.rejected, count);
        self.reported_settings = settings;
        self.reported_version = version;
        Ok(())
    }

    async fn post(
        &mut self,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Result<groundwave_http::client::HttpResponse, RequestFailure> {
        let address = self.address(true);
        let token = self.token.clone();
        self.post_to(&address, token.as_deref(), path, body).await
    }

    /// Sends a request; the machine is read on until the response.
    async fn post_to(
        &mut self,
        address: &str,
        token: Option<&str>,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Result<groundwave_http::client::HttpResponse, RequestFailure> {
        self.send(Method::POST, address, token, path, body).await
    }

    async fn send(
        &mut self,
        method: Method,
        address: &str,
        token: Option<&str>,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Result<groundwave_http::client::HttpResponse, RequestFailure> {
        let period = Duration::from_millis(self.options.rhythm.period_ms);
        let fresh = GatewayConnection::of(self.options.rhythm.period_ms);
        let mut connection = std::mem::replace(&mut self.connection, fresh);
        let response = {
            let request = connection.send(address, token, method, path, body);
            tokio::pin!(request);
            loop {
                tokio::select! {
                    response = &mut request => break response,
                    () = tokio::time::sleep(period) => {
                        let attempt = self.keep().map(|()| Outcome::Done);
                        let now_ms = self.now_ms();
                        self.report_attempt(Task::Sample, attempt, now_ms);
                    }
                }
            }
        };
        self.connection = connection;
        response
    }

    fn beat(&mut self, ready: Ready) -> Result<Heartbeat, String> {
        // Counts on over restarts of the agent within a boot. The uptime of a fixture stands still, and that of
        // a container begins anew.
        self.seq = (self.seq + 1).max(boot_ns() / 1_000_000);
        let about = report::About {
            node_id: self.node_id,
            public_key: self.public_key()?,
            ready,
            overlay_ip: self.registered.as_ref().and_then(|answer| answer.overlay_ip),
            mesh_ifname: self.options.mesh_ifname.clone(),
            seq: self.seq,
            acknowledged_seq: self.acknowledged_seq,
            sent_at: rfc3339(wall_ns()),
            capabilities: self.capabilities(),
        };
        report::beat(&self.host, &self.readings, about)
    }

    fn capabilities(&self) -> Vec<String> {
        let has = [
            ("batman", self.host.mesh.is_some()),
            ("wifi", self.host.radios.is_some()),
            ("wireguard", self.options.tunnel_ifname.is_some()),
            ("gps", self.host.fix.is_some()),
            ("i2c", !self.options.sensors.found().is_empty()),
        ];
        has.iter().filter(|(_, has)| *has).map(|(word, _)| (*word).to_owned()).collect()
    }

    /// Heartbeat with the readings of the moment, then the results of commands.
    async fn report_heartbeat(&mut self) -> Result<(), RequestFailure> {
        let ready = self.ready.ok_or_else(|| RequestFailure::NoAnswer("no link".to_owned()))?;
        let beat = self.beat(ready).map_err(RequestFailure::NoAnswer)?;
        // During the request the next readings may be stored.
        let moment_ms = self.backlog.last_ms();
        let response = self.post("/v1/nodes/heartbeat", &beat).await?;
        let ack: HeartbeatAck = decode(&response)?;
        self.acknowledged_seq = Some(beat.seq);
        if let Ok(server_time) = time::read("/server_time", &ack.server_time) {
            self.gateway_time.observe(server_time.as_millisecond(), boot_ns() / 1_000_000);
        }
        self.report_rejected("heartbeat", &ack.rejected, ack.rejected_count);
        if let Some(moment_ms) = moment_ms {
            self.backlog.remove(moment_ms);
        }
        self.node_id = Some(ack.node_id);
        if ack.next_heartbeat_s.is_finite() && ack.next_heartbeat_s > 0.0 {
            self.machine.set_period((ack.next_heartbeat_s * 1000.0) as u64);
        }
        self.finished.extend(self.commands.confirm());
        let now_ms = self.now_ms();
        for command in ack.commands {
            let id = command.command_id;
            let finished = self.commands.execute(
                id,
                &command.kind,
                &command.args,
                (&self.host, &self.options.sensors),
                now_ms,
            );
            self.finished.extend(finished);
        }
        self.fetch_firmware().await;
        self.report_results(ack.node_id).await;
        // What changed, by a command or by others, is reported.
        let version = self.commands.firmware_version();
        if self.commands.settings() != self.reported_settings || version != self.reported_version {
            self.machine.join_again();
        }
        self.follow_sensors(ack.node_id, ack.sensors_revision).await;
        Ok(())
    }

    async fn replay(&mut self) -> Result<(), RequestFailure> {
        let Some(node_id) = self.node_id else {
            return Ok(());
        };
        let (samples, moments) = self.backlog.oldest(BATCH_MAX);
        let path = format!("/v1/nodes/{node_id}/telemetry");
        // Own time where no answer had the one of the gateway.
        let booted_ms = wall_ns().saturating_sub(boot_ns()) / 1_000_000;
        let gateway_time = self.gateway_time;
        let time_ms = |boot_ms| gateway_time.at(boot_ms).unwrap_or(booted_ms + boot_ms);
        match self.post(&path, &Batch::of(&samples, time_ms)).await {
            // A batch that the gateway refuses for good is not sent again.
            Ok(response) => {
                let reply = decode::<ReplayReply>(&response).unwrap_or_default();
                self.report_dropped(reply.rejected_count, reply.first_code());
                self.backlog.remove_oldest(moments);
                Ok(())
            }
            Err(RequestFailure::Refused(400 | 404 | 413 | 422, _)) => {
                let refusal = self.connection.take_refusal();
                self.report_dropped(samples.len(), refusal.as_deref());
                self.backlog.remove_oldest(moments);
                Ok(())
            }
            Err(trouble) => Err(trouble),
        }
    }
}

fn local(err: ReadingError) -> RequestFailure {
    RequestFailure::NoAnswer(err.to_string())
}
