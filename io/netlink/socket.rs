//! A synchronous netlink socket: several requests in one system call, and dumps.
//!
//! When `send` returns, every answer waits on the socket. An asynchronous connection
//! (`rtnetlink`) adds a task, two channels and a wake-up to each message, which is two thirds of
//! the time of a queueing discipline change; requests for queueing disciplines therefore go
//! through this socket.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer,
};
use netlink_sys::{Socket, SocketAddr};
use rustix::net::netdevice::{index_to_name, name_to_index};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use super::NetlinkError;
use super::error::{HEADER_BYTES, extended_message};
use super::netns::within;

/// Bytes of one system call. The kernel copies them into one buffer and refuses more than the
/// default send buffer of a socket.
const SEND_BYTES_MAX: usize = 64 << 10;
/// Longest datagram of answers, bytes; the kernel fills at most 32 KiB.
pub(super) const RECEIVE_BYTES_MAX: usize = 64 << 10;
/// Most bytes of one dump: the tables of about ten thousand nodes.
const DUMP_BYTES_MAX: usize = 64 << 20;
/// Attempts at a dump of a table that changes meanwhile.
const DUMP_ATTEMPTS: usize = 4;
/// Longest time the kernel may hold its lock.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A message that can be sent.
pub trait NetlinkRequest {
    /// Message type and flags; `NLM_F_REQUEST` is added.
    fn header(&self) -> (u16, u16);

    /// Appends what follows the netlink header.
    fn write_body(&self, out: &mut Vec<u8>);
}

/// `(message type, flags, body)`.
impl NetlinkRequest for (u16, u16, &[u8]) {
    fn header(&self) -> (u16, u16) {
        (self.0, self.1)
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.2);
    }
}

/// Answer to one request: the body of the message sent back, if any.
pub type Answer = Result<Option<Vec<u8>>, NetlinkError>;

/// A synchronous netlink socket.
#[derive(Debug)]
pub struct NetlinkSocket {
    socket: Socket,
    /// Port, the address of the socket in the kernel.
    port: u32,
    /// Sequence number of the last message.
    sequence: u32,
    out: Vec<u8>,
    /// Offset of each message in `out`.
    starts: Vec<usize>,
    received: Vec<u8>,
}

impl NetlinkSocket {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    pub fn open(protocol: isize, netns: Option<&Path>) -> io::Result<Self> {
        // A socket belongs to the namespace of the thread that opens it.
        let (socket, port) = within(netns, || {
            let mut socket = Socket::new(protocol)?;
            let port = socket.bind_auto()?.port_number();
            socket.connect(&SocketAddr::new(0, 0))?;
            socket.set_ext_ack(true)?;
            // Without it a refusal repeats the request, up to 8 KiB of a distribution table.
            socket.set_cap_ack(true)?;
            set_socket_timeout(socket.as_fd(), Timeout::Recv, Some(ANSWER_TIMEOUT))?;
            io::Result::Ok((socket, port))
        })??;
        Ok(Self {
            socket,
            port,
            sequence: 0,
            out: Vec::new(),
            starts: Vec::new(),
            received: Vec::with_capacity(RECEIVE_BYTES_MAX),
        })
    }

    /// Port of the socket, which notifications of its changes carry.
    pub fn port(&self) -> u32 {
        self.port
    }

    /// Index of the interface `name`.
    pub fn index(&self, name: &str) -> io::Result<u32> {
        Ok(name_to_index(self.socket.as_fd(), name)?)
    }

    /// Name of the interface `index`.
    pub fn name(&self, index: u32) -> io::Result<String> {
        Ok(index_to_name(self.socket.as_fd(), index)?)
    }

    /// Appends a request to the next [`NetlinkSocket::call`].
    pub fn add(&mut self, request: &impl NetlinkRequest) {
        self.sequence = self.sequence.wrapping_add(1);
        self.starts.push(self.out.len());
        append_message(&mut self.out, self.sequence, request);
    }

    /// Sends the added requests, as many as possible in one system call, and returns one answer
    /// for each, in order. The kernel executes them in order and continues after a refused one.
    ///
    /// # Errors
    /// When the socket fails; how many requests were executed is then unknown.
    pub fn call(&mut self) -> io::Result<Vec<Answer>> {
        let mut answers: Vec<Answer> = Vec::with_capacity(self.starts.len());
        let mut outcome = Ok(());
        while outcome.is_ok() && answers.len() < self.starts.len() {
            outcome = self.exchange(&mut answers);
        }
        self.out.clear();
        self.starts.clear();
        outcome.map(|()| answers)
    }

