//! Disciplines of other programs as an impairment of the daemon, and what of them it has no field for.
//!
//! Read are chains of `netem`, `tbf` and a queue, as `tc` sets them for an impaired interface, whatever their
//! handles. The order of the chain is not kept: the daemon delays first, then limits the rate.

use std::collections::BTreeSet;

use groundwave_impair::{Impairment, Latency, QueueUnit, Rate};
use groundwave_netlink::attr::words;
use netlink_packet_core::DecodeError;
use nix::libc::RTM_GETQDISC;

use super::batch::Batch;
use super::fifo::Fifo;
use super::limits::{netem_limit, shaper_limit};
use super::linux_tc::read_qdisc;
use super::message::TC_HEADER_BYTES;
use super::netem::Netem;
use super::stack::{Stack, impairment_from_stack};
use super::tbf::Tbf;
use super::{Handle, KernelError, Qdisc};

/// Difference of a limit of `tbf` from a derived one that rounding makes, bytes.
const LIMIT_SLACK_BYTES: u32 = 64;

/// Kinds that a kernel gives an interface by itself; without a handle they are its default.
const DEFAULTS: [&str; 6] = ["noqueue", "mq", "pfifo_fast", "fq_codel", "fq", "cake"];

/// A discipline of an interface.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignQdisc {
    /// Kind.
    pub kind: String,
    /// Handle.
    pub handle: Handle,
    /// Handle of the parent.
    pub parent: Handle,
    /// Options.
    pub options: ForeignOptions,
    /// Options that have no place in `options`, in words.
    pub omissions: Vec<String>,
}

/// Options of a discipline, as far as an impairment can have them.
#[derive(Debug, Clone, PartialEq)]
pub enum ForeignOptions {
    /// `netem`.
    Netem(Netem),
    /// `tbf`.
    Tbf(Tbf),
    /// `pfifo` or `bfifo`.
    Fifo(Fifo),
    /// Those of another kind.
    Other,
}

/// An impairment that disciplines of an interface stand for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportedImpairment {
    /// The impairment; empty without such disciplines.
    pub impairment: Impairment,
    /// Parts that it has no field for, or that are not read, in words.
    pub omissions: Vec<String>,
}

impl ForeignQdisc {
    /// A discipline as the kernel reports it.
    ///
    /// # Errors
    /// For malformed options.
    pub fn of(qdisc: &Qdisc) -> Result<Self, DecodeError> {
        let payload = qdisc.options.as_slice();
        let options = match qdisc.kind.as_str() {
            "netem" => ForeignOptions::Netem(Netem::parse(payload)?),
            "tbf" => ForeignOptions::Tbf(Tbf::parse(payload)?),
            kind => match Fifo::parse(kind, payload)? {
                Some(queue) => ForeignOptions::Fifo(queue),
                None => ForeignOptions::Other,
            },
        };
        let Qdisc { kind, handle, parent, .. } = qdisc.clone();
        Ok(Self { kind, handle, parent, options, omissions: Vec::new() })
    }

    /// Kind and handle.
    fn name(&self) -> String {
        format!("{} {}", self.kind, self.handle)
    }

    /// `true` for what a kernel gives an interface by itself.
    fn is_default(&self) -> bool {
        self.handle == Handle::NONE && DEFAULTS.contains(&self.kind.as_str())
    }
}

/// The disciplines of an interface in the kernel, its defaults included.
///
/// # Errors
/// [`KernelError::Gone`] without such an interface; when the dump fails or cannot be decoded.
pub fn foreign_qdiscs(
    batch: &mut Batch,
    interface: &str,
) -> Result<Vec<ForeignQdisc>, KernelError> {
    let own = batch.index(interface)?;
    let mut qdiscs = Vec::new();
    // A dump has those of all interfaces.
    for message in batch.dump(RTM_GETQDISC, &[0; TC_HEADER_BYTES])? {
        let [_, index] = words("a queueing discipline", &message)?;
        if index == own {
            qdiscs.push(ForeignQdisc::of(&read_qdisc(&message)?)?);
        }
    }
    Ok(qdiscs)
}

/// The impairment that all disciplines of one interface stand for; `burst_bytes` is the burst of a rate in bit/s
/// that has none of its own.
#[must_use]
pub fn import(qdiscs: &[ForeignQdisc], burst_bytes: fn(u64) -> u32) -> ImportedImpairment {
    let mut chain = Chain::default();
    let mut parent = Handle::ROOT;
    let mut read = BTreeSet::new();
    loop {
        let is_below = |qdisc: &&ForeignQdisc| match parent {
            Handle::ROOT => qdisc.parent == Handle::ROOT,
            above => qdisc.parent != Handle::ROOT && qdisc.parent.major() == above.major(),
        };
        let Some(qdisc) = qdiscs.iter().find(is_below) else {
            break;
        };
        // A loop of handles cannot come from a kernel, but from a file.
        if qdisc.is_default() || !read.insert(qdisc.handle) || !chain.add(qdisc) {
            read.insert(qdisc.handle);
            break;
        }
        parent = qdisc.handle;
    }
    for qdisc in qdiscs.iter().filter(|qdisc| !read.contains(&qdisc.handle)) {
        if !qdisc.is_default() {
            chain.omissions.push(format!("{}: not read, beside or below others", qdisc.name()));
        }
    }
    chain.impairment(burst_bytes)
}

