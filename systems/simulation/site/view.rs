//! Views of nodes and the environment.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use groundwave_model::id::{NodeId, NodeKind};
use groundwave_model::radio::{Environment, Role, Station};
use groundwave_model::terrain::GeoPoint;
use serde::Serialize;
use uuid::Uuid;

use super::components::{Label, OperState, Position, StationConfig, WorldEnvironment};
use super::planned::InDeployment;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeView {
    pub id: NodeId,
    /// Display name.
    pub name: String,
    pub role: Role,
    /// Position, WGS84.
    pub position: GeoPoint,
    /// Station: radio, antenna, height and pointing.
    pub station: Station,
    /// `true` if it runs; a failed node carries no traffic.
    pub operating: bool,
}

/// A text in which ids of nodes are replaced by their names in quotes, where `name` has one.
pub fn with_names<'n>(text: &str, name: impl Fn(NodeId) -> Option<&'n str>) -> String {
    let is_part = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, word) = rest.split_at(start);
        let (word, after) =
            word.split_at(word.find(|letter| !is_part(letter)).unwrap_or(word.len()));
        out += before;
        match Uuid::try_parse(word).ok().and_then(|uuid| name(NodeId::new(uuid))) {
            Some(name) => out += &format!("{name:?}"),
            None => out += word,
        }
        rest = after;
    }
    out + rest
}

type NodeChanged =
    Or<(Changed<Position>, Changed<StationConfig>, Changed<OperState>, Changed<Label>)>;

/// Redraws the node section when any node of the running mesh changed or came, or any node went.
pub(super) fn publish_nodes(
    index: Res<Index<NodeKind>>,
    changed: Query<(), (NodeChanged, Without<InDeployment>)>,
    nodes: Query<(&Label, &Position, &StationConfig, &OperState), Without<InDeployment>>,
    mut section: ResMut<Section<Vec<NodeView>>>,
) {
    if changed.is_empty() && index.departed().is_empty() {
        return;
    }
    let view = |(id, entity)| {
        // Planned nodes have a section of their own.
        let (label, position, standing, operating) = nodes.get(entity).ok()?;
        Some(NodeView {
            id,
            name: label.name.clone(),
            role: label.role,
            position: position.0,
            station: standing.0.clone(),
            operating: operating.0,
        })
    };
    section.redraw(index.iter().filter_map(view).collect());
}

pub(super) fn publish_environment(
    air: Res<WorldEnvironment>,
    mut section: ResMut<Section<Environment>>,
) {
    if air.is_changed() {
        section.redraw(air.0.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_names_and_other_words_stay() {
        let north = NodeId::from_u128(7);
        let name = |id| (id == north).then_some("north");
        let other = NodeId::from_u128(8);
        let text = format!("ids {north}, {other} and {north}/cafe-7");
        let expected = format!("ids \"north\", {other} and \"north\"/cafe-7");
        assert_eq!(with_names(&text, name), expected);
        assert_eq!(with_names("", name), "");
    }
}
