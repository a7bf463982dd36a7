//! Enrolment: the request, and the credential that comes of it.

use groundwave_credentials::possession::unseal_credentials;
use groundwave_files::wall::wall_ns;
use groundwave_http::time::rfc3339;
use groundwave_io_agent::Outcome;
use groundwave_io_agent::report;
use groundwave_io_agent::request::{Identity, nonce, prove_key, request};
use groundwave_protocol::{
    Credentials, PublicKey, RegistrationState, WgChallenge, WgRegisterResult,
};
use hyper::Method;

use super::Agent;
use crate::connection::{RequestFailure, decode};

/// Longest wait for approval that a gateway may set, ms.
const PENDING_MS: u64 = 30_000;

const REGISTER: &str = "/v1/mesh/wg-register";
const CHALLENGE: &str = "/v1/mesh/wg-register/challenge";

/// Statuses of a gateway without challenges.
const NO_SUCH_PATH: [u16; 2] = [404, 405];

impl Agent {
    pub(super) async fn register(&mut self, inside: bool) -> Result<Outcome, RequestFailure> {
        let answer = self.request_registration(inside).await?;
        Ok(self.answered(answer, inside))
    }

    /// Challenge of the gateway; `None` from earlier versions, which have none.
    async fn challenge(&mut self, address: &str) -> Result<Option<WgChallenge>, RequestFailure> {
        let response = self.send(Method::GET, address, None, CHALLENGE, &()).await;
        match response {
            Ok(response) => decode(&response).map(Some),
            Err(RequestFailure::Refused(status, _)) if NO_SUCH_PATH.contains(&status) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    async fn request_registration(
        &mut self,
        inside: bool,
    ) -> Result<WgRegisterResult, RequestFailure> {
        let ready = self.ready.ok_or_else(|| RequestFailure::NoAnswer("no link".to_owned()))?;
        let identity = Identity {
            public_key: self.public_key().map_err(RequestFailure::NoAnswer)?,
            mac: ready.mac.of_interface().map_err(RequestFailure::NoAnswer)?,
            hostname: report::hostname(&self.host.hostname, ready.mac),
            underlay_ip: Some(ready.ip),
            listen_port: self.options.listen_port,
        };
        let address = self.address(inside);
        let challenge = self.challenge(&address).await?;
        // A node may have no clock; the challenge brings the time.
        let (nonce, ts) = match &challenge {
            Some(challenge) => (challenge.nonce.clone(), challenge.ts.clone()),
            None => {
                let nonce = nonce().map_err(|err| RequestFailure::NoAnswer(err.to_string()))?;
                (nonce, rfc3339(wall_ns()))
            }
        };
        let (secret, code) =
            (self.options.secret.as_ref(), self.options.enrollment_code.as_deref());
        let mut body = request(&identity, secret, code, nonce, ts);
        let shared = challenge.and_then(|challenge| {
            body.seal_credentials = inside && self.options.tunnel_ifname.is_none();
            prove_key(&mut body, &self.options.key, &challenge)
        });
        let mut answer: WgRegisterResult =
            decode(&self.post_to(&address, None, REGISTER, &body).await?)?;
        if let (Some(sealed), Some(shared)) = (answer.sealed_credentials.take(), shared) {
            let opened = unseal_credentials(&shared, &body.nonce, &sealed)
                .map_err(|err| RequestFailure::NoAnswer(err.to_string()))?;
            answer.credentials = Some(opened);
        }
        Ok(answer)
    }

    fn answered(&mut self, answer: WgRegisterResult, inside: bool) -> Outcome {
        let wait_ms = answer.retry_after_s.map_or(PENDING_MS, |seconds| u64::from(seconds) * 1000);
        match answer.state {
            RegistrationState::Approved => {}
            RegistrationState::Pending => return Outcome::Pending(wait_ms),
            _ => return Outcome::Refused(403, None),
        }
        self.node_id = answer.node_id;
        let credentials = answer.credentials.clone();
        self.registered = Some(answer);
        let tunnelled = self.options.tunnel_ifname.is_some();
        if credentials.is_some() {
            self.credentials = credentials;
        }
        // Told through the tunnel or sealed to the key. A gateway without challenges does neither where
        // there is no tunnel: then an admin hands over a password, in place of the code.
        match (inside, &self.credentials) {
            (true, None) if tunnelled => Outcome::Failed,
            (true, None) => self.code_as_credentials(),
            _ => Outcome::Done,
        }
    }

    fn code_as_credentials(&mut self) -> Outcome {
        let (Some(code), Some(node_id)) = (&self.options.enrollment_code, self.node_id) else {
            tracing::warn!("no credential: the gateway has no tunnel and seals none to the key");
            return Outcome::Failed;
        };
        self.credentials =
            Some(Credentials { username: node_id.to_string(), password: code.clone() });
        Outcome::Done
    }

    pub(super) fn public_key(&self) -> Result<PublicKey, String> {
        PublicKey::new(self.options.key.public().0)
    }
}
