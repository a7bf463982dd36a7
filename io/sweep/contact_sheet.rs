//! The contact sheet: a small map of the margin of each variant on one page.

use std::path::Path;

use groundwave_raster::picture::Sheet;
use groundwave_raster::scene::Bitmap;
use groundwave_raster::{RasterError, write_whole};

use super::plan::Plan;
use super::product::product;
use super::work::SweepError;

/// Panels a contact sheet shows; more would no longer be looked at.
const PANELS_MAX: usize = 48;

/// Panels of the contact sheet, a variant each.
pub(super) struct Panels<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    credit: &'a str,
    /// Captions and pictures, of [`PANELS_MAX`] variants at most.
    drawn: Vec<(String, Bitmap)>,
    /// Variants that have come.
    heard: usize,
}

impl<'a> Panels<'a> {
    /// None yet, of a sheet in `folder`.
    pub fn new(plan: &'a Plan, folder: &'a Path, credit: &'a str) -> Self {
        Self { plan, folder, credit, drawn: Vec::new(), heard: 0 }
    }

    /// Adds the next variant; the last one has the sheet written.
    pub fn add(
        &mut self,
        caption: String,
        draw: impl FnOnce() -> Result<Bitmap, SweepError>,
    ) -> Result<(), SweepError> {
        if self.drawn.len() < PANELS_MAX {
            self.drawn.push((caption, draw()?));
        }
        self.heard += 1;
        if self.heard < self.plan.variants.len() {
            return Ok(());
        }
        self.write()
    }

    fn write(&mut self) -> Result<(), SweepError> {
        let (all, panels) = (self.heard, std::mem::take(&mut self.drawn));
        let shown = if all > panels.len() {
            format!("; {} of {all} variants", panels.len())
        } else {
            String::new()
        };
        let subtitle =
            format!("link margin of the best server, covered at {} dB{shown}", self.plan.margin_db);
        let sheet = Sheet {
            title: &self.plan.title,
            subtitle: &subtitle,
            columns: 4,
            panels,
            credit: self.credit,
        };
        let encoded = sheet.draw().and_then(|bitmap| bitmap.to_fast_png());
        let bytes = product("contact_sheet.png", encoded.map_err(RasterError::from))?;
        product("contact_sheet.png", write_whole(&self.folder.join("contact_sheet.png"), &bytes))
    }
}
