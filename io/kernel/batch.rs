//! Many changes at once, for a mirror of many links: messages back to back in one system call,
//! one acknowledgement for all.
//!
//! The kernel carries a batch out in order and goes on after an error; it is no transaction.

use std::io;
use std::path::Path;

use netlink_sys::Socket;

use super::extack::refusal;
use super::line::{ACK, Messages, put_message, socket};
use super::nla::{put, put_words};
use super::{KernelError, Request, Verb};

/// Bytes of one system call: the kernel copies it into one buffer, and beyond the default send
/// buffer of a socket it refuses.
const CALL_BYTES: usize = 64 << 10;
const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const NLMSG_DONE: u16 = 3;
const DUMP: u16 = 0x300;
const EXCL: u16 = 0x200;
const CREATE: u16 = 0x400;

/// What a batch can carry.
pub trait Message {
    /// Appends this as one message.
    fn encode(&self, sequence: u32, acknowledged: bool, out: &mut Vec<u8>);
    /// The error for `errno`, positive, and the kernel's words.
    fn refusal(&self, errno: i32, words: Option<String>) -> KernelError;
}

impl Message for Request {
    fn refusal(&self, errno: i32, words: Option<String>) -> KernelError {
        refusal(self, errno, words)
    }

    /// Appends this request as a message of `RTM_NEWQDISC` or `RTM_DELQDISC`.
    fn encode(&self, sequence: u32, acknowledged: bool, out: &mut Vec<u8>) {
        let (kind, flags) = match self.verb {
            Verb::Create => (RTM_NEWQDISC, CREATE | EXCL),
            Verb::Change => (RTM_NEWQDISC, 0),
            Verb::Delete => (RTM_DELQDISC, 0),
        };
        let flags = flags | if acknowledged { ACK } else { 0 };
        put_message(out, (kind, flags, sequence), |out| {
            // struct tcmsg: family, interface, handle, parent, info.
            put_words(out, &[0, self.index, self.handle.0, self.parent.0, 0]);
            let mut name = [0; 16];
            name[..self.kind.len()].copy_from_slice(self.kind.as_bytes());
            put(out, 1, &name[..=self.kind.len()]);
            if let Some(options) = &self.options {
                put(out, 2, options);
            }
        });
    }
}

/// A socket for batches. It blocks its thread for as long as the kernel works.
#[derive(Debug)]
pub struct Batch {
    socket: Socket,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Batch {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    ///
    /// # Errors
    /// When the namespace cannot be entered or the kernel gives no socket.
    pub fn open(netns: Option<&Path>) -> Result<Self, KernelError> {
        Ok(Self {
            socket: socket(netns)?,
            sequence: 0,
            buffer: Vec::with_capacity(CALL_BYTES),
        })
    }

    /// Carries out `requests` in order, those after a refused one as well. Returns the refused
    /// ones, by their place.
    ///
    /// # Errors
    /// When the kernel cannot be talked to; then how far it came is not known.
    pub fn send<M: Message>(
        &mut self,
        requests: &[M],
    ) -> Result<Vec<(usize, KernelError)>, KernelError> {
        let mut refused = Vec::new();
        let mut done = 0;
        while done < requests.len() {
            let taken = self.fill(&requests[done..]);
            let first = self.sequence.wrapping_sub(taken as u32 - 1);
            self.exchange(first, &requests[done..done + taken], &mut refused, done)
                .map_err(|source| KernelError::Io {
                    what: "send a batch to the kernel".to_owned(),
                    source,
                })?;
            done += taken;
        }
        Ok(refused)
    }

    /// Asks for everything of a sort, and answers the bodies of the messages of `kind`. `body` is
    /// what follows the head of the question, of the message `question`.
    ///
    /// # Errors
    /// When the kernel cannot be talked to, or refuses.
    pub fn dump(
        &mut self,
        question: u16,
        body: &[u8],
        kind: u16,
    ) -> Result<Vec<Vec<u8>>, KernelError> {
        let io = |source| KernelError::Io {
            what: "ask the kernel for all it has".to_owned(),
            source,
        };
        self.sequence = self.sequence.wrapping_add(1);
        self.buffer.clear();
        let head = (question, DUMP, self.sequence);
        put_message(&mut self.buffer, head, |out| out.extend_from_slice(body));
        self.socket.send(&self.buffer, 0).map_err(io)?;
        let mut found = Vec::new();
        loop {
            let (answers, _) = self.socket.recv_from_full().map_err(io)?;
            for message in Messages(&answers) {
                match message.error() {
                    Some((errno, _)) => return Err(io(io::Error::from_raw_os_error(errno))),
                    None if message.kind == NLMSG_DONE => return Ok(found),
                    None if message.kind == kind => found.push(message.body.to_vec()),
                    None => {}
                }
            }
        }
    }

    /// Fills the buffer with as many of `requests` as one call takes, at least one.
    fn fill<M: Message>(&mut self, requests: &[M]) -> usize {
        self.buffer.clear();
        let mut taken = 0;
        let mut last = 0;
        for request in requests {
            let begin = self.buffer.len();
            request.encode(self.sequence.wrapping_add(1), false, &mut self.buffer);
            if self.buffer.len() > CALL_BYTES && taken > 0 {
                self.buffer.truncate(begin);
                break;
            }
            self.sequence = self.sequence.wrapping_add(1);
            (taken, last) = (taken + 1, begin);
        }
        let flags = u16::from_ne_bytes([self.buffer[last + 6], self.buffer[last + 7]]) | ACK;
        self.buffer[last + 6..last + 8].copy_from_slice(&flags.to_ne_bytes());
        taken
    }

    /// Sends the buffer and reads answers until the last message's, which alone always has one.
    fn exchange<M: Message>(
        &mut self,
        first: u32,
        requests: &[M],
        refused: &mut Vec<(usize, KernelError)>,
        offset: usize,
    ) -> io::Result<()> {
        self.socket.send(&self.buffer, 0)?;
        loop {
            let (answers, _) = self.socket.recv_from_full()?;
            for message in Messages(&answers) {
                let Some((errno, detail)) = message.error() else {
                    continue;
                };
                let place = message.sequence.wrapping_sub(first) as usize;
                let Some(request) = requests.get(place) else {
                    continue;
                };
                if errno != 0 {
                    refused.push((offset + place, request.refusal(errno, detail)));
                }
                if place + 1 == requests.len() {
                    return Ok(());
                }
            }
        }
    }
}
