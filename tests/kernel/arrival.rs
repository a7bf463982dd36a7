//! Packets received at the far interface of a veth pair, and the statistics of the path.

use std::io::IoSliceMut;
use std::os::fd::RawFd;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};

/// Where the packets go.
pub const PORT: u16 = 4790;
/// Ethernet and IPv4 headers.
const LOWER_BYTES: usize = 14 + 20;
const HEADER_BYTES: usize = crate::wire::HEADER_BYTES;

/// One frame at the far end.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// Which of the packets of this measurement, from 0; of a damaged one, what it claims.
    pub number: u64,
    /// From the sender's call to the far end's interface.
    pub delay_ns: u64,
    /// When it arrived.
    pub at_ns: u64,
    /// Length of the frame.
    pub bytes: usize,
    /// `true` if a bit differs from what was sent.
    pub damaged: bool,
}

/// Longest frame that is looked at, bytes.
const FRAME_BYTES_MAX: usize = 9216;

/// The bytes of a payload after its four words.
static PATTERN: [u8; FRAME_BYTES_MAX] = {
    let mut pattern = [0; FRAME_BYTES_MAX];
    let mut place = 0;
    while place < FRAME_BYTES_MAX {
        pattern[place] = (place * 37) as u8;
        place += 1;
    }
    pattern
};

/// A payload that can be checked: four words that [`stamp`] sets, then a pattern. Comparing slices
/// costs little: in a virtual machine that counts instructions the sender must keep up with its rate.
pub fn payload(bytes: usize) -> Vec<u8> {
    PATTERN[..bytes].to_vec()
}

/// Sets number and time of a payload, both again inverted.
pub fn stamp(payload: &mut [u8], number: u64, sent_ns: u64) {
    for (place, word) in [number, sent_ns, !number, !sent_ns].into_iter().enumerate() {
        payload[place * 8..][..8].copy_from_slice(&word.to_be_bytes());
    }
}

/// Takes what has arrived so far; other lengths, and packets before `first`, are not ours.
pub fn receive(socket: RawFd, first: u64, length: usize, arrivals: &mut Vec<Arrival>) {
    let mut frame = [0; FRAME_BYTES_MAX];
    let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec);
    loop {
        let mut slices = [IoSliceMut::new(&mut frame)];
        let got = match recvmsg::<()>(socket, &mut slices, Some(&mut control), MsgFlags::empty()) {
            Ok(got) => got,
            Err(nix::Error::EAGAIN) => return,
            Err(error) => panic!("the far end cannot be read: {error}"),
        };
        let bytes = got.bytes;
        let at = got.cmsgs().unwrap().find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(at) => Some(at),
            _ => None,
        });
        let at = std::time::Duration::from(at.expect("the socket asks for timestamps"));
        let at_ns = u64::try_from(at.as_nanos()).unwrap();
        let frame = &frame[..bytes];
        let (number, sent_ns) = (word(frame, 0), word(frame, 1));
        let damaged = damaged(frame);
        if bytes != length || (number < first && !damaged) {
            continue;
        }
        arrivals.push(Arrival {
            number: number.wrapping_sub(first),
            delay_ns: at_ns.saturating_sub(sent_ns),
            at_ns,
            bytes,
            damaged,
        });
    }
}

fn word(frame: &[u8], place: usize) -> u64 {
    let start = HEADER_BYTES + place * 8;
    frame.get(start..start + 8).map_or(0, |bytes| u64::from_be_bytes(bytes.try_into().unwrap()))
}

/// `true` if anything but the UDP checksum, which a veth pair leaves open, differs from what was
/// sent.
fn damaged(frame: &[u8]) -> bool {
    let addresses = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let length = u16::try_from(frame.len() - LOWER_BYTES).unwrap_or_default();
    let sum: u32 = frame[14..LOWER_BYTES]
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    let sound = frame.len() > HEADER_BYTES + 32
        && frame[..14] == addresses
        && (sum & 0xffff) + (sum >> 16) == 0xffff
        && frame[LOWER_BYTES + 2..][..2] == PORT.to_be_bytes()
        && frame[LOWER_BYTES + 4..][..2] == length.to_be_bytes()
        && word(frame, 0) == !word(frame, 2)
        && word(frame, 1) == !word(frame, 3)
        && frame[HEADER_BYTES + 32..] == PATTERN[32..frame.len() - HEADER_BYTES];
    !sound
}

