//! Frames of a recorded log, with changes or without.

use groundwave_engine::log::Header;
use groundwave_http::Problem;
use groundwave_simulation::WorldView;
use groundwave_simulation::link::LinkView;
use groundwave_simulation::measure::LevelView;
use groundwave_simulation::site::{NodeId, NodeView};

use super::wire::replay::{
    FRAMES_MAX, FrameQuery, ReplayBottleneck, ReplayFlow, ReplayFrame, ReplayLink, ReplayMeasured,
    ReplayNode,
};

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

/// The frame of a state.
pub fn frame(view: &WorldView, at_s: f64) -> ReplayFrame {
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
            carried_bps: flow.share.carried_bps,
            lost_bps: flow.lost_bps(),
            bottleneck: flow.share.bottleneck.map(|part| ReplayBottleneck {
                from_node_id: part.from.uuid(),
                to_node_id: part.to.uuid(),
                links: part.links,
                flows: part.flows,
            }),
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
fn shown_link(view: &WorldView, link: &LinkView) -> Option<ReplayLink> {
    let measured = |from: NodeId, to: NodeId| view.measured.get((from, to)).map(measured);
    let measured = [measured(link.a, link.b), measured(link.b, link.a)];
    let (there, back) = (&link.budget.forward, &link.budget.backward);
    let etx = link.budget.etx();
    let is_shown = link.severed || etx.is_some() || measured.iter().any(Option::is_some);
    is_shown.then(|| ReplayLink {
        a_node_id: link.a.uuid(),
        b_node_id: link.b.uuid(),
        up: view.carries(link),
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
