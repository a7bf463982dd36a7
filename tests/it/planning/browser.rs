//! The page in a real browser, driven over the WebDriver protocol.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::http::Method;
use groundwave::http::client::Client;
use groundwave_needs::needs;
use serde_json::{Value, json};

use super::server::Process;
use crate::support;

/// A browser session.
struct Browser {
    driver: Child,
    client: Client,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver's browsers are of its process group, and outlive a driver killed alone.
        let group = format!("-{}", self.driver.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.driver.wait();
    }
}

impl Browser {
    async fn open(folder: &std::path::Path) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let address = format!("127.0.0.1:{port}");
        let mut tries = 0;
        let client = loop {
            match Client::tcp(&address).await {
                Ok(client) => break client,
                Err(err) => assert!(tries < 200, "{err}"),
            }
            tries += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let mut browser = Self {
            driver,
            client,
            session: String::new(),
        };
        let profile = format!("--user-data-dir={}", folder.display());
        let quiet = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1300,850",
            profile.as_str(),
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": { "args": quiet },
        } } });
        let made = browser.ask("POST", "/session", wanted).await;
        let id = made["sessionId"].as_str().unwrap();
        browser.session = format!("/session/{id}");
        browser
    }

    async fn ask(&mut self, method: &str, path: &str, body: Value) -> Value {
        let path = format!("{}{path}", self.session);
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let body = Some(&body).filter(|body| !body.is_null());
        let (status, answer) = self.client.ask(method, &path, body).await.unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(status.is_success(), "{path}: {answer}");
        answer["value"].clone()
    }

    async fn run(&mut self, script: &str) -> Value {
        let body = json!({ "script": script, "args": [] });
        self.ask("POST", "/execute/sync", body).await
    }

    /// Waits until a script is true.
    async fn until(&mut self, script: &str) {
        for _ in 0..600 {
            if self.run(&format!("return Boolean({script})")).await == json!(true) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let hint = self
            .run("return document.getElementById('hint').textContent")
            .await;
        panic!("never came true: {script}; the page says {hint}");
    }

    async fn click(&mut self, selector: &str) {
        let found = json!({ "using": "css selector", "value": selector });
        let element = self.ask("POST", "/element", found).await;
        let id = element
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .as_str()
            .unwrap();
        let path = format!("/element/{id}/click");
        self.ask("POST", &path, json!({})).await;
    }
}

#[needs(browser)]
#[test]
fn a_page_without_terrain_shows_hatching_and_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(&folder.path().join("plan.db"));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut api = Client::tcp(&server.address).await.unwrap();
        let mut make = async |path: &str, body: Value| {
            let (_, made) = api.ask(Method::POST, path, Some(&body)).await.unwrap();
            let made: Value = serde_json::from_slice(&made).unwrap();
            made["id"].as_str().unwrap().to_owned()
        };
        let d = make("/api/v1/deployments", json!({ "name": "flat" })).await;
        let nodes = format!("/api/v1/deployments/{d}/nodes");
        for (name, lat) in [("a", 57.70), ("b", 57.71)] {
            make(&nodes, json!({ "name": name, "lat": lat, "lon": 11.9 })).await;
        }
        let mut browser = Browser::open(&folder.path().join("profile")).await;
        let url = json!({ "url": format!("http://{}/", server.address) });
        browser.ask("POST", "/url", url).await;
        browser
            .until("document.getElementById('map').dataset.terrain === 'missing'")
            .await;
        browser
            .until("!document.getElementById('terrain').hidden")
            .await;
        for node in [1, 2] {
            browser.click(&format!("#nodes li:nth-child({node})")).await;
        }
        browser
            .until("/no terrain data/.test(document.querySelector('#budget').textContent)")
            .await;
        browser
            .until("Number(document.getElementById('profile').dataset.missing) > 100")
            .await;
    });
}

#[needs(terrain, browser)]
#[test]
fn a_planner_sees_nodes_links_and_coverage() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start_on_terrain(&folder.path().join("plan.db"), Some(support::data()));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut api = Client::tcp(&server.address).await.unwrap();
        let mut make = async |path: String, body: Value| {
            let (_, made) = api.ask(Method::POST, &path, Some(&body)).await.unwrap();
            let made: Value = serde_json::from_slice(&made).unwrap();
            made["id"].as_str().unwrap().to_owned()
        };
        let d = make(
            "/api/v1/deployments".to_owned(),
            json!({ "name": "Göteborg" }),
        )
        .await;
        let nodes = format!("/api/v1/deployments/{d}/nodes");
        let places = [
            ("Ramberget", 57.7142, 11.9367),
            ("Masthugget", 57.6966, 11.9378),
        ];
        for (name, lat, lon) in places {
            let body = json!({ "name": name, "lat": lat, "lon": lon, "height_agl_m": 20 });
            make(nodes.clone(), body).await;
        }
        let mut browser = Browser::open(&folder.path().join("profile")).await;
        let url = json!({ "url": format!("http://{}/", server.address) });
        browser.ask("POST", "/url", url).await;
        browser
            .until("document.querySelectorAll('#nodes li').length === 2")
            .await;
        let name = browser
            .run("return document.querySelector('#nodes li span').textContent")
            .await;
        assert_eq!(name, "Ramberget");
        // The relief came from terrain profiles.
        browser
            .until("document.getElementById('map').dataset.shaded")
            .await;

        browser.click("#nodes li:nth-child(1)").await;
        browser
            .run("document.querySelector('[name=resolution]').value = 24")
            .await;
        browser.click("#coverage-form button").await;
        browser
            .until("/% covered/.test(document.getElementById('statistics').textContent)")
            .await;
        let cells = browser
            .run("return document.getElementById('map').dataset.cells")
            .await;
        assert_eq!(cells, "576/576");

        browser.click("#nodes li:nth-child(2)").await;
        browser
            .until("document.querySelectorAll('#budget tr').length > 5")
            .await;
        let row = "return document.querySelector('#budget tr:nth-child(2)').textContent";
        let verdict = browser.run(row).await;
        assert!(
            verdict.as_str().unwrap().starts_with("Verdict"),
            "{verdict}"
        );
        let drawn = "const c = document.getElementById('profile'); const d = c.getContext('2d')\
                     .getImageData(0, 0, c.width, c.height).data; let n = 0; \
                     for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n";
        assert!(
            browser.run(drawn).await.as_u64().unwrap() > 2_000,
            "the profile is drawn"
        );
        if let Some(folder) = std::env::var_os("GROUNDWAVE_SCREENSHOTS") {
            let shot = browser.ask("GET", "/screenshot", Value::Null).await;
            let path = std::path::PathBuf::from(folder).join("planning.png.base64");
            std::fs::write(path, shot.as_str().unwrap()).unwrap();
        }
    });
}
