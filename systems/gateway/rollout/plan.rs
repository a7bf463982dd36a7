//! Images of firmware by their digests; roll-outs: image, stages and nodes, and how far each node is.

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Index, Kind, Refusal};
use groundwave_simulation::site::{NODES_MAX, NodeId, NodeKind};
use groundwave_values::bounds::{BadValue, explain_all};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::automation::{TimeWindow, check_window, in_window};
use crate::config::{self, ConfigObject, all};
use crate::fleet::{NodeInfo, NodeRecord};

/// Kind of the node command that installs an image, and component of a node's firmware that an image
/// is a version of.
pub const FIRMWARE: &str = "firmware";

/// Maximum size of an image, bytes.
pub const IMAGE_BYTES_MAX: u64 = 512 << 20;

/// An image of firmware. Written by `firmware_image.put`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct FirmwareImage {
    /// Version, unique for its board: what nodes report once they run it.
    #[garde(length(chars, min = 1, max = 64))]
    pub version: String,
    /// SHA-256 of the image, hexadecimal.
    #[garde(length(bytes, min = 64, max = 64))]
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub sha256: String,
    /// Size, bytes.
    #[garde(range(min = 1, max = IMAGE_BYTES_MAX))]
    pub size_bytes: u64,
    /// Board that it is for, as nodes report theirs; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, min = 1, max = 128))]
    pub board: Option<String>,
}

impl Kind for FirmwareImage {
    const NAME: &'static str = "firmware image";
}

impl FirmwareImage {
    /// `true` if it may be installed on this node.
    #[must_use]
    pub fn fits(&self, node: &NodeInfo) -> bool {
        self.board.is_none() || self.board == node.board
    }
}

impl ConfigObject for FirmwareImage {
    const KIND: &'static str = "firmware_image";
    const COUNT_MAX: usize = 64;

    fn name(&self) -> Option<&str> {
        Some(&self.version)
    }

    /// A version is built for several boards, an image for each.
    fn is_duplicate(&self, other: &Self) -> bool {
        self.version == other.version && self.board == other.board
    }

    fn check_removal(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let uses = |rollout: &Rollout| {
            let needed = [Some(rollout.image), rollout.rollback_image];
            rollout.state.is_open() && needed.contains(&Some(id))
        };
        match all::<Rollout>(world).find(|(_, rollout)| uses(rollout)) {
            Some((id, _)) => Err(Refusal::conflict(format!(
                "this firmware image is in use: roll-out {id} goes on"
            ))),
            None => Ok(()),
        }
    }
}

/// Nodes of a stage and those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RolloutStage {
    /// That many nodes.
    Nodes(u32),
    /// That share of all nodes, %, rounded up.
    Percent(u8),
}

impl RolloutStage {
    /// Number of nodes, of `all`.
    #[must_use]
    pub fn count(self, all: usize) -> usize {
        let count = match self {
            Self::Nodes(count) => count as usize,
            Self::Percent(percent) => (all * usize::from(percent)).div_ceil(100),
        };
        count.clamp(1, all.max(1))
    }
}

/// State of a roll-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RolloutState {
    /// Goes on, stage by stage.
    Running,
    /// All nodes run the image, but for failures within the limit.
    Done,
    /// Takes its nodes back to the image before.
    RollingBack,
    /// Nodes were taken back, as far as they followed.
    RolledBack,
    /// Stopped by failures, without an image to take nodes back to.
    Stopped,
    /// Stopped by an admin.
    Cancelled,
}

impl RolloutState {
    /// `true` while it commands nodes.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Running | Self::RollingBack)
    }
}

/// Progress of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum NodeProgress {
    /// The stage of the node has not begun.
    Waiting,
    /// Commanded to install the image.
    Installing {
        /// Time of the command, ns since the Unix epoch.
        since_ns: u64,
    },
    /// Reports the version; its heartbeats are watched.
    Watched {
        /// Time of the command, ns since the Unix epoch.
        since_ns: u64,
        /// Time since which it is online with the version, ns since the Unix epoch; 0 while it is not.
        healthy_ns: u64,
    },
    /// Runs the image, with heartbeats for the required time.
    Healthy,
    /// Does not run the image.
    Failed {
        /// Reason.
        reason: String,
    },
    /// Commanded to install the image before.
    Reverting {
        /// Time of the command, ns since the Unix epoch.
        since_ns: u64,
    },
    /// Runs the image before.
    Reverted,
    /// Could not be taken back to the image before.
    Stuck {
        /// Reason.
        reason: String,
    },
}

