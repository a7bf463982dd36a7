//! A netlink socket, and calls of several messages at once.
//!
//! The kernel answers rtnetlink within the system call that asks: when `send` returns, every
//! answer waits on the socket. So a call is one `send` and one `recv` for each answer, and never
//! waits for anything but the kernel's own lock. An asynchronous connection would add a task, two
//! channels and a wake-up to each message, which is more than the kernel's work.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use super::KernelError;
use super::extack::words;
use super::netns::within;

/// Bytes of `struct nlmsghdr`.
const HEAD: usize = 16;
/// Longest answer to one message, bytes; those of interfaces are some kilobytes.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// How long the kernel may hold its lock before we give up on it.
const PATIENCE: Duration = Duration::from_secs(10);

const NLMSG_ERROR: u16 = 2;
pub(super) const REQUEST: u16 = 1;
pub(super) const ACK: u16 = 4;
pub(super) const ECHO: u16 = 8;

/// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
///
/// # Errors
/// When the namespace cannot be entered or the kernel gives no socket.
pub(super) fn socket(netns: Option<&Path>) -> Result<Socket, KernelError> {
    connect(NETLINK_ROUTE, netns)?.map_err(|source| KernelError::Io {
        what: "open a netlink socket".to_owned(),
        source,
    })
}

/// As [`socket`], of any protocol; what the kernel said where it gave none.
///
/// # Errors
/// When the namespace cannot be entered.
pub(crate) fn connect(
    protocol: isize,
    netns: Option<&Path>,
) -> Result<io::Result<Socket>, KernelError> {
    // A socket belongs to the namespace of the thread that makes it, for good.
    within(netns, || {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        socket.set_ext_ack(true)?;
        // A refused table is 8 KiB that nobody needs to see again.
        socket.set_cap_ack(true)?;
        set_socket_timeout(socket.as_fd(), Timeout::Recv, Some(PATIENCE))?;
        Ok(socket)
    })
}

/// Why a message came to nothing: the kernel's number and words.
#[derive(Debug)]
pub(super) struct Nack {
    pub errno: i32,
    pub words: Option<String>,
}

/// What the kernel says to one message: what it found, if it was asked for something.
pub(super) type Answer = Result<Option<Vec<u8>>, Nack>;

/// A socket for calls of a few messages, each answered.
#[derive(Debug)]
pub(super) struct Line {
    socket: Socket,
    /// Number of the last message.
    sequence: u32,
    out: Vec<u8>,
    /// Where each message of the call begins.
    begins: Vec<usize>,
    heard: Vec<u8>,
}

impl Line {
    pub fn open(netns: Option<&Path>) -> Result<Self, KernelError> {
        Ok(Self {
            socket: socket(netns)?,
            sequence: 0,
            out: Vec::new(),
            begins: Vec::new(),
            heard: Vec::with_capacity(ANSWER_BYTES_MAX),
        })
    }

    /// Adds a message to the call; `write` is given its number and appends it, head and all.
    pub fn add(&mut self, write: impl FnOnce(u32, &mut Vec<u8>)) {
        self.sequence = self.sequence.wrapping_add(1);
        self.begins.push(self.out.len());
        write(self.sequence, &mut self.out);
    }

    /// Sends what was added; one answer for each, in order.
    ///
    /// # Errors
    /// When the kernel cannot be talked to.
    pub fn call(&mut self) -> Result<Vec<Answer>, KernelError> {
        let answers = self.exchange();
        self.out.clear();
        self.begins.clear();
        answers.map_err(|source| KernelError::Io {
            what: "ask the kernel".to_owned(),
            source,
        })
    }

    fn exchange(&mut self) -> io::Result<Vec<Answer>> {
        let many = self.begins.len();
        let mut answers: Vec<Answer> = (0..many).map(|_| Ok(None)).collect();
        let Some(last) = self.begins.last() else {
            return Ok(answers);
        };
        // Errors come unasked, and answers in order: an acknowledgement of the last ends the call.
        let flags = u16::from_ne_bytes([self.out[last + 6], self.out[last + 7]]) | ACK;
        self.out[last + 6..last + 8].copy_from_slice(&flags.to_ne_bytes());
        let first = self.sequence.wrapping_sub(many as u32 - 1);
        self.socket.send(&self.out, 0)?;
        loop {
            self.heard.clear();
            self.socket.recv(&mut self.heard, 0)?;
            for message in Messages(&self.heard) {
                // What an earlier call left behind, broken off, has other numbers.
                let place = message.sequence.wrapping_sub(first) as usize;
                let Some(answer) = answers.get_mut(place) else {
                    continue;
                };
                match message.error() {
                    None => *answer = Ok(Some(message.body.to_vec())),
                    Some((0, _)) => {}
                    Some((errno, words)) => *answer = Err(Nack { errno, words }),
                }
                if message.kind == NLMSG_ERROR && place + 1 == many {
                    return Ok(answers);
                }
            }
        }
    }
}

/// A message as it came.
pub(crate) struct Message<'a> {
    pub kind: u16,
    pub flags: u16,
    pub sequence: u32,
    pub body: &'a [u8],
}

impl Message<'_> {
    /// Number, positive, and words of an error; 0 is an acknowledgement.
    pub fn error(&self) -> Option<(i32, Option<String>)> {
        let number = self.body.get(..4).filter(|_| self.kind == NLMSG_ERROR)?;
        let errno = i32::from_ne_bytes(number.try_into().ok()?).saturating_neg();
        Some((errno, words(self.flags, &self.body[4..])))
    }
}

/// The messages of a datagram.
pub(crate) struct Messages<'a>(pub &'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let (head, _) = self.0.split_first_chunk::<HEAD>()?;
        let word =
            |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let length = (word(0) as usize).clamp(HEAD, self.0.len());
        let body = &self.0[HEAD..length];
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Message {
            kind: u16::from_ne_bytes([head[4], head[5]]),
            flags: u16::from_ne_bytes([head[6], head[7]]),
            sequence: word(8),
            body,
        })
    }
}

/// Appends a message of `kind`: `body` writes what follows the head.
pub(crate) fn put_message(
    out: &mut Vec<u8>,
    (kind, flags, sequence): (u16, u16, u32),
    body: impl FnOnce(&mut Vec<u8>),
) {
    let begin = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&kind.to_ne_bytes());
    out.extend_from_slice(&(REQUEST | flags).to_ne_bytes());
    out.extend_from_slice(&sequence.to_ne_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = u32::try_from(out.len() - begin).expect("an attribute bounds it");
    out[begin..begin + 4].copy_from_slice(&length.to_ne_bytes());
}
