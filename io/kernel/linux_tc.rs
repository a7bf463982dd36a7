//! Traffic control of the running kernel, over a netlink socket.

use std::io;
use std::path::Path;

use groundwave_netlink::attr::{Attrs, append_words, put_text, words};
use groundwave_netlink::{Answer, NetlinkError, NetlinkSocket, ReadySockets, WatchSocket};
use netlink_packet_core::{DecodeError, NLM_F_ECHO};
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::libc::{
    EEXIST, EINVAL, ENODEV, ENOENT, EOPNOTSUPP, IFLA_IFNAME, RTM_GETLINK, RTM_GETQDISC,
    RTM_GETTFILTER, TCA_HW_OFFLOAD, TCA_KIND, TCA_OPTIONS, TCA_STATS2,
};

use super::batch::Message;
use super::incoming;
use super::link_message::{LINK_HEADER_BYTES, read_link};
use super::message::TC_HEADER_BYTES;
use super::port_indices::PortIndices;
use super::{
    Counters, FilterMessage, FilterRequest, Handle, Kernel, KernelError, Link, Qdisc, ReadBack,
    Redirection, Request, Verb,
};

/// Traffic control of the running kernel, in one network namespace.
#[derive(Debug)]
pub struct LinuxTc {
    socket: NetlinkSocket,
    watch: WatchSocket,
    wake: ReadySockets,
    release: String,
    ports: PortIndices,
}

impl LinuxTc {
    /// Opens a socket in the network namespace at `netns`, for example `/run/netns/a`, or in that
    /// of the calling thread. Every request blocks its thread for the kernel's own work, some
    /// microseconds.
    ///
    /// # Errors
    /// When the namespace cannot be entered or the kernel gives no socket.
    pub fn open(netns: Option<&Path>) -> Result<Self, KernelError> {
        let release = nix::sys::utsname::uname().map_err(|source| KernelError::Io {
            what: "read the kernel's release".to_owned(),
            source: io::Error::from(source),
        })?;
        let failed = |source| KernelError::open(netns, source);
        let watch = WatchSocket::open(netns).map_err(failed)?;
        let mut wake = ReadySockets::new().map_err(failed)?;
        wake.add(&watch, 0).map_err(failed)?;
        Ok(Self {
            socket: NetlinkSocket::open(NETLINK_ROUTE, netns).map_err(failed)?,
            watch,
            wake,
            release: release.release().to_string_lossy().into_owned(),
            ports: PortIndices::default(),
        })
    }

