//! Records of the fleet: admission, registration ahead, removal.

use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Refusal};
use groundwave_protocol::PublicKey;
use groundwave_simulation::site::{Enrolled, Label, NODES_MAX, NodeId, NodeKind};

use super::components::{
    Deregistered, LastHeartbeat, LatestReadings, LivenessState, NodeInfo, NodeRecord,
    Preregistration,
};
use super::event::{self, EventBuffer, FleetEventKind};
use super::gateway_clock::GatewayClock;
use super::liveness::{Liveness, LivenessRules};
use super::{MeshEdges, NodeCommands, RecentSamples};
use crate::identity::{Registration, RegistrationId};

/// `true` for the name of a role: 1 to 64 of `a-z 0-9 _ -`.
pub(super) fn is_role(name: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

/// Maximum number of tags of a node.
const TAGS_MAX: usize = 32;

/// Checks tags.
///
/// # Errors
/// [`Refusal::Invalid`] unless there are up to 32, each of 1 to 64 characters that show.
pub fn check_tags(tags: &[String]) -> Result<(), Refusal> {
    let unfit = |tag: &&String| {
        !(1..=64).contains(&tag.chars().count()) || tag.chars().any(char::is_control)
    };
    if let Some(tag) = tags.iter().find(unfit) {
        let allowed = "1 to 64 characters, none of them a control character";
        return Err(Refusal::invalid("tags", format!("{tag:?}"), allowed));
    }
    if tags.len() > TAGS_MAX {
        return Err(Refusal::invalid("tags", tags.len(), format!("up to {TAGS_MAX}")));
    }
    Ok(())
}

/// Entity of a node, spawned where there is none.
fn entity(world: &mut World, node: NodeId) -> Result<Entity, Refusal> {
    let index = world.resource::<Index<NodeKind>>();
    if let Ok(entity) = index.get(node) {
        return Ok(entity);
    }
    if index.len() >= NODES_MAX {
        return Err(Refusal::conflict(format!("the world has {NODES_MAX} nodes, the maximum")));
    }
    Ok(world.spawn(node).id())
}

/// Initial attributes: the planned name, else the host name.
fn fresh(world: &World, entity: Entity, name: &str) -> NodeInfo {
    let planned = world.get::<Label>(entity);
    NodeInfo {
        name: planned.map_or(name, |label| &label.name).to_owned(),
        role_id: None,
        tags: Vec::new(),
        registration: None,
        mac: None,
        hostname: None,
        public_key: None,
        overlay_ip: None,
        preregistration: None,
        location: None,
        board: None,
        firmware: BTreeMap::new(),
        supported_commands: Vec::new(),
        settings: BTreeMap::new(),
        created_ns: world.resource::<Clock>().wall_ns,
        revision: 0,
    }
}

pub(super) fn get(world: &World, entity: Entity) -> Option<NodeInfo> {
    let membership = world.get::<NodeRecord>(entity)?;
    Some(NodeInfo::clone(&membership.0))
}

pub(super) fn put(world: &mut World, entity: Entity, mut record: NodeInfo) {
    record.revision += 1;
    let mut entity = world.entity_mut(entity);
    entity.remove::<Deregistered>();
    entity.insert(NodeRecord(Arc::new(record)));
}

/// Admits a registration as `node`; returns the previous registration of that node.
pub(crate) fn admit(
    world: &mut World,
    node: NodeId,
    registration: RegistrationId,
    request: &Registration,
    ip: Ipv4Addr,
) -> Result<Option<RegistrationId>, Refusal> {
    let entity = entity(world, node)?;
    let mut record =
        get(world, entity).unwrap_or_else(|| fresh(world, entity, &request.claims.hostname));
    let before = record.registration.replace(registration);
    record.mac = Some(request.claims.mac);
    record.hostname = Some(request.claims.hostname.clone());
    record.public_key = Some(request.public_key);
    record.overlay_ip = Some(ip);
    record.preregistration = None;
    put(world, entity, record);
    let rules = *world.resource::<LivenessRules>();
    let now_ns = world.resource::<GatewayClock>().now_ns;
    let liveness = Liveness::new(now_ns.max(rules.begun_ns));
    world.entity_mut(entity).insert(LivenessState(Arc::new(liveness)));
    let data = serde_data(node, "approved");
    event::push(world, FleetEventKind::Registration, data);
    Ok(before)
}

/// Adds tags to a node that was admitted; those that it has stay.
pub(crate) fn tag(world: &mut World, node: NodeId, tags: &[String]) -> Result<(), Refusal> {
    let entity = entity(world, node)?;
    if let Some(mut record) = get(world, entity).filter(|_| !tags.is_empty()) {
        record.tags.extend(tags.iter().cloned());
        record.tags.sort();
        record.tags.dedup();
        record.tags.truncate(TAGS_MAX);
        put(world, entity, record);
    }
    Ok(())
}

fn serde_data(node: NodeId, state: &str) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("node_id".to_owned(), node.to_string()),
        ("state".to_owned(), state.to_owned()),
    ])
}