/// A node of a roll-out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RolloutNode {
    /// Node.
    #[schemars(with = "uuid::Uuid")]
    pub node: NodeId,
    /// Version that it reported before.
    pub before: Option<String>,
    /// Progress.
    pub progress: NodeProgress,
    /// Reason why it did not run the image; it stays when the node is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl RolloutNode {
    /// A node whose stage has not begun, with the version that it reports.
    #[must_use]
    pub const fn new(node: NodeId, before: Option<String>) -> Self {
        Self { node, before, progress: NodeProgress::Waiting, failure: None }
    }

    /// `true` if it did not run the image.
    #[must_use]
    pub const fn has_failed(&self) -> bool {
        self.failure.is_some() || matches!(self.progress, NodeProgress::Failed { .. })
    }
}

/// A roll-out. Written by `rollout.put`, `rollout.cancel` and `advance_rollouts`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Rollout {
    /// Image.
    #[garde(skip)]
    #[schemars(with = "uuid::Uuid")]
    pub image: Id<FirmwareImage>,
    /// Image that nodes are taken back to.
    #[garde(skip)]
    #[schemars(with = "Option<uuid::Uuid>")]
    pub rollback_image: Option<Id<FirmwareImage>>,
    /// Stages, each with at least the nodes of the one before.
    #[garde(length(min = 1, max = 16))]
    pub stages: Vec<RolloutStage>,
    /// Share of failed nodes among the begun ones above which it stops, %.
    #[garde(range(min = 0, max = 99))]
    pub failures_max_percent: u8,
    /// Time for a node to report the version and be healthy, s.
    #[garde(range(min = 60, max = 86_400))]
    pub install_within_s: u32,
    /// Time of heartbeats with the version after which a node is healthy, s.
    #[garde(range(min = 0, max = 86_400))]
    pub healthy_s: u32,
    /// Times at which nodes may begin to install; always if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub window: Option<TimeWindow>,
    /// Number of retries so far.
    #[serde(default, skip_serializing_if = "is_first")]
    #[garde(skip)]
    pub retries: u32,
    /// Reasons of failures stay with nodes that are taken back; not in roll-outs that were recorded
    /// before there was this.
    #[serde(default, skip_serializing_if = "is_false")]
    #[garde(skip)]
    pub has_reasons: bool,
    /// Account that began it.
    #[garde(skip)]
    pub by: String,
    /// State.
    #[garde(skip)]
    pub state: RolloutState,
    /// Stage that it is in, from 0.
    #[garde(skip)]
    pub stage: u32,
    /// Nodes in the order in which they get the image.
    #[garde(length(min = 1, max = NODES_MAX))]
    pub nodes: Vec<RolloutNode>,
}

impl Kind for Rollout {
    const NAME: &'static str = "roll-out";
}

impl Rollout {
    /// Number of nodes whose stage has begun.
    #[must_use]
    pub fn begun(&self) -> usize {
        let stage = self.stages.get(self.stage as usize).or(self.stages.last());
        stage.map_or(0, |stage| stage.count(self.nodes.len()))
    }

    /// Number of nodes that did not run the image, also of those that were taken back.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.nodes.iter().filter(|one| one.has_failed()).count()
    }

    /// Refuses nodes of another roll-out that goes on.
    pub(super) fn check_alone(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let mut others = all::<Self>(world)
            .filter(|(other, other_rollout)| *other != id && other_rollout.state.is_open());
        let conflict = others.find_map(|(other, other_rollout)| {
            other_rollout
                .nodes
                .iter()
                .any(|one| self.nodes.iter().any(|own| own.node == one.node))
                .then_some(other)
        });
        match conflict {
            Some(other) => {
                Err(Refusal::conflict(format!("roll-out {other} goes on with some of these nodes")))
            }
            None => Ok(()),
        }
    }

    /// `true` if nodes may begin to install at `now_ns`, ns since the Unix epoch.
    pub(super) fn is_in_window(&self, now_ns: u64) -> bool {
        let window = self.window.as_ref();
        // It was checked when it was put.
        window.is_none_or(|window| in_window(window, now_ns / 1_000_000).unwrap_or(false))
    }
}

