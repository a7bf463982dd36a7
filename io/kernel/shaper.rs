//! Application of impairments to interfaces, over any kernel.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use groundwave_impair::{
    Capabilities, DivergenceItem, DivergenceKind, Extensions, Impairment, Latency, LinkStats,
};

use super::band_steps::{AllSteps, all_steps};
use super::bands::{PRIO, REST, bands_of, filters_of, requested_rules};
use super::counters::InterfaceTotals;
use super::drain::drain;
use super::filter::FLOWER;
use super::incoming;
use super::incoming::{IFB, MATCHALL};
use super::probe::probe;
use super::query::{InterfaceQdiscs, PARENTS, complete, query};
use super::reading::{REDIRECT, Reading, refused};
use super::removal::{discarded, discarded_warning, in_the_way, refusal, replaced_warning};
use super::rules_reading::rule_stats;
use super::stack::{Layout, plan};
use super::target::{BandsTarget, Target};
use super::{Kernel, KernelError, Verb, table};

/// Configuration of a shaper.
#[derive(Debug, Clone)]
pub struct Options {
    /// Enabled extensions of the interface.
    pub extensions: Extensions,
    /// Folder of the operator's `<name>.table` files.
    pub tables: PathBuf,
    /// Removal of the root discipline of another program by the first impairment, instead of an error.
    pub take_over: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            extensions: Extensions::default(),
            tables: PathBuf::from("/var/lib/impair/dist"),
            take_over: false,
        }
    }
}

/// The last applied impairment of an interface, as specification and as disciplines.
#[derive(Debug, Clone)]
struct Requested {
    spec: Impairment,
    target: Target,
}

/// State of an interface in a shaper.
#[derive(Debug, Default)]
struct InterfaceRecord {
    /// `None` before the first change.
    requested: Option<Requested>,
    /// A later request that is not supported.
    refused: Option<DivergenceItem>,
    /// Requests of an earlier run that may be in force, the latest first.
    earlier: Vec<Impairment>,
    totals: InterfaceTotals,
}

/// Applies impairments over a kernel, and stores the last requests.
#[derive(Debug)]
pub struct Shaper<K: Kernel> {
    kernel: K,
    options: Options,
    /// Success of the capability query.
    known: bool,
    capabilities: Capabilities,
    records: BTreeMap<String, InterfaceRecord>,
}