/// Attributes of an event of a registration without a node.
fn registration_data(
    registration: RegistrationId,
    request: &Registration,
) -> BTreeMap<String, String> {
    let claims = &request.claims;
    let data = [
        ("registration_id", registration.to_string()),
        ("state", request.state.word().to_owned()),
        ("hostname", claims.hostname.clone()),
        ("mac", claims.mac.to_string()),
    ];
    data.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Adds the event of a registration that waits for a decision.
pub(crate) fn waits(world: &mut World, registration: RegistrationId, request: &Registration) {
    let data = registration_data(registration, request);
    event::push(world, FleetEventKind::Registration, data);
}

/// Adds the event of a registration that expired without a decision.
pub(crate) fn expired(
    events: &mut EventBuffer,
    at_ns: u64,
    registration: RegistrationId,
    request: &Registration,
) {
    events.registration(at_ns, registration_data(registration, request));
}

/// Adds the event of a rejected registration.
pub(crate) fn rejected(world: &mut World, registration: RegistrationId, request: &Registration) {
    let reason = request.decision.as_ref().and_then(|decision| decision.reason.clone());
    let mut data = registration_data(registration, request);
    data.insert("reason".to_owned(), reason.unwrap_or_default());
    event::push(world, FleetEventKind::Registration, data);
}

/// Adds an alert to the events: subject and attributes.
pub(crate) fn alert(world: &mut World, about: &str, data: &[(&str, String)]) {
    let at_ns = world.resource::<Clock>().wall_ns;
    world.resource_mut::<EventBuffer>().alert(at_ns, about, data);
}

/// Registers a node ahead of its request.
pub(crate) fn expect(
    world: &mut World,
    node: NodeId,
    name: String,
    role_id: Option<String>,
    tags: Vec<String>,
    preregistration: Preregistration,
) -> Result<(), Refusal> {
    let entity = entity(world, node)?;
    let existing = get(world, entity);
    if existing.as_ref().is_some_and(|existing| existing.registration.is_some()) {
        return Err(Refusal::conflict("that node is in already: rotate its credentials instead"));
    }
    let mut record = existing.unwrap_or_else(|| fresh(world, entity, &name));
    record.name = name;
    record.role_id = role_id;
    record.tags = tags;
    record.mac = Some(preregistration.mac);
    record.public_key = preregistration.public_key;
    record.preregistration = Some(preregistration);
    put(world, entity, record);
    Ok(())
}

/// Nodes that are registered ahead, with what is expected of them.
fn expected(world: &World) -> impl Iterator<Item = (NodeId, &Preregistration)> {
    let index = world.resource::<Index<NodeKind>>();
    index.iter().filter_map(|(id, entity)| {
        let record = world.get::<NodeRecord>(entity)?;
        record.0.preregistration.as_ref().map(|expected| (id, expected))
    })
}

/// Node that is registered ahead with this key.
pub(crate) fn expected_with_key(world: &World, key: PublicKey) -> Option<NodeId> {
    let mut nodes = expected(world).filter(|(_, expected)| expected.public_key == Some(key));
    nodes.next().map(|(id, _)| id)
}

/// Overlay addresses of nodes that are registered ahead, with their nodes.
pub(crate) fn reserved_ips(world: &World) -> impl Iterator<Item = (Ipv4Addr, NodeId)> {
    expected(world).filter_map(|(id, expected)| Some((expected.overlay_ip?, id)))
}

/// Changes name and role of a node, if it exists.
pub(crate) fn rename(
    world: &mut World,
    node: NodeId,
    name: Option<String>,
    role_id: Option<String>,
) {
    let Ok(entity) = world.resource::<Index<NodeKind>>().get(node) else { return };
    let Some(mut record) = get(world, entity) else {
        return;
    };
    if name.is_none() && role_id.is_none() {
        return;
    }
    record.name = name.unwrap_or(record.name);
    record.role_id = role_id.or(record.role_id);
    put(world, entity, record);
}

/// True for a node that has this name and role, where they are given.
pub(crate) fn is_named(
    world: &World,
    node: NodeId,
    name: Option<&str>,
    role_id: Option<&str>,
) -> bool {
    let entity = world.resource::<Index<NodeKind>>().get(node).ok();
    entity.and_then(|entity| get(world, entity)).is_none_or(|record| {
        name.is_none_or(|name| record.name == name)
            && role_id.is_none_or(|role_id| record.role_id.as_deref() == Some(role_id))
    })
}

/// Records the host name that a node has now; its display name stays.
pub(super) fn set_hostname(world: &mut World, entity: Entity, hostname: &str) {
    let Some(node) = world.get::<NodeRecord>(entity) else { return };
    if node.0.hostname.as_deref() != Some(hostname) {
        let record = NodeInfo { hostname: Some(hostname.to_owned()), ..NodeInfo::clone(&node.0) };
        put(world, entity, record);
    }
}

/// Records the host name with which an admitted node requested again.
pub(crate) fn rename_host(world: &mut World, node: NodeId, hostname: &str) {
    if let Ok(entity) = world.resource::<Index<NodeKind>>().get(node) {
        set_hostname(world, entity, hostname);
    }
}

/// Removes the overlay address of a node that stays known.
pub(crate) fn lock_out(world: &mut World, node: NodeId) {
    let Ok(entity) = world.resource::<Index<NodeKind>>().get(node) else { return };
    if let Some(mut record) = get(world, entity) {
        record.overlay_ip = None;
        put(world, entity, record);
        event::push(world, FleetEventKind::Registration, serde_data(node, "revoked"));
    }
}

/// Registration of a node of the fleet.
pub(crate) fn registration_of(
    world: &World,
    node: NodeId,
) -> Result<Option<RegistrationId>, Refusal> {
    let entity = world.resource::<Index<NodeKind>>().get(node)?;
    let record = world.get::<NodeRecord>(entity);
    let unknown = || Refusal::NotFound { kind: "node", id: node.to_string() };
    Ok(record.ok_or_else(unknown)?.0.registration)
}

/// Removes a node from the fleet. A planned node stays planned.
pub(crate) fn dismiss(world: &mut World, node: NodeId) {
    let Ok(entity) = world.resource::<Index<NodeKind>>().get(node) else { return };
    let data = serde_data(node, "gone");
    event::push(world, FleetEventKind::Registration, data);
    if world.get::<Label>(entity).is_none() {
        world.despawn(entity);
        return;
    }
    let mut entity = world.entity_mut(entity);
    entity.remove::<(
        NodeRecord,
        Enrolled,
        LivenessState,
        LastHeartbeat,
        LatestReadings,
        RecentSamples,
        NodeCommands,
        MeshEdges,
    )>();
    entity.insert(Deregistered);
}
