//! Connection to a NUT server.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{Ipv6Addr, TcpStream, ToSocketAddrs as _};
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use super::line::words;
use super::values::Variables;

/// Port of NUT servers.
pub const PORT: u16 = 3493;
/// Time for a connection, and for each read and write.
const PATIENCE: Duration = Duration::from_secs(3);
/// Longest line, bytes.
const LINE_BYTES_MAX: u64 = 4_096;
/// Lines of a list at most.
const LINES_MAX: usize = 2_048;

/// Failure of a request to a NUT server.
#[derive(Debug, Error)]
pub enum NutError {
    /// No server answers there.
    #[error("no NUT server at {address}: {source}")]
    Absent {
        /// Address.
        address: String,
        /// Cause.
        source: io::Error,
    },
    /// The connection failed.
    #[error("connection to the NUT server: {0}")]
    Io(#[from] io::Error),
    /// The server has no data of the power supply, for the reason in capitals.
    #[error("the NUT server has no data: {0}")]
    Stale(String),
    /// The server refused the request with an error word.
    #[error("the NUT server refuses: {0}")]
    Refused(String),
    /// The answer is not of the protocol.
    #[error("no answer of a NUT server: {0:?}")]
    Protocol(String),
}

/// Address of a NUT server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NutAddress {
    host: String,
    port: u16,
}

impl Default for NutAddress {
    fn default() -> Self {
        Self { host: "127.0.0.1".to_owned(), port: PORT }
    }
}

impl FromStr for NutAddress {
    type Err = String;

    /// `HOST` or `HOST:PORT`; an IPv6 address in brackets.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("found {text:?}, allowed HOST or HOST:PORT, or `off`");
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong())?)
            }
            _ => (text, PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        // An IPv6 address may have the zone of an interface.
        let address = host.split('%').next().unwrap_or_default();
        let is_host = match host.contains(':') {
            true => address.parse::<Ipv6Addr>().is_ok(),
            false => !host.is_empty() && host.bytes().all(fits),
        };
        match is_host && port > 0 {
            true => Ok(Self { host: host.to_owned(), port }),
            false => Err(wrong()),
        }
    }
}

impl fmt::Display for NutAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// A power supply of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NutUps {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
}

/// Connection to a NUT server.
#[derive(Debug)]
pub struct NutClient {
    stream: BufReader<TcpStream>,
}

