//! Roles of nodes.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Kind, Refusal};
use groundwave_model::radio::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::components::NodeRecord;
use super::record::is_role;
use crate::config::{ConfigObject, ConfigObjects, Versioned, all, find};

/// Role of nodes. Written by `node_role.put`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct NodeRole {
    /// Name, unique: `gateway`, `relay`, `edge`, `sensor`, `camera` or another of a-z 0-9 _ -.
    #[garde(length(chars, min = 1, max = 64))]
    #[schemars(regex(pattern = r"^[a-z0-9_-]+$"))]
    pub name: String,
    /// Capabilities that nodes of the role should report, such as `gps`.
    #[serde(default)]
    #[garde(length(max = 32), inner(length(chars, min = 1, max = 64)))]
    pub capabilities: Vec<String>,
    /// Colour on maps, `#rrggbb`.
    #[serde(default)]
    #[garde(skip)]
    #[schemars(regex(pattern = r"^#[0-9A-Fa-f]{6}$"))]
    pub color: Option<String>,
    /// Role of planned nodes that corresponds to it.
    #[serde(default)]
    #[garde(skip)]
    pub plan_role: Option<Role>,
}

impl Kind for NodeRole {
    const NAME: &'static str = "node role";
}

/// `true` if `named`, the role of a node, is this role: by its id or its name.
fn is_of(id: Id<NodeRole>, role: &NodeRole, named: &str) -> bool {
    named == role.name || named.parse() == Ok(id.uuid())
}

/// `true` if two nodes with these roles have the same one: by its id or its name, or the same word.
#[must_use]
pub fn is_same_role(roles: &ConfigObjects<NodeRole>, one: &str, other: &str) -> bool {
    let is_both = |(id, role): (Id<NodeRole>, &Arc<Versioned<NodeRole>>)| {
        is_of(id, &role.object, one) && is_of(id, &role.object, other)
    };
    one == other || roles.iter().any(is_both)
}

/// A node with a role, by the name of the node.
fn node_with<'w>(world: &'w World, id: Id<NodeRole>, role: &NodeRole) -> Option<&'w str> {
    let mut nodes = world.try_query::<&NodeRecord>()?;
    let records = nodes.iter(world).map(|record| &record.0);
    let of_role = records.filter(|record| {
        let named = record.role_id.as_deref();
        named.is_some_and(|named| is_of(id, role, named))
    });
    // Of several the first by name, whatever the order of the table.
    of_role.map(|record| record.name.as_str()).min()
}

impl ConfigObject for NodeRole {
    const KIND: &'static str = "node_role";

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        if !is_role(&self.name) {
            let name = format!("{:?}", self.name);
            return Err(Refusal::invalid("name", name, "1 to 64 of a-z 0-9 _ -"));
        }
        let is_color = |text: &String| {
            let digits = text.strip_prefix('#');
            digits.is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        if let Some(color) = self.color.as_ref().filter(|color| !is_color(color)) {
            return Err(Refusal::invalid("color", format!("{color:?}"), "#rrggbb"));
        }
        // Nodes may have a role by its name.
        match find(world, id) {
            Some(before) if before.name != self.name => before.check_removal(id, world),
            _ => Ok(()),
        }
    }

    fn check_removal(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        match node_with(world, id, self) {
            None => Ok(()),
            Some(node) => Err(Refusal::conflict(format!(
                "the node role {:?} is in use: the node {node:?} has it",
                self.name
            ))),
        }
    }
}

/// Checks the role of a node: once roles are defined, it is the id or the name of one.
///
/// # Errors
/// [`Refusal::Invalid`] for other characters than `a-z 0-9 _ -`, more than 64 of them, or a role
/// that is not defined.
pub fn check_role(world: &World, role_id: Option<&str>) -> Result<(), Refusal> {
    let Some(named) = role_id else { return Ok(()) };
    let name = format!("{named:?}");
    if !is_role(named) {
        return Err(Refusal::invalid("role_id", name, "1 to 64 of a-z 0-9 _ -"));
    }
    let mut roles = all::<NodeRole>(world).peekable();
    if roles.peek().is_none() || roles.any(|(id, role)| is_of(id, role, named)) {
        return Ok(());
    }
    let names: Vec<_> = all::<NodeRole>(world).map(|(_, role)| role.name.as_str()).collect();
    let allowed = format!("the id or name of a node role: {}", names.join(", "));
    Err(Refusal::invalid("role_id", name, allowed))
}
