//! State shared by the handlers.

use std::pin::pin;
use std::time::Duration;

use groundwave_engine::{Handle, Recorded, Throttle};
use groundwave_gateway::Snapshot;
use groundwave_http::Problem;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::site::NodeView;
use groundwave_simulation::testbed::{LinkDirection, Means};
use tokio_util::sync::CancellationToken;

use super::wire::Testbed;

/// Maximum wait of a change for the next step of a slow world.
const STEP_WAIT: Duration = Duration::from_secs(1);

/// The controller's parts. Cheap to clone.
#[derive(Clone)]
pub struct Controller {
    world: Handle<Snapshot>,
    throttle: Throttle,
    stop: CancellationToken,
    kernel: Option<Means>,
}

impl Controller {
    /// A controller of `world`, which `throttle` paces; `stop` ends it.
    #[must_use]
    pub fn new(world: Handle<Snapshot>, throttle: Throttle, stop: CancellationToken) -> Self {
        Self { world, throttle, stop, kernel: None }
    }

    /// This controller on a kernel with this capability, which it shows before the world has it.
    #[must_use]
    pub fn on_kernel(mut self, kernel: Option<Means>) -> Self {
        self.kernel = kernel;
        self
    }

    /// The testbed now.
    #[must_use]
    pub fn show(&self) -> Testbed {
        let mut testbed = Testbed::of(&self.world.view());
        testbed.kernel = testbed.kernel.or(self.kernel);
        testbed
    }

    /// Puts a command to the world and waits until it is logged and seen. A paused world takes a
    /// step for it, and so does one whose next step is not near.
    ///
    /// # Errors
    /// What the world refused.
    pub async fn submit<C: Recorded>(&self, command: C) -> Result<C::Reply, Problem> {
        let mut reply = pin!(self.world.submit(command)?.reply());
        if !self.throttle.is_paused() {
            let soon = tokio::time::timeout(STEP_WAIT, &mut reply).await;
            if let Ok(reply) = soon {
                return Ok(reply?);
            }
        }
        self.throttle.step(1);
        Ok(reply.await?)
    }

    /// The node with a short name.
    ///
    /// # Errors
    /// When there is none.
    pub fn node(&self, name: &str) -> Result<NodeId, Problem> {
        let view = self.world.view();
        let assignment = view.testbed.named(name);
        assignment.map(|assignment| assignment.node).ok_or_else(|| no_node(name))
    }

    /// Two nodes.
    ///
    /// # Errors
    /// When one does not exist, and for a node with itself.
    pub fn ends(&self, [from, to]: [&str; 2]) -> Result<(NodeId, NodeId), Problem> {
        if from == to {
            let what = format!("invalid link: found {from:?} at both ends, allowed two nodes");
            return Err(Problem::bad_request(what));
        }
        Ok((self.node(from)?, self.node(to)?))
    }

    /// The direction of a link.
    ///
    /// # Errors
    /// When a node does not exist, or the two have no link at present; then with the nodes that the sender has
    /// links to.
    pub fn direction(&self, names: [&str; 2]) -> Result<LinkDirection, Problem> {
        let (from, to) = self.ends(names)?;
        let testbed = self.show();
        let own = testbed.links.iter().filter(|link| link.from == names[0]);
        let neighbours: Vec<_> = own.map(|link| link.to.as_str()).collect();
        if neighbours.contains(&names[1]) {
            return Ok(LinkDirection { from, to });
        }
        let allowed = match neighbours.is_empty() {
            true => "none, as it has no link at present".to_owned(),
            false => neighbours.join(", "),
        };
        let [from, to] = names;
        let what = format!("invalid link of {from:?}: found {to:?}, allowed {allowed}");
        Err(Problem::bad_request(what))
    }

    /// A node as it is.
    ///
    /// # Errors
    /// When it is gone.
    pub fn look(&self, name: &str) -> Result<NodeView, Problem> {
        let id = self.node(name)?;
        let view = self.world.view();
        view.node(id).cloned().ok_or_else(|| no_node(name))
    }

    /// The node with the lowest number.
    ///
    /// # Errors
    /// When there is none.
    pub fn first(&self) -> Result<NodeView, Problem> {
        let view = self.world.view();
        let first = view.testbed.assignments.iter().min_by_key(|assignment| assignment.number);
        let first = first.and_then(|assignment| view.node(assignment.node)).cloned();
        let what = "the testbed has no node whose station can be taken";
        first.ok_or_else(|| Problem::new(axum::http::StatusCode::CONFLICT, what))
    }

    /// Sets the time scale of the world: simulated seconds per second.
    pub fn pace(&self, speed: f64) {
        self.throttle.set(speed);
    }

    /// Takes steps at once.
    pub fn step(&self, steps: u64) {
        self.throttle.step(steps);
    }

    /// Ends the controller; the network stays as it is.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// The tick the view is of.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.world.view().tick
    }

    /// Waits until the view is of `tick` or later.
    ///
    /// # Errors
    /// When the world ends first.
    pub async fn reached(&self, tick: u64) -> Result<(), Problem> {
        let mut views = self.world.watch();
        let reached = views.wait_for(|view| view.tick >= tick).await;
        reached.map(drop).map_err(|_| Problem::unavailable("the world has stopped"))
    }
}

fn no_node(name: &str) -> Problem {
    Problem::new(axum::http::StatusCode::NOT_FOUND, format!("no node is called {name:?}"))
}
