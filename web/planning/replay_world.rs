//! The world in which logs are replayed: that of the program that serves the planner.
//!
//! The planner reads [`WorldView`]; a log of a program with further services holds commands and digests
//! of those too. So the program gives its builder of worlds and its type of snapshots.

use std::io::{Read, Seek};
use std::sync::Arc;

use axum::http::StatusCode;
use groundwave_engine::log::Reader;
use groundwave_engine::{Builder, Engine, Next, ReplayError, replay, resume};
use groundwave_http::Problem;
use groundwave_model::terrain::Terrain;
use groundwave_scenario::changes::Changer;
use groundwave_simulation::{MeshSnapshot, WorldView};

use super::replay_frames::{Times, at_s, frame};
use super::replay_store::StoredLog;
use super::wire::replay::{ReplayFrame, ReplayFrames};
use crate::problems::{change_problem, log_problem};

/// Most nodes and links of all frames of an answer.
const ITEMS_MAX: usize = 500_000;

/// Receiver of frames, each with the state it is of.
type Show<'a> = dyn FnMut(ReplayFrame, &WorldView) -> Result<(), Problem> + 'a;

/// Builder of an empty world over terrain.
pub type BuildWorld = fn(Arc<dyn Terrain>) -> Builder;

/// World in which logs are replayed.
#[derive(Clone, Copy)]
pub struct ReplayWorld {
    /// Builder of the world.
    pub build: BuildWorld,
    observe: fn(&Replaying<'_>, &Times, &mut Show<'_>) -> Result<u64, Problem>,
    prove: fn(&Replaying<'_>) -> Result<(), Problem>,
}

impl ReplayWorld {
    /// World with snapshots `S`, of which the digests in its logs are.
    #[must_use]
    pub fn new<S: MeshSnapshot>(build: BuildWorld) -> Self {
        Self { build, observe: observe::<S>, prove: prove::<S> }
    }
}

/// A log with the world and the terrain of its replay.
#[derive(Clone, Copy)]
pub struct Replaying<'a> {
    /// Log, with changes or without.
    pub log: &'a StoredLog,
    /// World.
    pub world: ReplayWorld,
    /// Terrain.
    pub terrain: &'a Arc<dyn Terrain>,
}

impl Replaying<'_> {
    /// Replays a log and gives the frames of a request.
    ///
    /// # Errors
    /// 409 where the replay comes to another state than the log, 400 where a change cannot be made or the
    /// frames are too many.
    pub fn frames(&self, times: &Times) -> Result<ReplayFrames, Problem> {
        let (mut frames, mut items) = (Vec::new(), 0);
        let marks_compared = self.observe(times, |frame, _| {
            items += frame.nodes.len() + frame.links.len();
            if items > ITEMS_MAX {
                let what = format!(
                    "the frames have more than {ITEMS_MAX} nodes and links; ask for a shorter time or a \
                     longer step"
                );
                return Err(Problem::bad_request(what));
            }
            frames.push(frame);
            Ok(())
        })?;
        Ok(ReplayFrames { id: self.log.info.id, frames, marks_compared })
    }

    /// Replays the log and shows each frame that is due with the state it is of. Returns the number of
    /// digests compared.
    ///
    /// # Errors
    /// 409 where the replay comes to another state than the log, 400 where a change cannot be made, or
    /// the refusal of `show`.
    pub fn observe(
        &self,
        times: &Times,
        mut show: impl FnMut(ReplayFrame, &WorldView) -> Result<(), Problem>,
    ) -> Result<u64, Problem> {
        (self.world.observe)(self, times, &mut show)
    }

    /// Replays the log to its end and proves that each of its changes can be made.
    ///
    /// # Errors
    /// 400 names the change, 409 where the replay comes to another state than the log.
    pub fn prove(&self) -> Result<(), Problem> {
        (self.world.prove)(self)
    }

    /// A world at the last checkpoint before `tick` and before the first change.
    fn begin<S: MeshSnapshot, R: Read + Seek>(
        &self,
        reader: &mut Reader<R>,
        changer: &Changer<'_>,
        tick: u64,
    ) -> Result<Engine<S>, Problem> {
        let header = reader.header().clone();
        let build =
            || (self.world.build)(Arc::clone(self.terrain)).build::<S>(header.seed, header.step_ns);
        // A change is injected before its tick; the tick before it must be computed.
        let unchanged = changer.first_tick(&header).saturating_sub(2);
        resume(build, reader, tick.min(unchanged)).map_err(differs)
    }
}

fn observe<S: MeshSnapshot>(
    replaying: &Replaying<'_>,
    times: &Times,
    show: &mut Show<'_>,
) -> Result<u64, Problem> {
    let mut reader = replaying.log.open().map_err(log_problem)?;
    let header = reader.header().clone();
    let first = (times.from_s / (header.step_ns as f64 * 1e-9)).round() as u64;
    let mut changer = Changer::new(&replaying.log.changes);
    let mut engine = replaying.begin::<S, _>(&mut reader, &changer, first)?;
    let mut next = 0_u32;
    let mut failed = None;
    let replayed = replay(&mut engine, &mut reader, |engine| {
        let view = engine.view();
        let at_s = at_s(&header, (*view).as_ref().tick);
        let due_s = times.from_s + f64::from(next) * times.step_s;
        // Half a step of rounding.
        let half_s = header.step_ns as f64 * 0.5e-9;
        let mut step = || {
            changer.settle((*view).as_ref()).map_err(change_problem)?;
            if due_s > times.to_s + half_s {
                return Ok(Next::Stop);
            }
            if at_s + half_s >= due_s {
                let view = (*view).as_ref();
                show(frame(view, at_s), view)?;
                // Frames between two ticks are one.
                let passed = (at_s + half_s - times.from_s) / times.step_s;
                next = (passed.floor() as u32).saturating_add(1);
            }
            changer.inject(engine).map_err(change_problem)
        };
        step().unwrap_or_else(|problem| {
            failed = Some(problem);
            Next::Stop
        })
    });
    match failed {
        Some(problem) => Err(problem),
        None => Ok(replayed.map_err(differs)?.marks),
    }
}

fn prove<S: MeshSnapshot>(replaying: &Replaying<'_>) -> Result<(), Problem> {
    let mut reader = replaying.log.open().map_err(log_problem)?;
    let mut changer = Changer::new(&replaying.log.changes);
    let mut engine = replaying.begin::<S, _>(&mut reader, &changer, u64::MAX)?;
    let mut failed = None;
    let replayed = replay(&mut engine, &mut reader, |engine| {
        let view = engine.view();
        let next = changer.settle((*view).as_ref()).and_then(|()| changer.inject(engine));
        next.unwrap_or_else(|error| {
            failed = Some(error);
            Next::Stop
        })
    });
    if let Some(error) = failed {
        return Err(change_problem(error));
    }
    replayed.map_err(differs)?;
    changer.finish().map_err(change_problem)?;
    Ok(())
}

fn differs(error: ReplayError) -> Problem {
    Problem::new(StatusCode::CONFLICT, format!("the replay: {error}"))
}
