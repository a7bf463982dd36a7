//! Fixture of a case: a shaper over the fake, or over the running kernel, and independent ways to
//! observe its effects.

use std::sync::{Arc, Mutex};

use groundwave_impair::{DivergenceKind, Extensions, Impairment, LinkStats};
use groundwave_kernel::{
    Fake, FilterMessage, FilterRequest, Handle, Kernel, KernelError, Link, LinuxTc, Options, Qdisc,
    Reading, Request, Shaper, Verb,
};
use tokio::runtime::Runtime;

use crate::guest::{self, Group};
use crate::wire::{NEAR, Wire, in_namespace, tool};

/// A shaper on `port1`.
pub struct Bed {
    shaper: Shaper<Tap>,
    kernel: Either,
    requests: Arc<Mutex<Requests>>,
    runtime: Runtime,
    /// The wire behind the port; the fake has none.
    pub wire: Option<Wire>,
}

/// A kernel of either sort.
#[derive(Clone)]
enum Either {
    Fake(Fake),
    Real,
}

/// Requests from the shaper to the kernel.
#[derive(Default)]
struct Requests {
    /// Every request that was carried out.
    log: Vec<(Verb, &'static str)>,
    /// Countdown to the request that is made to fail; 1 is the next.
    spoil: usize,
}

/// A kernel that is listened to.
struct Tap {
    inner: Inner,
    requests: Arc<Mutex<Requests>>,
}

enum Inner {
    Fake(Fake),
    Real(Box<LinuxTc>),
}

impl Bed {
    /// Over the model, whose traps are those of the real one.
    pub fn fake(fake: Fake) -> Self {
        Self::over(Either::Fake(fake), None)
    }

    /// Over the running kernel, with a wire laid in the namespace of this thread.
    pub fn real() -> Self {
        let wire = Wire::lay();
        Self::over(Either::Real, Some(wire))
    }

    fn over(kernel: Either, wire: Option<Wire>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let requests = Arc::new(Mutex::new(Requests::default()));
        let shaper = start(&runtime, &kernel, &requests, Options::default()).unwrap();
        Self { shaper, kernel, requests, runtime, wire }
    }

    /// `true` if the bed uses a real kernel.
    pub fn is_real(&self) -> bool {
        matches!(self.kernel, Either::Real)
    }

    /// The model below.
    pub fn model(&self) -> Option<&Fake> {
        match &self.kernel {
            Either::Fake(fake) => Some(fake),
            Either::Real => None,
        }
    }

    /// A new shaper over the same kernel, as after a restart of the program.
    pub fn restart(&mut self, options: Options) -> Result<(), KernelError> {
        self.shaper = start(&self.runtime, &self.kernel, &self.requests, options)?;
        Ok(())
    }

    /// A new shaper that does all it can.
    pub fn extend(&mut self) {
        let extensions = Extensions { gilbert_elliott: true, paretonormal: true };
        let options = Options { extensions, ..Options::default() };
        self.restart(options).unwrap();
    }

    /// The shaper.
    pub fn shaper(&self) -> &Shaper<impl Kernel + use<>> {
        &self.shaper
    }

    pub fn apply(&mut self, impairment: &Impairment) -> Result<Reading, KernelError> {
        self.runtime.block_on(self.shaper.apply(NEAR, impairment))
    }

    /// Like [`Self::apply`], to another port.
    pub fn apply_to(
        &mut self,
        port: &str,
        impairment: &Impairment,
    ) -> Result<Reading, KernelError> {
        self.runtime.block_on(self.shaper.apply(port, impairment))
    }

    pub fn clear(&mut self) -> Result<Reading, KernelError> {
        self.runtime.block_on(self.shaper.clear(NEAR))
    }

    pub fn read(&mut self) -> Result<Reading, KernelError> {
        self.runtime.block_on(self.shaper.read(NEAR))
    }

    pub fn stats(&mut self) -> Result<LinkStats, KernelError> {
        self.runtime.block_on(self.shaper.stats(NEAR))
    }

    /// The requests since the last call that the kernel carried out.
    pub fn requests(&mut self) -> Vec<(Verb, &'static str)> {
        std::mem::take(&mut self.requests.lock().unwrap().log)
    }

    /// Spoils a request to come, so that the kernel refuses it; 1 is the next one.
    pub fn spoil(&mut self, nth: usize) {
        self.requests.lock().unwrap().spoil = nth;
    }

