//! Admission of connections: bounds in all and for each source. At a bound a newcomer takes the
//! place of a connection that waits, first one of the source that holds most.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Connections at once, in all.
pub const CONNECTIONS_MAX: usize = 2_048;
/// Connections at once from one source; this machine itself is bounded only in all.
pub const CONNECTIONS_PER_SOURCE_MAX: usize = 64;
/// Connections beyond the bound that are answered only at the paths of health.
pub const HEALTH_RESERVE: usize = 16;
/// Descriptors of the process that are not for connections: stores, logs, terrain tiles, the kernel.
const DESCRIPTORS_KEPT: u64 = 128;
/// Connections at once where a process may open hardly any descriptor.
const CONNECTIONS_LEAST: usize = 16;

/// Origin of connections that share a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// An IPv4 address, or the /64 of an IPv6 address.
    Network(IpAddr),
    /// A user id of this machine.
    User(u32),
    /// A local process that the kernel does not name.
    Local,
}

impl Source {
    /// Source of an IP address.
    #[must_use]
    pub fn of(ip: IpAddr) -> Self {
        Self::Network(network(ip))
    }

    /// This machine itself: a proxy on it stands for many clients.
    fn is_local(self) -> bool {
        match self {
            Self::Network(ip) => ip.is_loopback(),
            Self::User(_) | Self::Local => true,
        }
    }
}

/// Network of an address: the IPv4 address itself, the /64 of an IPv6 address.
#[must_use]
pub fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) if !ip.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64)))
        }
        ip => ip,
    }
}

/// Bounds of an [`Admission`].
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Connections at once, in all.
    pub connections: usize,
    /// Connections at once from one source.
    pub per_source: usize,
}

impl Bounds {
    /// Bounds of a process that may open `descriptors` files and sockets.
    #[must_use]
    pub fn of_descriptors(descriptors: u64) -> Self {
        let reserve = DESCRIPTORS_KEPT + HEALTH_RESERVE as u64;
        let rest = usize::try_from(descriptors.saturating_sub(reserve)).unwrap_or(usize::MAX);
        Self {
            connections: rest.clamp(CONNECTIONS_LEAST, CONNECTIONS_MAX),
            per_source: CONNECTIONS_PER_SOURCE_MAX,
        }
    }
}

/// An admitted connection, as an entry of the table.
#[derive(Debug, Default)]
struct Entry {
    /// Number of the moment since which it waits; greater is later.
    waits_since: AtomicU64,
    /// A request of it was answered.
    is_proven: AtomicBool,
    /// The head of a request is received and it is not answered yet.
    has_request: AtomicBool,
    /// A request of it is received and not answered yet.
    is_busy: AtomicBool,
    /// The answer is on its way: the last bytes of it wait to be written.
    is_leaving: AtomicBool,
    /// Told when a newcomer takes its place.
    displaced: Notify,
}

impl Entry {
    /// Rank among those that wait, least first: unproven before proven, then the oldest.
    fn rank(&self) -> Option<(bool, u64)> {
        if self.is_busy.load(Ordering::Relaxed) {
            return None;
        }
        let is_proven = self.is_proven.load(Ordering::Relaxed);
        Some((is_proven, self.waits_since.load(Ordering::Relaxed)))
    }
}

/// Connections by number.
type Entries = BTreeMap<u64, Arc<Entry>>;

#[derive(Debug, Default)]
struct Table {
    by_source: BTreeMap<Source, Entries>,
    total: usize,
    reserve: Entries,
    tally: Tally,
}

/// Connections turned away since the last report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Closed for a newcomer.
    pub displaced: u64,
    /// Closed unread.
    pub refused: u64,
}

/// Least rank, and the number of its connection.
fn longest_waiting(entries: &Entries) -> Option<((bool, u64), u64)> {
    let waiting = entries.iter().filter_map(|(number, entry)| Some((entry.rank()?, *number)));
    waiting.min()
}

impl Table {
    fn count(&self, source: Source) -> usize {
        self.by_source.get(&source).map_or(0, Entries::len)
    }

    /// Source with the most connections, more than `own`, of those with one that waits; of equals the
    /// one with the connection that waits longest.
    fn greatest(&self, own: usize) -> Option<Source> {
        let greater = self.by_source.iter().filter(|(_, connections)| connections.len() > own);
        let waiting = greater.filter_map(|(source, connections)| {
            let (rank, _) = longest_waiting(connections)?;
            Some(((connections.len(), Reverse(rank)), *source))
        });
        waiting.max().map(|(_, source)| source)
    }

    fn remove(&mut self, source: Source, number: u64) -> Option<Arc<Entry>> {
        if let Some(entry) = self.reserve.remove(&number) {
            return Some(entry);
        }
        let connections = self.by_source.get_mut(&source)?;
        let entry = connections.remove(&number)?;
        if connections.is_empty() {
            self.by_source.remove(&source);
        }
        self.total -= 1;
        Some(entry)
    }

