//! A model of the kernel's traffic control, with the traps that were measured on the real one.

use std::sync::{Arc, Mutex};

use super::{Handle, Kernel, KernelError, Link, Qdisc, Request};

/// A kernel in memory. Clones share it, so that a test keeps one and a shaper owns another.
#[derive(Debug, Clone, Default)]
pub struct Fake {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {}

impl Fake {
    /// A kernel with these interfaces and all kinds of disciplines.
    #[must_use]
    pub fn new(interfaces: &[&str]) -> Self {
        let _ = interfaces;
        Self::default()
    }

    /// Takes a kind of discipline away, as a kernel built without its module.
    #[must_use]
    pub fn without(self, kind: &'static str) -> Self {
        let _ = kind;
        self
    }

    /// Takes the right to change anything away, or gives it back.
    pub fn deny(&self, denied: bool) {
        let _ = denied;
    }

    /// Fails the `nth` change from now with this error number; 1 is the next one.
    pub fn fail_at(&self, nth: usize, errno: i32) {
        let _ = (nth, errno);
    }

    /// Puts a discipline there by another hand, replacing what was.
    pub fn intrude(&self, interface: &str, qdisc: Qdisc) {
        let _ = (interface, qdisc);
    }

    /// All disciplines of an interface, from the root down.
    #[must_use]
    pub fn qdiscs(&self, interface: &str) -> Vec<Qdisc> {
        let _ = interface;
        Vec::new()
    }
}

impl Kernel for Fake {
    fn backend(&self) -> (String, String) {
        ("fake".to_owned(), "0".to_owned())
    }

    async fn link(&mut self, interface: &str) -> Result<Link, KernelError> {
        let _ = &self.state;
        Err(KernelError::Gone {
            what: interface.to_owned(),
        })
    }

    async fn get(&mut self, _index: u32, _parent: Handle) -> Result<Option<Qdisc>, KernelError> {
        Ok(None)
    }

    async fn send(&mut self, _request: &Request) -> Result<(), KernelError> {
        Ok(())
    }
}
