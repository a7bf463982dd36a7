//! Several documents as one dataset: the files of a folder that are parts of one recording.

use std::path::PathBuf;

use groundwave_model::radio::Environment;
use groundwave_simulation::site::NODES_MAX;

use super::dataset::{Dataset, Event, Node};
use super::error::{Fault, FormatError, Location};
use super::limits::EVENTS_MAX;
use super::{Format, ReadOptions, Sample, Source};

/// Reads each document on its own and joins what they hold. Documents that the format does not
/// recognise are left out and counted, unless it recognises none.
pub(super) fn read(
    format: &Format,
    source: &Source,
    options: &ReadOptions,
) -> Result<Dataset, FormatError> {
    let read = format.read.ok_or_else(|| format.unreadable())?;
    let is_own = |document: &Vec<u8>| (format.sniff)(&Sample::of(document));
    let own: Vec<bool> = source.documents.iter().map(is_own).collect();
    let is_any = own.iter().any(|is_own| *is_own);
    let mut joined = Dataset::default();
    let mut count = 0;
    for (index, document) in source.documents.iter().enumerate() {
        let name = source.name(index);
        if is_any && !own[index] && source.is_companion(index, format) {
            continue;
        }
        if is_any && !own[index] {
            let what = format!("a document that is not {}: not read", format.label);
            joined.report.add(&what, || Location::path(name.as_str()));
            continue;
        }
        let part = Source {
            path: PathBuf::from(&name),
            folder: source.folder.clone(),
            documents: vec![document.clone()],
            ..Source::default()
        };
        let mut dataset = read(&part, options).map_err(|error| error.within(&name))?;
        dataset.settle_suspects(options.drop_implausible);
        count += 1;
        joined.join(dataset, &name, format)?;
    }
    let note = format!("{count} documents were joined");
    joined.report.add(&note, Location::default);
    joined.leave_between_parts();
    joined.drop_unset_clocks();
    Ok(joined)
}

impl Dataset {
    /// Adds the contents of another document: nodes of one key are one node, those without a key
    /// stay nodes of their own.
    fn join(&mut self, mut other: Self, name: &str, format: &Format) -> Result<(), FormatError> {
        for note in std::mem::take(&mut other.report.notes) {
            let first = note.first;
            self.report.add_many(&note.what, note.count, || first.within(name));
        }
        self.report.more += other.report.more;
        if let Some(plan) = other.plan {
            return self.join_plan(plan, name, format);
        }
        if other.nodes.is_empty() && other.events.is_empty() {
            let what = "a document without nodes and events";
            self.report.add(what, || Location::path(name));
        }
        self.title = self.title.take().or(other.title.take());
        self.step_s = self.step_s.or(other.step_s);
        self.range_m = self.range_m.or(other.range_m);
        self.links += other.links;
        // Beside dates, times of the day are seconds of their document.
        if self.begin_unix_s.is_some() {
            other.begin_with_time_of_day();
        } else if other.begin_unix_s.is_some() {
            self.begin_with_time_of_day();
        }
        self.has_times_of_day |= other.has_times_of_day;
        let shift_s = self.align(other.begin_unix_s, !other.events.is_empty(), name);
        let end_s = other.end_s.map(|end_s| end_s + shift_s);
        self.end_s = self.end_s.into_iter().chain(end_s).reduce(f64::max);
        let mut keys: Vec<Option<String>> = vec![None; other.nodes.len()];
        for (key, index) in other.index {
            keys[index as usize] = Some(key);
        }
        let mut numbers: Vec<Option<u32>> = Vec::with_capacity(other.nodes.len());
        for (node, key) in other.nodes.into_iter().zip(keys) {
            let index = key.as_ref().and_then(|key| self.index.get(key)).copied();
            let number = match index {
                Some(number) => {
                    let entry = &mut self.nodes[number as usize];
                    // A document may have no more than the key for a name.
                    let of_key = Node::named(key.as_deref().unwrap_or_default()).name;
                    if entry.name == of_key {
                        entry.name = node.name;
                    }
                    entry.position = entry.position.or(node.position);
                    entry.raw_deg = entry.raw_deg.or(node.raw_deg);
                    entry.station = entry.station.take().or(node.station);
                    Some(number)
                }
                None => {
                    let number = self.push(node);
                    if let (Some(number), Some(key)) = (number, key) {
                        self.index.insert(key, number);
                    }
                    number
                }
            };
            if number.is_none() {
                self.report.add("one node too many", || Location::path(name));
            }
            numbers.push(number);
        }
        let number = |number: u32| numbers[number as usize];
        for part in other.parts {
            self.parts.push(part.shifted(shift_s, number));
        }
        for (at_s, event) in other.events {
            let event = match event {
                Event::Fix(node, at) => number(node).map(|node| Event::Fix(node, at)),
                Event::Move(node, at) => number(node).map(|node| Event::Move(node, at)),
                Event::Leave(node) => number(node).map(Event::Leave),
                Event::Height(node, m) => number(node).map(|node| Event::Height(node, m)),
                Event::Point(node, to) => number(node).map(|node| Event::Point(node, to)),
                Event::GoTo(node, at, speed_m_s) => {
                    number(node).map(|node| Event::GoTo(node, at, speed_m_s))
                }
                Event::Observe(from, to, values) => {
                    let link = number(from).zip(number(to));
                    link.map(|(from, to)| Event::Observe(from, to, values))
                }
            };
            match event {
                Some(event) if self.events.len() < EVENTS_MAX => {
                    // The line would be one of an unnamed document.
                    self.extremes.note(at_s + shift_s, 0);
                    self.events.push((at_s + shift_s, event));
                }
                _ => self.report.add("one event too many", || Location::path(name)),
            }
        }
        Ok(())
    }

