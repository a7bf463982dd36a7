//! Reachability and round-trip time: ICMP echo requests (RFC 792, RFC 4443), through the kernel's
//! datagram socket for the groups of `net.ipv4.ping_group_range`, or a raw socket.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use groundwave_files::ReadingError;
use groundwave_files::wall::monotonic_ns;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, ipproto, recv, send,
    socket_with,
};

/// Time between two requests; those without privileges may not send more often.
const APART: Duration = Duration::from_millis(200);
/// Longest wait for the last reply.
const PATIENCE: Duration = Duration::from_secs(1);
/// Types of requests and replies, ICMP and ICMPv6.
const TYPES_V4: [u8; 2] = [8, 0];
const TYPES_V6: [u8; 2] = [128, 129];
/// Bytes of the header, and of the payload that tells our requests from others'.
const HEAD: usize = 8;
const MARK: usize = 16;

/// Results of some requests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Echoes {
    /// Requests sent.
    pub sent: u32,
    /// Round-trip times, in order of the replies, ms.
    pub rtts_ms: Vec<f64>,
}

/// A socket for echo requests to one address.
#[derive(Debug)]
pub struct Pinger {
    socket: OwnedFd,
    /// `true` if packets received begin with the IP header.
    has_ip_header: bool,
    /// Types of requests and replies.
    types: [u8; 2],
    mark: [u8; MARK],
    /// Times of the requests sent, ns.
    sent_ns: Vec<u64>,
    found: Echoes,
}

impl Pinger {
    /// A socket for requests to `ip`; `mark` identifies them.
    ///
    /// # Errors
    /// [`ReadingError::Permission`] when this program may not, else what the kernel refused with.
    pub fn open(ip: IpAddr, mark: [u8; MARK]) -> Result<Self, ReadingError> {
        let failed = |err: rustix::io::Errno| ReadingError::io("a socket for ICMP", err.into());
        let (family, protocol, types) = match ip {
            IpAddr::V4(_) => (AddressFamily::INET, ipproto::ICMP, TYPES_V4),
            IpAddr::V6(_) => (AddressFamily::INET6, ipproto::ICMPV6, TYPES_V6),
        };
        let open = |kind| socket_with(family, kind, SocketFlags::CLOEXEC, Some(protocol));
        let (socket, raw) = match open(SocketType::DGRAM) {
            Ok(socket) => (socket, false),
            Err(_) => (open(SocketType::RAW).map_err(failed)?, true),
        };
        let reach = |err: rustix::io::Errno| {
            ReadingError::io(format!("an ICMP request to {ip}"), err.into())
        };
        connect(&socket, &SocketAddr::new(ip, 0)).map_err(reach)?;
        Ok(Self {
            socket,
            // Raw sockets of IPv6 leave the header out, RFC 3542.
            has_ip_header: raw && ip.is_ipv4(),
            types,
            mark,
            sent_ns: Vec::new(),
            found: Echoes::default(),
        })
    }

    /// Sends requests for `time` and receives the replies. Blocks for that time and a second more,
    /// or until `stop` is set.
    ///
    /// # Errors
    /// What the kernel refused with.
    pub fn ping(mut self, time: Duration, stop: impl Fn() -> bool) -> Result<Echoes, ReadingError> {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let begun_ns = monotonic_ns();
        let count = nanos(time) / nanos(APART);
        for number in 0..count.clamp(1, 100) {
            if stop() {
                break;
            }
            self.send(number as u16)?;
            self.hear(begun_ns + (number + 1) * nanos(APART))?;
        }
        if self.found.rtts_ms.len() < self.sent_ns.len() && !stop() {
            self.hear(monotonic_ns() + nanos(PATIENCE))?;
        }
        Ok(self.found)
    }

    fn send(&mut self, number: u16) -> Result<(), ReadingError> {
        self.sent_ns.push(monotonic_ns());
        self.found.sent += 1;
        let packet = request(self.types[0], number, &self.mark);
        match send(&self.socket, &packet, SendFlags::empty()) {
            Ok(_) => Ok(()),
            // No way there at the moment: it is lost, as on any way.
            Err(err) if is_loss(err) => Ok(()),
            Err(err) => Err(ReadingError::io("send an ICMP request", err.into())),
        }
    }

    /// The number of the request that this answers, if it is one of ours.
    fn reply(&self, bytes: &[u8]) -> Option<u16> {
        reply(bytes, self.types[1], self.has_ip_header, &self.mark)
    }

