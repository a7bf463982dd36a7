//! Lease of a player.

use std::cell::Cell;
use std::time::Duration;

use groundwave_http::Failure;
use groundwave_impair::{Direction, Impairment};
use groundwave_impaird::wire::{LeaseChange, LeaseChanges, NewLease, RenewedLease};
use tokio::sync::Mutex;

use super::client::Client;

/// Time that a state outlasts its player.
const LEASE: Duration = Duration::from_secs(10);
/// Time between two renewals.
const RENEWAL: Duration = Duration::from_secs(3);

/// Lease that is renewed while a timeline plays.
pub struct PlayLease {
    /// For the states; also the order of requests, so that no renewal follows the end.
    client: Mutex<Client>,
    id: Cell<Option<u64>>,
    /// The last states.
    states: Mutex<LeaseChanges>,
}

fn lease_ns() -> u64 {
    u64::try_from(LEASE.as_nanos()).unwrap_or(u64::MAX)
}

impl PlayLease {
    /// A lease that begins with the first state.
    pub fn new(client: Client) -> Self {
        Self { client: Mutex::new(client), id: Cell::new(None), states: Mutex::default() }
    }

    /// Sets the state of a direction.
    ///
    /// # Errors
    /// Those of the daemon.
    pub async fn set(&self, direction: Direction, impairment: &Impairment) -> Result<(), Failure> {
        let mut client = self.client.lock().await;
        let change = LeaseChange { impairment: impairment.clone(), fields: None };
        let mut changes = LeaseChanges::default();
        changes.set(direction, change.clone());
        let mut states = self.states.lock().await;
        states.set(direction, change);
        if let Some(id) = self.id.get() {
            let renewed = RenewedLease { duration_ns: lease_ns(), changes };
            if client.renew_lease(id, &renewed).await?.is_some() {
                return Ok(());
            }
        }
        // The first one, or one that others have ended, as `impair clear` does.
        let new = NewLease { duration_ns: lease_ns(), owner: None, changes: states.clone() };
        let lease = client.begin_lease(&new).await?;
        self.id.set(Some(lease.id));
        Ok(())
    }

    /// Renews the lease, without an end.
    pub async fn keep(&self, client: &mut Client) {
        loop {
            tokio::time::sleep(RENEWAL).await;
            let Some(id) = self.id.get() else { continue };
            let renewed =
                RenewedLease { duration_ns: lease_ns(), changes: LeaseChanges::default() };
            if client.renew_lease(id, &renewed).await.is_err() {
                // The daemon is away, or closed this connection.
                if let Ok(fresh) = client.reconnect().await {
                    *client = fresh;
                }
            }
        }
    }

    /// Ends the lease; with `leave`, the last states become those without a lease.
    ///
    /// # Errors
    /// Those of the daemon.
    pub async fn end(&self, client: &mut Client, leave: bool) -> Result<(), Failure> {
        let Some(id) = self.id.get() else {
            return Ok(());
        };
        if leave {
            let states = self.states.lock().await;
            for direction in Direction::ALL {
                if let Some(change) = states.get(direction) {
                    client.replace(direction, &change.impairment).await?;
                }
            }
        }
        client.cancel_lease(id).await.map(drop)
    }
}
