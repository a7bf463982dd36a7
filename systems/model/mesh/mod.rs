//! Mesh of a set of planned nodes: its links, and the rates of routes over them.
//!
//! Pure functions over borrowed nodes. They need a snapshot only, not the world, and run off the
//! world's thread; a [`Mesh`] stays valid while its nodes do not change. Pairs and budgets come
//! from the functions behind the world's own links, so that a plan, once built, has the predicted
//! links.

mod answer;
mod evaluate;
mod member;
mod route;

pub use answer::{Gap, PlannedRoute, RouteAnswer, Segment, Summary};
pub(crate) use evaluate::budgets;
pub use evaluate::{GroundSummary, Mesh, MeshLink, PAIRS_MAX, links_of, mesh};
pub use member::{MEMBERS_MAX, Member, MeshError};
pub(crate) use member::{Pair, Roster};
pub use route::{RouteRequest, route};
