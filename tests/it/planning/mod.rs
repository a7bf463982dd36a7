//! The planning server: the document it answers, its streams, its store.

mod bounds;
mod changes;
mod coverage;
mod disk;
mod errors;
mod exchange;
mod fairness;
mod faulty_ground;
mod fuzz;
mod ground;
mod interface;
mod mesh_coverage;
mod page;
mod patterns;
mod placement;
mod replays;
mod schema;
pub mod server;
mod store;
mod terrain;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use groundwave_engine::Running;
use groundwave_files::wall::MachineClock;
use groundwave_gateway::{Snapshot, world};
use groundwave_model::terrain::{Flat, Terrain};
use groundwave_page::Frontend;
use groundwave_planning::ground::GroundSource;
use groundwave_planning::wire::ground::GroundData;
use groundwave_planning::{Planner, ReplayWorld, built_in, router};
use groundwave_setup::terrain::TerrainOptions;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// A planning server without a socket.
pub struct Bench {
    runtime: Runtime,
    router: axum::Router,
    stop: CancellationToken,
    world: Option<Running<Snapshot>>,
}

/// Response to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The media type.
    pub fn media(&self) -> &str {
        let media = self.headers.get(header::CONTENT_TYPE);
        media.map_or("", |media| media.to_str().unwrap())
    }
}

impl Bench {
    /// A server over flat ground at sea level with an empty plan.
    pub fn flat() -> Self {
        let ground = Flat { elevation_msl_m: 0.0 };
        Self::over(Arc::new(ground))
    }

    /// A server over `terrain` with an empty plan, which fetches no ground.
    pub fn over(terrain: Arc<dyn Terrain>) -> Self {
        Self::fetching(terrain, Err("this server fetches none".to_owned()))
    }

    /// A server over `terrain` with an empty plan, and a source of more ground.
    pub fn fetching(
        terrain: Arc<dyn Terrain>,
        source: Result<Arc<dyn GroundSource>, String>,
    ) -> Self {
        let mut engine = world(Arc::clone(&terrain)).build::<Snapshot>(0, 1_000_000).unwrap();
        let seeded = engine.handle().submit(built_in()).unwrap();
        engine.tick(Some(1)).unwrap();
        seeded.wait().unwrap();
        let handle = engine.handle_of();
        let running = engine.spawn_on_demand(MachineClock::start()).unwrap();
        let stop = CancellationToken::new();
        let planner = Planner::new(
            handle,
            terrain,
            Arc::new(|| Ok("reachable".to_owned())),
            Arc::new(|_| Err("this store cannot be copied".to_owned())),
            ReplayWorld::new::<Snapshot>(world),
            Arc::new(|inputs: &BTreeMap<String, String>| {
                let opened = TerrainOptions::default().for_log(inputs);
                opened.map(|ground| ground.terrain).map_err(|why| why.message().to_owned())
            }),
            Frontend::BUILT_IN,
            stop.clone(),
        );
        planner.ground.set(GroundData::Heights, source.clone());
        planner.ground.set(GroundData::LandCover, source);
        Self {
            runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap(),
            router: router(planner),
            stop,
            world: Some(running),
        }
    }

    /// Sends a request as it is.
    pub fn send(&self, request: Request<Body>) -> Answer {
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
            Answer { status: parts.status, headers: parts.headers, body }
        })
    }

    /// Sends a request, with a JSON body unless it is null.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let mut request =
            Request::builder().method(Method::from_bytes(method.as_bytes()).unwrap()).uri(path);
        let body = if body.is_null() {
            Body::empty()
        } else {
            request = request.header(header::CONTENT_TYPE, "application/json");
            Body::from(body.to_string())
        };
        self.send(request.body(body).unwrap())
    }

    /// Makes something and returns its id.
    pub fn make(&self, path: &str, body: &Value) -> String {
        let answer = self.call("POST", path, body);
        let document = answer.json();
        assert_eq!(answer.status, StatusCode::CREATED, "{path}: {document}");
        document["id"].as_str().unwrap().to_owned()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(world) = self.world.take() {
            let (_, ended) = world.stop();
            assert_eq!(ended, Ok(()));
        }
    }
}

impl Bench {
    /// Watches a stream five times at once: one watcher reads slowly, one leaves after its first
    /// bytes. Returns what the other four received.
    pub fn watch_five(&self, path: &str, nap: std::time::Duration) -> Vec<Vec<u8>> {
        use http_body_util::BodyExt;
        let watch = |place: usize| {
            let (router, path) = (self.router.clone(), path.to_owned());
            async move {
                let request = Request::get(path).body(Body::empty()).unwrap();
                let mut body = router.oneshot(request).await.unwrap().into_body();
                let mut bytes = Vec::new();
                while let Some(frame) = body.frame().await {
                    bytes.extend_from_slice(&frame.unwrap().into_data().unwrap());
                    if place == 4 {
                        return None;
                    }
                    if place == 3 {
                        tokio::time::sleep(nap).await;
                    }
                }
                Some(bytes)
            }
        };
        self.runtime.block_on(async {
            let watchers: Vec<_> = (0..5).map(|place| tokio::spawn(watch(place))).collect();
            let mut all = Vec::new();
            for watcher in watchers {
                all.extend(watcher.await.unwrap());
            }
            all
        })
    }
}