    /// Closes the connection of `source` that waits longest; whether there was one.
    fn displace(&mut self, source: Source) -> bool {
        let number = self.by_source.get(&source).and_then(longest_waiting);
        let entry = number.and_then(|(_, number)| self.remove(source, number));
        self.close_displaced(entry)
    }

    /// Closes the connection of the reserve that waits longest; whether there was one.
    fn displace_in_reserve(&mut self) -> bool {
        let number = longest_waiting(&self.reserve);
        let entry = number.and_then(|(_, number)| self.reserve.remove(&number));
        self.close_displaced(entry)
    }

    /// Closes a removed connection; `false` without one.
    fn close_displaced(&mut self, entry: Option<Arc<Entry>>) -> bool {
        if let Some(entry) = &entry {
            self.tally.displaced += 1;
            entry.displaced.notify_one();
        }
        entry.is_some()
    }
}

/// Table of the connections of a server.
#[derive(Debug)]
pub struct Admission {
    bounds: Bounds,
    numbers: AtomicU64,
    table: Mutex<Table>,
}

impl Admission {
    /// Table with these bounds.
    #[must_use]
    pub fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self { bounds, numbers: AtomicU64::new(0), table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Place of a new connection; `None` when all others are busy and the reserve is taken.
    #[must_use]
    pub fn admit(self: &Arc<Self>, source: Source) -> Option<Place> {
        let mut table = self.table();
        let own = table.count(source);
        let is_at_source_bound = own >= self.bounds.per_source && !source.is_local();
        let is_full = table.total >= self.bounds.connections;
        let admitted = match (is_at_source_bound, is_full) {
            (true, _) => table.displace(source),
            (false, true) => {
                let from = table.greatest(own).unwrap_or(source);
                table.displace(from)
            }
            (false, false) => true,
        };
        let number = self.next();
        let entry = Arc::new(Entry { waits_since: AtomicU64::new(number), ..Entry::default() });
        let for_health = !admitted;
        if admitted {
            table.total += 1;
            let connections = table.by_source.entry(source).or_default();
            connections.insert(number, Arc::clone(&entry));
        } else {
            let is_taken = table.reserve.len() >= HEALTH_RESERVE;
            if is_at_source_bound || is_taken && !table.displace_in_reserve() {
                table.tally.refused += 1;
                return None;
            }
            table.reserve.insert(number, Arc::clone(&entry));
        }
        drop(table);
        Some(Place { admission: Arc::clone(self), source, number, entry, for_health })
    }

    /// Closes the connection that waits longest, of the source that holds most, to free its
    /// descriptor.
    pub fn displace_one(&self) {
        let mut table = self.table();
        if let Some(source) = table.greatest(0) {
            table.displace(source);
        }
    }

    /// Number of connections, those in the reserve included.
    #[must_use]
    pub fn len(&self) -> usize {
        let table = self.table();
        table.total + table.reserve.len()
    }

    /// True without connections.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Connections turned away since the last call.
    #[must_use]
    pub fn take_tally(&self) -> Tally {
        std::mem::take(&mut self.table().tally)
    }
}

/// Place of a connection; given back on drop.
#[derive(Debug)]
pub struct Place {
    admission: Arc<Admission>,
    source: Source,
    number: u64,
    entry: Arc<Entry>,
    /// A place of the reserve, for requests of health only.
    pub for_health: bool,
}

impl Place {
    /// The head of a request is received.
    pub fn begins_request(&self) {
        self.entry.is_leaving.store(false, Ordering::Relaxed);
        self.entry.has_request.store(true, Ordering::Relaxed);
    }

    /// True from the head of a request to the last byte of its answer.
    #[must_use]
    pub fn has_request(&self) -> bool {
        self.entry.has_request.load(Ordering::Relaxed)
    }

    /// A request is received: the connection cannot be displaced until it is answered.
    pub fn becomes_busy(&self) {
        self.entry.is_busy.store(true, Ordering::Relaxed);
    }

    /// All of an answer is made; it may wait for its reader.
    pub fn answer_leaves(&self) {
        self.entry.is_leaving.store(true, Ordering::Relaxed);
    }

    /// The bytes written so far reached the reader's buffers; if an answer was leaving, it has left.
    pub fn is_flushed(&self) {
        if self.entry.is_leaving.swap(false, Ordering::Relaxed) {
            self.waits_again();
        }
    }

    /// A request is answered.
    pub fn waits_again(&self) {
        self.entry.waits_since.store(self.admission.next(), Ordering::Relaxed);
        self.entry.is_proven.store(true, Ordering::Relaxed);
        self.entry.is_busy.store(false, Ordering::Relaxed);
        self.entry.has_request.store(false, Ordering::Relaxed);
    }

    /// Ends when a newcomer takes this place.
    pub async fn displaced(&self) {
        self.entry.displaced.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.table().remove(self.source, self.number);
    }
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
