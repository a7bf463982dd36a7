//! Slots of attempts of deliveries: a few for each receiver, so that one that hangs delays no other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use groundwave_gateway::automation::{DeliveryRequest, url_parts};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Attempts at a time.
const ATTEMPTS_MAX: usize = 256;
/// Attempts at a time of one receiver.
const RECEIVER_ATTEMPTS_MAX: usize = 8;
/// Receivers above which those without attempts are dropped.
const RECEIVERS_MAX: usize = 256;

/// Receiver of a delivery.
#[must_use]
pub fn receiver(request: &DeliveryRequest) -> String {
    match request {
        // The path may be sealed.
        DeliveryRequest::Webhook { url, .. } => url_parts(url).0.to_ascii_lowercase(),
        DeliveryRequest::Email { .. } => "smtp".to_owned(),
        DeliveryRequest::Mqtt { .. } => "mqtt".to_owned(),
        DeliveryRequest::External { system_id, .. } => format!("system {system_id}"),
        DeliveryRequest::Impairment { .. } => "impairment".to_owned(),
        DeliveryRequest::Plan { .. } => "planner".to_owned(),
    }
}

/// A slot; it is free again when this is dropped.
#[derive(Debug)]
pub struct DeliverySlot {
    _receiver: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

/// Slots of all receivers.
#[derive(Debug)]
pub struct DeliverySlots {
    all: Arc<Semaphore>,
    receivers: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl Default for DeliverySlots {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(ATTEMPTS_MAX)), receivers: Mutex::default() }
    }
}

impl DeliverySlots {
    fn of_receiver(&self, receiver: String) -> Arc<Semaphore> {
        let mut receivers = self.receivers.lock().unwrap_or_else(PoisonError::into_inner);
        if receivers.len() >= RECEIVERS_MAX {
            receivers.retain(|_, slots| Arc::strong_count(slots) > 1);
        }
        let slots = receivers.entry(receiver);
        Arc::clone(slots.or_insert_with(|| Arc::new(Semaphore::new(RECEIVER_ATTEMPTS_MAX))))
    }

    /// Waits for a slot of a receiver. Those that wait for their receiver take none of the others.
    pub async fn acquire(&self, receiver: String) -> Option<DeliverySlot> {
        let receiver = self.of_receiver(receiver).acquire_owned().await.ok()?;
        let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(DeliverySlot { _receiver: receiver, _all: all })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn receivers_that_hang_delay_no_other_receiver() {
        let slots = Arc::new(DeliverySlots::default());
        let mut busy = Vec::new();
        let mut queue = Vec::new();
        for receiver in ["http://hangs.test", "http://hangs-too.test", "smtp"] {
            for _ in 0..400 {
                let slots = Arc::clone(&slots);
                let mut slot = Box::pin(async move { slots.acquire(receiver.to_owned()).await });
                match (&mut slot).now_or_never() {
                    Some(slot) => busy.push(slot.unwrap()),
                    None => queue.push(slot),
                }
            }
        }
        assert_eq!(busy.len(), 3 * RECEIVER_ATTEMPTS_MAX);
        let other = slots.acquire("http://other.test".to_owned()).now_or_never();
        assert!(other.flatten().is_some());
        // The next of the same receiver follows an end.
        busy.remove(0);
        assert!((&mut queue[0]).now_or_never().is_some());
    }

    #[test]
    fn webhooks_of_one_host_have_one_receiver() {
        let webhook = |url: &str| {
            let request = json!({
                "kind": "webhook", "url": url, "method": "POST", "headers": {},
                "authorization": null, "body": null, "timeout_s": 10,
            });
            receiver(&serde_json::from_value(request).unwrap())
        };
        assert_eq!(webhook("http://Hook.test:8080/a"), webhook("http://hook.test:8080/sealed:AA"));
        assert_ne!(webhook("http://hook.test:8080/a"), webhook("http://hook.test/a"));
    }
}
