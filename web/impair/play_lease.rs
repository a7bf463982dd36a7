//! Lease of a player: what it plays ends by itself soon after the player does, however it ends.

use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use groundwave_files::wall::boot_ns;
use groundwave_impair::{Direction, Impairment};
use tokio::sync::Mutex;

use crate::wire::{LeaseChange, LeaseChanges, LeaseRecord, NewLease, RenewedLease};

/// Time that a state outlasts its player.
const LEASE: Duration = Duration::from_secs(10);
/// Time in which a state may be put in force over a new connection.
const RETRY: Duration = Duration::from_secs(8);
/// Time between two attempts to connect.
const RECONNECTION: Duration = Duration::from_millis(100);
/// Time between two renewals.
const RENEWAL: Duration = Duration::from_secs(3);

/// Requests of a player to the daemon, over a connection of its own.
#[expect(async_fn_in_trait, reason = "players run on one thread each")]
pub trait LeaseClient: Sized {
    /// Refusals of the daemon and failures of the connection.
    type Error;

    /// Begins a lease.
    ///
    /// # Errors
    /// Those of the daemon.
    async fn begin_lease(&mut self, new: &NewLease) -> Result<LeaseRecord, Self::Error>;

    /// Renews a lease; `None` if it has ended.
    ///
    /// # Errors
    /// Those of the daemon.
    async fn renew_lease(
        &mut self,
        id: u64,
        renewed: &RenewedLease,
    ) -> Result<Option<LeaseRecord>, Self::Error>;

    /// Ends a lease; `None` if it has ended already.
    ///
    /// # Errors
    /// Those of the daemon.
    async fn cancel_lease(&mut self, id: u64) -> Result<Option<LeaseRecord>, Self::Error>;

    /// Replaces the state of a direction, beneath its leases.
    ///
    /// # Errors
    /// Those of the daemon.
    async fn replace_beneath(
        &mut self,
        direction: Direction,
        impairment: &Impairment,
    ) -> Result<(), Self::Error>;

    /// Another connection to the same daemon.
    ///
    /// # Errors
    /// Those of the connection.
    async fn reconnect(&self) -> Result<Self, Self::Error>;
}

/// Lease that is renewed while a timeline plays.
#[derive(Debug)]
pub struct PlayLease<C> {
    /// Name of the holder; without one it is the process.
    owner: Option<String>,
    /// For the states; also the order of requests, so that no renewal follows the end.
    client: Mutex<C>,
    id: Cell<Option<u64>>,
    /// The last states.
    states: Mutex<LeaseChanges>,
    /// Time since boot of the last renewal, ns.
    renewed_ns: Cell<u64>,
    /// Number of the last lease that others have ended.
    ended: Cell<Option<u64>>,
    /// Time since boot, ns: that of the machine.
    clock: fn() -> u64,
}

fn lease_ns() -> u64 {
    u64::try_from(LEASE.as_nanos()).unwrap_or(u64::MAX)
}

impl<C: LeaseClient> PlayLease<C> {
    /// A lease that begins with the first state.
    pub fn new(client: C, owner: Option<String>) -> Self {
        Self {
            owner,
            client: Mutex::new(client),
            id: Cell::new(None),
            states: Mutex::default(),
            renewed_ns: Cell::new(0),
            ended: Cell::new(None),
            clock: boot_ns,
        }
    }

    /// Number of the lease; `None` before the first state.
    #[must_use]
    pub fn id(&self) -> Option<u64> {
        self.id.get()
    }

    /// Sets the state of a direction.
    ///
    /// # Errors
    /// Those of the daemon.
    pub async fn set(&self, direction: Direction, impairment: &Impairment) -> Result<(), C::Error> {
        let mut client = self.client.lock().await;
        let until = tokio::time::Instant::now() + RETRY;
        let change = LeaseChange { impairment: impairment.clone(), fields: None, rules: None };
        let mut changes = LeaseChanges::default();
        changes.set(direction, change.clone());
        let mut states = self.states.lock().await;
        states.set(direction, change);
        let Err(error) = self.put_in_force(&mut client, &changes, &states).await else {
            return Ok(());
        };
        // A daemon that begins anew closes its connections and keeps its leases. Of one that refuses, the
        // refusal comes again.
        while tokio::time::Instant::now() < until {
            if let Ok(fresh) = client.reconnect().await {
                *client = fresh;
                return self.put_in_force(&mut client, &changes, &states).await;
            }
            tokio::time::sleep(RECONNECTION).await;
        }
        Err(error)
    }

    /// Renews the lease with changes, or begins one with all states.
    async fn put_in_force(
        &self,
        client: &mut C,
        changes: &LeaseChanges,
        states: &LeaseChanges,
    ) -> Result<(), C::Error> {
        if let Some(id) = self.id.get() {
            let renewed = RenewedLease { duration_ns: lease_ns(), changes: changes.clone() };
            if client.renew_lease(id, &renewed).await?.is_some() {
                self.renewed_ns.set((self.clock)());
                return Ok(());
            }
        }
        // The first one, or one that others have ended, as `impair clear` does.
        let new = NewLease {
            duration_ns: lease_ns(),
            owner: self.owner.clone(),
            changes: states.clone(),
        };
        let lease = client.begin_lease(&new).await?;
        self.id.set(Some(lease.id));
        self.renewed_ns.set((self.clock)());
        Ok(())
    }

