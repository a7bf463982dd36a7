//! Impairments into force and back, over any kernel.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use groundwave_systems::impair::{
    Capabilities, DivergenceItem, Extensions, Impairment, Latency, LinkStats, compare,
};

use super::counters::CounterTotals;
use super::probe::probe;
use super::qdisc_params::qdisc_params;
use super::query::{InterfaceQdiscs, PARENTS, classify, query};
use super::reading::{Reading, named, refused};
use super::stack::{Stack, plan};
use super::steps::{Target, steps};
use super::{Kernel, KernelError, table};

/// How a shaper is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is turned on beyond the interface.
    pub extensions: Extensions,
    /// Where the operator's `<name>.table` files are.
    pub tables: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            extensions: Extensions::default(),
            tables: PathBuf::from("/var/lib/impair/dist"),
        }
    }
}

/// What was last put into force on an interface, in words and as disciplines.
#[derive(Debug, Clone)]
struct Requested {
    words: Impairment,
    target: Target,
}

/// What a shaper remembers of an interface.
#[derive(Debug, Default)]
struct InterfaceRecord {
    /// `None` until something was put into force or taken away.
    asked: Option<Requested>,
    /// What was asked since and is not supported.
    refused: Option<DivergenceItem>,
    totals: CounterTotals,
}

/// Puts impairments into force over a kernel, and remembers what was asked.
#[derive(Debug)]
pub struct Shaper<K: Kernel> {
    kernel: K,
    options: Options,
    /// Whether the kernel let itself be asked what it can do.
    known: bool,
    capabilities: Capabilities,
    records: BTreeMap<String, InterfaceRecord>,
}

impl<K: Kernel> Shaper<K> {
    /// Asks `kernel` what it can do; nothing is changed by that. Without the right to ask, it can
    /// do nothing, and every later change asks again.
    ///
    /// # Errors
    /// When the kernel cannot be talked to.
    pub async fn start(mut kernel: K, options: Options) -> Result<Self, KernelError> {
        let (known, capabilities) = match probe(&mut kernel, options.extensions).await {
            Ok(capabilities) => (true, capabilities),
            Err(err @ KernelError::Permission { .. }) => {
                tracing::warn!(%err, "nothing can be shaped");
                (false, nothing(&kernel))
            }
            Err(err) => return Err(err),
        };
        for missing in &capabilities.missing {
            tracing::warn!(
                kind = missing.kind,
                module = missing.module,
                "the kernel lacks a module"
            );
        }
        Ok(Self {
            kernel,
            options,
            known,
            capabilities,
            records: BTreeMap::new(),
        })
    }

    /// What the kernel can do.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Puts `impairment`, which was validated, into force on `interface` and reads it back. What
    /// stays of the stack is changed in place, so that no packet in it is lost.
    ///
    /// # Errors
    /// See [`KernelError`]; then what was in force before still is.
    pub async fn apply(
        &mut self,
        interface: &str,
        impairment: &Impairment,
    ) -> Result<Reading, KernelError> {
        let before = query(&mut self.kernel, interface).await?;
        if !self.known {
            self.capabilities = probe(&mut self.kernel, self.options.extensions).await?;
            self.known = true;
        }
        let target = match self.target(impairment, &before) {
            Ok(target) => target,
            Err(err) => {
                let record = self.records.entry(interface.to_owned()).or_default();
                record.refused = refused(&err);
                return Err(err);
            }
        };
        if let Some(root) = before.foreign_root().filter(|_| !target.stack.is_empty()) {
            return Err(KernelError::Rejected {
                what: format!("shape {interface}"),
                errno: 17,
                detail: Some(format!("{} has the root", named(root))),
            });
        }
        if let Some(Latency::Stochastic { jitter_ns: 0, .. }) = impairment.latency {
            tracing::warn!(interface, "stochastic latency with zero jitter is constant");
        }
        let after = self.walk(interface, before, &target).await?;
        let record = self.records.entry(interface.to_owned()).or_default();
        record.asked = Some(Requested {
            words: impairment.clone(),
            target,
        });
        record.refused = None;
        Ok(self.reading(interface, &after?))
    }

