//! States of a simulated mesh, tick by tick.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use groundwave_engine::digest;
use groundwave_gateway::Snapshot;
use pyo3::prelude::*;
use serde::Serialize;

use crate::{invalid, object};

/// State of a mesh at the end of a tick.
#[pyclass(frozen, module = "groundwave")]
pub struct Frame(pub Arc<Snapshot>);

#[pymethods]
impl Frame {
    /// Number of the tick, from 1.
    #[getter]
    fn tick(&self) -> u64 {
        self.0.tick
    }

    /// Simulated time, s.
    #[getter]
    fn time_s(&self) -> f64 {
        self.0.now_ns as f64 / 1e9
    }

    /// Nodes with positions and stations.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &*self.0.nodes)
    }

    /// Links with their budgets.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &*self.0.links)
    }

    /// Flows with their routes and rates.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &*self.0.flows)
    }

    /// The whole state.
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &*self.0)
    }

    /// SHA-256 of the state, as logs record it.
    #[getter]
    fn digest(&self) -> String {
        digest(&*self.0)
    }

    fn __repr__(&self) -> String {
        let (tick, nodes, links) = (self.0.tick, self.0.nodes.len(), self.0.links.len());
        format!("<groundwave.Frame: tick {tick}, {nodes} nodes, {links} links>")
    }
}

/// Outcome of a run or a replay, after its last frame.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Digest of the last state.
    pub digest: String,
    /// Ticks.
    pub ticks: u64,
    /// Commands applied.
    pub commands: u64,
    /// Commands that the world refused, each with its tick and reason.
    pub refused: Vec<String>,
    /// Digests of a log that were compared, all equal.
    pub marks_compared: u64,
}

/// A message of the thread that computes frames.
pub enum Message {
    /// The next frame.
    Frame(Arc<Snapshot>),
    /// The end.
    Outcome(Outcome),
    /// An error, which ends it too.
    Error(String),
}

/// Iterator of frames. They are computed one ahead in a thread, which ends with the iterator.
#[pyclass(frozen, module = "groundwave")]
pub struct Frames {
    title: String,
    messages: Mutex<Option<Receiver<Message>>>,
    outcome: Mutex<Option<Outcome>>,
}

impl Frames {
    /// Frames that another thread sends.
    pub fn new(title: String, messages: Receiver<Message>) -> Self {
        Self { title, messages: Mutex::new(Some(messages)), outcome: Mutex::new(None) }
    }
}

#[pymethods]
impl Frames {
    /// Title of the scenario or the log.
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    /// Outcome; `None` before the end.
    #[getter]
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let outcome = self.outcome.lock().map_err(invalid)?.clone();
        outcome.map(|outcome| object(py, &outcome)).transpose()
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Frame>> {
        // Threads of Python may share an iterator; the one that waits has no lock of the interpreter.
        let message = py.detach(|| {
            let mut messages = self.messages.lock().map_err(|error| error.to_string())?;
            let message = messages.as_ref().map(|messages| messages.recv());
            if !matches!(message, Some(Ok(Message::Frame(_)))) {
                *messages = None;
            }
            Ok::<_, String>(message)
        });
        match message.map_err(invalid)? {
            None => Ok(None),
            Some(Ok(Message::Frame(snapshot))) => Ok(Some(Frame(snapshot))),
            Some(Ok(Message::Outcome(outcome))) => {
                *self.outcome.lock().map_err(invalid)? = Some(outcome);
                Ok(None)
            }
            Some(Ok(Message::Error(error))) => Err(invalid(error)),
            Some(Err(_)) => Err(pyo3::exceptions::PyRuntimeError::new_err(
                "the thread that computes frames ended without an outcome",
            )),
        }
    }

    fn __repr__(&self) -> String {
        format!("<groundwave.Frames: {:?}>", self.title)
    }
}
