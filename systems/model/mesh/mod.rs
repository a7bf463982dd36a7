//! The mesh that a set of planned nodes would be: which links it would have, and what a route over
//! them would carry.
//!
//! Pure functions over borrowed nodes. Nothing here lives in a world: whoever holds a snapshot asks,
//! off the world's thread, and may keep a [`Mesh`] for as long as the nodes stay what they are. Pairs
//! and budgets come from the functions behind the world's own links, so that a plan, once built, is
//! the mesh it said.

mod answer;
mod evaluate;
mod member;
mod route;
#[cfg(test)]
mod tests;

pub use answer::{Gap, PlannedRoute, RouteAnswer, Segment, Summary};
pub(crate) use evaluate::budgets;
pub use evaluate::{Mesh, MeshLink, PAIRS_MAX, mesh};
pub use member::{MEMBERS_MAX, Member, MeshError};
pub(crate) use member::{Pair, Roster};
pub use route::{RouteRequest, route};