/// A measurement's figures. Shares are of the packets sent.
#[derive(Debug)]
pub struct Figures {
    /// Packets that never arrived.
    pub lost: f64,
    /// Further copies that arrived.
    pub duplicated: f64,
    /// Packets that arrived before one sent earlier.
    pub overtook: f64,
    /// Frames that arrived with a wrong bit.
    pub damaged: f64,
    /// Shortest delay.
    pub min_ms: f64,
    /// Median delay.
    pub p50_ms: f64,
    /// Mean delay.
    pub mean_ms: f64,
    /// Standard deviation of the delay.
    pub sd_ms: f64,
}

impl Figures {
    /// Of `sent` packets, these arrived.
    pub fn of(sent: u64, arrivals: &[Arrival]) -> Self {
        let mut copies = vec![0_u32; usize::try_from(sent).unwrap()];
        let (mut overtook, mut duplicated, mut damaged) = (0, 0, 0);
        let mut lowest_after = u64::MAX;
        for arrival in arrivals.iter().rev() {
            if arrival.damaged {
                damaged += 1;
                continue;
            }
            if arrival.number > lowest_after {
                overtook += 1;
            }
            lowest_after = lowest_after.min(arrival.number);
            let copies = &mut copies[usize::try_from(arrival.number).unwrap()];
            *copies += 1;
            duplicated += u32::from(*copies > 1);
        }
        let lost = copies.iter().filter(|copies| **copies == 0).count() as f64 - f64::from(damaged);
        let mut delays: Vec<f64> = arrivals
            .iter()
            .filter(|arrival| !arrival.damaged)
            .map(|arrival| arrival.delay_ns as f64 / 1e6)
            .collect();
        delays.sort_by(f64::total_cmp);
        let n = delays.len().max(1) as f64;
        let mean_ms = delays.iter().sum::<f64>() / n;
        let square = delays.iter().map(|delay| (delay - mean_ms).powi(2));
        Self {
            lost: lost / sent as f64,
            duplicated: f64::from(duplicated) / sent as f64,
            overtook: f64::from(overtook) / sent as f64,
            damaged: f64::from(damaged) / sent as f64,
            min_ms: delays.first().copied().unwrap_or(f64::NAN),
            p50_ms: delays.get(delays.len() / 2).copied().unwrap_or(f64::NAN),
            mean_ms,
            sd_ms: (square.sum::<f64>() / n).sqrt(),
        }
    }
}

/// Mean length of the runs of packets that did not arrive.
pub fn mean_lost_run(sent: u64, arrivals: &[Arrival]) -> f64 {
    let mut numbers: Vec<u64> = arrivals.iter().map(|arrival| arrival.number).collect();
    numbers.push(sent);
    numbers.sort_unstable();
    numbers.dedup();
    let (mut next, mut lost, mut runs) = (0, 0, 0_u64);
    for number in numbers {
        lost += number - next;
        runs += u64::from(number > next);
        next = number + 1;
    }
    lost as f64 / runs.max(1) as f64
}

/// Bits per second between the first and the last arrival, the first `skip_ns` left out: what a
/// full bucket lets through at once is not the rate.
pub fn rate_bps(arrivals: &[Arrival], skip_ns: u64) -> f64 {
    let from_ns = arrivals.first().map_or(0, |first| first.at_ns + skip_ns);
    let mut steady = arrivals.iter().filter(|arrival| arrival.at_ns >= from_ns);
    let (first, last) = (steady.next(), arrivals.last());
    let (Some(first), Some(last)) = (first, last) else {
        return 0.0;
    };
    let bytes: usize = steady.map(|arrival| arrival.bytes).sum();
    bytes as f64 * 8e9 / (last.at_ns - first.at_ns) as f64
}