    /// Takes away from `interface` what this shaper put there, and only that.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn clear(&mut self, interface: &str) -> Result<Reading, KernelError> {
        self.apply(interface, &Impairment::default()).await
    }

    /// What `interface` holds.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn read(&mut self, interface: &str) -> Result<Reading, KernelError> {
        let sight = query(&mut self.kernel, interface).await?;
        Ok(self.reading(interface, &sight))
    }

    /// What was seen, beside what was asked.
    fn reading(&mut self, interface: &str, sight: &InterfaceQdiscs) -> Reading {
        let record = self.records.entry(interface.to_owned()).or_default();
        record.totals.add(sight);
        let asked = record.asked.as_ref();
        let asked = asked.map(|asked| (&asked.words, &asked.target.stack));
        let mut reading = Reading::of(sight, asked, self.capabilities.extensions);
        reading.divergence.extend(record.refused.clone());
        reading
    }

    /// The counters of `interface`, without the moment they were taken at.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn stats(&mut self, interface: &str) -> Result<LinkStats, KernelError> {
        let sight = query(&mut self.kernel, interface).await?;
        let record = self.records.entry(interface.to_owned()).or_default();
        Ok(record.totals.add(&sight))
    }

    fn target(
        &self,
        impairment: &Impairment,
        before: &InterfaceQdiscs,
    ) -> Result<Target, KernelError> {
        let mut table: Option<Arc<[i16]>> = None;
        if let Some(Latency::Stochastic {
            jitter_ns: 1..,
            distribution,
            ..
        }) = &impairment.latency
            && distribution.kind() != "uniform"
        {
            // Without netem the plan refuses first; a missing file must not hide that.
            let found = table::table(distribution, &self.options.tables);
            let planned = plan(impairment, &before.link, &self.capabilities, None);
            planned?;
            table = Some(found?);
        }
        Ok(Target {
            stack: plan(impairment, &before.link, &self.capabilities, table)?,
            burst: impairment.rate.map_or(0, |rate| rate.burst_bytes),
        })
    }

    /// Sends what leads from `before` to `target` and looks again; when a step fails, goes back.
    /// Outside a step's failure, inside that of the look.
    async fn walk(
        &mut self,
        interface: &str,
        before: InterfaceQdiscs,
        target: &Target,
    ) -> Result<Result<InterfaceQdiscs, KernelError>, KernelError> {
        let all = steps(before.link.index, &before.stack, target);
        let Some((last, earlier)) = all.split_last() else {
            return Ok(Ok(before));
        };
        for (done, request) in earlier.iter().enumerate() {
            if let Err(err) = self.kernel.send(request).await {
                if done > 0 {
                    self.go_back(interface, &before.stack).await;
                }
                return Err(err);
            }
        }
        match self.kernel.send_and_read(last, PARENTS).await {
            Ok(found) => Ok(found.and_then(|found| classify(before.link, found))),
            Err(err) => {
                if !earlier.is_empty() {
                    self.go_back(interface, &before.stack).await;
                }
                Err(err)
            }
        }
    }

    /// Leads whatever is there now back to `stack`, as far as the kernel lets.
    async fn go_back(&mut self, interface: &str, stack: &Stack) {
        let remembered = self
            .records
            .get(interface)
            .and_then(|record| record.asked.as_ref());
        let target = match remembered {
            // Only record knows the table and every bit of the burst.
            Some(asked) if same(&asked.target.stack, stack) => asked.target.clone(),
            _ => Target::read(stack.clone()),
        };
        let outcome = async {
            let now = query(&mut self.kernel, interface).await?;
            for request in steps(now.link.index, &now.stack, &target) {
                self.kernel.send(&request).await?;
            }
            Ok::<(), KernelError>(())
        };
        if let Err(err) = outcome.await {
            tracing::error!(interface, %err, "what was in force before could not be restored");
        }
    }
}

/// What can be done without the right to do anything.
fn nothing<K: Kernel>(kernel: &K) -> Capabilities {
    let (backend_name, backend_version) = kernel.backend();
    Capabilities {
        netem: false,
        tbf: false,
        pfifo: false,
        bfifo: false,
        extensions: Extensions::default(),
        missing: Vec::new(),
        backend_name,
        backend_version,
    }
}

fn same(plan: &Stack, seen: &Stack) -> bool {
    compare(&qdisc_params(plan, None), &qdisc_params(seen, Some(plan))).is_empty()
}
