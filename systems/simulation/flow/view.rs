//! Views of flows.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use groundwave_model::route::Route;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{Flow, FlowId, FlowKind, FlowRoute, FlowShare};
use crate::site::NodeId;

/// A flow, its route and what it carries.
///
/// The binary form, which digests are made of, has no share of the air, which follows from the other fields of
/// the snapshot: logs of version 0.1.0 replay to their digests.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowView {
    pub id: FlowId,
    /// Display name.
    pub name: String,
    /// Source node.
    pub source: NodeId,
    /// Destination node.
    pub target: NodeId,
    /// Required rate, bit/s.
    pub rate_bps: f64,
    /// Present route; `None` while there is none.
    pub route: Option<Route>,
    /// Traffic that it carries beside all other flows.
    pub share: FlowShare,
}

impl FlowView {
    /// `true` if all that is offered arrives.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.share.carried_bps >= self.rate_bps
    }

    /// Rate that is offered and does not arrive, bit/s.
    #[must_use]
    pub fn lost_bps(&self) -> f64 {
        self.rate_bps - self.share.carried_bps
    }
}

impl Serialize for FlowView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_text = serializer.is_human_readable();
        let mut out = serializer.serialize_struct("FlowView", if is_text { 11 } else { 6 })?;
        out.serialize_field("id", &self.id)?;
        out.serialize_field("name", &self.name)?;
        out.serialize_field("source", &self.source)?;
        out.serialize_field("target", &self.target)?;
        out.serialize_field("rate_bps", &self.rate_bps)?;
        out.serialize_field("route", &self.route)?;
        if is_text {
            out.serialize_field("carried_bps", &self.share.carried_bps)?;
            out.serialize_field("lost_bps", &self.lost_bps())?;
            out.serialize_field("is_met", &self.is_met())?;
            out.serialize_field("bottleneck", &self.share.bottleneck)?;
            out.serialize_field("queue_wait_estimate_s", &self.share.queue_wait_s)?;
        }
        out.end()
    }
}

/// Redraws the flow section when any flow, route or share changed, came or went.
pub(super) fn publish_flows(
    index: Res<Index<FlowKind>>,
    changed: Query<(), Or<(Changed<Flow>, Changed<FlowRoute>, Changed<FlowShare>)>>,
    flows: Query<(&Flow, &FlowRoute, &FlowShare)>,
    mut section: ResMut<Section<Vec<FlowView>>>,
) {
    if !index.is_changed() && changed.is_empty() {
        return;
    }
    let view = |(id, entity)| {
        let (flow, route, share) =
            flows.get(entity).expect("every indexed flow has its components");
        FlowView {
            id,
            name: flow.name.clone(),
            source: flow.source,
            target: flow.target,
            rate_bps: flow.rate_bps,
            route: route.0.clone(),
            share: *share,
        }
    };
    section.redraw(index.iter().map(view).collect());
}
