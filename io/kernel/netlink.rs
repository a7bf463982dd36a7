//! The running kernel, over a netlink socket.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use futures_util::StreamExt;
use futures_util::future::{join, join_all};
use netlink_packet_core::{
    DefaultNla, ErrorMessage, NLM_F_ACK, NLM_F_CREATE, NLM_F_ECHO, NLM_F_EXCL, NLM_F_REQUEST,
    NetlinkHeader, NetlinkMessage, NetlinkPayload, Nla,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption, TcStats2};

use super::extack::{ENODEV, ENOENT, EPERM, refusal, words};
use super::netns::within;
use super::{Counters, Handle, Kernel, KernelError, Link, Qdisc, Request, Verb};

/// TCA_OPTIONS.
const OPTIONS: u16 = 2;

/// The running kernel, in one network namespace.
#[derive(Debug, Clone)]
pub struct Netlink {
    handle: rtnetlink::Handle,
    release: String,
    /// Numbers of interfaces as they were last seen.
    indices: BTreeMap<String, u32>,
}

/// Why a request came to nothing: the kernel's number and words.
struct Nack {
    errno: i32,
    words: Option<String>,
}

impl Netlink {
    /// Opens a socket in the network namespace at `netns`, for example `/run/netns/a`, or in that
    /// of the calling thread. Needs a tokio runtime with I/O, on which it then works.
    ///
    /// # Errors
    /// When the namespace cannot be entered or the kernel gives no socket.
    pub fn open(netns: Option<&Path>) -> Result<Self, KernelError> {
        let runtime = tokio::runtime::Handle::current();
        // A socket belongs to the namespace of the thread that makes it, for good.
        let connect = move || -> io::Result<_> {
            let _entered = runtime.enter();
            let (mut connection, handle, _) = rtnetlink::new_connection()?;
            let socket = rtnetlink::sys::AsyncSocket::socket_mut(connection.socket_mut());
            socket.set_ext_ack(true)?;
            // A refused table is 8 KiB that nobody needs to see again.
            socket.set_cap_ack(true)?;
            tokio::spawn(connection);
            Ok(handle)
        };
        let io = |what: &str| {
            let what = what.to_owned();
            |source| KernelError::Io { what, source }
        };
        let handle = within(netns, connect)?.map_err(io("open a netlink socket"))?;
        let release = nix::sys::utsname::uname()
            .map_err(io::Error::from)
            .map_err(io("ask for the kernel's release"))?;
        Ok(Self {
            handle,
            release: release.release().to_string_lossy().into_owned(),
            indices: BTreeMap::new(),
        })
    }

    /// Sends a message and gathers what comes back before its acknowledgement.
    async fn ask(
        &self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> Result<Result<Vec<RouteNetlinkMessage>, Nack>, KernelError> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        let message = NetlinkMessage::new(header, NetlinkPayload::from(message));
        let gone = || KernelError::Io {
            what: "ask the kernel".to_owned(),
            source: io::Error::from(io::ErrorKind::BrokenPipe),
        };
        let mut answers = self.handle.clone().request(message).map_err(|_| gone())?;
        let mut found = Vec::new();
        while let Some(answer) = answers.next().await {
            match answer.payload {
                NetlinkPayload::InnerMessage(inner) => found.push(inner),
                NetlinkPayload::Error(ErrorMessage {
                    code: Some(code),
                    header,
                    ..
                }) => {
                    return Ok(Err(Nack {
                        errno: code.get().saturating_neg(),
                        words: words(answer.header.flags, &header),
                    }));
                }
                _ => {}
            }
        }
        Ok(Ok(found))
    }

    /// The interface with this name.
    async fn find(&self, interface: &str) -> Result<Link, KernelError> {
        let mut message = LinkMessage::default();
        let name = LinkAttribute::IfName(interface.to_owned());
        message.attributes.push(name);
        let answer = self.ask(RouteNetlinkMessage::GetLink(message), 0).await?;
        let what = format!("look up interface {interface}");
        let found = answer.map_err(|nack| lookup(&what, interface, nack))?;
        let link = found.into_iter().find_map(|message| match message {
            RouteNetlinkMessage::NewLink(link) => Some(link),
            _ => None,
        });
        link.map(|link| read_link(&link))
            .ok_or_else(|| KernelError::garbled(what, "no answer but an acknowledgement"))
    }

    /// What hangs under `parent`.
    async fn under(&self, index: u32, parent: Handle) -> Result<Option<Qdisc>, KernelError> {
        let mut message = TcMessage::with_index(index.cast_signed());
        message.header.parent = TcHandle::from(parent.0);
        let message = RouteNetlinkMessage::GetQueueDiscipline(message);
        // Some kernels only answer whoever asks for an echo.
        let found = match self.ask(message, NLM_F_ECHO).await? {
            Ok(found) => found,
            Err(Nack { errno: ENOENT, .. }) => return Ok(None),
            Err(nack) => {
                let what = format!("read the discipline under {parent}");
                return Err(lookup(&what, &format!("number {index}"), nack));
            }
        };
        let qdisc = found.into_iter().find_map(|message| match message {
            RouteNetlinkMessage::NewQueueDiscipline(message) => Some(read_qdisc(message)),
            _ => None,
        });
        // Without a handle it is one of the kernel's own defaults.
        Ok(qdisc.filter(|qdisc| qdisc.handle != Handle::NONE))
    }
}

impl Kernel for Netlink {
    fn backend(&self) -> (String, String) {
        ("linux-tc".to_owned(), self.release.clone())
    }