    /// Index of the interface with this name, or alternative name; `None` without one.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<u32> {
        self.socket.index(name).ok()
    }

    fn look_up(&mut self, interface: &str) -> Result<Link, KernelError> {
        self.add_link_request(interface);
        link_of(interface, self.call()?.pop())
    }

    /// The interface of a port, which is noted, also that it is not there.
    fn look_up_for(&mut self, port: &str, interface: &str) -> Result<Link, KernelError> {
        let link = self.look_up(interface);
        match &link {
            Ok(link) => self.note(port, Some(link.index)),
            Err(KernelError::Gone { .. }) => self.note(port, None),
            Err(_) => {}
        }
        link
    }

    /// Notes the interface of a port, `None` where it is not there. The device of the incoming traffic of an earlier
    /// one is removed.
    fn note(&mut self, port: &str, index: Option<u32>) {
        let before = self.ports.note(port, index).filter(|_| incoming::base_of(port).is_some());
        let Some(before) = before else {
            return;
        };
        self.ports.note_device(port, None);
        if let Ok(device) = self.look_up(&incoming::device_of(before))
            && device.is_ifb
            && let Err(err) = self.execute(&incoming::delete_device(device.index))
        {
            tracing::warn!(port, %err, "the device of an interface that is no more is left");
        }
    }

    /// The device of a port that is the incoming traffic of the interface `base`; one without an index
    /// where there is none at present.
    fn incoming(&mut self, port: &str, base: &str) -> Result<Link, KernelError> {
        let base = self.look_up_for(port, base)?;
        let name = incoming::device_of(base.index);
        match self.look_up(&name) {
            Ok(device) if device.is_ifb => {
                self.ports.note_device(port, Some(device.index));
                let redirection = self.redirection(base.index, Some(&device))?;
                Ok(Link { redirection, ..device })
            }
            Ok(_) => Err(KernelError::Rejected {
                what: format!("use the device {name}"),
                errno: EEXIST,
                detail: Some("another program has an interface of this name".to_owned()),
            }),
            Err(KernelError::Gone { .. }) => {
                self.ports.note_device(port, None);
                let redirection = self.redirection(base.index, None)?;
                let Link { mtu_bytes, gso_bytes_max, tx_queue_packets, .. } = base;
                let sizes = Link { mtu_bytes, gso_bytes_max, tx_queue_packets, ..Link::default() };
                Ok(Link { redirection, ..sizes })
            }
            Err(err) => Err(err),
        }
    }

    /// The path of the incoming traffic of the interface `base`.
    fn redirection(
        &mut self,
        base: u32,
        device: Option<&Link>,
    ) -> Result<Redirection, KernelError> {
        let filters = self.dump_filters(base, incoming::INGRESS)?;
        let has_own = filters.iter().any(incoming::is_own);
        let leads_to = |device: &Link| {
            filters.iter().any(|filter| incoming::is_redirect(filter, device.index))
        };
        Ok(match device {
            Some(device) if leads_to(device) && device.is_down => Redirection::DeviceDown,
            Some(device) if leads_to(device) => Redirection::InForce,
            // The kernel drops what is redirected to a device that is no more.
            _ if has_own => Redirection::DeviceGone,
            Some(_) => Redirection::Missing,
            None => Redirection::InForce,
        })
    }

    fn dump_filters(
        &mut self,
        index: u32,
        parent: Handle,
    ) -> Result<Vec<FilterMessage>, KernelError> {
        let mut body = Vec::with_capacity(TC_HEADER_BYTES);
        append_words(&mut body, &[0, index, 0, parent.0, 0]);
        let answers = match self.socket.dump(&(RTM_GETTFILTER, 0, body.as_slice())) {
            // No such discipline.
            Err(NetlinkError::Refused { errno: ENOENT | EINVAL, .. }) => Vec::new(),
            answers => answers.map_err(|err| {
                KernelError::netlink(format!("read the filters of {parent}"), err)
            })?,
        };
        Ok(answers.iter().map(|body| FilterMessage::read(body)).collect::<Result<_, _>>()?)
    }

    /// Executes one request.
    fn execute(&mut self, request: &impl Message) -> Result<(), KernelError> {
        self.socket.add(request);
        match self.call()?.pop() {
            Some(Err(refusal)) => Err(request.refused(refusal)),
            _ => Ok(()),
        }
    }

    fn add_link_request(&mut self, interface: &str) {
        let mut body = vec![0; LINK_HEADER_BYTES];
        put_text(&mut body, IFLA_IFNAME, interface);
        self.socket.add(&(RTM_GETLINK, 0, body.as_slice()));
    }

    /// Some kernels answer only with `NLM_F_ECHO`.
    fn add_qdisc_requests(&mut self, index: u32, parents: &[Handle]) {
        for parent in parents {
            let mut body = Vec::with_capacity(TC_HEADER_BYTES);
            append_words(&mut body, &[0, index, 0, parent.0, 0]);
            self.socket.add(&(RTM_GETQDISC, NLM_F_ECHO, body.as_slice()));
        }
    }

    fn call(&mut self) -> Result<Vec<Answer>, KernelError> {
        self.socket.call().map_err(|source| KernelError::Io {
            what: "send a request to the kernel".to_owned(),
            source,
        })
    }

    fn qdiscs<const N: usize>(
        &mut self,
        index: u32,
        parents: [Handle; N],
    ) -> Result<[Option<Qdisc>; N], KernelError> {
        if index == 0 {
            return Ok([const { None }; N]);
        }
        self.add_qdisc_requests(index, &parents);
        let answers = self.call()?;
        read_qdiscs(index, parents, answers)
    }
}

impl Kernel for LinuxTc {
    fn backend(&self) -> (String, String) {
        ("linux-tc".to_owned(), self.release.clone())
    }

    async fn link(&mut self, interface: &str) -> Result<Link, KernelError> {
        if let Some(base) = incoming::base_of(interface) {
            return self.incoming(interface, base);
        }
        self.look_up_for(interface, interface)
    }

    async fn prepare(&mut self, interface: &str) -> Result<bool, KernelError> {
        let Some(base) = incoming::base_of(interface) else {
            return Ok(false);
        };
        let device = self.incoming(interface, base)?;
        if device.index != 0 && device.redirection == Redirection::InForce {
            return Ok(false);
        }
        let base = self.look_up(base)?;
        if device.index == 0 {
            self.execute(&incoming::create_device(&base))?;
        } else if device.is_down {
            self.execute(&incoming::set_up(device.index))?;
        }
        let device = self.look_up(&incoming::device_of(base.index))?;
        match self.execute(&incoming::hook(base.index, Verb::Create)) {
            // One of another program, or of an earlier run.
            Ok(()) | Err(KernelError::Rejected { errno: EEXIST, .. }) => {}
            Err(err) => return Err(err),
        }
        // One that an earlier run left for another device.
        let _ = self.execute(&incoming::redirect(base.index, None));
        self.execute(&incoming::redirect(base.index, Some(device.index)))?;
        Ok(true)
    }

