//! Ordered maps and sets that share what did not change: a clone costs nothing, a change of a clone
//! copies only the chunks on the path to what changed.
//!
//! Views hold them, because every tick publishes a view and most ticks change little of it.

use std::borrow::Borrow;

use immutable_chunkmap::map::Map;
use immutable_chunkmap::set::Set;

/// Entries that lie together: a change of a shared map copies as many at most, for each level.
const CHUNK: usize = 64;

/// A map in the order of its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistentMap<K: Ord + Clone, V: Clone>(Map<K, V, CHUNK>);

impl<K: Ord + Clone, V: Clone> Default for PersistentMap<K, V> {
    fn default() -> Self {
        Self(Map::new())
    }
}

impl<K: Ord + Clone, V: Clone> PersistentMap<K, V> {
    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    /// The value of a key, to change.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.0.get_mut_cow(key)
    }

    /// The value of a key, to change; the default value where there was none.
    pub fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.0.get_or_default_cow(key)
    }

    /// True if the key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.get(key).is_some()
    }

    /// Sets the value of a key; returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert_cow(key, value)
    }

    /// Removes a key; returns its value.
    pub fn remove<Q: Ord>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.remove_cow(key)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Keys and values in the order of the keys.
    pub fn iter(&self) -> <&Map<K, V, CHUNK> as IntoIterator>::IntoIter {
        self.0.into_iter()
    }

    /// Keys and values in a range of keys, in order.
    pub fn range<'a, R: std::ops::RangeBounds<K> + 'a>(
        &'a self,
        range: R,
    ) -> impl DoubleEndedIterator<Item = (&'a K, &'a V)> {
        self.0.range(range)
    }

    /// Keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Values in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord + Clone, V: Clone> std::ops::Index<&K> for PersistentMap<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        &self.0[key]
    }
}

impl<'a, K: Ord + Clone, V: Clone> IntoIterator for &'a PersistentMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = <&'a Map<K, V, CHUNK> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for PersistentMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// A set in the order of its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistentSet<K: Ord + Clone>(Set<K, CHUNK>);

impl<K: Ord + Clone> Default for PersistentSet<K> {
    fn default() -> Self {
        Self(Set::new())
    }
}

impl<K: Ord + Clone> PersistentSet<K> {
    /// Adds a member.
    pub fn insert(&mut self, member: K) {
        self.0.insert_cow(member);
    }

    /// Removes a member.
    pub fn remove(&mut self, member: &K) {
        self.0.remove_cow(member);
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }
}

impl<'a, K: Ord + Clone> IntoIterator for &'a PersistentSet<K> {
    type Item = &'a K;
    type IntoIter = <&'a Set<K, CHUNK> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&self.0).into_iter()
    }
}
