//! Routes: what a hop costs, which walk costs least, and what the walk carries.
//!
//! Pure functions of links; the world's flows and readers of a snapshot use the same ones.

mod adjacency;
mod dijkstra;
mod graph;
mod metric;
mod summary;

pub use adjacency::Adjacency;
pub use dijkstra::{Tree, shortest};
pub use graph::{Edge, Graph};
pub use metric::Cost;
pub use metric::Metric;
pub use summary::{Hop, Route, find};

#[cfg(test)]
mod tests;