    async fn link(&mut self, interface: &str) -> Result<Link, KernelError> {
        self.find(interface).await
    }

    async fn get(&mut self, index: u32, parent: Handle) -> Result<Option<Qdisc>, KernelError> {
        self.under(index, parent).await
    }

    async fn chain<const N: usize>(
        &mut self,
        interface: &str,
        parents: [Handle; N],
    ) -> Result<(Link, [Option<Qdisc>; N]), KernelError> {
        // The number rarely changes, so what hangs there is asked for before it is known again.
        let guess = self.indices.get(interface).copied();
        if let Some(index) = guess {
            let all = join_all(parents.map(|parent| self.under(index, parent)));
            let (link, found) = join(self.find(interface), all).await;
            let link = link?;
            if link.index == index {
                return Ok((link, gathered(found)?));
            }
            self.indices.insert(interface.to_owned(), link.index);
        }
        let link = self.find(interface).await?;
        self.indices.insert(interface.to_owned(), link.index);
        let all = parents.map(|parent| self.under(link.index, parent));
        let found = join_all(all).await;
        Ok((link, gathered(found)?))
    }

    async fn send(&mut self, request: &Request) -> Result<(), KernelError> {
        let (message, flags) = message(request);
        let answer = self.ask(message, flags).await?;
        answer
            .map(drop)
            .map_err(|nack| refusal(request, nack.errno, nack.words))
    }
}

/// What was found at each of `N` places, or the first reason why not.
fn gathered<const N: usize>(
    found: Vec<Result<Option<Qdisc>, KernelError>>,
) -> Result<[Option<Qdisc>; N], KernelError> {
    let mut gathered = [const { None }; N];
    for (place, found) in gathered.iter_mut().zip(found) {
        *place = found?;
    }
    Ok(gathered)
}

/// The message for `request` and the flags it has beyond asking for an acknowledgement.
pub(super) fn message(request: &Request) -> (RouteNetlinkMessage, u16) {
    let mut message = TcMessage::with_index(request.index.cast_signed());
    message.header.handle = TcHandle::from(request.handle.0);
    message.header.parent = TcHandle::from(request.parent.0);
    message
        .attributes
        .push(TcAttribute::Kind(request.kind.to_owned()));
    if let Some(options) = &request.options {
        let options = DefaultNla::new(OPTIONS, options.clone());
        message.attributes.push(TcAttribute::Other(options));
    }
    match request.verb {
        Verb::Create => (
            RouteNetlinkMessage::NewQueueDiscipline(message),
            NLM_F_CREATE | NLM_F_EXCL,
        ),
        Verb::Change => (RouteNetlinkMessage::NewQueueDiscipline(message), 0),
        Verb::Delete => (RouteNetlinkMessage::DelQueueDiscipline(message), 0),
    }
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

fn read_link(message: &LinkMessage) -> Link {
    let mut link = Link {
        index: message.header.index,
        ..Link::default()
    };
    let mut segments = u32::MAX;
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::Mtu(mtu) => link.mtu_bytes = *mtu,
            LinkAttribute::TxQueueLen(packets) => link.tx_queue_packets = *packets,
            LinkAttribute::GsoMaxSize(bytes) => link.gso_bytes_max = *bytes,
            LinkAttribute::GsoMaxSegs(most) => segments = *most,
            LinkAttribute::Stats64(stats) => {
                link.tx_packets = stats.tx_packets;
                link.tx_bytes = stats.tx_bytes;
                link.tx_dropped = stats.tx_dropped;
            }
            _ => {}
        }
    }
    if segments <= 1 {
        link.gso_bytes_max = link.gso_bytes_max.min(link.mtu_bytes);
    }
    link
}

fn read_qdisc(message: TcMessage) -> Qdisc {
    let mut qdisc = Qdisc {
        handle: Handle(message.header.handle.into()),
        parent: Handle(message.header.parent.into()),
        ..Qdisc::default()
    };
    for attribute in message.attributes {
        match attribute {
            TcAttribute::Kind(kind) => qdisc.kind = kind,
            // Kinds the library has no types for come as one option with everything in it.
            TcAttribute::Options(options) => {
                for option in options {
                    if let TcOption::Other(raw) = option
                        && raw.kind() == OPTIONS
                    {
                        qdisc.options = vec![0; raw.value_len()];
                        raw.emit_value(&mut qdisc.options);
                    }
                }
            }
            TcAttribute::HwOffload(flag) => qdisc.offloaded = flag != 0,
            TcAttribute::Stats2(stats) => read_counters(&stats, &mut qdisc.counters),
            _ => {}
        }
    }
    qdisc
}

fn read_counters(stats: &[TcStats2], counters: &mut Counters) {
    /// TCA_STATS_PKT64.
    const PACKETS64: u16 = 8;
    let mut wide = None;
    for stat in stats {
        match stat {
            TcStats2::Basic(basic) => {
                counters.bytes = basic.bytes;
                counters.packets = basic.packets.into();
            }
            TcStats2::Queue(queue) => {
                counters.drops = queue.drops;
                counters.overlimits = queue.overlimits;
                counters.requeues = queue.requeues;
                counters.backlog_packets = queue.qlen;
                counters.backlog_bytes = queue.backlog;
            }
            TcStats2::Other(raw) if raw.kind() == PACKETS64 && raw.value_len() == 8 => {
                let mut bytes = [0; 8];
                raw.emit_value(&mut bytes);
                wide = Some(u64::from_ne_bytes(bytes));
            }
            _ => {}
        }
    }
    counters.packets = wide.unwrap_or(counters.packets);
}