    /// The stack as `tc` sees it, from the root down, without the kernel's own default.
    pub fn qdiscs_of_tc(&self) -> Vec<serde_json::Value> {
        let output = tool("tc", &format!("-s -j qdisc show dev {NEAR}"));
        let output: Vec<serde_json::Value> = serde_json::from_str(&output).unwrap();
        output.into_iter().filter(|qdisc| qdisc["handle"] != "0:").collect()
    }

    /// Kinds and handles of the stack, from the root down, not asked of the shaper.
    pub fn stack(&self) -> Vec<(String, String)> {
        match &self.kernel {
            Either::Fake(fake) => fake
                .qdiscs(NEAR)
                .into_iter()
                .map(|qdisc| (qdisc.kind, qdisc.handle.to_string()))
                .collect(),
            Either::Real => self
                .qdiscs_of_tc()
                .iter()
                .map(|qdisc| {
                    let text = |key: &str| qdisc[key].as_str().unwrap().to_owned();
                    (text("kind"), text("handle"))
                })
                .collect(),
        }
    }

    /// Interfaces that another program changed since the last call.
    pub fn changed(&mut self) -> Vec<String> {
        self.shaper.changed().unwrap()
    }

    /// Another program deletes the root discipline.
    pub fn strip(&self) {
        match &self.kernel {
            Either::Fake(fake) => {
                let root = fake.qdiscs(NEAR).remove(0);
                let kinds = ["netem", "tbf"];
                let request = Request {
                    verb: Verb::Delete,
                    index: 0,
                    handle: root.handle,
                    parent: Handle::ROOT,
                    kind: kinds.into_iter().find(|kind| *kind == root.kind).unwrap(),
                    options: None,
                };
                fake.send_foreign(NEAR, &request).unwrap();
            }
            Either::Real => {
                tool("tc", &format!("qdisc del dev {NEAR} root"));
            }
        }
    }

    /// Puts a foreign discipline of another kind at the root.
    pub fn intrude(&self) {
        match &self.kernel {
            Either::Fake(fake) => fake.insert_foreign(
                NEAR,
                Qdisc {
                    kind: "prio".to_owned(),
                    handle: Handle::new(7, 0),
                    parent: Handle::ROOT,
                    ..Qdisc::default()
                },
            ),
            Either::Real => {
                tool("tc", &format!("qdisc replace dev {NEAR} root handle 7: prio"));
            }
        }
    }
}

fn start(
    runtime: &Runtime,
    kernel: &Either,
    requests: &Arc<Mutex<Requests>>,
    options: Options,
) -> Result<Shaper<Tap>, KernelError> {
    runtime.block_on(async {
        let inner = match kernel {
            Either::Fake(fake) => Inner::Fake(fake.clone()),
            Either::Real => Inner::Real(Box::new(LinuxTc::open(None)?)),
        };
        let requests = Arc::clone(requests);
        Shaper::start(Tap { inner, requests }, options).await
    })
}

impl Kernel for Tap {
    fn backend(&self) -> (String, String) {
        match &self.inner {
            Inner::Fake(fake) => fake.backend(),
            Inner::Real(real) => real.backend(),
        }
    }

    fn changed(&mut self) -> Result<Vec<String>, KernelError> {
        match &mut self.inner {
            Inner::Fake(fake) => fake.changed(),
            Inner::Real(real) => real.changed(),
        }
    }

    async fn link(&mut self, interface: &str) -> Result<Link, KernelError> {
        match &mut self.inner {
            Inner::Fake(fake) => fake.link(interface).await,
            Inner::Real(real) => real.link(interface).await,
        }
    }

    async fn get(&mut self, index: u32, parent: Handle) -> Result<Option<Qdisc>, KernelError> {
        match &mut self.inner {
            Inner::Fake(fake) => fake.get(index, parent).await,
            Inner::Real(real) => real.get(index, parent).await,
        }
    }

    async fn prepare(&mut self, interface: &str) -> Result<bool, KernelError> {
        match &mut self.inner {
            Inner::Fake(fake) => fake.prepare(interface).await,
            Inner::Real(real) => real.prepare(interface).await,
        }
    }

    async fn release(&mut self, interface: &str) -> Result<(), KernelError> {
        match &mut self.inner {
            Inner::Fake(fake) => fake.release(interface).await,
            Inner::Real(real) => real.release(interface).await,
        }
    }

