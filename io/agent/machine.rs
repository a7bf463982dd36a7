//! State machine of the agent, without clock, random numbers or sockets. The caller asks for the
//! current [`Task`], performs it and reports the [`Outcome`].
//!
//! ```text
//! host ─► register ─► tunnel ─► fetch ─► log in ─► join ─► report, replay, renew
//!   ▲   202: wait │     ▲          credentials │      ▲ 401: once │
//!   └─────────────┴─────┴── refused, silence ──┴──────┴───────────┘
//! ```

use super::backoff::{Backoff, Chance, about, between};

/// Periods and waiting times of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// Between heartbeats, ms, give or take a tenth; the gateway may stretch it.
    pub period_ms: u64,
    /// A token is renewed at an age between these, ms.
    pub renew_ms: (u64, u64),
    /// After failures.
    pub backoff: Backoff,
    /// Between readings of the state of a link, ms.
    pub look_ms: u64,
    /// Time without an answer after which the connection to the gateway is set up again, ms.
    pub cut_off_ms: u64,
    /// Time between batches of stored readings, ms.
    pub replay_ms: u64,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self {
            period_ms: 5_000,
            renew_ms: (50 * 60_000, 58 * 60_000),
            backoff: Backoff { least_ms: 5_000, most_ms: 300_000 },
            look_ms: 1_000,
            cut_off_ms: 60_000,
            replay_ms: 500,
        }
    }
}

/// Next task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Nothing before this time, ms.
    Wait(u64),
    /// Read the state of the mesh interface: carrier and address.
    ReadHost,
    /// Request registration, over the underlay.
    Register,
    /// Set the tunnel up with the parameters of the gateway.
    Tunnel,
    /// Fetch a credential through the tunnel.
    Fetch,
    /// Log in with the credential.
    LogIn,
    /// Report identity and capabilities of this node.
    Join,
    /// Take readings; they are kept until they are reported.
    Sample,
    /// Send a heartbeat.
    Heartbeat,
    /// Report readings that could not be reported in time.
    Replay,
}

impl Task {
    /// Subject of lines of the log about the task.
    #[must_use]
    pub const fn subject(self) -> &'static str {
        match self {
            Self::Wait(_) => "wait",
            Self::ReadHost => "mesh interface",
            Self::Register => "registration",
            Self::Tunnel => "tunnel",
            Self::Fetch => "credentials",
            Self::LogIn => "login",
            Self::Join => "report of the node",
            Self::Sample => "readings of the machine",
            Self::Heartbeat => "heartbeat",
            Self::Replay => "stored readings",
        }
    }
}

/// Outcome of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// Registration is pending approval; retry after this time, ms.
    Pending(u64),
    /// The gateway refused with this status; retry no earlier than after this time, ms, if given.
    Refused(u16, Option<u64>),
    /// No answer, or an error that a retry may resolve.
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    ReadHost,
    Register,
    Tunnel,
    Fetch,
    LogIn,
    Join,
    Run,
}

/// Statuses with a transition of their own.
const UNAUTHORIZED: u16 = 401;
const FORBIDDEN: u16 = 403;
const NOT_FOUND: u16 = 404;
const NOT_ALLOWED: u16 = 405;
const CONFLICT: u16 = 409;
const TOO_LARGE: u16 = 413;
const INVALID: u16 = 422;
const TOO_MANY: u16 = 429;
const UNAVAILABLE: u16 = 503;
const STORAGE_FULL: u16 = 507;
/// Maximum wait that a gateway may ask for, ms: an hour. A mistake there silences no node for longer.
const WAIT_MAX_MS: u64 = 3_600_000;
/// Failures through the tunnel after which it is made anew.
const TUNNEL_FAILURES: u32 = 4;

/// State machine of the agent. Times are ms of any monotonic clock.
#[derive(Debug, Clone)]
pub struct Machine {
    rhythm: Rhythm,
    stage: Stage,
    not_before_ms: u64,
    failures: u32,
    sample_at_ms: u64,
    beat_due: bool,
    renew_at_ms: u64,
    /// A token was refused and a new one was just fetched for it.
    relogged: bool,
    joined: bool,
    heard_at_ms: u64,
    backlog: bool,
    /// The last heartbeat was acknowledged: stored readings may be reported.
    heard: bool,
    replay_at_ms: u64,
    beats_not_before_ms: u64,
}

impl Machine {
    /// A machine that starts at `now_ms` with nothing.
    #[must_use]
    pub fn new(rhythm: Rhythm, now_ms: u64) -> Self {
        Self {
            rhythm,
            stage: Stage::ReadHost,
            not_before_ms: now_ms,
            failures: 0,
            sample_at_ms: now_ms,
            beat_due: false,
            renew_at_ms: u64::MAX,
            relogged: false,
            joined: false,
            heard_at_ms: now_ms,
            backlog: false,
            heard: false,
            replay_at_ms: now_ms,
            beats_not_before_ms: now_ms,
        }
    }

