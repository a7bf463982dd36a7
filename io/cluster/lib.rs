//! Coverage sweeps on an Apache Ballista cluster.
//!
//! Ballista hands out tasks and does nothing else: a job has one stage, whose rows are numbers of
//! units of a [`Plan`](groundwave_sweep::Plan), and whose only function evaluates a unit and puts
//! it into the store as an object named by the digest of plan and place. What a sweep consists of is
//! the plan, the terrain and the units in the store; a job that fails, an executor that dies and a
//! driver that starts again are one case: the units that are missing are asked for again.
//!
//! | Part | Does |
//! | --- | --- |
//! | [`store`] | objects in a folder or an S3 bucket |
//! | [`function`] | the function `evaluate_unit` as the cluster calls it |
//! | [`units`] | its work on an executor: a plan from the store, a unit into it |
//! | [`tiles`] | files of terrain near the units of an executor |
//! | [`job`] | a plan of one stage, sent, watched, cancelled |
//! | [`driver`] | asks for missing units until none is missing, and takes them into a folder |
//! | [`scheduler`], [`executor`], [`status`] | the processes |
#![cfg(feature = "ballista")]

pub mod driver;
pub mod executor;
mod failed;
pub mod function;
pub mod job;
pub mod keys;
mod missing;
pub mod scheduler;
pub mod status;
pub mod store;
pub mod tiles;
pub mod units;

pub use driver::{Driven, Driver, DriverError};
pub use job::Address;
pub use store::{Store, StoreError};
pub use tiles::{Ground, OpenGround};
pub use units::Units;
