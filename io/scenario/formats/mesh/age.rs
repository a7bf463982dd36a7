//! Ages of links: tables of some daemons keep neighbours for years.

use super::super::clock::DAY_S;
use super::MeshSnapshot;

impl MeshSnapshot {
    /// Notes the links that were last received more than a day before the document; times are those of one clock, s.
    pub fn note_ages(&mut self, document_s: f64, received_s: &[f64]) {
        for _ in received_s.iter().filter(|at_s| document_s - *at_s > DAY_S) {
            self.drop("a link last received more than a day before the document: taken");
        }
    }
}
