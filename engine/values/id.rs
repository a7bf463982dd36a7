//! Stable ids. `Entity` never leaves the world; an [`Id`] does.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

/// Longest short name of an entity in bytes; names become UUIDs and log fields.
pub const NAME_BYTES_MAX: usize = 64;

/// Namespace of the UUIDv5 that a short name becomes.
const NAMESPACE: Uuid = Uuid::from_u128(0x0067_726f_756e_6477_6176_652e_6d65_7368);

/// A kind of thing that has ids: nodes, flows, deployments.
pub trait Kind: Send + Sync + 'static {
    /// The word for it in messages and id namespaces, for example `node`.
    const NAME: &'static str;
}

/// A stable typed UUID, and with the feature `bevy` an immutable component whose hooks keep the
/// index of entities true.
///
/// Ids are minted at the edge and travel inside commands: they are inputs like any other, so a
/// replay needs no generator. In human-readable formats an id may be written as a UUID or as a
/// short name, which stands for the UUIDv5 of `kind:name`; binary formats carry the 16 bytes.
#[cfg_attr(feature = "bevy", derive(bevy_ecs::component::Component))]
#[cfg_attr(feature = "bevy", component(immutable, on_insert = crate::index::enter::<K>, on_discard = crate::index::leave::<K>))]
pub struct Id<K: Kind>(Uuid, PhantomData<fn() -> K>);

impl<K: Kind> Id<K> {
    /// The id with this UUID.
    #[must_use]
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid, PhantomData)
    }

    /// The id with this UUID, given as a number.
    #[must_use]
    pub const fn from_u128(uuid: u128) -> Self {
        Self::new(Uuid::from_u128(uuid))
    }

    /// The id a short name stands for.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let full = format!("{}:{name}", K::NAME);
        Self::new(Uuid::new_v5(&NAMESPACE, full.as_bytes()))
    }

    /// The UUID.
    #[must_use]
    pub const fn uuid(self) -> Uuid {
        self.0
    }

    /// The UUID as a number, for seeding and keys.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0.as_u128()
    }
}

impl<K: Kind> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K: Kind> Copy for Id<K> {}
impl<K: Kind> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K: Kind> Eq for Id<K> {}
impl<K: Kind> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<K: Kind> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K: Kind> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", K::NAME, self.0)
    }
}

impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Uuid::deserialize(deserializer).map(Self::new);
        }
        let text = String::deserialize(deserializer)?;
        if let Ok(uuid) = Uuid::try_parse(&text) {
            return Ok(Self::new(uuid));
        }
        if text.is_empty() || text.len() > NAME_BYTES_MAX {
            return Err(de::Error::custom(format!(
                "a {} is named by a UUID or by 1 to {NAME_BYTES_MAX} bytes, found {} bytes",
                K::NAME,
                text.len()
            )));
        }
        Ok(Self::named(&text))
    }
}