const fn is_first(retries: &u32) -> bool {
    *retries == 0
}

const fn is_false(value: &bool) -> bool {
    !*value
}

/// Refuses nodes that are unknown, cannot install images or have another board.
pub(super) fn check_node(
    world: &World,
    image: &FirmwareImage,
    at: usize,
    node: NodeId,
) -> Result<(), Refusal> {
    let entity = world.resource::<Index<NodeKind>>().get(node)?;
    let refused = |allowed: &str| Refusal::invalid(format!("nodes[{at}]"), node, allowed);
    let record = world.get::<NodeRecord>(entity).ok_or_else(|| refused("a node of the fleet"))?;
    if !record.0.supported_commands.iter().any(|kind| kind == FIRMWARE) {
        return Err(refused("a node whose agent installs firmware"));
    }
    match image.fits(&record.0) {
        true => Ok(()),
        false => Err(refused("a node with the board of the image")),
    }
}

impl Rollout {
    /// Refuses what no roll-out of these images can be: for requests, also those that begin none.
    ///
    /// # Errors
    /// The first value that is not allowed.
    pub fn check_plan(
        &self,
        image: &FirmwareImage,
        before: Option<&FirmwareImage>,
    ) -> Result<(), Refusal> {
        if let Err(report) = self.validate()
            && let Some(BadValue { key, found, allowed }) =
                explain_all(self, &report).into_iter().next()
        {
            return Err(Refusal::invalid(key, found, allowed));
        }
        for (at, stage) in self.stages.iter().enumerate() {
            let (key, actual, allowed) = match *stage {
                RolloutStage::Nodes(0) => ("nodes", 0, format!("1 to {NODES_MAX}")),
                RolloutStage::Percent(percent @ (0 | 101..)) => {
                    ("percent", percent, "1 to 100".to_owned())
                }
                _ => continue,
            };
            return Err(Refusal::invalid(format!("stages[{at}].{key}"), actual, allowed));
        }
        self.check_own(image, before)
    }

    /// Refuses images, stages and times that do not go together.
    fn check_own(
        &self,
        image: &FirmwareImage,
        before: Option<&FirmwareImage>,
    ) -> Result<(), Refusal> {
        if let Some(before) = before.filter(|before| before.version == image.version) {
            return Err(Refusal::invalid(
                "rollback_image_id",
                &before.version,
                "another image than that of the roll-out",
            ));
        }
        let counts: Vec<usize> =
            self.stages.iter().map(|stage| stage.count(self.nodes.len())).collect();
        if !counts.is_sorted() {
            return Err(Refusal::invalid(
                "stages",
                format!("{counts:?} nodes"),
                "ascending numbers",
            ));
        }
        if let Some(window) = &self.window {
            check_window(window).map_err(|(field, found, allowed)| {
                Refusal::invalid(format!("window.{field}"), found, allowed)
            })?;
        }
        Ok(())
    }
}

impl ConfigObject for Rollout {
    const KIND: &'static str = "rollout";
    const COUNT_MAX: usize = 200;

    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let image_of = |key: &str, id: Id<FirmwareImage>| {
            let image = config::find(world, id);
            image.ok_or_else(|| Refusal::invalid(key, id, "the id of an existing firmware image"))
        };
        let own = image_of("image_id", self.image)?;
        let before = self.rollback_image.map(|before| image_of("rollback_image_id", before));
        self.check_own(own, before.transpose()?)?;
        for (at, one) in self.nodes.iter().enumerate() {
            check_node(world, own, at, one.node)?;
        }
        self.check_alone(id, world)
    }

    fn check_removal(&self, _: Id<Self>, _: &World) -> Result<(), Refusal> {
        match self.state.is_open() {
            true => Err(Refusal::conflict("this roll-out goes on: cancel it first")),
            false => Ok(()),
        }
    }
}
