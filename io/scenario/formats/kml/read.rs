//! Reader of plans, a placemark at a time.

use groundwave_model::radio::Station;

use super::super::Format;
use super::super::error::{Fault, FormatError, Location, quoted};
use super::super::limits::DEPTH_MAX;
use super::super::plan::PlanFile;
use super::super::plan::collect::Collector;
use super::super::report::Report;
use super::super::text::text;
use super::placemark;
use super::xml::{Element, Part, Scanner};
use super::{DEPLOYMENT, FORMAT};

/// Elements that contain placemarks.
const CONTAINERS: [&str; 3] = ["kml", "Document", "Folder"];

/// Elements outside placemarks that are ignored without a note.
const QUIET: [&str; 13] = [
    "Style",
    "StyleMap",
    "Schema",
    "open",
    "visibility",
    "LookAt",
    "Camera",
    "Snippet",
    "snippet",
    "Region",
    "description",
    "styleUrl",
    "name",
];

/// Reads a plan.
pub(super) fn read(bytes: &[u8], defaults: &Station) -> Result<(PlanFile, Report), FormatError> {
    read_text(&FORMAT, text(&FORMAT, bytes)?, defaults)
}

/// Reads a plan from the text of a document of `format`.
pub(in super::super) fn read_text(
    format: &'static Format,
    text: &str,
    defaults: &Station,
) -> Result<(PlanFile, Report), FormatError> {
    let mut walk = Walk {
        format,
        scanner: Scanner::new(text),
        collector: Collector::new(format, defaults),
        open: Vec::new(),
        document: None,
        placemarks: 0,
        elements: 0,
    };
    while walk.step()? {}
    walk.outline()?;
    walk.collector.finish()
}

/// State of the reader.
struct Walk<'x, 'd> {
    format: &'static Format,
    scanner: Scanner<'x>,
    collector: Collector<'d>,
    /// The containers that are open, outermost first.
    open: Vec<String>,
    /// Name and data of the first document.
    document: Option<Element>,
    placemarks: usize,
    elements: usize,
}

impl Walk<'_, '_> {
    /// Reads the next part; false at the end.
    fn step(&mut self) -> Result<bool, FormatError> {
        let format = self.format;
        let at = |(place, fault): (Location, Fault)| fault.at(format, place);
        let start = match self.scanner.next().map_err(at)? {
            Part::Start(start) => start,
            Part::End => {
                self.open.pop();
                return Ok(true);
            }
            Part::Eof if self.open.is_empty() && self.elements > 0 => return Ok(false),
            Part::Eof => return Err(at(self.scanner.cut())),
        };
        self.elements += 1;
        let offset = self.scanner.offset();
        let name = start.local_name().as_ref().to_owned();
        match name.as_str() {
            "Placemark" => {
                let element = self.scanner.take(&start).map_err(at)?;
                let index = self.placemarks;
                self.placemarks += 1;
                let scanner = &self.scanner;
                let at = |key: &str| {
                    let dot = if key.is_empty() { "" } else { "." };
                    let path = format!("Placemark[{index}]{dot}{key}");
                    Location::new(scanner.line_at(offset), path)
                };
                placemark::placemark(&mut self.collector, &element, &at)?;
            }
            container if CONTAINERS.contains(&container) => self.enter(name)?,
            _ if self.open.is_empty() => {
                let actual = format!("the element {}", quoted(&name));
                let fault = Fault::new("", actual, "kml, Document, Folder or Placemark");
                return Err(fault.at(format, Location::new(self.scanner.line(), "")));
            }
            "name" | "ExtendedData" if self.describes_document() => {
                let element = self.scanner.take(&start).map_err(at)?;
                if let Some(document) = &mut self.document {
                    document.children.push(element);
                }
            }
            other => {
                if !QUIET.contains(&other) {
                    let line = self.scanner.line();
                    self.collector.report.dropped("element", other, || Location::new(line, ""));
                }
                self.scanner.skip().map_err(at)?;
            }
        }
        Ok(true)
    }

    /// Goes into a container.
    fn enter(&mut self, name: String) -> Result<(), FormatError> {
        if self.open.len() >= DEPTH_MAX {
            let fault = Fault::new("", "containers too deep", format!("{DEPTH_MAX} levels"));
            return Err(fault.at(self.format, Location::new(self.scanner.line(), "")));
        }
        if name == "Document" && self.document.is_none() {
            self.document = Some(Element::default());
        }
        if name == "Folder" {
            let line = self.scanner.line();
            let what = "folders are not kept: their placemarks are";
            self.collector.report.add(what, || Location::new(line, "Folder"));
        }
        self.open.push(name);
        Ok(())
    }

    /// `true` if the next element is a direct child of the first document.
    fn describes_document(&self) -> bool {
        let documents = self.open.iter().filter(|name| *name == "Document").count();
        let described = |document: &Element| document.children.len() < 64;
        documents == 1
            && self.open.last().is_some_and(|name| name == "Document")
            && self.document.as_ref().is_some_and(described)
    }

    /// Takes the deployment from the document.
    fn outline(&mut self) -> Result<(), FormatError> {
        let Some(document) = self.document.take() else {
            return Ok(());
        };
        let data = document.data();
        let json = data.iter().find(|(key, _)| *key == DEPLOYMENT);
        let name = placemark::name(&document, &data, json.is_some());
        let place = |fault: Fault| {
            let place = Location::path(format!("Document.{}", fault.key));
            fault.at(self.format, place)
        };
        self.collector.deployment.name = name.map_err(place)?.filter(|name| !name.is_empty());
        if let Some((_, json)) = json {
            self.collector.deployment(json).map_err(place)?;
        }
        Ok(())
    }
}
