//! Links whose predicted budget changed.

use bevy_ecs::change_detection::ContiguousRef;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;

use super::components::{Endpoints, Predicted};

/// Links whose [`Predicted`] was added or changed since the system last ran. While nothing changed this
/// costs one comparison a table, not one a link.
#[derive(SystemParam)]
pub(crate) struct PredictedChanges<'w, 's> {
    columns: Query<'w, 's, Ref<'static, Predicted>>,
    changed: Query<'w, 's, (Entity, &'static Endpoints), Changed<Predicted>>,
}

impl PredictedChanges<'_, '_> {
    /// In query order.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Endpoints)> {
        let mut columns = self.columns.contiguous_iter().expect("the component is dense");
        let any = columns.any(|column| {
            let (_, ticks) = ContiguousRef::split(column);
            ticks.summary_tick_is_changed() != Some(false)
        });
        let changed = any.then(|| self.changed.iter()).into_iter().flatten();
        changed.map(|(link, endpoints)| (link, *endpoints))
    }

    /// `true` if no budget changed.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}
