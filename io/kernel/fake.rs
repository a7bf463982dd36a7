//! A model of the kernel's traffic control, with the traps that were measured on the real one.
//!
//! It keeps disciplines as the kernel does, not as requests say them: what a request leaves out
//! stays, a gap without a probability reorders everything, a bucket is kept as time, a shaper
//! rewrites the limit of the queue under it, and tables are never shown.

mod device;
mod options;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Counters, Handle, Kernel, KernelError, Link, Qdisc, Request};
use device::Device;
use nix::libc::EPERM;

/// A kernel in record. Clones share it, so that a test keeps one and a shaper owns another.
#[derive(Debug, Clone, Default)]
pub struct Fake {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    devices: BTreeMap<String, Device>,
    lacks: Vec<&'static str>,
    denied: bool,
    /// Changes left until one fails, and the error number it fails with.
    fails: Option<(usize, i32)>,
    sent: Vec<Request>,
}

/// A refusal: error number and words.
type Refusal = (i32, &'static str);

impl Fake {
    /// A kernel with these interfaces, loopback, and all kinds of disciplines.
    #[must_use]
    pub fn new(interfaces: &[&str]) -> Self {
        let fake = Self::default();
        let names = ["lo"].iter().chain(interfaces);
        fake.lock().devices = names
            .zip(1..)
            .map(|(name, index)| ((*name).to_owned(), Device::new(index)))
            .collect();
        fake
    }

    /// Takes a kind of discipline away, as a kernel built without its module.
    #[must_use]
    pub fn without(self, kind: &'static str) -> Self {
        self.lock().lacks.push(kind);
        self
    }

    /// Takes the right to change anything away, or gives it back.
    pub fn set_denied(&self, denied: bool) {
        self.lock().denied = denied;
    }

    /// Fails the `nth` change from now with this error number; 1 is the next one.
    pub fn fail_at(&self, nth: usize, errno: i32) {
        self.lock().fails = Some((nth, errno));
    }

    /// Changes what the kernel knows of an interface, for example its MTU.
    ///
    /// # Panics
    /// When there is no such interface.
    pub fn with_link(&self, interface: &str, change: impl FnOnce(&mut Link)) {
        change(&mut self.lock().device(interface).link);
    }

    /// Puts a discipline there by another program, replacing what was under its parent.
    ///
    /// # Panics
    /// When there is no such interface.
    pub fn insert_foreign(&self, interface: &str, qdisc: Qdisc) {
        self.lock().device(interface).insert_foreign(qdisc);
    }

    /// Carries out a request by another program: neither denied, nor failed, nor counted.
    ///
    /// # Errors
    /// What the kernel would answer.
    ///
    /// # Panics
    /// When there is no such interface.
    pub fn send_foreign(&self, interface: &str, request: &Request) -> Result<(), KernelError> {
        let mut state = self.lock();
        let request = Request {
            index: state.device(interface).link.index,
            ..request.clone()
        };
        state
            .change(&request)
            .map_err(|(errno, words)| KernelError::refused(&request, errno, Some(words.to_owned())))
    }

    /// Takes an interface away, as its driver going.
    pub fn remove_interface(&self, interface: &str) {
        self.lock().devices.remove(interface);
    }

    /// Sets the counters of the discipline of this kind.
    ///
    /// # Panics
    /// When there is no such interface.
    pub fn set_counters(&self, interface: &str, kind: &str, counters: Counters) {
        self.lock().device(interface).set_counters(kind, counters);
    }

    /// All disciplines of an interface, from the root down.
    #[must_use]
    pub fn qdiscs(&self, interface: &str) -> Vec<Qdisc> {
        self.lock()
            .devices
            .get(interface)
            .map(Device::all)
            .unwrap_or_default()
    }

    /// The distribution of delays in force, which no kernel shows.
    #[must_use]
    pub fn table(&self, interface: &str) -> Option<Vec<i16>> {
        self.lock().devices.get(interface)?.table()
    }

    /// The changes asked for so far, those refused included; then forgets them.
    #[must_use]
    pub fn take_sent(&self) -> Vec<Request> {
        std::mem::take(&mut self.lock().sent)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn device(&mut self, interface: &str) -> &mut Device {
        self.devices
            .get_mut(interface)
            .expect("the test names an interface of its own")
    }

    fn at(&mut self, index: u32) -> Option<&mut Device> {
        self.devices
            .values_mut()
            .find(|device| device.link.index == index)
    }

    fn change(&mut self, request: &Request) -> Result<(), Refusal> {
        let lacks = self.lacks.contains(&request.kind);
        let device = self.at(request.index).ok_or((19, ""))?;
        device.change(request, lacks)
    }
}

impl Kernel for Fake {
    fn backend(&self) -> (String, String) {
        ("fake".to_owned(), "0".to_owned())
    }

    async fn link(&mut self, interface: &str) -> Result<Link, KernelError> {
        let state = self.lock();
        let device = state.devices.get(interface);
        device
            .map(|device| device.link.clone())
            .ok_or_else(|| KernelError::Gone {
                what: interface.to_owned(),
            })
    }

    async fn get(&mut self, index: u32, parent: Handle) -> Result<Option<Qdisc>, KernelError> {
        let mut state = self.lock();
        let device = state.at(index).ok_or_else(|| KernelError::Gone {
            what: format!("number {index}"),
        })?;
        Ok(device.under(parent))
    }

    async fn send(&mut self, request: &Request) -> Result<(), KernelError> {
        let mut state = self.lock();
        state.sent.push(request.clone());
        if state.denied {
            return Err(KernelError::refused(request, EPERM, None));
        }
        if let Some((left, errno)) = state.fails.take() {
            if left <= 1 {
                return Err(KernelError::refused(
                    request,
                    errno,
                    Some("told to fail".to_owned()),
                ));
            }
            state.fails = Some((left - 1, errno));
        }
        state.change(request).map_err(|(errno, words)| {
            KernelError::refused(
                request,
                errno,
                Some(words.to_owned()).filter(|words| !words.is_empty()),
            )
        })
    }
}