    async fn has_ifb(&mut self) -> Result<bool, KernelError> {
        match &mut self.inner {
            Inner::Fake(fake) => fake.has_ifb().await,
            Inner::Real(real) => real.has_ifb().await,
        }
    }

    async fn filters(
        &mut self,
        index: u32,
        parent: Handle,
    ) -> Result<Vec<FilterMessage>, KernelError> {
        match &mut self.inner {
            Inner::Fake(fake) => fake.filters(index, parent).await,
            Inner::Real(real) => real.filters(index, parent).await,
        }
    }

    async fn send_filters(&mut self, requests: &[FilterRequest]) -> Result<(), KernelError> {
        match &mut self.inner {
            Inner::Fake(fake) => fake.send_filters(requests).await,
            Inner::Real(real) => real.send_filters(requests).await,
        }
    }

    async fn send(&mut self, request: &Request) -> Result<(), KernelError> {
        let mut request = request.clone();
        {
            let mut requests = self.requests.lock().unwrap();
            if requests.spoil == 1 {
                // Options too short for any kind, or the end of one that is not there.
                match request.verb {
                    Verb::Delete => request.handle = Handle::new(0xfff, 0),
                    Verb::Create | Verb::Change | Verb::Replace => request.options = Some(vec![0]),
                }
            }
            requests.spoil = requests.spoil.saturating_sub(1);
        }
        let outcome = match &mut self.inner {
            Inner::Fake(fake) => fake.send(&request).await,
            Inner::Real(real) => real.send(&request).await,
        };
        if outcome.is_ok() {
            let mut requests = self.requests.lock().unwrap();
            requests.log.push((request.verb, request.kind));
        }
        outcome
    }
}

/// `true` if the reading agrees with the desired state, as far as it can be verified.
pub fn agrees(reading: &Reading) -> bool {
    reading.divergence.iter().all(|item| item.kind == DivergenceKind::Unverifiable)
}

/// An impairment as it is written on the wire.
pub fn impairment(json: serde_json::Value) -> Impairment {
    let impairment: Impairment = serde_json::from_value(json).unwrap();
    impairment.validate().unwrap();
    impairment
}

/// Runs a case over the model.
pub fn on_fake(body: impl FnOnce(&mut Bed)) {
    body(&mut Bed::fake(Fake::new(&[NEAR])));
}

/// Runs a case over the kernel of this machine, which needs not have netem.
pub fn on_host(body: impl FnOnce(&mut Bed) + Send) {
    in_namespace(|| body(&mut Bed::real()));
}

/// Runs a case over the kernel of the virtual machine or, outside of it, asserts its outcome there.
pub fn on_guest(group: &'static Group, case: &str, body: impl FnOnce(&mut Bed) + Send) {
    if guest::inside() {
        in_namespace(|| body(&mut Bed::real()));
    } else {
        // The name of a test has no name of its crate.
        let (_, case) = case.split_once("::").unwrap();
        group.assert(case);
    }
}

/// Tests of one body: `arms!(GROUP, body: fake, host, vm)` makes `body::fake` and so on; `newer` is the
/// virtual machine with kernel 6.12.
macro_rules! arms {
    ($group:ident, $($body:ident: $($arm:ident),+;)+) => {
        $(mod $body {
            $($crate::bed::arms!(@$arm $group, $body);)+
        })+
    };
    (@fake $group:ident, $body:ident) => {
        #[test]
        fn fake() {
            $crate::bed::on_fake(super::$body);
        }
    };
    (@host $group:ident, $body:ident) => {
        #[groundwave_needs::needs(namespaces)]
        #[test]
        fn host() {
            $crate::bed::on_host(super::$body);
        }
    };
    (@vm $group:ident, $body:ident) => {
        #[groundwave_needs::needs(virtual_machine)]
        #[test]
        fn vm() {
            $crate::bed::on_guest(&$crate::$group, concat!(module_path!(), "::vm"), super::$body);
        }
    };
    (@newer $group:ident, $body:ident) => {
        #[groundwave_needs::needs(virtual_machine, newer_kernel)]
        #[test]
        fn newer() {
            let case = concat!(module_path!(), "::newer");
            $crate::bed::on_guest($crate::$group.on_the_newer(), case, super::$body);
        }
    };
}
pub(crate) use arms;