    /// Brings the times of two documents together: dates stay dates, seconds count from the first
    /// date. The time to add to those of the other document, s.
    fn align(&mut self, begin_unix_s: Option<f64>, has_events: bool, name: &str) -> f64 {
        let mixed = "documents with and without dates: seconds count from the first date";
        match (self.begin_unix_s, begin_unix_s) {
            (Some(begin_s), Some(other_s)) => {
                self.begin_unix_s = Some(begin_s.min(other_s));
                0.0
            }
            (Some(begin_s), None) if has_events => {
                self.report.add(mixed, || Location::path(name));
                begin_s
            }
            (None, Some(other_s)) if !self.events.is_empty() => {
                self.report.add(mixed, || Location::path(name));
                for event in &mut self.events {
                    event.0 += other_s;
                }
                self.end_s = self.end_s.map(|end_s| end_s + other_s);
                self.begin_unix_s = begin_unix_s;
                0.0
            }
            (begin_s, other_s) => {
                self.begin_unix_s = begin_s.or(other_s);
                0.0
            }
        }
    }

    fn join_plan(
        &mut self,
        plan: super::PlanFile,
        name: &str,
        format: &Format,
    ) -> Result<(), FormatError> {
        let Some(joined) = &mut self.plan else {
            self.plan = Some(plan);
            return Ok(());
        };
        let usual = Environment::default();
        if joined.outline.environment == usual {
            joined.outline.environment = plan.outline.environment.clone();
        } else if plan.outline.environment != joined.outline.environment
            && plan.outline.environment != usual
        {
            let what = "an environment that differs from that of the first document: not used";
            self.report.add(what, || Location::path(name));
        }
        let mut ids: std::collections::BTreeSet<_> =
            joined.nodes.iter().filter_map(|node| node.id).collect();
        for mut node in plan.nodes {
            if node.id.is_some_and(|id| !ids.insert(id)) {
                let what = "a node with the id of one in another document: a node of its own";
                self.report.add(what, || Location::path(name));
                node.id = None;
            }
            joined.nodes.push(node);
        }
        if joined.nodes.len() > NODES_MAX {
            let actual = format!("{} nodes", joined.nodes.len());
            let fault = Fault::new("", actual, format!("up to {NODES_MAX}"));
            return Err(fault.at(format, Location::path(name)));
        }
        Ok(())
    }
}