    /// Sends the requests behind those answered, at least one, and appends their answers.
    fn exchange(&mut self, answers: &mut Vec<Answer>) -> io::Result<()> {
        let done = answers.len();
        let (begin, rest) = (self.starts[done], &self.starts[done + 1..]);
        let fitting = rest.partition_point(|end| end - begin <= SEND_BYTES_MAX);
        // The last one fits as well where all the bytes do.
        let all = fitting == rest.len() && self.out.len() - begin <= SEND_BYTES_MAX;
        let count = if all { fitting + 1 } else { fitting.max(1) };
        let last = self.starts[done + count - 1];
        let end = self.starts.get(done + count).copied();
        // Refusals come unasked and answers in order: an acknowledgement of the last request ends
        // the exchange.
        let mut message = NetlinkBuffer::new(&mut self.out[last..]);
        message.set_flags(message.flags() | NLM_F_ACK);
        self.socket.send(&self.out[begin..end.unwrap_or(self.out.len())], 0)?;
        let first = self.sequence.wrapping_sub((self.starts.len() - done) as u32 - 1);
        answers.extend((0..count).map(|_| Ok(None)));
        loop {
            self.received.clear();
            self.socket.recv(&mut self.received, 0)?;
            for message in messages(&self.received) {
                // Answers to an earlier exchange that was interrupted have other numbers.
                let place = message.sequence_number().wrapping_sub(first) as usize;
                if place >= count {
                    continue;
                }
                match refusal(&message) {
                    None => answers[done + place] = Ok(Some(message.payload().to_vec())),
                    Some(Ok(())) if place + 1 == count => return Ok(()),
                    Some(Ok(())) => {}
                    Some(Err(refusal)) => {
                        answers[done + place] = Err(refusal);
                        if place + 1 == count {
                            return Ok(());
                        }
                    }
                }
            }
        }
    }

    /// Bodies of all answers to a dump request. A table that changed meanwhile is read again, at
    /// most `DUMP_ATTEMPTS` times; the last attempt counts.
    ///
    /// # Errors
    /// When the socket fails, the kernel refuses or the table exceeds `DUMP_BYTES_MAX`.
    pub fn dump(&mut self, request: &impl NetlinkRequest) -> Result<Vec<Vec<u8>>, NetlinkError> {
        for _ in 1..DUMP_ATTEMPTS {
            let (answers, consistent) = self.dump_once(request)?;
            if consistent {
                return Ok(answers);
            }
        }
        Ok(self.dump_once(request)?.0)
    }

    /// The answers to a dump request, and the absence of changes to the table meanwhile.
    fn dump_once(
        &mut self,
        request: &impl NetlinkRequest,
    ) -> Result<(Vec<Vec<u8>>, bool), NetlinkError> {
        self.sequence = self.sequence.wrapping_add(1);
        self.out.clear();
        append_message(&mut self.out, self.sequence, request);
        let mut message = NetlinkBuffer::new(&mut self.out);
        message.set_flags(message.flags() | NLM_F_DUMP);
        let sent = self.socket.send(&self.out, 0);
        self.out.clear();
        sent?;
        let (mut answers, mut bytes, mut consistent) = (Vec::new(), 0, true);
        loop {
            self.received.clear();
            self.socket.recv(&mut self.received, 0)?;
            for message in messages(&self.received) {
                if message.sequence_number() != self.sequence {
                    continue;
                }
                consistent &= message.flags() & NLM_F_DUMP_INTR == 0;
                match refusal(&message) {
                    Some(Err(refusal)) => return Err(refusal),
                    Some(Ok(())) => return Ok((answers, consistent)),
                    None => {
                        bytes += message.payload_length();
                        answers.push(message.payload().to_vec());
                    }
                }
                if bytes > DUMP_BYTES_MAX {
                    let problem = format!("a dump of more than {DUMP_BYTES_MAX} bytes");
                    return Err(NetlinkError::Decode(problem.into()));
                }
            }
        }
    }
}

/// The messages of a datagram.
pub(super) fn messages(mut datagram: &[u8]) -> impl Iterator<Item = NetlinkBuffer<&[u8]>> {
    std::iter::from_fn(move || {
        let message = NetlinkBuffer::new_checked(datagram).ok()?;
        let next = (message.length() as usize).next_multiple_of(4);
        datagram = datagram.get(next..).unwrap_or_default();
        Some(message)
    })
}

/// Outcome that a message of type `NLMSG_ERROR` or `NLMSG_DONE` reports; `None` for other types.
fn refusal(message: &NetlinkBuffer<&[u8]>) -> Option<Result<(), NetlinkError>> {
    let number = message.payload().split_first_chunk();
    let (number, rest) = match (message.message_type(), number) {
        (NLMSG_ERROR, None) => {
            return Some(Err(NetlinkError::Decode("an error without a number".into())));
        }
        (NLMSG_ERROR | NLMSG_DONE, Some((number, rest))) => (i32::from_ne_bytes(*number), rest),
        (NLMSG_DONE, None) => (0, [].as_slice()),
        _ => return None,
    };
    Some(match number.saturating_neg() {
        ..=0 => Ok(()),
        errno => {
            Err(NetlinkError::Refused { errno, message: extended_message(message.flags(), rest) })
        }
    })
}

/// Appends a request with its netlink header (`struct nlmsghdr`).
///
/// # Panics
/// When the message exceeds 32 bits of length, which the 16 bits of its attributes rule out.
pub fn append_message(out: &mut Vec<u8>, sequence: u32, request: &impl NetlinkRequest) {
    let start = out.len();
    let (kind, flags) = request.header();
    out.resize(start + HEADER_BYTES, 0);
    request.write_body(out);
    out.resize(out.len().next_multiple_of(4), 0);
    let length = u32::try_from(out.len() - start).expect("16 bits bound each attribute");
    let mut header = NetlinkBuffer::new(&mut out[start..]);
    header.set_length(length);
    header.set_message_type(kind);
    header.set_flags(NLM_F_REQUEST | flags);
    header.set_sequence_number(sequence);
}
