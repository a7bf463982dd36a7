//! Probe of an MQTT broker: CONNECT and CONNACK, MQTT 3.1.1.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Keep-alive that the probe names, s; it disconnects at once.
const KEEP_ALIVE_S: u16 = 10;

/// Maximum length of a packet of a probe, bytes: one with a length of two digits.
const PACKET_BYTES_MAX: usize = 16_383;

/// Length and bytes of a UTF-8 string, MQTT 3.1.1, 1.5.3.
fn text(packet: &mut Vec<u8>, text: &str) {
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    packet.extend_from_slice(&length.to_be_bytes());
    packet.extend_from_slice(&text.as_bytes()[..usize::from(length)]);
}

/// CONNECT with a clean session, 3.1; `None` if it is too long.
fn connect(client: &str, login: Option<(&str, &str)>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    text(&mut body, "MQTT");
    // Level 4; user name, password, clean session.
    body.push(4);
    body.push(if login.is_some() { 0b1100_0010 } else { 0b0000_0010 });
    body.extend_from_slice(&KEEP_ALIVE_S.to_be_bytes());
    text(&mut body, client);
    if let Some((username, password)) = login {
        text(&mut body, username);
        text(&mut body, password);
    }
    if body.len() > PACKET_BYTES_MAX {
        return None;
    }
    let mut packet = vec![0x10];
    // Remaining length, 2.2.3: seven bits a byte, the lowest first.
    let (low, high) = ((body.len() & 0x7f) as u8, (body.len() >> 7) as u8);
    match high {
        0 => packet.push(low),
        _ => packet.extend_from_slice(&[low | 0x80, high]),
    }
    packet.append(&mut body);
    Some(packet)
}

/// Logs in and out: the return code of the broker, 0 for an accepted connection (3.2.2.3).
///
/// # Errors
/// When the connection breaks or the other end sends another protocol than MQTT.
pub(super) async fn log_in(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    client: &str,
    login: Option<(&str, &str)>,
) -> io::Result<u8> {
    let packet = connect(client, login).ok_or(io::ErrorKind::InvalidInput)?;
    stream.write_all(&packet).await?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await?;
    if answer[..2] != [0x20, 0x02] {
        return Err(io::Error::other("no MQTT broker"));
    }
    if answer[3] == 0 {
        // DISCONNECT, 3.14.
        stream.write_all(&[0xe0, 0x00]).await?;
    }
    Ok(answer[3])
}

/// Meaning of a return code.
pub(super) const fn meaning(code: u8) -> &'static str {
    match code {
        0 => "accepted",
        1 => "unacceptable protocol version",
        2 => "client id rejected",
        3 => "server unavailable",
        4 => "bad user name or password",
        5 => "not authorised",
        _ => "unknown return code",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_those_of_the_standard() {
        let plain = connect("gw", None).unwrap();
        let expected = b"\x10\x0e\x00\x04MQTT\x04\x02\x00\x0a\x00\x02gw";
        assert_eq!(plain, expected);
        let login = connect("gw", Some(("user", &"p".repeat(200)))).unwrap();
        // 14 bytes, 6 of the user name, 202 of the password: 222 is 0xde 0x01.
        assert_eq!(login[..3], [0x10, 0xde, 0x01]);
        assert_eq!(login[10], 0b1100_0010);
        assert_eq!(login.len(), 3 + 222);
        assert_eq!(connect("gw", Some(("u", &"p".repeat(17_000)))), None);
    }
}
