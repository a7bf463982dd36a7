//! Fixes that are not believed, reported or left out at the end of a document.

use std::collections::BTreeSet;

use super::dataset::{Dataset, Event};
use super::error::Location;
use super::plausible::Suspects;

impl Dataset {
    /// Reports fixes that are not believed, and leaves them out if `is_dropped`.
    pub(super) fn settle_suspects(&mut self, is_dropped: bool) {
        let Suspects { nodes, mut at_origin, elsewhere, mut far, late, jumps } =
            std::mem::take(&mut self.suspects);
        if elsewhere <= at_origin.len() {
            // The recording is about this place.
            at_origin.clear();
        }
        // Those at the end of a track: it does not come back.
        let rest = nodes.iter().flat_map(|(node, last)| {
            last.far.iter().map(|(at_s, _, line)| (*node, at_s.to_bits(), *line))
        });
        far.extend(rest);
        let fate = match is_dropped {
            true => "left out",
            false => "taken; --drop implausible leaves it out",
        };
        for (what, rows) in [
            ("a fix at 0 N 0 E", &at_origin),
            ("a fix that the node cannot have reached (above 1000 m/s)", &far),
            ("a fix with a time before that of the fix before", &late),
        ] {
            if let Some((.., line)) = rows.iter().min_by_key(|row| row.2) {
                let what = format!("{what}: {fate}");
                self.report.add_many(&what, rows.len(), || Location::line(*line));
            }
        }
        for (.., line) in jumps {
            let what = "a jump that the node cannot have made (above 1000 m/s): taken";
            self.report.add(what, || Location::line(line));
        }
        if !is_dropped {
            return;
        }
        let rows = [at_origin, far, late].into_iter().flatten();
        let rows: BTreeSet<(u32, u64)> = rows.map(|(node, at, _)| (node, at)).collect();
        self.events.retain(|(at_s, event)| match event {
            Event::Fix(node, _) | Event::Height(node, _) => {
                !rows.contains(&(*node, at_s.to_bits()))
            }
            _ => true,
        });
    }
}
