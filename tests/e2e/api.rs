//! The gateway's interface, as an admin uses it.

use groundwave_http::client::Client;
use hyper::Method;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A client of the gateway.
pub struct Api {
    runtime: Runtime,
    address: String,
    token: Option<String>,
}

impl Api {
    /// A client without a token.
    pub fn at(address: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, address: address.to_owned(), token: None }
    }

    /// Status and answer; 0 when there is none.
    pub fn try_ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let request = async {
            let mut client = Client::tcp(&self.address).await.ok()?;
            client.call(method, path, self.token.as_deref(), body).await.ok()
        };
        let Some(answer) = self.runtime.block_on(request) else {
            return (0, Value::Null);
        };
        let document = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        (answer.status.as_u16(), document)
    }

    /// The answer to a question, which must be one.
    pub fn get(&self, path: &str) -> Value {
        let (status, answer) = self.try_ask(Method::GET, path, None);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Answer to a request that must succeed.
    pub fn post(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.try_ask(Method::POST, path, Some(body));
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// Logs in.
    pub fn log_in(&mut self, username: &str, password: &str) {
        let body = json!({ "username": username, "password": password });
        let answer = self.post("/api/auth/login", body);
        assert_eq!(answer["token_type"], "bearer");
        self.token = Some(answer["access_token"].as_str().unwrap().to_owned());
    }
}