impl NutClient {
    /// Connects to a server. Blocks.
    ///
    /// # Errors
    /// [`NutError::Absent`].
    pub fn connect(address: &NutAddress) -> Result<Self, NutError> {
        let absent = |source| NutError::Absent { address: address.to_string(), source };
        let addresses = (address.host.as_str(), address.port).to_socket_addrs();
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for at in addresses.map_err(absent)? {
            match TcpStream::connect_timeout(&at, PATIENCE) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(PATIENCE))?;
                    stream.set_write_timeout(Some(PATIENCE))?;
                    let stream = BufReader::new(stream);
                    return Ok(Self { stream });
                }
                Err(err) => last = err,
            }
        }
        Err(absent(last))
    }

    /// Power supplies of the server.
    ///
    /// # Errors
    /// When the server refuses, or answers something else.
    pub fn supplies(&mut self) -> Result<Vec<NutUps>, NutError> {
        let lines = self.list("UPS")?;
        let supply = |mut words: Vec<String>| {
            let description = words.pop().unwrap_or_default();
            let name = words.pop().unwrap_or_default();
            NutUps { name, description }
        };
        Ok(lines.into_iter().map(supply).collect())
    }

    /// Variables of a power supply.
    ///
    /// # Errors
    /// [`NutError::Stale`] while the server has no data of it.
    pub fn variables(&mut self, ups: &str) -> Result<Variables, NutError> {
        let unfit = |letter: char| !letter.is_ascii_graphic() || letter == '"';
        if ups.is_empty() || ups.contains(unfit) {
            return Err(NutError::Protocol(ups.to_owned()));
        }
        let lines = self.list(&format!("VAR {ups}"))?;
        let pair = |mut words: Vec<String>| {
            let value = words.pop()?;
            Some((words.pop()?, value))
        };
        Ok(lines.into_iter().filter_map(pair).collect())
    }

    /// Entries of a list, each without its first word.
    fn list(&mut self, what: &str) -> Result<Vec<Vec<String>>, NutError> {
        let stream = self.stream.get_mut();
        stream.write_all(format!("LIST {what}\n").as_bytes())?;
        let begin = self.line()?;
        if begin != format!("BEGIN LIST {what}") {
            return Err(NutError::Protocol(begin));
        }
        let end = format!("END LIST {what}");
        let kind = what.split(' ').next().unwrap_or_default();
        let mut lines = Vec::new();
        loop {
            let line = self.line()?;
            if line == end {
                return Ok(lines);
            }
            let Some(mut words) = words(&line).filter(|words| words.len() >= 3) else {
                return Err(NutError::Protocol(line));
            };
            if words.remove(0) != kind || lines.len() >= LINES_MAX {
                return Err(NutError::Protocol(line));
            }
            lines.push(words);
        }
    }

    fn line(&mut self) -> Result<String, NutError> {
        let mut line = Vec::new();
        let mut limited = (&mut self.stream).take(LINE_BYTES_MAX);
        limited.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Err(NutError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        match line.strip_prefix("ERR ") {
            Some(word @ ("DATA-STALE" | "DRIVER-NOT-CONNECTED")) => {
                Err(NutError::Stale(word.to_owned()))
            }
            Some(word) => Err(NutError::Refused(word.to_owned())),
            None => Ok(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn served(answer: &'static str) -> NutClient {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            let own = stream.try_clone().unwrap();
            BufReader::new(own).read_line(&mut line).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let address: NutAddress = format!("127.0.0.1:{port}").parse().unwrap();
        NutClient::connect(&address).unwrap()
    }

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for (text, display) in [
            ("ups.example", "ups.example:3493"),
            ("10.0.0.1:1234", "10.0.0.1:1234"),
            ("[fd00::1]:1234", "[fd00::1]:1234"),
            ("fd00::1", "[fd00::1]:3493"),
        ] {
            assert_eq!(text.parse::<NutAddress>().unwrap().to_string(), display);
        }
        for bad in ["", ":1", "a:b", "a b", "a:0", "a:70000"] {
            assert!(bad.parse::<NutAddress>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn lists_are_read_to_their_end() {
        let mut client =
            served("BEGIN LIST UPS\nUPS one \"Rack \\\"A\\\"\"\nUPS two \"\"\nEND LIST UPS\n");
        let supplies = client.supplies().unwrap();
        assert_eq!((supplies.len(), supplies[0].description.as_str()), (2, "Rack \"A\""));
        assert_eq!(supplies[1].name, "two");
    }

    #[test]
    fn errors_are_told_apart() {
        let stale = served("ERR DRIVER-NOT-CONNECTED\n").variables("a");
        assert!(matches!(stale, Err(NutError::Stale(word)) if word == "DRIVER-NOT-CONNECTED"));
        let refused = served("ERR UNKNOWN-UPS\n").variables("a");
        assert!(matches!(refused, Err(NutError::Refused(_))));
        for wrong in [
            "HTTP/1.1 400 Bad Request\n",
            "BEGIN LIST VAR a\nVAR a\nEND LIST VAR a\n",
            "BEGIN LIST VAR a\nUPS a b c\n",
            "BEGIN LIST VAR a\nVAR a b \"open\n",
        ] {
            let result = served(wrong).variables("a");
            assert!(matches!(result, Err(NutError::Protocol(_))), "{wrong}: {result:?}");
        }
        let broken = served("BEGIN LIST VAR a\nVAR a b \"1\"\n").variables("a");
        assert!(matches!(broken, Err(NutError::Io(_))), "{broken:?}");
        let injected = served("").variables("a\nLOGIN b");
        assert!(matches!(injected, Err(NutError::Protocol(_))));
    }
}
