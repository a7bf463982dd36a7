//! Values of outages for the context of executions.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::Index;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::basis::object;
use crate::automation::language::time;
use crate::outage::{MemberNames, Outage, OutageId, OutageKind, behind, duration};

/// Outages as values of triggers.
#[derive(SystemParam)]
pub(super) struct OutageValues<'w, 's> {
    index: Res<'w, Index<OutageKind>>,
    outages: Query<'w, 's, &'static Outage>,
    names: MemberNames<'w, 's>,
}

impl OutageValues<'_, '_> {
    /// Values of an outage: `behind`, `behind_count`, `silent_since`, and of one that is over `duration_s`,
    /// `duration` and `still_silent`.
    pub fn of(&self, id: Uuid) -> Option<Map<String, Value>> {
        let outage = self.outages.get(self.index.get(OutageId::new(id)).ok()?).ok()?;
        let nodes = behind(outage, &self.names);
        let mut values = object(json!({
            "behind_count": nodes.len(),
            "behind": nodes,
            "silent_since": time(outage.since_ns / 1_000_000),
        }));
        if let Some(end) = &outage.end {
            let lasted_s = end.at_ns.saturating_sub(outage.since_ns) / 1_000_000_000;
            let silent = end.silent.iter().map(|node| self.names.name(*node));
            values.extend(object(json!({
                "duration_s": lasted_s,
                "duration": duration(lasted_s),
                "still_silent": silent.collect::<Vec<_>>(),
            })));
        }
        Some(values)
    }
}