    /// `true` if the node is registered and sends heartbeats.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.stage == Stage::Run
    }

    /// Sets whether stored readings are still to be reported.
    pub fn set_backlog(&mut self, backlog: bool) {
        self.backlog = backlog;
    }

    /// Sets the heartbeat period that the gateway sets, ms; clamped to [500, 300000].
    pub fn set_period(&mut self, period_ms: u64) {
        self.rhythm.period_ms = period_ms.clamp(500, 300_000);
    }

    /// Identity and capabilities are reported again, once the node reports at all.
    pub fn join_again(&mut self) {
        self.joined = false;
        if self.stage == Stage::Run {
            self.stage = Stage::Join;
        }
    }

    /// A token is thrown away before its time.
    pub fn renew_now(&mut self) {
        self.renew_at_ms = 0;
    }

    /// Task at `now_ms`.
    #[must_use]
    pub fn next(&self, now_ms: u64) -> Task {
        if now_ms >= self.sample_at_ms {
            return Task::Sample;
        }
        let stage = match self.stage {
            Stage::Run => return self.run(now_ms),
            Stage::ReadHost => Task::ReadHost,
            Stage::Register => Task::Register,
            Stage::Tunnel => Task::Tunnel,
            Stage::Fetch => Task::Fetch,
            Stage::LogIn => Task::LogIn,
            Stage::Join => Task::Join,
        };
        if now_ms < self.not_before_ms {
            return Task::Wait(self.not_before_ms.min(self.sample_at_ms));
        }
        stage
    }

    fn run(&self, now_ms: u64) -> Task {
        let mut wake_ms = self.sample_at_ms;
        if self.beat_due {
            if now_ms >= self.beats_not_before_ms {
                // A token that runs out is renewed before it is used again.
                return match now_ms >= self.renew_at_ms {
                    true => Task::LogIn,
                    false => Task::Heartbeat,
                };
            }
            wake_ms = wake_ms.min(self.beats_not_before_ms);
        } else if self.backlog && self.heard {
            if now_ms >= self.replay_at_ms {
                return Task::Replay;
            }
            wake_ms = wake_ms.min(self.replay_at_ms);
        }
        Task::Wait(wake_ms)
    }

    /// Records the outcome of `task` at `now_ms`.
    pub fn done(&mut self, task: Task, outcome: Outcome, now_ms: u64, chance: &mut dyn Chance) {
        let outcome = match outcome {
            Outcome::Refused(status, Some(wait_ms)) => {
                Outcome::Refused(status, Some(wait_ms.min(WAIT_MAX_MS)))
            }
            other => other,
        };
        match task {
            Task::Wait(_) => {}
            Task::Sample => {
                self.sample_at_ms = now_ms + about(chance, self.rhythm.period_ms);
                self.beat_due = true;
            }
            Task::ReadHost => match outcome {
                Outcome::Done => self.go(Stage::Register, now_ms),
                _ => self.not_before_ms = now_ms + self.rhythm.look_ms,
            },
            Task::Register | Task::Fetch => self.registered(task, outcome, now_ms, chance),
            Task::Tunnel => match outcome {
                Outcome::Done => self.go(Stage::Fetch, now_ms),
                _ => self.fail(now_ms, chance),
            },
            Task::LogIn => self.logged_in(outcome, now_ms, chance),
            Task::Join => match outcome {
                // A gateway without the join operation learns the same from heartbeats.
                Outcome::Done | Outcome::Refused(NOT_FOUND | NOT_ALLOWED | INVALID, _) => {
                    self.joined = true;
                    self.go(Stage::Run, now_ms);
                }
                Outcome::Refused(UNAUTHORIZED, _) => self.go_later(Stage::LogIn, now_ms, chance),
                other => self.refused(other, now_ms, chance),
            },
            Task::Heartbeat => self.beaten(outcome, now_ms, chance),
            Task::Replay => self.replayed(outcome, now_ms, chance),
        }
    }

    fn registered(&mut self, task: Task, outcome: Outcome, now_ms: u64, chance: &mut dyn Chance) {
        match outcome {
            Outcome::Done if task == Task::Register => self.go(Stage::Tunnel, now_ms),
            Outcome::Done => self.go(Stage::LogIn, now_ms),
            Outcome::Pending(wait_ms) => {
                self.go(Stage::Register, now_ms);
                let wait_ms = wait_ms.clamp(1_000, self.rhythm.backoff.most_ms);
                self.not_before_ms = now_ms + about(chance, wait_ms);
            }
            // An operator has to change a decision or a key: retry rarely, but do retry.
            Outcome::Refused(FORBIDDEN | CONFLICT, None) => {
                self.stage = Stage::Register;
                self.failures = u32::MAX / 2;
                self.fail(now_ms, chance);
            }
            other => {
                self.refused(other, now_ms, chance);
                if self.failures >= TUNNEL_FAILURES && task == Task::Fetch {
                    self.stage = Stage::ReadHost;
                }
            }
        }
    }

    fn logged_in(&mut self, outcome: Outcome, now_ms: u64, chance: &mut dyn Chance) {
        let (least, most) = self.rhythm.renew_ms;
        match outcome {
            Outcome::Done => {
                self.renew_at_ms = now_ms + between(chance, least, most);
                let next = if self.joined { Stage::Run } else { Stage::Join };
                self.go(next, now_ms);
            }
            // The credential is invalid: a new one is fetched.
            Outcome::Refused(UNAUTHORIZED | FORBIDDEN, None) => {
                self.go_later(Stage::Fetch, now_ms, chance);
            }
            other => {
                self.stage = Stage::LogIn;
                self.refused(other, now_ms, chance);
                self.cut_off(now_ms);
            }
        }
    }

    fn beaten(&mut self, outcome: Outcome, now_ms: u64, chance: &mut dyn Chance) {
        self.beat_due = false;
        self.heard = outcome == Outcome::Done;
        match outcome {
            Outcome::Done => {
                self.relogged = false;
                self.failures = 0;
                self.heard_at_ms = now_ms;
            }
            Outcome::Refused(UNAUTHORIZED, _) => {
                self.beat_due = true;
                if self.relogged {
                    self.go_later(Stage::LogIn, now_ms, chance);
                } else {
                    self.relogged = true;
                    self.go(Stage::LogIn, now_ms);
                }
            }
            Outcome::Refused(FORBIDDEN | NOT_FOUND, _) => {
                self.joined = false;
                self.go_later(Stage::Register, now_ms, chance);
            }
            // A heartbeat that came late or was invalid: the next one may be accepted.
            Outcome::Refused(CONFLICT | TOO_LARGE | INVALID, _) => self.heard_at_ms = now_ms,
            Outcome::Refused(TOO_MANY | UNAVAILABLE | STORAGE_FULL, wait) => {
                self.heard_at_ms = now_ms;
                let wait_ms = wait.unwrap_or(self.rhythm.period_ms);
                self.beats_not_before_ms = now_ms + wait_ms;
                self.replay_at_ms = self.replay_at_ms.max(self.beats_not_before_ms);
            }
            Outcome::Refused(..) | Outcome::Pending(_) | Outcome::Failed => self.cut_off(now_ms),
        }
    }

    fn replayed(&mut self, outcome: Outcome, now_ms: u64, chance: &mut dyn Chance) {
        let wait_ms = match outcome {
            Outcome::Done => self.rhythm.replay_ms,
            Outcome::Refused(TOO_MANY | UNAVAILABLE | STORAGE_FULL, Some(wait_ms)) => wait_ms,
            _ => about(chance, self.rhythm.period_ms.max(self.rhythm.backoff.least_ms)),
        };
        self.replay_at_ms = now_ms + wait_ms;
    }

    fn refused(&mut self, outcome: Outcome, now_ms: u64, chance: &mut dyn Chance) {
        self.fail(now_ms, chance);
        if let Outcome::Refused(_, Some(wait_ms)) = outcome {
            // The waiting time of the gateway holds; up to a tenth more spreads simultaneous
            // retries.
            self.not_before_ms = now_ms + between(chance, wait_ms, wait_ms + wait_ms / 10);
        }
    }

    fn fail(&mut self, now_ms: u64, chance: &mut dyn Chance) {
        self.failures = self.failures.saturating_add(1);
        self.not_before_ms = now_ms + self.rhythm.backoff.wait(chance, self.failures);
    }

    fn go(&mut self, stage: Stage, now_ms: u64) {
        self.stage = stage;
        self.failures = 0;
        self.not_before_ms = now_ms;
        self.heard_at_ms = now_ms;
    }

    fn go_later(&mut self, stage: Stage, now_ms: u64, chance: &mut dyn Chance) {
        self.stage = stage;
        self.fail(now_ms, chance);
    }

    /// After a long silence the way is made anew: the lease or the gateway's key may be another.
    fn cut_off(&mut self, now_ms: u64) {
        if now_ms.saturating_sub(self.heard_at_ms) >= self.rhythm.cut_off_ms {
            self.go(Stage::ReadHost, now_ms);
        }
    }
}
