//! A replay as one HTML file that plays without network and without a server.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_http::Problem;
use serde_json::{Value, json};
use uuid::Uuid;

use super::replay_frames::Times;
use super::replay_store::StoredLog;
use super::replay_world::Replaying;
use super::wire::replay::ReplayFrame;

/// Most frames of a player.
pub const PLAYER_FRAMES_MAX: usize = 600;

/// Most nodes and links of all frames of a player, which bounds its size to about 10 MB.
const PLAYER_ITEMS_MAX: usize = 300_000;

/// Place of the data in the page.
const DATA: &str = "\"DATA\"";

const PAGE: &str = include_str!("replay_player.html");

/// The player of a replay.
///
/// # Errors
/// 409 where the replay comes to another state than the log.
pub fn html(replaying: Replaying<'_>) -> Result<String, Problem> {
    let log = replaying.log;
    let duration_s = log.info.duration_s;
    let mut frames = Thinned::new(duration_s, log.info.step_s);
    let times = Times { from_s: 0.0, to_s: duration_s, step_s: frames.step_s };
    replaying.observe(&times, |frame, state| {
        let assumed = state.environment.assumptions(None).to_string();
        frames.add(frame, assumed);
        Ok(())
    })?;
    let data = document(log, &frames);
    // Text of the data may end no element of the page.
    let text = data.to_string().replace('<', "\\u003c");
    Ok(PAGE.replacen(DATA, &text, 1))
}

/// Frames at equal distances, of which every second one leaves when there are too many.
struct Thinned {
    /// Frames with the assumptions of their predictions.
    kept: Vec<(ReplayFrame, String)>,
    items: usize,
    /// Time between kept frames, s.
    step_s: f64,
    /// Frames seen for each one kept.
    every: usize,
    seen: usize,
}

impl Thinned {
    fn new(duration_s: f64, log_step_s: f64) -> Self {
        let fits_s = duration_s / (PLAYER_FRAMES_MAX - 1) as f64;
        // A whole number of steps of the log.
        let steps = (fits_s / log_step_s).ceil().max(1.0);
        Self { kept: Vec::new(), items: 0, step_s: steps * log_step_s, every: 1, seen: 0 }
    }

    fn add(&mut self, frame: ReplayFrame, assumed: String) {
        let is_due = self.seen.is_multiple_of(self.every);
        self.seen += 1;
        if !is_due {
            return;
        }
        self.items += items(&frame);
        self.kept.push((frame, assumed));
        while self.items > PLAYER_ITEMS_MAX && self.kept.len() > 1 {
            let mut place = 0;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.items = self.kept.iter().map(|(frame, _)| items(frame)).sum();
            self.every *= 2;
            self.step_s *= 2.0;
        }
    }
}

fn items(frame: &ReplayFrame) -> usize {
    frame.nodes.len() + frame.links.len()
}

/// Numbers of ids in the order in which they came.
#[derive(Default)]
struct Numbers<K>(BTreeMap<K, usize>);

impl<K: Ord> Numbers<K> {
    /// The number of a key, and whether it is new.
    fn of(&mut self, key: K) -> (usize, bool) {
        let next = self.0.len();
        let number = *self.0.entry(key).or_insert(next);
        (number, number == next)
    }
}

