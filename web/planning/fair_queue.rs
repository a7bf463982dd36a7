//! A fair queue of long computations: a few run at once, the clients take turns, each with a queue of
//! its own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use groundwave_http::Problem;
use groundwave_http::admission::Source;
use tokio::sync::oneshot;

/// Wait recommended to a client whose queue is full, s.
const RETRY_S: u32 = 2;

/// Computations that wait, by client.
#[derive(Debug)]
struct Waiting {
    /// Permits that nobody holds.
    free: usize,
    queues: BTreeMap<Source, VecDeque<oneshot::Sender<Permit>>>,
    /// Clients with a queue, the next one first.
    order: VecDeque<Source>,
}

impl Waiting {
    /// The computation that runs next.
    fn next(&mut self) -> Option<oneshot::Sender<Permit>> {
        let client = self.order.pop_front()?;
        let queue = self.queues.get_mut(&client)?;
        let next = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&client);
        } else {
            self.order.push_back(client);
        }
        next
    }

    /// Drops computations whose clients went away.
    fn forget_gone(&mut self) {
        for queue in self.queues.values_mut() {
            queue.retain(|waiting| !waiting.is_closed());
        }
        self.queues.retain(|_, queue| !queue.is_empty());
        let queues = &self.queues;
        self.order.retain(|client| queues.contains_key(client));
    }
}

/// A fair queue of long computations.
#[derive(Debug)]
pub struct FairQueue {
    waiting: Mutex<Waiting>,
    per_client: usize,
    total: usize,
}

impl FairQueue {
    /// FairQueue of `permits` computations at once; up to `per_client` of a client and `total` of all
    /// may wait.
    #[must_use]
    pub fn new(permits: usize, per_client: usize, total: usize) -> Arc<Self> {
        let waiting =
            Mutex::new(Waiting { free: permits, queues: BTreeMap::new(), order: VecDeque::new() });
        Arc::new(Self { waiting, per_client, total })
    }

    /// Waits for the permit of a computation of `client`.
    ///
    /// # Errors
    /// 429 when the client has too many that wait, 503 when all together have.
    pub async fn acquire(self: &Arc<Self>, client: Source) -> Result<Permit, Problem> {
        let permit = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.free > 0 {
                waiting.free -= 1;
                return Ok(Permit(Some(Arc::clone(self))));
            }
            waiting.forget_gone();
            let all: usize = waiting.queues.values().map(VecDeque::len).sum();
            if all >= self.total {
                let what = format!("too many analyses of all clients wait: allowed {}", self.total);
                return Err(Problem::unavailable(what).retry_after(RETRY_S));
            }
            let own = waiting.queues.get(&client).map_or(0, VecDeque::len);
            if own >= self.per_client {
                let what =
                    format!("too many analyses wait: found {own}, allowed {}", self.per_client);
                return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, what).retry_after(RETRY_S));
            }
            let (give, permit) = oneshot::channel();
            if own == 0 {
                waiting.order.push_back(client);
            }
            waiting.queues.entry(client).or_default().push_back(give);
            permit
        };
        // The sender is kept until the permit is given.
        permit
            .await
            .map_err(|_| Problem::unavailable("the analysis was dropped").retry_after(RETRY_S))
    }
}

/// Permit of a computation; the next one has it on drop.
#[derive(Debug)]
pub struct Permit(Option<Arc<FairQueue>>);

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(queue) = self.0.take() else { return };
        loop {
            let next = {
                let mut waiting = queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                let next = waiting.next();
                if next.is_none() {
                    waiting.free += 1;
                }
                next
            };
            let Some(next) = next else { return };
            match next.send(Self(Some(Arc::clone(&queue)))) {
                Ok(()) => return,
                // Its client went away: the permit is another one's.
                Err(mut unwanted) => unwanted.0 = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn client(last: u8) -> Source {
        Source::of(IpAddr::from([192, 0, 2, last]))
    }

    #[tokio::test]
    async fn clients_take_turns() {
        let queue = FairQueue::new(1, 8, 100);
        let first = queue.acquire(client(1)).await.unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let mut tasks = Vec::new();
        for (number, who) in [1, 1, 1, 1, 2, 3].into_iter().enumerate() {
            let (queue, tell) = (Arc::clone(&queue), tell.clone());
            tasks.push(tokio::spawn(async move {
                let permit = queue.acquire(client(who)).await.unwrap();
                tell.send((who, number)).unwrap();
                drop(permit);
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        let order: Vec<_> = told.try_iter().map(|(who, _)| who).collect();
        assert_eq!(order, [1, 2, 3, 1, 1, 1]);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_its_client_alone_and_those_gone_leave_it() {
        let queue = FairQueue::new(1, 8, 100);
        let held = queue.acquire(client(1)).await.unwrap();
        let mut waiting: Vec<_> = (0..8)
            .map(|_| {
                let queue = Arc::clone(&queue);
                tokio::spawn(async move { queue.acquire(client(1)).await })
            })
            .collect();
        tokio::task::yield_now().await;
        let refused = queue.acquire(client(1)).await.unwrap_err();
        assert_eq!((refused.status, refused.retry_after_s), (429, Some(RETRY_S)));
        let of_queue = Arc::clone(&queue);
        let other = tokio::spawn(async move { of_queue.acquire(client(2)).await });
        tokio::task::yield_now().await;
        for task in waiting.drain(..) {
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
        drop(held);
        drop(other.await.unwrap().unwrap());
        assert_eq!(queue.waiting.lock().unwrap().free, 1);
    }
}
