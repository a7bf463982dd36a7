//! Position fix from gpsd (JSON lines over TCP): quality of the fix and number of satellites.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// First line sent to gpsd: starts JSON reports.
const WATCH: &[u8] = b"?WATCH={\"enable\":true,\"json\":true};\n";
/// A daemon of this machine answers at once or is not there.
const PATIENCE: Duration = Duration::from_millis(200);
/// Longest line, bytes; a sky full of satellites is some kilobytes.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Looks between attempts to reach a gpsd that is not there.
const LOOKS_APART: u32 = 12;
/// Looks after which a fix that nothing was heard of is none.
const LOOKS_FRESH: u32 = 3;

/// A fix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// 0 none, 2 in the plane, 3 in space.
    pub mode: u8,
    /// Satellites in use.
    pub sats_used: Option<u16>,
}

/// A line of gpsd, as far as it matters here.
#[derive(Deserialize)]
struct Line {
    class: String,
    mode: Option<u8>,
    #[serde(rename = "uSat")]
    used: Option<u16>,
    satellites: Option<Vec<Satellite>>,
}

#[derive(Deserialize)]
struct Satellite {
    #[serde(default)]
    used: bool,
}

impl Fix {
    /// Processes a line; lines that are not from gpsd change nothing. `true` if it was about a fix.
    pub fn hear(&mut self, line: &[u8]) -> bool {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return false;
        };
        match line.class.as_str() {
            "TPV" => {
                // Of gpsd's modes, 0 is "unknown" and 1 "no fix".
                self.mode = line.mode.filter(|mode| (2..=3).contains(mode)).unwrap_or(0);
                true
            }
            "SKY" => {
                let counted = line
                    .satellites
                    .map(|all| all.iter().filter(|one| one.used).count())
                    .and_then(|count| u16::try_from(count).ok());
                // Some messages about the sky have no satellites.
                self.sats_used = line.used.or(counted).or(self.sats_used);
                false
            }
            _ => false,
        }
    }
}

/// A gpsd that is listened to between looks.
#[derive(Debug)]
pub struct Gpsd {
    address: SocketAddr,
    stream: Option<TcpStream>,
    rest: Vec<u8>,
    fix: Fix,
    looks_silent: u32,
    looks_until: u32,
}

impl Gpsd {
    /// The one at `address`, usually 127.0.0.1:2947; it need not be there.
    #[must_use]
    pub fn at(address: SocketAddr) -> Self {
        Self {
            address,
            stream: None,
            rest: Vec::new(),
            fix: Fix::default(),
            looks_silent: LOOKS_FRESH,
            looks_until: 0,
        }
    }

    /// Latest fix received since the last call. Does not block, except briefly to connect.
    pub fn fix(&mut self) -> Option<Fix> {
        if self.stream.is_none() {
            if self.looks_until > 0 {
                self.looks_until -= 1;
                return None;
            }
            self.looks_until = LOOKS_APART;
            self.stream = self.connect().ok();
        }
        self.looks_silent = self.looks_silent.saturating_add(1);
        if self.listen().is_err() {
            self.stream = None;
            self.rest.clear();
        }
        (self.looks_silent <= LOOKS_FRESH).then_some(self.fix)
    }

    fn connect(&self) -> std::io::Result<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.write_all(WATCH)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }

    fn listen(&mut self) -> std::io::Result<()> {
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        let mut part = [0; 4096];
        // gpsd sends some kilobytes between two samples; the rest of a longer burst is read next
        // time.
        for _ in 0..64 {
            let many = match stream.read(&mut part) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(many) => many,
                Err(err) if err.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(err) => return Err(err),
            };
            self.rest.extend_from_slice(&part[..many]);
            while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                if self.fix.hear(&line) {
                    self.looks_silent = 0;
                }
            }
            if self.rest.len() > LINE_BYTES_MAX {
                return Err(ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn modes_are_0_2_3_and_satellites_those_in_use() {
        let mut fix = Fix::default();
        for (mode, ours) in [(0, 0), (1, 0), (2, 2), (3, 3), (9, 0)] {
            assert!(fix.hear(format!("{{\"class\":\"TPV\",\"mode\":{mode}}}").as_bytes()));
            assert_eq!(fix.mode, ours);
        }
        fix.hear(br#"{"class":"SKY","satellites":[{"PRN":1,"used":true},{"PRN":2,"used":false},{"PRN":3,"used":true}]}"#);
        assert_eq!(fix.sats_used, Some(2));
        fix.hear(br#"{"class":"SKY","nSat":12,"uSat":9}"#);
        fix.hear(br#"{"class":"SKY","hdop":1.2}"#);
        assert_eq!(fix.sats_used, Some(9));
    }

    #[test]
    fn a_gpsd_is_heard_and_its_silence_too() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut gpsd = Gpsd::at(listener.local_addr().unwrap());
        assert_eq!(gpsd.fix(), None);
        let (mut peer, _) = listener.accept().unwrap();
        let mut request = vec![0; WATCH.len()];
        peer.read_exact(&mut request).unwrap();
        assert_eq!(request, WATCH);
        peer.write_all(b"{\"class\":\"VERSION\"}\n{\"class\":\"TPV\",\"mode\":3}\n{\"class\":\"SKY\",\"uSat\":7}\n{\"cl").unwrap();
        let fix = (0..200).find_map(|_| {
            std::thread::sleep(Duration::from_millis(5));
            gpsd.looks_silent = LOOKS_FRESH;
            gpsd.fix().filter(|fix| fix.sats_used.is_some())
        });
        assert_eq!(fix, Some(Fix { mode: 3, sats_used: Some(7) }));
        gpsd.looks_silent = LOOKS_FRESH;
        assert_eq!(gpsd.fix(), None, "an old fix is none");
    }

    proptest! {
        #[test]
        fn no_line_breaks_it(line in proptest::collection::vec(any::<u8>(), 0..200), text in "\\{\"class\":\"(TPV|SKY)\",.{0,60}\\}") {
            let mut fix = Fix::default();
            fix.hear(&line);
            fix.hear(text.as_bytes());
            prop_assert!([0, 2, 3].contains(&fix.mode));
        }
    }
}
