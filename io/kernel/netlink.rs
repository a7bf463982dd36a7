//! The running kernel, over a netlink socket.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::batch::Message as _;
use super::extack::{ENODEV, ENOENT, EPERM, refusal};
use super::line::{Answer, ECHO, Line, Nack, put_message};
use super::nla::{attributes, long, put, put_words, word};
use super::{Counters, Handle, Kernel, KernelError, Link, Qdisc, Request, Settled};

const RTM_GETLINK: u16 = 18;
const RTM_GETQDISC: u16 = 38;
/// Bytes of `struct ifinfomsg`.
const LINK_HEAD: usize = 16;
/// Bytes of `struct tcmsg`.
const TC_HEAD: usize = 20;

/// The running kernel, in one network namespace.
#[derive(Debug)]
pub struct Netlink {
    line: Line,
    release: String,
    /// Numbers of interfaces as they were last seen.
    indices: BTreeMap<String, u32>,
}

impl Netlink {
    /// Opens a socket in the network namespace at `netns`, for example `/run/netns/a`, or in that
    /// of the calling thread. Every question blocks its thread for as long as the kernel works,
    /// some microseconds.
    ///
    /// # Errors
    /// When the namespace cannot be entered or the kernel gives no socket.
    pub fn open(netns: Option<&Path>) -> Result<Self, KernelError> {
        let release = nix::sys::utsname::uname().map_err(|source| KernelError::Io {
            what: "ask for the kernel's release".to_owned(),
            source: io::Error::from(source),
        })?;
        Ok(Self {
            line: Line::open(netns)?,
            release: release.release().to_string_lossy().into_owned(),
            indices: BTreeMap::new(),
        })
    }

    fn ask_link(&mut self, interface: &str) {
        /// IFLA_IFNAME.
        const NAME: u16 = 3;
        self.line.add(|sequence, out| {
            put_message(out, (RTM_GETLINK, 0, sequence), |out| {
                out.extend_from_slice(&[0; LINK_HEAD]);
                put(out, NAME, &[interface.as_bytes(), b"\0"].concat());
            });
        });
    }

    /// Some kernels only answer whoever asks for an echo.
    fn ask_qdisc(&mut self, index: u32, parent: Handle) {
        self.line.add(|sequence, out| {
            put_message(out, (RTM_GETQDISC, ECHO, sequence), |out| {
                put_words(out, &[0, index, 0, parent.0, 0]);
            });
        });
    }

    fn places<const N: usize>(
        &mut self,
        index: u32,
        parents: [Handle; N],
    ) -> Result<[Option<Qdisc>; N], KernelError> {
        for parent in parents {
            self.ask_qdisc(index, parent);
        }
        let answers = self.line.call()?;
        gathered(index, parents, answers)
    }
}

impl Kernel for Netlink {
    fn backend(&self) -> (String, String) {
        ("linux-tc".to_owned(), self.release.clone())
    }

    async fn link(&mut self, interface: &str) -> Result<Link, KernelError> {
        self.ask_link(interface);
        let answer = self.line.call()?.pop();
        let link = found_link(interface, answer.unwrap_or(Ok(None)))?;
        self.indices.insert(interface.to_owned(), link.index);
        Ok(link)
    }

    async fn get(&mut self, index: u32, parent: Handle) -> Result<Option<Qdisc>, KernelError> {
        let [found] = self.places(index, [parent])?;
        Ok(found)
    }

    async fn chain<const N: usize>(
        &mut self,
        interface: &str,
        parents: [Handle; N],
    ) -> Result<(Link, [Option<Qdisc>; N]), KernelError> {
        // The number rarely changes, so what hangs there is asked for before it is known again.
        let Some(index) = self.indices.get(interface).copied() else {
            let link = self.link(interface).await?;
            let found = self.places(link.index, parents)?;
            return Ok((link, found));
        };
        self.ask_link(interface);
        for parent in parents {
            self.ask_qdisc(index, parent);
        }
        let mut answers = self.line.call()?;
        let qdiscs = answers.split_off(1);
        let link = found_link(interface, answers.pop().unwrap_or(Ok(None)))?;
        if link.index == index {
            return Ok((link, gathered(index, parents, qdiscs)?));
        }
        self.indices.insert(interface.to_owned(), link.index);
        let found = self.places(link.index, parents)?;
        Ok((link, found))
    }

    async fn send(&mut self, request: &Request) -> Result<(), KernelError> {
        self.line
            .add(|sequence, out| request.encode(sequence, true, out));
        match self.line.call()?.pop() {
            Some(Err(nack)) => Err(refusal(request, nack.errno, nack.words)),
            _ => Ok(()),
        }
    }

    async fn settle<const N: usize>(
        &mut self,
        request: &Request,
        parents: [Handle; N],
    ) -> Result<Settled<N>, KernelError> {
        self.line
            .add(|sequence, out| request.encode(sequence, false, out));
        for parent in parents {
            self.ask_qdisc(request.index, parent);
        }
        let mut answers = self.line.call()?;
        let qdiscs = answers.split_off(1);
        match answers.pop() {
            Some(Err(nack)) => Err(refusal(request, nack.errno, nack.words)),
            _ => Ok(gathered(request.index, parents, qdiscs)),
        }
    }
}

