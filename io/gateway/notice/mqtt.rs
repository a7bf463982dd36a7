//! Messages over MQTT 3.1.1 with QoS 1, in clear or over TLS.

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use groundwave_outbound::Trust;
use rumqttc::mqttbytes::Error;
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::{Connect, ConnectReturnCode, Login, Packet, Publish};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use super::NoticeError;

/// Time for a message: connection, publication, acknowledgement.
const PUBLISH_MAX: Duration = Duration::from_secs(10);

/// Longest packet, bytes.
const PACKET_BYTES_MAX: usize = 256 << 10;

/// Identifier of the one message of a session.
const PACKET_ID: u16 = 1;

/// MQTT broker.
#[derive(Clone)]
pub struct MqttBroker {
    host: String,
    port: u16,
    /// Trust in its certificate; `None` in clear.
    trust: Option<Trust>,
    credentials: Option<(String, String)>,
}

/// A message that is published.
#[derive(Debug, Clone, Copy)]
pub struct MqttMessage<'m> {
    /// Topic.
    pub topic: &'m str,
    /// Payload.
    pub payload: &'m str,
    /// The broker keeps it for later subscribers.
    pub retain: bool,
}

fn passing(what: impl std::fmt::Display) -> NoticeError {
    NoticeError { what: what.to_string(), may_pass: true }
}

impl MqttBroker {
    /// Broker at a URL: `mqtt://HOST:PORT`, or `mqtts://HOST:PORT` over TLS, where `trust` judges its
    /// certificate. The usual ports are 1883 and 8883.
    ///
    /// # Errors
    /// The value found and the values allowed.
    pub fn new(
        url: &str,
        trust: Trust,
        credentials: Option<(String, String)>,
    ) -> Result<Self, String> {
        let wrong = || {
            // User information may be a password: it is not shown.
            let address = url.split('@').next_back().unwrap_or_default();
            format!("found {address:?}, allowed mqtt://HOST:PORT or mqtts://HOST:PORT")
        };
        let parsed = Url::parse(url).map_err(|_| wrong())?;
        let (usual_port, trust) = match parsed.scheme() {
            "mqtt" => (1883, None),
            "mqtts" => (8883, Some(trust)),
            _ => return Err(wrong()),
        };
        let is_bare = parsed.username().is_empty()
            && parsed.password().is_none()
            && ["", "/"].contains(&parsed.path())
            && parsed.query().is_none()
            && parsed.fragment().is_none();
        let host = parsed.host_str().unwrap_or_default();
        if host.is_empty() || !is_bare {
            return Err(wrong());
        }
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: parsed.port().unwrap_or(usual_port),
            trust,
            credentials,
        })
    }

    /// Publishes a message and waits for the acknowledgement; `id` names the session.
    ///
    /// # Errors
    /// When the broker did not acknowledge it.
    pub async fn publish(&self, id: &str, message: MqttMessage<'_>) -> Result<(), NoticeError> {
        let exchange = async {
            let stream =
                TcpStream::connect((self.host.as_str(), self.port)).await.map_err(passing)?;
            match &self.trust {
                None => self.exchange(stream, id, message).await,
                Some(trust) => {
                    let stream = trust.shake(&self.host, stream).await.map_err(passing)?;
                    self.exchange(stream, id, message).await
                }
            }
        };
        let outcome = tokio::time::timeout(PUBLISH_MAX, exchange).await;
        outcome.unwrap_or_else(|_| {
            let limit_s = PUBLISH_MAX.as_secs();
            Err(passing(format!("no acknowledgement within {limit_s} s")))
        })
    }

    /// Session of one message, 3.1 to 3.4 and 3.14.
    async fn exchange(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        id: &str,
        message: MqttMessage<'_>,
    ) -> Result<(), NoticeError> {
        let mut session = Session { stream, received: BytesMut::new() };
        let mut connect = Connect::new(id);
        let login = self.credentials.as_ref();
        connect.login = login.map(|(user, password)| Login::new(user, password));
        session.send(&Packet::Connect(connect)).await?;
        match session.receive().await? {
            Packet::ConnAck(answer) if answer.code == ConnectReturnCode::Success => {}
            Packet::ConnAck(answer) => {
                return Err(passing(format!("the broker refused: {:?}", answer.code)));
            }
            _ => return Err(passing("no MQTT broker")),
        }
        let payload = Bytes::copy_from_slice(message.payload.as_bytes());
        let mut publish = Publish::from_bytes(message.topic, QoS::AtLeastOnce, payload);
        publish.retain = message.retain;
        publish.pkid = PACKET_ID;
        session.send(&Packet::Publish(publish)).await?;
        loop {
            match session.receive().await? {
                Packet::PubAck(answer) if answer.pkid == PACKET_ID => break,
                _ => {}
            }
        }
        // The message is acknowledged: an error of the farewell changes nothing.
        let _ = session.send(&Packet::Disconnect).await;
        let _ = session.stream.shutdown().await;
        Ok(())
    }
}

/// Packets over a stream.
struct Session<S> {
    stream: S,
    received: BytesMut,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    async fn send(&mut self, packet: &Packet) -> Result<(), NoticeError> {
        let mut written = BytesMut::new();
        packet
            .write(&mut written, PACKET_BYTES_MAX)
            .map_err(|err| NoticeError { what: err.to_string(), may_pass: false })?;
        self.stream.write_all(&written).await.map_err(passing)?;
        self.stream.flush().await.map_err(passing)
    }

    async fn receive(&mut self) -> Result<Packet, NoticeError> {
        loop {
            match Packet::read(&mut self.received, PACKET_BYTES_MAX) {
                Ok(packet) => return Ok(packet),
                Err(Error::InsufficientBytes(_)) => {}
                Err(err) => return Err(passing(err)),
            }
            let read = self.stream.read_buf(&mut self.received).await;
            if read.map_err(passing)? == 0 {
                return Err(passing(io::Error::from(io::ErrorKind::UnexpectedEof)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_host_and_perhaps_a_port() {
        for (url, host, port, is_secure) in [
            ("mqtt://broker", "broker", 1883, false),
            ("mqtt://10.0.0.1:1884/", "10.0.0.1", 1884, false),
            ("mqtts://[fd00::1]:1885", "fd00::1", 1885, true),
            ("mqtts://broker", "broker", 8883, true),
        ] {
            let broker = MqttBroker::new(url, Trust::System, None).unwrap();
            let parts = (broker.host.as_str(), broker.port, broker.trust.is_some());
            assert_eq!(parts, (host, port, is_secure), "{url}");
        }
        for url in [
            "broker",
            "mqtt://",
            "http://broker",
            "mqtt://a:b",
            "mqtt://a/b",
            "mqtt://user:password@a",
        ] {
            let refused = MqttBroker::new(url, Trust::System, None).err().unwrap();
            assert!(!refused.contains("password"), "{refused}");
        }
    }
}
