//! Site files of SPLAT! as endpoints, with the files of the same name.

use std::path::Path;

use groundwave_http::Failure;
use groundwave_http::option_value::require_file;
use groundwave_model::radio::{Environment, Station};
use groundwave_scenario::formats::{Format, Note, ReadOptions, Report, Source, qth};

use super::{Assumed, Endpoint};
use crate::cli::convert::tell;

/// Path of a site file; `None` for a position.
pub fn path(text: &str) -> Option<&Path> {
    let path = Path::new(text);
    path.extension().filter(|ending| ending.eq_ignore_ascii_case("qth")).map(|_| path)
}

/// Reads the site of a file, over a station; its environment where radio parameters stand beside it.
pub fn read(path: &Path, station: Station) -> Result<(Endpoint, Option<Environment>), Failure> {
    let invalid = |what: String| Failure::Input(format!("{}: {what}", path.display()));
    let format: &'static Format = &qth::FORMAT;
    require_file("site", path, "a site file of SPLAT! (.qth)")?;
    let source = Source::open(path).map_err(Failure::Input)?;
    let dataset = format
        .read(&source, &ReadOptions::new(station.clone()))
        .map_err(|error| invalid(error.to_string()))?;
    let (plan, report) =
        dataset.into_plan(format, &station).map_err(|error| invalid(error.to_string()))?;
    // Others are about the plan that the site is read as.
    let is_of_site = |note: &&Note| [".az", ".lrp"].iter().any(|ending| note.what.contains(ending));
    tell(&Report { notes: report.notes.iter().filter(is_of_site).cloned().collect(), more: 0 });
    let environment = Some(plan.outline.environment).filter(|own| *own != Environment::default());
    let mut nodes = plan.nodes.into_iter();
    let node = nodes.next().ok_or_else(|| invalid("found no site, allowed one".to_owned()))?;
    let endpoint = Endpoint {
        name: node.name,
        position: node.position,
        station: node.station,
        assumed: Assumed::default(),
    };
    Ok((endpoint, environment))
}
