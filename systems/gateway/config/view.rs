//! Views of configuration objects.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Index, Section};
use groundwave_values::persistent::PersistentMap;
use serde::ser::{Serialize, Serializer};

use super::object::{ConfigObject, Stamp, Versioned};

/// Objects of one kind, in id order.
#[derive(Debug, Clone)]
pub struct ConfigObjects<T: ConfigObject>(PersistentMap<Id<T>, Arc<Versioned<T>>>);

impl<T: ConfigObject> Default for ConfigObjects<T> {
    fn default() -> Self {
        Self(PersistentMap::default())
    }
}

impl<T: ConfigObject> ConfigObjects<T> {
    /// Object with this id.
    #[must_use]
    pub fn get(&self, id: Id<T>) -> Option<&Arc<Versioned<T>>> {
        self.0.get(&id)
    }

    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// `true` if there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Objects with their ids, in id order.
    pub fn iter(&self) -> impl Iterator<Item = (Id<T>, &Arc<Versioned<T>>)> {
        self.0.iter().map(|(id, object)| (*id, object))
    }
}

/// List: the form of digests.
impl<T: ConfigObject> Serialize for ConfigObjects<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(id, object)| (id, &**object)))
    }
}

/// Publishes what changed, appeared or disappeared.
pub(super) fn publish_objects<T: ConfigObject>(
    objects: Query<(&Id<T>, &T, &Stamp), Changed<T>>,
    index: Res<Index<T>>,
    mut section: ResMut<Section<ConfigObjects<T>>>,
) {
    if objects.is_empty() && index.departed().is_empty() {
        return;
    }
    let mut view = ConfigObjects::clone(&section.share());
    for id in index.departed() {
        view.0.remove(id);
    }
    for (id, object, stamp) in &objects {
        view.0.insert(*id, Arc::new(stamp.of(object.clone())));
    }
    section.redraw(view);
}
