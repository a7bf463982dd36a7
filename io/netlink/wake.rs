//! Wake-up of a task by notifications on any of several sockets.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Sockets, each with a key, of which some become readable.
///
/// An epoll instance is itself a descriptor that becomes readable, so the runtime watches one for any
/// number of sockets. A lost notification (`ENOBUFS`) makes a socket readable too.
#[derive(Debug)]
pub struct ReadySockets {
    epoll: Arc<OwnedFd>,
    /// Registration with the runtime, made at the first wait.
    registered: Option<AsyncFd<Arc<OwnedFd>>>,
    /// Sockets added so far: the most that can be ready.
    added: usize,
}

impl ReadySockets {
    /// An empty set.
    ///
    /// # Errors
    /// When the system gives no descriptor.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: Arc::new(epoll::create(CreateFlags::CLOEXEC)?),
            registered: None,
            added: 0,
        })
    }

    /// Adds a socket, which leaves the set when it is closed.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn add(&mut self, socket: impl AsFd, key: u64) -> io::Result<()> {
        let data = EventData::new_u64(key);
        epoll::add(&*self.epoll, socket, data, EventFlags::IN)?;
        self.added += 1;
        Ok(())
    }

    /// Keys of the readable sockets.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn ready(&self) -> io::Result<Vec<u64>> {
        let events = self.events(self.added.max(1))?;
        Ok(events.iter().map(|event| event.data.u64()).collect())
    }

    /// Waits until a socket is readable. Nothing is lost when the future is dropped.
    ///
    /// # Errors
    /// When the runtime or the system refuses.
    ///
    /// # Panics
    /// Outside of a runtime with input and output.
    pub async fn wait(&mut self) -> io::Result<()> {
        let registered = match self.registered.take() {
            Some(registered) => registered,
            None => register(Arc::clone(&self.epoll))?,
        };
        self.registered = Some(registered);
        while let Some(registered) = &self.registered {
            let mut guard = registered.readable().await?;
            // The wake-up may be that of a notification which is read already.
            if !self.events(1)?.is_empty() {
                break;
            }
            guard.clear_ready();
        }
        Ok(())
    }

    fn events(&self, most: usize) -> io::Result<Vec<Event>> {
        let mut events = Vec::with_capacity(most);
        epoll::wait(&*self.epoll, spare_capacity(&mut events), Some(&Timespec::default()))?;
        Ok(events)
    }
}

/// Registers a descriptor with the runtime.
#[expect(
    unsafe_code,
    reason = "the runtime watches a number; the proof that it stays this descriptor is below"
)]
fn register(epoll: Arc<OwnedFd>) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    // SAFETY: the result owns a share of the descriptor, so it is open as long as the registration
    // exists, and an `OwnedFd` never changes its number.
    Ok(unsafe { AsyncFd::register_with_interest(epoll, Interest::READABLE) }?)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn a_readable_socket_wakes_until_it_is_read() {
        let mut sockets = ReadySockets::new().unwrap();
        let pairs: Vec<_> = (0..3).map(|_| UnixStream::pair().unwrap()).collect();
        for ((_, near), key) in pairs.iter().zip(7..) {
            sockets.add(near, key).unwrap();
        }
        assert_eq!(sockets.ready().unwrap(), [0u64; 0]);
        for turn in [1, 0] {
            let (mut far, mut near) = (&pairs[turn].0, &pairs[turn].1);
            let (waited, sent) = tokio::join!(sockets.wait(), async { far.write_all(b"x") });
            waited.unwrap();
            sent.unwrap();
            assert_eq!(sockets.ready().unwrap(), [7 + turn as u64]);
            near.read_exact(&mut [0]).unwrap();
        }
        (&pairs[2].0).write_all(b"x").unwrap();
        (&pairs[0].0).write_all(b"x").unwrap();
        sockets.wait().await.unwrap();
        let mut ready = sockets.ready().unwrap();
        ready.sort_unstable();
        assert_eq!(ready, [7, 9]);
        drop(pairs);
        assert_eq!(sockets.ready().unwrap(), [0u64; 0], "closed sockets leave");
    }
}
