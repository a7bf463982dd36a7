//! Commands on power supplies.

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Kind as _, Recorded, Refusal};
use groundwave_simulation::site::NodeId;
use groundwave_values::bounds;
use serde::{Deserialize, Serialize};

use super::sample::{UpsSample, UpsStatus};
use super::state::{UPS_MAX, Ups, UpsId, UpsKind, UpsSource, check_ups_id};
use crate::fleet;

/// Samples of one command at most.
pub const SAMPLES_AT_ONCE_MAX: usize = 256;

/// Maximum length of a description or model, characters.
const TEXT_CHARS_MAX: usize = 128;

/// Records samples of a power supply, which make it known. A source without data sends none.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordUpsSamples {
    /// Name of the power supply.
    pub ups_id: String,
    pub source: UpsSource,
    /// Node that sent them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Samples, in any order.
    pub samples: Vec<UpsSample>,
}

fn cut(text: Option<String>) -> Option<String> {
    text.map(|text| text.chars().take(TEXT_CHARS_MAX).collect())
}

impl Command for RecordUpsSamples {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check_ups_id(&self.ups_id)?;
        if self.samples.len() > SAMPLES_AT_ONCE_MAX {
            let allowed = format!("0 to {SAMPLES_AT_ONCE_MAX}");
            return Err(Refusal::invalid("samples", self.samples.len(), allowed));
        }
        for (i, sample) in self.samples.iter().enumerate() {
            bounds::check(sample, &format!("samples[{i}]"))
                .map_err(|bad| Refusal::invalid(bad.key, bad.found, bad.allowed))?;
        }
        let id = UpsId::named(&self.ups_id);
        let index = world.resource::<Index<UpsKind>>();
        let existing = index.get(id).ok();
        if existing.is_none() && index.len() >= UPS_MAX {
            return Err(Refusal::conflict(format!(
                "there are {UPS_MAX} power supplies, the maximum"
            )));
        }
        let before = existing.and_then(|entity| world.get::<Ups>(entity)).cloned();
        if let Some(before) = &before
            && (before.source, before.node) != (self.source, self.node)
        {
            return Err(Refusal::conflict(format!(
                "the power supply {:?} has samples of another source",
                self.ups_id
            )));
        }
        let newest = newest(self.samples, before.as_ref());
        let ups = merge(world, before.as_ref(), newest, |latest, received_ns, is_stale| Ups {
            ups_id: self.ups_id,
            source: self.source,
            node: self.node,
            description: cut(self.description),
            model: cut(self.model),
            latest,
            received_ns,
            is_stale,
        });
        raise_alerts(world, before.as_ref(), &ups);
        match existing {
            Some(_) if before.as_ref() == Some(&ups) => {}
            Some(entity) => {
                world.entity_mut(entity).insert(ups);
            }
            None => {
                world.spawn((id, ups));
            }
        }
        Ok(())
    }
}
impl Recorded for RecordUpsSamples {
    const NAME: &'static str = "power.samples";
    type Reply = ();
}

/// The newest sample. One whose status was not read has the last one that is known: a battery that is in
/// use stays so.
fn newest(samples: Vec<UpsSample>, before: Option<&Ups>) -> Option<UpsSample> {
    let earlier = before.map(|before| &before.latest);
    let with_status = samples.iter().chain(earlier).filter(|sample| !sample.status.is_empty());
    let last = with_status.max_by_key(|sample| sample.ts_ms);
    let last = last.map(|sample| sample.status.clone()).unwrap_or_default();
    let mut newest = samples.into_iter().max_by_key(|sample| sample.ts_ms)?;
    if newest.status.is_empty() {
        newest.status = last;
    }
    Some(newest)
}

/// The power supply after a newest sample, or without data.
fn merge(
    world: &World,
    before: Option<&Ups>,
    newest: Option<UpsSample>,
    with: impl FnOnce(UpsSample, u64, bool) -> Ups,
) -> Ups {
    let now_ns = world.resource::<Clock>().wall_ns;
    match (before, newest) {
        // A sample of a time to come was taken by a clock that was ahead.
        (Some(before), Some(newest))
            if before.latest.ts_ms > newest.ts_ms && before.latest.ts_ms <= now_ns / 1_000_000 =>
        {
            with(before.latest.clone(), before.received_ns, false)
        }
        (_, Some(newest)) => with(newest, now_ns, false),
        (Some(before), None) => Ups { is_stale: true, ..before.clone() },
        // Without data from the start.
        (None, None) => with(UpsSample::default(), 0, true),
    }
}

/// Raises alerts for a battery that takes over, is low, or recovers, for a forced shutdown, an alarm and
/// an overload, and for data that cease or do not come.
fn raise_alerts(world: &mut World, before: Option<&Ups>, after: &Ups) {
    let was = |status| before.is_some_and(|before| before.latest.is(status));
    let is = |status| after.latest.is(status);
    let stale = (before.is_some_and(|before| before.is_stale), after.is_stale);
    let (ob, lb) = (UpsStatus::Ob, UpsStatus::Lb);
    let changes = [
        ("ups-on-battery", is(ob) && !was(ob)),
        ("ups-low-battery", is(lb) && !was(lb)),
        ("ups-on-line", was(ob) && !is(ob)),
        ("ups-battery-recovered", was(lb) && !is(lb)),
        ("ups-forced-shutdown", is(UpsStatus::Fsd) && !was(UpsStatus::Fsd)),
        ("ups-alarm", is(UpsStatus::Alarm) && !was(UpsStatus::Alarm)),
        ("ups-overload", is(UpsStatus::Over) && !was(UpsStatus::Over)),
        ("ups-stale", stale == (false, true)),
    ];
    let charge = after.latest.battery_charge_pct;
    for (about, _) in changes.into_iter().filter(|(_, happened)| *happened) {
        let mut data = vec![("ups_id", after.ups_id.clone())];
        data.extend(charge.map(|pct| ("battery_charge_pct", pct.to_string())));
        data.extend(after.node.map(|node| ("node_id", node.to_string())));
        fleet::alert(world, about, &data);
    }
}

/// Removes a power supply.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveUps {
    /// Name.
    pub ups_id: String,
}
impl Command for RemoveUps {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let index = world.resource::<Index<UpsKind>>();
        let existing = index.get(UpsId::named(&self.ups_id));
        let entity = existing
            .map_err(|_| Refusal::NotFound { kind: UpsKind::NAME, id: self.ups_id.clone() })?;
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for RemoveUps {
    const NAME: &'static str = "power.remove";
    type Reply = ();
}