fn found_link(interface: &str, answer: Answer) -> Result<Link, KernelError> {
    let what = format!("look up interface {interface}");
    let found = answer.map_err(|nack| lookup(&what, interface, nack))?;
    let found =
        found.ok_or_else(|| KernelError::garbled(what, "no answer but an acknowledgement"))?;
    read_link(&found)
}

/// What was found at each of `N` places, or the first reason why not.
fn gathered<const N: usize>(
    index: u32,
    parents: [Handle; N],
    answers: Vec<Answer>,
) -> Result<[Option<Qdisc>; N], KernelError> {
    let mut gathered = [const { None }; N];
    for ((place, parent), answer) in gathered.iter_mut().zip(parents).zip(answers) {
        let found = match answer {
            Err(Nack { errno: ENOENT, .. }) => None,
            Err(nack) => {
                let what = format!("read the discipline under {parent}");
                return Err(lookup(&what, &format!("number {index}"), nack));
            }
            Ok(found) => found.map(|body| read_qdisc(&body)).transpose()?,
        };
        // Without a handle it is one of the kernel's own defaults.
        *place = found.filter(|qdisc| qdisc.handle != Handle::NONE);
    }
    Ok(gathered)
}

fn lookup(what: &str, interface: &str, nack: Nack) -> KernelError {
    match nack.errno {
        ENODEV => KernelError::Gone {
            what: interface.to_owned(),
        },
        EPERM => KernelError::Permission {
            what: what.to_owned(),
        },
        errno => KernelError::Rejected {
            what: what.to_owned(),
            errno,
            detail: nack.words,
        },
    }
}

/// Reads `struct ifinfomsg` and what follows it.
fn read_link(body: &[u8]) -> Result<Link, KernelError> {
    const MTU: u16 = 4;
    const TX_QUEUE_LENGTH: u16 = 13;
    const STATS64: u16 = 23;
    const GSO_MAX_SEGS: u16 = 40;
    const GSO_MAX_SIZE: u16 = 41;
    const WHAT: &str = "an interface";
    let mut link = Link {
        index: word(WHAT, body, 1)?,
        ..Link::default()
    };
    let mut segments = u32::MAX;
    for (kind, value) in attributes(body.get(LINK_HEAD..).unwrap_or_default())? {
        match kind {
            MTU => link.mtu_bytes = word(WHAT, value, 0)?,
            TX_QUEUE_LENGTH => link.tx_queue_packets = word(WHAT, value, 0)?,
            GSO_MAX_SIZE => link.gso_bytes_max = word(WHAT, value, 0)?,
            GSO_MAX_SEGS => segments = word(WHAT, value, 0)?,
            STATS64 => {
                // struct rtnl_link_stats64: packets, bytes, errors and drops, in before out.
                let counter = |at: usize| long(WHAT, value.get(at * 8..).unwrap_or_default());
                link.tx_packets = counter(1)?;
                link.tx_bytes = counter(3)?;
                link.tx_dropped = counter(7)?;
            }
            _ => {}
        }
    }
    if segments <= 1 {
        link.gso_bytes_max = link.gso_bytes_max.min(link.mtu_bytes);
    }
    Ok(link)
}

/// Reads `struct tcmsg` and what follows it.
pub(crate) fn read_qdisc(body: &[u8]) -> Result<Qdisc, KernelError> {
    const KIND: u16 = 1;
    const OPTIONS: u16 = 2;
    const STATS2: u16 = 7;
    const HW_OFFLOAD: u16 = 12;
    const WHAT: &str = "a discipline";
    let mut qdisc = Qdisc {
        handle: Handle(word(WHAT, body, 2)?),
        parent: Handle(word(WHAT, body, 3)?),
        ..Qdisc::default()
    };
    for (kind, value) in attributes(body.get(TC_HEAD..).unwrap_or_default())? {
        match kind {
            KIND => {
                let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
                qdisc.kind = String::from_utf8_lossy(name).into_owned();
            }
            OPTIONS => qdisc.options = value.to_vec(),
            STATS2 => read_counters(value, &mut qdisc.counters)?,
            HW_OFFLOAD => qdisc.offloaded = value.first().is_some_and(|flag| *flag != 0),
            _ => {}
        }
    }
    Ok(qdisc)
}

/// Reads the attributes of `TCA_STATS2`.
fn read_counters(stats: &[u8], counters: &mut Counters) -> Result<(), KernelError> {
    const BASIC: u16 = 1;
    const QUEUE: u16 = 3;
    const PACKETS64: u16 = 8;
    const WHAT: &str = "counters";
    let mut wide = None;
    for (kind, value) in attributes(stats)? {
        match kind {
            BASIC => {
                counters.bytes = long(WHAT, value)?;
                counters.packets = word(WHAT, value, 2)?.into();
            }
            QUEUE => {
                counters.backlog_packets = word(WHAT, value, 0)?;
                counters.backlog_bytes = word(WHAT, value, 1)?;
                counters.drops = word(WHAT, value, 2)?;
                counters.requeues = word(WHAT, value, 3)?;
                counters.overlimits = word(WHAT, value, 4)?;
            }
            PACKETS64 => wide = Some(long(WHAT, value)?),
            _ => {}
        }
    }
    counters.packets = wide.unwrap_or(counters.packets);
    Ok(())
}