    async fn release(&mut self, interface: &str) -> Result<(), KernelError> {
        let Some(base) = incoming::base_of(interface) else {
            return Ok(());
        };
        let device = self.incoming(interface, base)?;
        if device.index == 0 && device.redirection == Redirection::InForce {
            return Ok(());
        }
        let base = self.look_up(base)?;
        if device.redirection != Redirection::Missing {
            self.execute(&incoming::redirect(base.index, None))?;
        }
        let hooks = [incoming::INGRESS, incoming::EGRESS];
        let mut is_free = true;
        for hook in hooks {
            is_free &= self.dump_filters(base.index, hook)?.is_empty();
        }
        if is_free {
            // It may be one of another kind, with the same handle.
            let _ = self.execute(&incoming::hook(base.index, Verb::Delete));
        }
        if device.index != 0 {
            self.execute(&incoming::delete_device(device.index))?;
        }
        self.ports.note_device(interface, None);
        Ok(())
    }

    async fn has_ifb(&mut self) -> Result<bool, KernelError> {
        match self.execute(&incoming::impossible_device()) {
            Err(KernelError::Rejected { errno: EOPNOTSUPP, .. }) => Ok(false),
            Err(KernelError::Rejected { .. }) | Ok(()) => Ok(true),
            Err(err) => Err(err),
        }
    }

    fn changed(&mut self) -> Result<Vec<String>, KernelError> {
        let changes = self.watch.changes(self.socket.port()).map_err(|source| KernelError::Io {
            what: "receive the kernel's notifications".to_owned(),
            source,
        })?;
        let changed = self.ports.changed(&changes);
        for port in self.ports.removed(&changes) {
            self.note(&port, None);
        }
        Ok(changed.into_iter().collect())
    }

    fn returned(&mut self) -> Vec<String> {
        self.ports.take_returned()
    }

    async fn until_changed(&mut self) -> Result<(), KernelError> {
        self.wake.wait().await.map_err(|source| KernelError::Io {
            what: "wait for the kernel's notifications".to_owned(),
            source,
        })
    }

    async fn get(&mut self, index: u32, parent: Handle) -> Result<Option<Qdisc>, KernelError> {
        let [found] = self.qdiscs(index, [parent])?;
        Ok(found)
    }

    async fn get_many(
        &mut self,
        index: u32,
        parents: &[Handle],
    ) -> Result<Vec<Option<Qdisc>>, KernelError> {
        self.add_qdisc_requests(index, parents);
        let answers = self.call()?;
        let answers = parents.iter().zip(answers);
        answers.map(|(parent, answer)| read_answer(index, *parent, answer)).collect()
    }

    async fn filters(
        &mut self,
        index: u32,
        parent: Handle,
    ) -> Result<Vec<FilterMessage>, KernelError> {
        self.dump_filters(index, parent)
    }

    async fn send_filters(&mut self, requests: &[FilterRequest]) -> Result<(), KernelError> {
        requests.iter().try_for_each(|request| self.execute(request))
    }

    async fn link_and_qdiscs<const N: usize>(
        &mut self,
        interface: &str,
        parents: [Handle; N],
    ) -> Result<(Link, [Option<Qdisc>; N]), KernelError> {
        // The index rarely changes: the disciplines of the last one are read in the same call.
        let last = self.ports.interface(interface);
        let Some(index) = last.filter(|_| incoming::base_of(interface).is_none()) else {
            let link = self.link(interface).await?;
            let found = self.qdiscs(link.index, parents)?;
            return Ok((link, found));
        };
        self.add_link_request(interface);
        self.add_qdisc_requests(index, &parents);
        let mut answers = self.call()?;
        let qdiscs = answers.split_off(1);
        let link = link_of(interface, answers.pop());
        if let Err(KernelError::Gone { .. }) = link {
            self.note(interface, None);
        }
        let link = link?;
        if link.index == index {
            return Ok((link, read_qdiscs(index, parents, qdiscs)?));
        }
        self.note(interface, Some(link.index));
        let found = self.qdiscs(link.index, parents)?;
        Ok((link, found))
    }

    async fn send(&mut self, request: &Request) -> Result<(), KernelError> {
        self.execute(request)
    }

