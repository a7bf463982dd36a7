//! The device of a program without one.

use std::sync::Arc;

use groundwave_model::coverage::KnownLoss;

use super::adapter::{Adapter, Adapters, DeviceFailure, Unavailable};
use super::scene::Scene;
use super::server_tables::{ServerBlock, ServerTables};
use super::tables::Tables;

/// A device that is never there.
#[derive(Debug)]
pub enum Device {}

/// Posts on a device that is never there.
#[derive(Debug)]
pub enum DeviceScene {}

impl Device {
    /// Opens an adapter.
    ///
    /// # Errors
    /// Always [`Unavailable::NotBuilt`].
    pub fn open(_: Adapters) -> Result<Self, Unavailable> {
        Err(Unavailable::NotBuilt)
    }

    /// The adapter.
    #[must_use]
    pub fn adapter(&self) -> &Adapter {
        match *self {}
    }

    pub(super) fn posts_max(&self) -> u64 {
        match *self {}
    }

    pub(super) fn upload(&self, _: &Scene) -> Result<Arc<DeviceScene>, DeviceFailure> {
        match *self {}
    }

    pub(super) fn run(
        &self,
        _: &DeviceScene,
        _: &Tables,
        _: &mut [KnownLoss],
    ) -> Result<(), DeviceFailure> {
        match *self {}
    }

    pub(super) fn run_only(&self, _: &DeviceScene, _: &Tables) -> Result<(), DeviceFailure> {
        match *self {}
    }

    pub(super) fn run_servers(
        &self,
        _: &DeviceScene,
        _: &Tables,
        _: &ServerTables,
    ) -> Result<ServerBlock, DeviceFailure> {
        match *self {}
    }
}
