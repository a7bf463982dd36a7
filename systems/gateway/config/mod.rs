//! Configuration objects: networks, zones, flows and their like, which people define and change.
//!
//! A kind of object is a component with the trait [`ConfigObject`]; [`config_object`] registers its
//! commands `KIND.put` and `KIND.remove`, its document and its section of the snapshot. Bounds,
//! unique names, references and revisions are checked here, once for all kinds.

mod commands;
mod document;
mod object;
mod reference;
#[cfg(test)]
mod tests;
mod view;

use groundwave_engine::{Builder, Phase};

use crate::dependents;

pub use commands::{Expected, Put, Remove};
pub use document::ConfigDocument;
pub(crate) use object::Stamp;
pub use object::{ConfigObject, Reference, Versioned, WithoutNode, all, find, revision};
pub use view::ConfigObjects;

/// Objects of the kind `T`.
pub fn config_object<T: ConfigObject>(engine: &mut Builder) {
    reference::register::<T>(engine.world());
    dependents::register(engine.world(), commands::detach::<T>);
    engine
        .kind::<T>()
        .section::<ConfigObjects<T>>()
        .command::<Put<T>>()
        .command::<Remove<T>>()
        .document::<ConfigDocument<T>>()
        .systems(Phase::Publish, view::publish_objects::<T>);
}
