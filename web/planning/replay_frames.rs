//! Frames of a recorded log: the log is replayed, with changes or without.

use std::io::{Read, Seek};
use std::sync::Arc;

use axum::http::StatusCode;
use groundwave_engine::log::{Header, Reader};
use groundwave_engine::{Engine, Next, ReplayError, replay, resume};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Problem;
use groundwave_model::terrain::Terrain;
use groundwave_scenario::changes::Changer;
use groundwave_simulation::link::LinkView;
use groundwave_simulation::measure::LevelView;
use groundwave_simulation::site::{NodeId, NodeView};

use super::replay_store::StoredLog;
use super::wire::replay::{
    FRAMES_MAX, FrameQuery, ReplayFlow, ReplayFrame, ReplayFrames, ReplayLink, ReplayMeasured,
    ReplayNode,
};
use crate::problems::{change_problem, log_problem};

/// Most nodes and links of all frames of an answer.
const ITEMS_MAX: usize = 500_000;

/// Time at the end of a tick since the start; tick 1 ends at 0 s.
pub fn at_s(header: &Header, tick: u64) -> f64 {
    let at_ns = u128::from(tick.saturating_sub(1)) * u128::from(header.step_ns);
    // One division rounds once.
    at_ns as f64 / 1e9
}

/// Times of the frames of a request, s.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// First frame.
    pub from_s: f64,
    /// Last frame.
    pub to_s: f64,
    /// Time between frames.
    pub step_s: f64,
}

impl Times {
    /// Times of a request within a log of `duration_s`.
    ///
    /// # Errors
    /// 400 outside the log, or with too many frames.
    pub fn new(asked: &FrameQuery, duration_s: f64) -> Result<Self, Problem> {
        let times = Self {
            from_s: asked.from_s.unwrap_or(0.0),
            to_s: asked.to_s.unwrap_or(duration_s).min(duration_s),
            step_s: asked.step_s.unwrap_or(1.0),
        };
        let refuse = |key: &str, found: f64, allowed: String| {
            let what = format!("`{key}` is {found}, allowed is {allowed}");
            Err(Problem::bad_request(what))
        };
        if !(0.0..=duration_s).contains(&times.from_s) {
            return refuse("from_s", times.from_s, format!("[0, {duration_s}]"));
        }
        if times.to_s < times.from_s || times.to_s.is_nan() {
            let allowed = format!("[{}, {duration_s}]", times.from_s);
            return refuse("to_s", times.to_s, allowed);
        }
        if !(times.step_s > 0.0 && times.step_s.is_finite()) {
            return refuse("step_s", times.step_s, "above 0".to_owned());
        }
        if (times.to_s - times.from_s) / times.step_s >= FRAMES_MAX as f64 {
            let least = (times.to_s - times.from_s) / (FRAMES_MAX - 1) as f64;
            let allowed = format!("{least} or more for up to {FRAMES_MAX} frames");
            return refuse("step_s", times.step_s, allowed);
        }
        Ok(times)
    }
}