    /// Hears answers until `until_ns`, or, once all came, no longer than the next request waits.
    fn hear(&mut self, until_ns: u64) -> Result<(), ReadingError> {
        let failed = |err: rustix::io::Errno| ReadingError::io("hear an ICMP reply", err.into());
        loop {
            let left_ns = until_ns.saturating_sub(monotonic_ns());
            // A timeout of nothing would be none.
            if left_ns < 1_000 {
                return Ok(());
            }
            let wait = Some(Duration::from_nanos(left_ns));
            set_socket_timeout(&self.socket, Timeout::Recv, wait).map_err(failed)?;
            let mut bytes = [0; 512];
            let length = match recv(&self.socket, bytes.as_mut_slice(), RecvFlags::empty()) {
                Ok((length, _)) => length,
                Err(err) if err == rustix::io::Errno::AGAIN => return Ok(()),
                Err(err) if err == rustix::io::Errno::INTR || is_loss(err) => continue,
                Err(err) => return Err(failed(err)),
            };
            let now_ns = monotonic_ns();
            let number = self.reply(&bytes[..length]);
            let sent = number.and_then(|number| self.sent_ns.get_mut(usize::from(number)));
            // Of an answer that comes twice, the first counts.
            if let Some(sent) = sent.filter(|sent| **sent != u64::MAX) {
                let rtt_ns = now_ns.saturating_sub(*sent);
                *sent = u64::MAX;
                self.found.rtts_ms.push(rtt_ns as f64 / 1e6);
            }
        }
    }
}

/// `true` for errors that report the loss of a packet, from a router or our own host.
fn is_loss(err: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [
        Errno::HOSTUNREACH,
        Errno::NETUNREACH,
        Errno::HOSTDOWN,
        Errno::NETDOWN,
        Errno::CONNREFUSED,
        Errno::NOBUFS,
    ]
    .contains(&err)
}

/// An echo request of a type. The kernel puts in an identifier of its own where the socket is not raw,
/// and the sum of ICMPv6, which covers addresses too.
fn request(kind: u8, number: u16, mark: &[u8; MARK]) -> Vec<u8> {
    let mut packet = vec![kind, 0, 0, 0, mark[0], mark[1]];
    packet.extend_from_slice(&number.to_be_bytes());
    packet.extend_from_slice(mark);
    let sum = checksum(&packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// The number of the request that a reply of a type answers, if it is one of ours.
fn reply(bytes: &[u8], kind: u8, has_ip_header: bool, mark: &[u8; MARK]) -> Option<u16> {
    let skip = match has_ip_header {
        true => usize::from(bytes.first()? & 0xf) * 4,
        false => 0,
    };
    let packet = bytes.get(skip..)?;
    let head = packet.first_chunk::<HEAD>()?;
    let ours = head[..2] == [kind, 0] && packet.get(HEAD..)? == mark;
    ours.then(|| u16::from_be_bytes([head[6], head[7]]))
}

/// The sum of RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let words =
        bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_rfc() {
        // RFC 1071, section 3: the sum of these bytes is ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&bytes), !0xddf2);
        // A whole packet, with its sum in place, sums up to nothing.
        assert_eq!(checksum(&request(8, 7, &[9; MARK])), 0);
    }

    #[test]
    fn only_answers_to_ours_count() {
        let mark = [5; MARK];
        let mut packet = request(8, 300, &mark);
        assert_eq!(reply(&packet, 0, false, &mark), None);
        packet[0] = 0;
        assert_eq!(reply(&packet, 0, false, &mark), Some(300));
        assert_eq!(reply(&packet, 129, false, &mark), None);
        assert_eq!(reply(&packet, 0, false, &[6; MARK]), None);
        let mut whole = vec![0x45; 20];
        whole.extend_from_slice(&packet);
        assert_eq!(reply(&whole, 0, true, &mark), Some(300));
        for cut in 0..whole.len() {
            assert_eq!(reply(&whole[..cut], 0, true, &mark), None);
        }
    }

    /// Pings this host, where either socket is for everybody.
    fn this_host_answers_at(ip: IpAddr) {
        let open = Pinger::open(ip, *b"0123456789abcdef");
        let Ok(pinger) = open else {
            assert!(matches!(open, Err(ReadingError::Permission { .. })), "{open:?}");
            return;
        };
        let found = pinger.ping(Duration::from_millis(400), || false).unwrap();
        assert_eq!((found.sent, found.rtts_ms.len()), (2, 2));
        assert!(found.rtts_ms.iter().all(|rtt| *rtt > 0.0));
    }

    #[test]
    fn this_host_answers_itself() {
        this_host_answers_at(std::net::Ipv4Addr::LOCALHOST.into());
    }

    #[groundwave_needs::needs(ipv6)]
    #[test]
    fn this_host_answers_itself_by_ipv6() {
        this_host_answers_at(std::net::Ipv6Addr::LOCALHOST.into());
    }
}