impl<K: Kernel> Shaper<K> {
    /// Queries the capabilities of `kernel` without a change. Without the permission, they are
    /// empty, and every later change repeats the query.
    ///
    /// # Errors
    /// When the query fails for another reason.
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
        Ok(Self { kernel, options, known, capabilities, records: BTreeMap::new() })
    }

    /// Capabilities of the kernel.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Applies the validated `impairment` to `interface` and reads it back. Remaining disciplines
    /// are changed in place, without loss of packets; a delay line that goes is emptied first, for up to
    /// two seconds.
    ///
    /// # Errors
    /// See [`KernelError`]; the previous state then stays in force.
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
        let mut replaced = None;
        if let Some(other) = in_the_way(&before, &target) {
            if !self.options.take_over {
                return Err(KernelError::Rejected {
                    what: format!("shape {interface}"),
                    errno: 17,
                    detail: Some(refusal(other)),
                });
            }
            let warning = replaced_warning(other);
            tracing::warn!(interface, lost = warning.message, "a foreign discipline is replaced");
            replaced = Some(warning);
        }
        if before.link.forwards && !target.is_empty() {
            return Err(KernelError::Bridge { interface: interface.to_owned() });
        }
        self.supports(interface)?;
        let was_empty = before.is_empty();
        let prepared = match target.is_empty() {
            true => Ok(false),
            false => self.kernel.prepare(interface).await,
        };
        let before = match prepared {
            Ok(true) => query(&mut self.kernel, interface).await?,
            Ok(false) => before,
            Err(err) => {
                // A part of it may be there.
                if was_empty && let Err(failure) = self.kernel.release(interface).await {
                    tracing::error!(interface, err = %failure, "the way of incoming traffic is left half made");
                }
                return Err(err);
            }
        };
        let mut outcome = self.put_in_force(interface, impairment, before, target).await;
        if let Ok(reading) = &mut outcome {
            reading.warnings.extend(replaced);
        }
        let is_empty = match &outcome {
            Ok(reading) => reading.impairment.is_empty() && !has_foreign(reading),
            Err(_) => was_empty,
        };
        if !is_empty {
            return outcome;
        }
        self.kernel.release(interface).await?;
        let mut reading = outcome?;
        reading.divergence.retain(|item| item.layer != REDIRECT);
        Ok(reading)
    }

    /// Checks that a port of this name can be impaired.
    fn supports(&self, interface: &str) -> Result<(), KernelError> {
        if incoming::base_of(interface).is_none() || self.capabilities.incoming {
            return Ok(());
        }
        let missing = &self.capabilities.missing;
        let missing = missing.iter().find(|one| [IFB, MATCHALL].contains(&one.kind.as_str()));
        Err(KernelError::Unsupported {
            what: "incoming traffic as a port".to_owned(),
            module: missing.map(|missing| missing.module.clone()),
        })
    }

    /// Changes `before` to `target`.
    async fn put_in_force(
        &mut self,
        interface: &str,
        impairment: &Impairment,
        before: InterfaceQdiscs,
        target: Target,
    ) -> Result<Reading, KernelError> {
        if let Some(Latency::Stochastic { jitter_ns: 0, .. }) = impairment.latency {
            tracing::warn!(interface, "stochastic latency with zero jitter is constant");
        }
        let record = self.records.entry(interface.to_owned()).or_default();
        // Counters of disciplines that this change makes anew would be lost.
        record.totals.add(&before);
        let original = Target::read_all(&before);
        let before = match drain(&mut self.kernel, interface, before, &target).await {
            Ok(before) => before,
            Err(err) => {
                self.roll_back(interface, &original).await;
                return Err(err);
            }
        };
        let is_drained = Target::read_all(&before) != original;
        let record = self.records.entry(interface.to_owned()).or_default();
        record.totals.add(&before);
        let discarded = discarded(&before, &target);
        let after = match self.execute(interface, before, &target).await {
            Ok(after) => after,
            Err(err) => {
                if is_drained {
                    self.roll_back(interface, &original).await;
                }
                return Err(err);
            }
        };
        let record = self.records.entry(interface.to_owned()).or_default();
        record.requested = Some(Requested { spec: impairment.clone(), target });
        record.refused = None;
        record.totals.discard(discarded);
        let mut reading = self.reading(interface, &after?);
        if discarded > 0 {
            reading.warnings.push(discarded_warning(discarded));
        }
        Ok(reading)
    }

    /// Checks that frames of `interface` pass its own disciplines. An interface that does not exist at present
    /// may come.
    ///
    /// # Errors
    /// [`KernelError::Bridge`], [`KernelError::Unsupported`] for incoming traffic, or a failure to read the interface.
    pub async fn check(&mut self, interface: &str) -> Result<(), KernelError> {
        if self.known {
            self.supports(interface)?;
        }
        match self.kernel.link(interface).await {
            Ok(link) if link.forwards => {
                Err(KernelError::Bridge { interface: interface.to_owned() })
            }
            Ok(_) | Err(KernelError::Gone { .. }) => Ok(()),
            Err(err) => Err(err),
        }
    }

    /// Removes the disciplines of this shaper, and only those, from `interface`.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn clear(&mut self, interface: &str) -> Result<Reading, KernelError> {
        self.apply(interface, &Impairment::default()).await
    }

    /// Forgets all requests, as after a restart.
    #[doc(hidden)]
    pub fn forget(&mut self) {
        self.records.clear();
    }

    /// Takes requests of an earlier run for what a kernel does not report of the state in force on
    /// `interface`, until the next change: names of rules and distributions. Of several, the latest is the
    /// first.
    pub fn remember(&mut self, interface: &str, earlier: Vec<Impairment>) {
        self.records.entry(interface.to_owned()).or_default().earlier = earlier;
    }

    /// Names of interfaces whose disciplines other programs changed since the last call.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub fn changed(&mut self) -> Result<Vec<String>, KernelError> {
        self.kernel.changed()
    }

    /// Names of ports whose network namespace is another one since the last call: what was requested is to be
    /// applied again.
    pub fn returned(&mut self) -> Vec<String> {
        self.kernel.returned()
    }

    /// Waits until [`Self::changed`] may have something. A dropped future loses nothing.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn until_changed(&mut self) -> Result<(), KernelError> {
        self.kernel.until_changed().await
    }

    /// State of `interface`.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn read(&mut self, interface: &str) -> Result<Reading, KernelError> {
        let current = query(&mut self.kernel, interface).await?;
        Ok(self.reading(interface, &current))
    }

    /// The current state, compared with the request.
    fn reading(&mut self, interface: &str, current: &InterfaceQdiscs) -> Reading {
        self.adopt(interface, current);
        let record = self.records.entry(interface.to_owned()).or_default();
        record.totals.add(current);
        let requested = record.requested.as_ref();
        let requested = requested.map(|requested| (&requested.spec, &requested.target));
        let extensions = self.capabilities.extensions;
        let mut reading = Reading::of(current, requested, &record.earlier, extensions);
        reading.divergence.extend(record.refused.clone());
        reading
    }

    /// Takes the request of an earlier run that is in force for the last one, so that later changes of other
    /// programs differ from it.
    fn adopt(&mut self, interface: &str, current: &InterfaceQdiscs) {
        let Some(record) = self.records.get(interface).filter(|record| record.requested.is_none())
        else {
            return;
        };
        let in_force = Target::read_all(current);
        let in_force = record.earlier.iter().find_map(|spec| {
            let target =
                self.target(spec, current).ok().filter(|target| target.is_same(&in_force))?;
            Some(Requested { spec: spec.clone(), target })
        });
        if let Some(record) = self.records.get_mut(interface) {
            record.requested = in_force;
        }
    }

    /// Counters of `interface`, without a time stamp.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub async fn stats(&mut self, interface: &str) -> Result<LinkStats, KernelError> {
        let current = query(&mut self.kernel, interface).await?;
        let record = self.records.entry(interface.to_owned()).or_default();
        let requested = record.requested.as_ref();
        let spec = requested.map(|requested| (&requested.spec, &requested.target));
        let extensions = self.capabilities.extensions;
        let in_force = Reading::of(&current, spec, &record.earlier, extensions).impairment;
        let rules = rule_stats(&current, in_force.rules.as_ref());
        Ok(LinkStats { rules, ..record.totals.add(&current) })
    }

    fn target(
        &self,
        impairment: &Impairment,
        before: &InterfaceQdiscs,
    ) -> Result<Target, KernelError> {
        let rest = Impairment { rules: None, ..impairment.clone() };
        let Some(rules) = requested_rules(impairment) else {
            return self.stack_target(Layout::ROOT, &rest, before);
        };
        if !self.capabilities.rules {
            return Err(self.missing_rules());
        }
        let mut bands = BandsTarget { filters: filters_of(rules), ..BandsTarget::default() };
        let empty = Impairment::default();
        for (band, rule) in bands_of(rules) {
            let own = rule.impairment.as_ref().unwrap_or(&empty);
            let target = self.stack_target(Layout::band(band), own, before)?;
            bands.bands.insert(band, target);
        }
        let target = self.stack_target(Layout::band(REST), &rest, before)?;
        Ok(Target { bands: Some(bands), ..target })
    }

    /// The error for rules on a kernel that cannot have them.
    fn missing_rules(&self) -> KernelError {
        let missing = |kind: &&str| self.capabilities.missing.iter().any(|one| one.kind == **kind);
        let kind = [PRIO, FLOWER].into_iter().find(|kind| missing(kind));
        let module = kind.map(|kind| match kind {
            PRIO => "sch_prio".to_owned(),
            kind => format!("cls_{kind}"),
        });
        KernelError::Unsupported { what: "rules".to_owned(), module }
    }

    /// The disciplines of an impairment, without its rules, at a place.
    fn stack_target(
        &self,
        layout: Layout,
        impairment: &Impairment,
        before: &InterfaceQdiscs,
    ) -> Result<Target, KernelError> {
        let mut table: Option<Arc<[i16]>> = None;
        if let Some(Latency::Stochastic { jitter_ns: 1.., distribution, .. }) = &impairment.latency
            && distribution.kind() != "uniform"
        {
            // Without netem the plan refuses first; a missing file must not hide that.
            let found = table::table(distribution, &self.options.tables);
            let planned = plan(layout, impairment, &before.link, &self.capabilities, None);
            planned?;
            table = Some(found?);
        }
        Ok(Target {
            stack: plan(layout, impairment, &before.link, &self.capabilities, table)?,
            burst: impairment.rate.map_or(0, |rate| rate.burst_bytes),
            bands: None,
        })
    }

    /// Sends the requests from `before` to `target` and reads the result; rolls back after a failed
    /// request. The outer error is that of a request, the inner one that of the query.
    async fn execute(
        &mut self,
        interface: &str,
        before: InterfaceQdiscs,
        target: &Target,
    ) -> Result<Result<InterfaceQdiscs, KernelError>, KernelError> {
        let index = before.link.index;
        let AllSteps { disciplines: mut requests, filters } = all_steps(&before, target);
        if requests.is_empty() && filters.is_empty() {
            return Ok(Ok(before));
        }
        for request in requests.iter_mut().filter(|request| request.verb == Verb::Create) {
            // In one step: no packet passes without a discipline in between.
            if before.others().any(|other| other.parent == request.parent) {
                request.verb = Verb::Replace;
            }
        }
        let is_single = requests.len() + filters.len() == 1;
        let original = Target::read_all(&before);
        let outcome = self.kernel.send_and_read(index, &requests, PARENTS).await;
        let outcome = match outcome {
            Ok(found) => self.kernel.send_filters(&filters).await.map(|()| found),
            Err(err) => Err(err),
        };
        match outcome {
            Ok(Ok(found)) => Ok(complete(&mut self.kernel, before.link, found).await),
            Ok(Err(err)) => Ok(Err(err)),
            Err(err) => {
                if !is_single {
                    self.roll_back(interface, &original).await;
                }
                Err(err)
            }
        }
    }

    /// Restores disciplines and filters as read, as far as the kernel permits.
    async fn roll_back(&mut self, interface: &str, original: &Target) {
        let remembered = self.records.get(interface).and_then(|record| record.requested.as_ref());
        let target = match remembered {
            // Only the record has the distribution table and every bit of the burst.
            Some(requested) if requested.target.is_same(original) => requested.target.clone(),
            _ => original.clone(),
        };
        let outcome = async {
            let now = query(&mut self.kernel, interface).await?;
            let AllSteps { disciplines, filters } = all_steps(&now, &target);
            for request in disciplines {
                self.kernel.send(&request).await?;
            }
            self.kernel.send_filters(&filters).await
        };
        if let Err(err) = outcome.await {
            tracing::error!(interface, %err, "what was in force before could not be restored");
        }
    }
}

/// Capabilities without the permission to query them.
fn nothing<K: Kernel>(kernel: &K) -> Capabilities {
    let (backend_name, backend_version) = kernel.backend();
    Capabilities {
        netem: false,
        tbf: false,
        pfifo: false,
        bfifo: false,
        rules: false,
        incoming: false,
        extensions: Extensions::default(),
        missing: Vec::new(),
        backend_name,
        backend_version,
    }
}

/// `true` if another program has a discipline or filter there.
fn has_foreign(reading: &Reading) -> bool {
    reading.divergence.iter().any(|item| item.kind == DivergenceKind::Foreign)
}