/// Disciplines of a chain, each kind once.
#[derive(Default)]
struct Chain {
    netem: Option<(String, Netem)>,
    tbf: Option<(String, Tbf)>,
    queue: Option<Fifo>,
    omissions: Vec<String>,
}

impl Chain {
    /// Adds a discipline; `false` where those below it are not read.
    fn add(&mut self, qdisc: &ForeignQdisc) -> bool {
        let name = qdisc.name();
        let parts = qdisc.omissions.iter().map(|part| format!("{name}: {part}"));
        self.omissions.extend(parts);
        let is_second = match &qdisc.options {
            ForeignOptions::Netem(netem) => {
                if let (None, Some((tbf, _))) = (&self.netem, &self.tbf) {
                    self.omissions.push(format!(
                        "{tbf} above {name}: the order of both, the daemon delays before it limits the rate"
                    ));
                }
                let is_second = self.netem.is_some();
                self.netem.get_or_insert((name.clone(), *netem));
                is_second
            }
            ForeignOptions::Tbf(tbf) => {
                let is_second = self.tbf.is_some();
                self.tbf.get_or_insert((name.clone(), *tbf));
                is_second
            }
            ForeignOptions::Fifo(queue) => {
                self.queue = Some(*queue);
                false
            }
            ForeignOptions::Other => {
                let what = "the daemon has no such discipline; those below it are not read";
                self.omissions.push(format!("{name}: {what}"));
                return false;
            }
        };
        if is_second {
            self.omissions.push(format!("{name}: a second one of its kind"));
        }
        true
    }

    fn impairment(self, burst_bytes: fn(u64) -> u32) -> ImportedImpairment {
        let Self { netem, tbf, queue, mut omissions } = self;
        let stack = Stack {
            netem: netem.as_ref().map(|(_, netem)| *netem),
            tbf: tbf.as_ref().map(|(_, tbf)| *tbf),
            leaf: tbf.as_ref().map(|(_, tbf)| limit_of(tbf)).filter(|_| queue.is_none()).or(queue),
            ..Stack::default()
        };
        let mut impairment = impairment_from_stack(&stack, None);
        if let Some((name, tbf)) = &tbf {
            if tbf.peak_rate != 0 {
                let bps = tbf.peak_rate.saturating_mul(8);
                omissions.push(format!("{name}: the peak rate of {bps} bit/s"));
            }
            let derived = impairment.rate.map_or(0, |rate| shaper_limit(rate, None));
            // Another size than the derived one is a queue of its own.
            if queue.is_none() && tbf.limit.abs_diff(derived) > LIMIT_SLACK_BYTES {
                impairment.queue = Some(groundwave_impair::Queue {
                    limit: groundwave_impair::QueueLimit {
                        unit: QueueUnit::Bytes,
                        value: tbf.limit,
                    },
                });
            }
        }
        if let Some((name, netem)) = &netem {
            add_netem(name, netem, &mut impairment, burst_bytes, &mut omissions);
        }
        if let Err(refusal) = impairment.validate() {
            omissions.push(format!("the daemon refuses the rest: {refusal}"));
        }
        ImportedImpairment { impairment, omissions }
    }
}

/// The queue that a shaper has by itself.
fn limit_of(tbf: &Tbf) -> Fifo {
    Fifo { unit: QueueUnit::Bytes, limit: tbf.limit }
}

/// Takes what only `netem` of other programs has, or names it.
fn add_netem(
    name: &str,
    netem: &Netem,
    impairment: &mut Impairment,
    burst_bytes: fn(u64) -> u32,
    omissions: &mut Vec<String>,
) {
    let unsupported = netem.unsupported;
    let mut omit = |what: String| omissions.push(format!("{name}: {what}"));
    if unsupported.rate != 0 {
        let bps = unsupported.rate.saturating_mul(8);
        match impairment.rate {
            Some(_) => omit(format!("its rate of {bps} bit/s beside that of tbf")),
            None => {
                let rate = Rate { bps, burst_bytes: burst_bytes(bps) };
                omit(format!(
                    "its rate without a burst is a bucket of {} bytes in the daemon",
                    rate.burst_bytes
                ));
                impairment.rate = Some(rate);
            }
        }
    }
    if unsupported.ecn {
        omit("ECN marks in place of losses".to_owned());
    }
    if unsupported.slots {
        omit("slots".to_owned());
    }
    if unsupported.four_states {
        omit("the four-state loss model".to_owned());
    }
    if matches!(impairment.latency, Some(Latency::Stochastic { .. })) {
        omit("the distribution of its jitter, which no kernel reports".to_owned());
    }
    let derived = netem_limit(impairment);
    if netem.limit < derived {
        omit(format!("its limit of {} packets, the daemon has {derived}", netem.limit));
    }
}