/// Replays a log and gives the frames of a request.
///
/// # Errors
/// 409 where the replay comes to another state than the log, 400 where a change cannot be made or the
/// frames are too many.
pub fn play(
    log: &StoredLog,
    times: &Times,
    terrain: &Arc<dyn Terrain>,
) -> Result<ReplayFrames, Problem> {
    let (mut frames, mut items) = (Vec::new(), 0);
    let marks_compared = observe(log, times, terrain, |frame, _| {
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
    Ok(ReplayFrames { id: log.info.id, frames, marks_compared })
}

/// Replays a log and shows each frame that is due with the state it is of. Returns the number of digests compared.
///
/// # Errors
/// As [`play`], or what `show` answers.
pub fn observe(
    log: &StoredLog,
    times: &Times,
    terrain: &Arc<dyn Terrain>,
    mut show: impl FnMut(ReplayFrame, &Snapshot) -> Result<(), Problem>,
) -> Result<u64, Problem> {
    let mut reader = log.open().map_err(log_problem)?;
    let header = reader.header().clone();
    let first = (times.from_s / (header.step_ns as f64 * 1e-9)).round() as u64;
    let mut changer = Changer::new(&log.changes);
    let mut engine = begin(&mut reader, &changer, first, terrain)?;
    let mut next = 0_u32;
    let mut failed = None;
    let replayed = replay(&mut engine, &mut reader, |engine| {
        let view = engine.view();
        let at_s = at_s(&header, view.tick);
        let due_s = times.from_s + f64::from(next) * times.step_s;
        // Half a step of rounding.
        let half_s = header.step_ns as f64 * 0.5e-9;
        let mut step = || {
            changer.settle().map_err(change_problem)?;
            if due_s > times.to_s + half_s {
                return Ok(Next::Stop);
            }
            if at_s + half_s >= due_s {
                show(frame(&view, at_s), &view)?;
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

/// Replays a log to its end and proves that each of its changes can be made.
///
/// # Errors
/// 400 names the change, 409 where the replay comes to another state than the log.
pub fn prove(log: &StoredLog, terrain: &Arc<dyn Terrain>) -> Result<(), Problem> {
    let mut reader = log.open().map_err(log_problem)?;
    let mut changer = Changer::new(&log.changes);
    let mut engine = begin(&mut reader, &changer, u64::MAX, terrain)?;
    let mut failed = None;
    let replayed = replay(&mut engine, &mut reader, |engine| {
        let next = changer.settle().and_then(|()| changer.inject(engine));
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

/// A world at the last checkpoint before `tick` and before the first change.
fn begin<R: Read + Seek>(
    reader: &mut Reader<R>,
    changer: &Changer<'_>,
    tick: u64,
    terrain: &Arc<dyn Terrain>,
) -> Result<Engine<Snapshot>, Problem> {
    let header = reader.header().clone();
    let build = || world(Arc::clone(terrain)).build::<Snapshot>(header.seed, header.step_ns);
    // A change is injected before its tick; the tick before it must be computed.
    let unchanged = changer.first_tick(&header).saturating_sub(2);
    resume(build, reader, tick.min(unchanged)).map_err(differs)
}

fn differs(error: ReplayError) -> Problem {
    Problem::new(StatusCode::CONFLICT, format!("the replay: {error}"))
}

fn frame(view: &Snapshot, at_s: f64) -> ReplayFrame {
    let node = |node: &NodeView| ReplayNode {
        node_id: node.id.uuid(),
        name: node.name.clone(),
        role: node.role,
        lat: node.position.lat_deg(),
        lon: node.position.lon_deg(),
        height_agl_m: node.station.height_agl_m,
        operating: node.operating,
    };
    let flow = |flow: &groundwave_simulation::flow::FlowView| {
        let hops = flow.route.iter().flat_map(|route| &route.hops);
        let mut path: Vec<_> = hops.map(|hop| hop.from.uuid()).collect();
        if flow.route.is_some() {
            path.push(flow.target.uuid());
        }
        let route = flow.route.as_ref();
        ReplayFlow {
            flow_id: flow.id.uuid(),
            name: flow.name.clone(),
            path,
            rate_bps: flow.rate_bps,
            bottleneck_rate_bps: route.and_then(|route| route.bottleneck_rate_bps),
        }
    };
    ReplayFrame {
        at_s,
        rain_rate_mm_h: view.environment.rain_rate_mm_h,
        nodes: view.nodes.iter().map(node).collect(),
        links: view.links.iter().filter_map(|link| shown_link(view, link)).collect(),
        flows: view.flows.iter().map(flow).collect(),
    }
}

/// A link that is usable, was cut, or was measured.
fn shown_link(view: &Snapshot, link: &LinkView) -> Option<ReplayLink> {
    let operates = |id| {
        let found = view.nodes.binary_search_by_key(&id, |node| node.id);
        found.is_ok_and(|at| view.nodes[at].operating)
    };
    let measured = |from: NodeId, to: NodeId| view.measured.get((from, to)).map(measured);
    let measured = [measured(link.a, link.b), measured(link.b, link.a)];
    let (there, back) = (&link.budget.forward, &link.budget.backward);
    let etx = link.budget.etx();
    let is_shown = link.severed || etx.is_some() || measured.iter().any(Option::is_some);
    is_shown.then(|| ReplayLink {
        a_node_id: link.a.uuid(),
        b_node_id: link.b.uuid(),
        up: etx.is_some() && !link.severed && operates(link.a) && operates(link.b),
        cut: link.severed,
        etx,
        per: [there.per, back.per],
        link_margin_db: [there.link_margin_db, back.link_margin_db],
        link_prob: [there.link_prob, back.link_prob],
        rx_power_dbm: [there.rx_power_dbm, back.rx_power_dbm],
        path_loss_db: [there.path_loss_db, back.path_loss_db],
        snr_db: [there.snr_db, back.snr_db],
        measured,
    })
}

fn measured(level: &LevelView) -> ReplayMeasured {
    let values = &level.values;
    ReplayMeasured {
        at_s: level.at_ns as f64 / 1e9,
        rx_power_dbm: values.rx_power_dbm,
        path_loss_db: values.path_loss_db,
        snr_db: values.snr_db,
        delivery_prob: values.delivery_prob,
        quality: values.quality,
        rate_bps: values.rate_bps,
    }
}
