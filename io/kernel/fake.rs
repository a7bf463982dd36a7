//! A model of the kernel's traffic control, with the measured behaviour of the real one.
//!
//! It stores disciplines as the kernel does: omitted attributes are kept, a gap without a
//! probability reorders everything, a bucket is stored as time, a shaper changes the limit of the
//! queue under it, and tables are not reported.

mod device;
mod options;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::incoming;
use super::{
    Counters, FilterMessage, FilterRequest, Handle, Kernel, KernelError, Link, Qdisc, Redirection,
    Request,
};
use device::Device;
use nix::libc::EPERM;
use tokio::sync::Notify;

/// A kernel in memory. Clones share its state, one for a test and one for a shaper.
#[derive(Debug, Clone, Default)]
pub struct Fake {
    state: Arc<Mutex<State>>,
    notifications: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    devices: BTreeMap<String, Device>,
    lacks: Vec<&'static str>,
    denied: bool,
    /// Number of changes until a failure, and its error number.
    fails: Option<(usize, i32)>,
    sent: Vec<Request>,
    /// Interfaces that other programs changed.
    changed: Vec<String>,
    /// Interfaces that were removed and are there again.
    returned: Vec<String>,
    /// Ports whose incoming traffic is redirected to a device that another program deleted.
    without_device: BTreeSet<String>,
}

/// First index of the devices of incoming traffic.
const INCOMING: u32 = 1000;