    async fn send_and_read<const N: usize>(
        &mut self,
        index: u32,
        requests: &[Request],
        parents: [Handle; N],
    ) -> Result<ReadBack<N>, KernelError> {
        for request in requests {
            self.socket.add(request);
        }
        self.add_qdisc_requests(index, &parents);
        let mut answers = self.call()?;
        let qdiscs = answers.split_off(requests.len());
        for (request, answer) in requests.iter().zip(answers) {
            if let Err(refusal) = answer {
                return Err(request.refused(refusal));
            }
        }
        Ok(read_qdiscs(index, parents, qdiscs))
    }
}

fn link_of(interface: &str, answer: Option<Answer>) -> Result<Link, KernelError> {
    let what = format!("look up interface {interface}");
    let answer = answer.unwrap_or(Ok(None));
    let found = answer.map_err(|err| lookup_error(&what, interface, err))?;
    let body = found.ok_or_else(|| KernelError::invalid_answer(what, "only an acknowledgement"))?;
    Ok(read_link(&body)?)
}

/// The disciplines in the answers for each of `N` parents, or the first error.
fn read_qdiscs<const N: usize>(
    index: u32,
    parents: [Handle; N],
    answers: Vec<Answer>,
) -> Result<[Option<Qdisc>; N], KernelError> {
    let mut qdiscs = [const { None }; N];
    for ((slot, parent), answer) in qdiscs.iter_mut().zip(parents).zip(answers) {
        *slot = read_answer(index, parent, answer)?;
    }
    Ok(qdiscs)
}

/// The discipline in the answer for a parent.
fn read_answer(index: u32, parent: Handle, answer: Answer) -> Result<Option<Qdisc>, KernelError> {
    let qdisc = match answer {
        // No such parent, or one without classes: another program has the handle.
        Err(NetlinkError::Refused { errno: ENOENT | EINVAL | EOPNOTSUPP, .. }) => None,
        Err(err) => {
            let what = format!("read the discipline under {parent}");
            return Err(lookup_error(&what, &format!("number {index}"), err));
        }
        Ok(found) => found.map(|body| read_qdisc(&body)).transpose()?,
    };
    // A discipline without a handle is a default of the kernel.
    Ok(qdisc.filter(|qdisc| qdisc.handle != Handle::NONE))
}

fn lookup_error(what: &str, interface: &str, err: NetlinkError) -> KernelError {
    match err {
        NetlinkError::Refused { errno: ENODEV, .. } => {
            KernelError::Gone { what: interface.to_owned() }
        }
        other => KernelError::netlink(what, other),
    }
}

/// Decodes `struct tcmsg` and its attributes.
pub fn read_qdisc(body: &[u8]) -> Result<Qdisc, DecodeError> {
    const NAME: &str = "a queueing discipline";
    let [_, _, handle, parent, _] = words(NAME, body)?;
    let attrs = Attrs::read(NAME, &body[TC_HEADER_BYTES..])?;
    let counters = attrs.nest(TCA_STATS2)?;
    let offload = attrs.get(TCA_HW_OFFLOAD).and_then(<[u8]>::first);
    Ok(Qdisc {
        kind: attrs.text(TCA_KIND).unwrap_or_default(),
        handle: Handle(handle),
        parent: Handle(parent),
        options: attrs.get(TCA_OPTIONS).unwrap_or_default().to_vec(),
        counters: counters.map_or(Ok(Counters::default()), |stats| read_counters(&stats))?,
        offloaded: offload.is_some_and(|flag| *flag != 0),
    })
}

/// Decodes the attributes of `TCA_STATS2`.
fn read_counters(stats: &Attrs<'_>) -> Result<Counters, DecodeError> {
    /// `TCA_STATS_BASIC`, `TCA_STATS_QUEUE`, `TCA_STATS_PKT64`.
    const BASIC: u16 = 1;
    const QUEUE: u16 = 3;
    const PACKETS64: u16 = 8;
    let mut counters = Counters::default();
    if let Some([low, high, packets]) = stats.words(BASIC)? {
        let (low, high) = (low.to_ne_bytes(), high.to_ne_bytes());
        counters.bytes = u64::from_ne_bytes(std::array::from_fn(|at| match at {
            0..4 => low[at],
            _ => high[at - 4],
        }));
        counters.packets = packets.into();
    }
    if let Some([packets, bytes, drops, requeues, overlimits]) = stats.words(QUEUE)? {
        counters.backlog_packets = packets;
        counters.backlog_bytes = bytes;
        counters.drops = drops;
        counters.requeues = requeues;
        counters.overlimits = overlimits;
    }
    counters.packets = stats.u64(PACKETS64)?.unwrap_or(counters.packets);
    Ok(counters)
}