    /// Renews the lease, without an end. One that ended because the machine was asleep, or the daemon away for longer
    /// than a lease, begins again; one that others have ended does with the next state.
    pub async fn keep(&self, client: &mut C) -> Infallible {
        loop {
            tokio::time::sleep(RENEWAL).await;
            let Some(id) = self.id.get().filter(|id| self.ended.get() != Some(*id)) else {
                continue;
            };
            let renewed =
                RenewedLease { duration_ns: lease_ns(), changes: LeaseChanges::default() };
            match client.renew_lease(id, &renewed).await {
                Ok(Some(_)) => self.renewed_ns.set((self.clock)()),
                Ok(None) if self.is_late() => self.begin_again(id).await,
                Ok(None) => self.ended.set(Some(id)),
                Err(_) => {
                    // The daemon is away, or closed this connection.
                    if let Ok(fresh) = client.reconnect().await {
                        *client = fresh;
                    }
                }
            }
        }
    }

    /// True where a lease is over since its last renewal.
    fn is_late(&self) -> bool {
        (self.clock)().saturating_sub(self.renewed_ns.get()) >= lease_ns()
    }

    /// Begins the lease again that had the number `ended`, with the last states.
    async fn begin_again(&self, ended: u64) {
        let mut client = self.client.lock().await;
        // A state may have begun it meanwhile, or the player have ended.
        if self.id.get() != Some(ended) {
            return;
        }
        let states = self.states.lock().await;
        // A failure shows with the next state; until then this is tried again.
        let _ = self.put_in_force(&mut client, &LeaseChanges::default(), &states).await;
    }

    /// Ends the lease; with `leave`, the last states become those without a lease. A broken connection is
    /// replaced.
    ///
    /// # Errors
    /// Those of the daemon.
    pub async fn end(&self, client: &mut C, leave: bool) -> Result<(), C::Error> {
        let Some(id) = self.id.get() else {
            return Ok(());
        };
        if let Ok(fresh) = client.reconnect().await {
            *client = fresh;
        }
        if leave {
            let states = self.states.lock().await;
            for direction in states.directions() {
                if let Some(change) = states.get(direction) {
                    client.replace_beneath(direction, &change.impairment).await?;
                }
            }
        }
        client.cancel_lease(id).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use groundwave_io_impair::leases::Owner;

    use super::*;

    /// Time since boot of the test, ns.
    static NOW_NS: AtomicU64 = AtomicU64::new(0);

    /// A daemon with one lease at most; the number of the last one, and whether it is there.
    #[derive(Clone, Default)]
    struct OneLease(Rc<Cell<(u64, bool)>>);

    impl OneLease {
        fn record(&self, changes: &LeaseChanges) -> Option<LeaseRecord> {
            let (id, is_there) = self.0.get();
            is_there.then(|| LeaseRecord {
                id,
                owner: Owner::default(),
                starts_at_wall: 0,
                ends_at_wall: 0,
                remaining: 0,
                changes: changes.clone(),
            })
        }
    }

    impl LeaseClient for OneLease {
        type Error = &'static str;

        async fn begin_lease(&mut self, new: &NewLease) -> Result<LeaseRecord, Self::Error> {
            self.0.set((self.0.get().0 + 1, true));
            self.record(&new.changes).ok_or("no lease")
        }

        async fn renew_lease(
            &mut self,
            id: u64,
            renewed: &RenewedLease,
        ) -> Result<Option<LeaseRecord>, Self::Error> {
            Ok(self.record(&renewed.changes).filter(|lease| lease.id == id))
        }

        async fn cancel_lease(&mut self, _: u64) -> Result<Option<LeaseRecord>, Self::Error> {
            Ok(None)
        }

        async fn replace_beneath(
            &mut self,
            _: Direction,
            _: &Impairment,
        ) -> Result<(), Self::Error> {
            Ok(())
        }

        async fn reconnect(&self) -> Result<Self, Self::Error> {
            Ok(self.clone())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn lease_that_ended_while_the_machine_slept_begins_again() {
        let daemon = OneLease::default();
        let clock = || NOW_NS.load(Ordering::Relaxed);
        let lease = PlayLease { clock, ..PlayLease::new(daemon.clone(), None) };
        lease.set(Direction::PORT1, &Impairment::default()).await.unwrap();
        assert_eq!((daemon.0.get(), lease.id()), ((1, true), Some(1)));
        let renewals = async |count: u32| {
            let mut client = daemon.clone();
            let renewing = lease.keep(&mut client);
            let ends = tokio::time::timeout(count * RENEWAL + RENEWAL / 2, renewing).await;
            assert!(ends.is_err(), "it renews without an end");
        };
        // Others have ended it: the next state begins another one, no time does.
        daemon.0.set((1, false));
        NOW_NS.store(lease_ns() / 2, Ordering::Relaxed);
        renewals(2).await;
        NOW_NS.store(lease_ns() * 2, Ordering::Relaxed);
        renewals(2).await;
        assert_eq!(daemon.0.get(), (1, false));
        lease.set(Direction::PORT1, &Impairment::default()).await.unwrap();
        assert_eq!(daemon.0.get(), (2, true));
        // Nobody renewed it in time.
        daemon.0.set((2, false));
        NOW_NS.store(lease_ns() * 4, Ordering::Relaxed);
        renewals(2).await;
        assert_eq!((daemon.0.get(), lease.id()), ((3, true), Some(3)));
    }
}