/// A refusal: error number and message.
type Refusal = (i32, &'static str);

impl Fake {
    /// A kernel with these interfaces, loopback, and all kinds of disciplines.
    #[must_use]
    pub fn new(interfaces: &[&str]) -> Self {
        let fake = Self::default();
        let names = ["lo"].iter().chain(interfaces);
        fake.lock().devices =
            names.zip(1..).map(|(name, index)| ((*name).to_owned(), Device::new(index))).collect();
        fake
    }

    /// Removes a kind of discipline, as in a kernel built without its module.
    #[must_use]
    pub fn without(self, kind: &'static str) -> Self {
        self.lock().lacks.push(kind);
        self
    }

    /// Revokes or grants the permission to change anything.
    pub fn set_denied(&self, denied: bool) {
        self.lock().denied = denied;
    }

    /// Fails the `nth` change from now with this error number; 1 is the next one.
    pub fn fail_at(&self, nth: usize, errno: i32) {
        self.lock().fails = Some((nth, errno));
    }

    /// Changes properties of an interface, for example its MTU.
    ///
    /// # Panics
    /// When there is no such interface.
    pub fn with_link(&self, interface: &str, change: impl FnOnce(&mut Link)) {
        change(&mut self.lock().device(interface).link);
    }

    /// Inserts a discipline of another program in place of that under its parent.
    ///
    /// # Panics
    /// When there is no such interface.
    pub fn insert_foreign(&self, interface: &str, qdisc: Qdisc) {
        let mut state = self.lock();
        state.device(interface).insert_foreign(qdisc);
        self.notify(&mut state, interface);
    }

    /// Executes a request of another program: not denied, failed or recorded.
    ///
    /// # Errors
    /// The kernel's refusal.
    ///
    /// # Panics
    /// When there is no such interface.
    pub fn send_foreign(&self, interface: &str, request: &Request) -> Result<(), KernelError> {
        let mut state = self.lock();
        let request = Request { index: state.device(interface).link.index, ..request.clone() };
        self.notify(&mut state, interface);
        state.change(&request).map_err(|(errno, message)| {
            KernelError::refused(&request, errno, Some(message.to_owned()))
        })
    }

    /// Breaks the path of the incoming traffic of a port, as another program does.
    ///
    /// # Panics
    /// When the port has none.
    pub fn break_redirection(&self, port: &str, redirection: Redirection) {
        self.with_link(port, |link| {
            link.redirection = redirection;
            link.is_down = redirection == Redirection::DeviceDown;
        });
        let mut state = self.lock();
        if redirection == Redirection::DeviceGone {
            state.devices.remove(port);
            state.without_device.insert(port.to_owned());
        }
        self.notify(&mut state, port);
    }

    /// Removes an interface.
    pub fn remove_interface(&self, interface: &str) {
        let mut state = self.lock();
        state.devices.remove(interface);
        self.notify(&mut state, interface);
    }

    /// Adds a removed interface again, as a bare one with another index.
    pub fn return_interface(&self, interface: &str) {
        let mut state = self.lock();
        let last = state.devices.values().map(|device| device.link.index).max().unwrap_or_default();
        state.devices.insert(interface.to_owned(), Device::new(last + 1));
        state.returned.push(interface.to_owned());
        self.notify(&mut state, interface);
    }

    /// Drops the notifications that were not read yet, as a kernel does when there are too many; the
    /// reader is told that some were lost.
    pub fn lose_notifications(&self) {
        let mut state = self.lock();
        state.changed = state.devices.keys().cloned().collect();
        self.notifications.notify_one();
    }

    fn notify(&self, state: &mut State, interface: &str) {
        state.changed.push(interface.to_owned());
        self.notifications.notify_one();
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
        self.lock().devices.get(interface).map(Device::all).unwrap_or_default()
    }

    /// All filters of a discipline, by their preference.
    #[must_use]
    pub fn filters_of(&self, interface: &str, parent: Handle) -> Vec<FilterMessage> {
        let state = self.lock();
        state.devices.get(interface).map(|device| device.filters(parent)).unwrap_or_default()
    }

    /// The distribution of delays in force, which a kernel does not report.
    #[must_use]
    pub fn table(&self, interface: &str) -> Option<Vec<i16>> {
        self.lock().devices.get(interface)?.table()
    }

    /// The requested changes so far, refused ones included; clears the record.
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
        self.devices.get_mut(interface).expect("the test names an interface of its own")
    }

    fn at(&mut self, index: u32) -> Option<&mut Device> {
        self.devices.values_mut().find(|device| device.link.index == index)
    }

    /// Error number of the change that is to fail, if it is the next one.
    fn failure(&mut self) -> Option<i32> {
        let (remainder, errno) = self.fails.take()?;
        if remainder <= 1 {
            return Some(errno);
        }
        self.fails = Some((remainder - 1, errno));
        None
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

    fn changed(&mut self) -> Result<Vec<String>, KernelError> {
        let mut changed = std::mem::take(&mut self.lock().changed);
        changed.sort();
        changed.dedup();
        Ok(changed)
    }

    fn returned(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lock().returned)
    }

    async fn until_changed(&mut self) -> Result<(), KernelError> {
        while self.lock().changed.is_empty() {
            self.notifications.notified().await;
        }
        Ok(())
    }

    async fn link(&mut self, interface: &str) -> Result<Link, KernelError> {
        let state = self.lock();
        let device = state.devices.get(interface);
        let base = incoming::base_of(interface).and_then(|base| state.devices.get(base));
        if let (None, Some(base)) = (device, base) {
            let redirection = match state.without_device.contains(interface) {
                true => Redirection::DeviceGone,
                false => Redirection::InForce,
            };
            return Ok(Link { index: 0, redirection, ..base.link.clone() });
        }
        device
            .map(|device| device.link.clone())
            .ok_or_else(|| KernelError::Gone { what: interface.to_owned() })
    }

    async fn prepare(&mut self, interface: &str) -> Result<bool, KernelError> {
        let mut state = self.lock();
        let Some(base) = incoming::base_of(interface) else {
            return Ok(false);
        };
        let Some(base) = state.devices.get(base).map(|device| device.link.clone()) else {
            return Err(KernelError::Gone { what: base.to_owned() });
        };
        if let Some(device) = state.devices.get_mut(interface) {
            device.link.is_down = false;
            return Ok(std::mem::take(&mut device.link.redirection) != Redirection::InForce);
        }
        let mut device = Device::new(INCOMING + base.index);
        device.link = Link { index: INCOMING + base.index, is_ifb: true, ..base };
        state.without_device.remove(interface);
        state.devices.insert(interface.to_owned(), device);
        // The device is there before its redirection.
        match state.failure() {
            Some(errno) => Err(KernelError::Rejected {
                what: format!("redirect {interface}"),
                errno,
                detail: Some("simulated failure".to_owned()),
            }),
            None => Ok(true),
        }
    }

    async fn release(&mut self, interface: &str) -> Result<(), KernelError> {
        if incoming::base_of(interface).is_some() {
            let mut state = self.lock();
            state.devices.remove(interface);
            state.without_device.remove(interface);
        }
        Ok(())
    }

    async fn has_ifb(&mut self) -> Result<bool, KernelError> {
        Ok(!self.lock().lacks.contains(&"ifb"))
    }

    async fn get(&mut self, index: u32, parent: Handle) -> Result<Option<Qdisc>, KernelError> {
        let mut state = self.lock();
        if index == 0 {
            return Ok(None);
        }
        let device =
            state.at(index).ok_or_else(|| KernelError::Gone { what: format!("number {index}") })?;
        Ok(device.under(parent))
    }

    async fn send(&mut self, request: &Request) -> Result<(), KernelError> {
        let mut state = self.lock();
        state.sent.push(request.clone());
        if state.denied {
            return Err(KernelError::refused(request, EPERM, None));
        }
        if let Some(errno) = state.failure() {
            let message = Some("simulated failure".to_owned());
            return Err(KernelError::refused(request, errno, message));
        }
        state.change(request).map_err(|(errno, message)| {
            KernelError::refused(
                request,
                errno,
                Some(message.to_owned()).filter(|message| !message.is_empty()),
            )
        })
    }

    async fn filters(
        &mut self,
        index: u32,
        parent: Handle,
    ) -> Result<Vec<FilterMessage>, KernelError> {
        let mut state = self.lock();
        Ok(state.at(index).map(|device| device.filters(parent)).unwrap_or_default())
    }

    async fn send_filters(&mut self, requests: &[FilterRequest]) -> Result<(), KernelError> {
        let mut state = self.lock();
        for request in requests {
            let refused = |errno, message: &str| {
                let message = Some(message.to_owned()).filter(|message| !message.is_empty());
                request.refused(errno, message)
            };
            if state.denied {
                return Err(refused(EPERM, ""));
            }
            if let Some(errno) = state.failure() {
                return Err(refused(errno, "simulated failure"));
            }
            let lacks = state.lacks.contains(&request.kind);
            let device = state.at(request.index).ok_or_else(|| refused(nix::libc::ENODEV, ""))?;
            let changed = device.change_filter(request, lacks);
            changed.map_err(|(errno, message)| refused(errno, message))?;
        }
        Ok(())
    }
}
