//! Views: snapshots, the only read access from outside the world.
//!
//! Each feature redraws its own [`Section`] in [`Phase::Publish`](crate::Phase::Publish), and only
//! when it changed; at the end of a tick the engine gathers the sections into one immutable
//! snapshot and sends it to everyone as an `Arc`. A reader always holds a consistent cut.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::{Resource, World};
use serde::Serialize;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::Clock;
use crate::log::Parts;

/// Immutable state of the world at the end of a tick. It holds the sections' `Arc`s, so that
/// gathering copies pointers only.
pub trait Snapshot: Default + Serialize + Send + Sync + 'static {
    /// Gathers the sections at the end of the tick that `clock` shows.
    fn gather(world: &World, clock: Clock) -> Self;

    /// CRC-32 of each thing in each part; see [`parts_of`]. Empty if differences between snapshots
    /// need not be located.
    fn parts(&self) -> Parts {
        Parts::new()
    }

    /// Names and digests of the files the world has read, such as terrain tiles.
    fn files(world: &World) -> BTreeMap<String, String> {
        let _ = world;
        BTreeMap::new()
    }

    /// Digest of the file with a name of [`Snapshot::files`], read by the world or not; `None`
    /// without it.
    fn file_digest(world: &World, name: &str) -> Option<String> {
        Self::files(world).remove(name)
    }

    /// Display name of the thing at this index of a part, if there is one.
    fn label(&self, part: &str, place: usize) -> Option<String> {
        let _ = (part, place);
        None
    }
}

/// One part of the view, drawn by one system. Parts are resources of their own, so that features
/// publish side by side and in no particular order.
#[derive(Resource, Debug, Default)]
pub struct Section<T: Send + Sync + 'static>(Arc<T>);

impl<T: Send + Sync + 'static> Section<T> {
    /// Replaces the part.
    pub fn redraw(&mut self, part: T) {
        self.0 = Arc::new(part);
    }

    /// The part as last drawn.
    #[must_use]
    pub fn share(&self) -> Arc<T> {
        Arc::clone(&self.0)
    }
}

/// Receiver of snapshots: the latest, and a notification of the next.
pub type Views<S> = watch::Receiver<Arc<S>>;

/// CRC-32 of the named-msgpack form of each of `things`.
///
/// # Panics
/// When one cannot be written as msgpack, which is a bug of its type.
pub fn parts_of<T: Serialize>(things: impl IntoIterator<Item = T>) -> Vec<u32> {
    let bytes = things.into_iter().map(|thing| rmp_serde::to_vec_named(&thing));
    bytes.map(|bytes| crc32fast::hash(&bytes.expect("a snapshot is plain data"))).collect()
}

/// SHA-256 of a snapshot's named-msgpack form, in hexadecimal: equal digests mean equal to the
/// bit.
///
/// # Panics
/// When the snapshot cannot be written as msgpack, which is a bug of its type.
pub fn digest<S: Snapshot>(snapshot: &S) -> String {
    struct Sink(Sha256);
    impl std::io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut sink = std::io::BufWriter::new(Sink(Sha256::new()));
    rmp_serde::encode::write_named(&mut sink, snapshot).expect("a snapshot is plain data");
    let sink = sink.into_inner().map_err(|_| "flush").expect("hashing does not fail");
    sink.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