/// The data of the page: what differs from the frame before, by numbers of nodes, links and flows.
fn document(log: &StoredLog, frames: &Thinned) -> Value {
    let info = &log.info;
    let (mut node_numbers, mut link_numbers) = (Numbers::default(), Numbers::default());
    let mut flow_numbers = Numbers::default();
    let (mut nodes, mut links, mut flows) = (Vec::new(), Vec::new(), Vec::new());
    let mut known: [BTreeMap<usize, Value>; 3] = Default::default();
    let mut told = Vec::new();
    let mut assumed = "";
    for (frame, assumed_now) in &frames.kept {
        let mut now: [BTreeMap<usize, Value>; 3] = Default::default();
        for node in &frame.nodes {
            let (number, is_new) = node_numbers.of(node.node_id);
            if is_new {
                nodes.push(json!([node.name, node.role, node.node_id]));
            }
            let state = json!([number, fine(node.lat), fine(node.lon), u8::from(node.operating)]);
            now[0].insert(number, state);
        }
        let number_of = |id: Uuid| node_numbers.0.get(&id).copied();
        for link in &frame.links {
            let ends = (link.a_node_id, link.b_node_id);
            let (number, is_new) = link_numbers.of(ends);
            if is_new {
                links.push(json!([number_of(ends.0), number_of(ends.1)]));
            }
            let state = if link.cut { 2 } else { u8::from(link.up) };
            let margin_db = link.link_margin_db[0].min(link.link_margin_db[1]);
            let etx = link.etx.map(|etx| tenths(etx * 10.0));
            now[1].insert(number, json!([number, state, tenths(margin_db), etx]));
        }
        for flow in &frame.flows {
            let (number, is_new) = flow_numbers.of(flow.flow_id);
            if is_new {
                flows.push(json!(flow.name));
            }
            let path: Vec<_> = flow.path.iter().filter_map(|id| number_of(*id)).collect();
            now[2].insert(number, json!([number, path]));
        }
        let changed = |kind: usize| -> Vec<&Value> {
            let differs =
                |(number, state): &(&usize, &Value)| known[kind].get(number) != Some(state);
            let found = now[kind].iter().filter(differs);
            found.map(|(_, state)| state).collect()
        };
        let gone = |kind: usize| -> Vec<usize> {
            let before: BTreeSet<_> = known[kind].keys().copied().collect();
            let here = |number: &usize| !now[kind].contains_key(number);
            before.into_iter().filter(here).collect()
        };
        let changed_text = (assumed_now != assumed).then_some(assumed_now);
        assumed = assumed_now;
        told.push(json!({
            "t": frame.at_s,
            "rain": frame.rain_rate_mm_h,
            "assumed": changed_text,
            "n": changed(0), "l": changed(1), "f": changed(2),
            "gone": [gone(0), gone(1), gone(2)],
        }));
        known = now;
    }
    let events = info.events.iter().map(|event| json!([event.at_s, event.command, event.body]));
    json!({
        "title": info.inputs.get("title").or(info.name.as_ref()),
        "changes": info.changes,
        "duration_s": info.duration_s,
        "log_step_s": info.step_s,
        "step_s": frames.step_s,
        "nodes": nodes, "links": links, "flows": flows,
        "events": events.collect::<Vec<_>>(),
        "frames": told,
    })
}

/// Degrees in units of 0.00001.
fn fine(deg: f64) -> i64 {
    (deg * 1e5).round() as i64
}

fn tenths(value: f64) -> i64 {
    (value * 10.0).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(at_s: f64) -> ReplayFrame {
        ReplayFrame {
            at_s,
            rain_rate_mm_h: 0.0,
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
        }
    }

    #[test]
    fn frames_are_whole_steps_of_the_log_apart_and_at_most_six_hundred() {
        for (duration_s, log_step_s, step_s) in
            [(60.0, 0.5, 0.5), (599.0, 1.0, 1.0), (3600.0, 1.0, 7.0)]
        {
            let frames = Thinned::new(duration_s, log_step_s);
            assert_eq!(frames.step_s, step_s);
            assert!(duration_s / step_s < PLAYER_FRAMES_MAX as f64);
        }
    }

    #[test]
    fn every_second_frame_leaves_when_there_are_too_many_items() {
        let mut frames = Thinned::new(599.0, 1.0);
        let node = |number: usize| super::super::wire::replay::ReplayNode {
            node_id: Uuid::from_u128(number as u128),
            name: String::new(),
            role: Default::default(),
            lat: 0.0,
            lon: 0.0,
            height_agl_m: 0.0,
            operating: true,
        };
        for at_s in 0..600 {
            let mut one = frame(f64::from(at_s));
            one.nodes = (0..1000).map(node).collect();
            frames.add(one, String::new());
        }
        assert!(frames.items <= PLAYER_ITEMS_MAX && frames.kept.len() > 100);
        let times: Vec<_> = frames.kept.iter().map(|(frame, _)| frame.at_s).collect();
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == frames.step_s), "{times:?}");
    }
}
