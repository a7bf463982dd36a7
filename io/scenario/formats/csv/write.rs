//! Writer of plans.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::super::plan::PlanFile;
use super::super::plan::collect::Deployment;
use super::super::plan::field::{FIELDS, Field};
use super::super::plan::flat;
use super::{FORMAT, guarded};

/// Writes `plan`: a header, the row of the deployment, a row for each node.
pub(in super::super) fn write(plan: &PlanFile, out: &mut dyn Write) -> io::Result<()> {
    plan.writable(&FORMAT)?;
    let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    let is_over_sea = plan.nodes.iter().any(|node| node.height_msl_m.is_some());
    let is_used = |field| field != Field::HeightMsl || is_over_sea;
    let fields: Vec<_> = FIELDS.into_iter().filter(|(field, _)| is_used(*field)).collect();
    table.write_record(fields.iter().map(|(_, name)| name))?;
    let outline = &plan.outline;
    let deployment = Deployment {
        name: None,
        center: outline.center,
        region: outline.region.clone(),
        environment: Some(outline.environment.clone()),
    };
    let row = BTreeMap::from([
        (Field::Name, outline.name.clone()),
        (Field::Deployment, serde_json::to_string(&deployment)?),
    ]);
    write_row(&mut table, &fields, &row)?;
    for node in &plan.nodes {
        write_row(&mut table, &fields, &flat::row(node))?;
    }
    table.flush()
}

/// Writes cells in their columns.
fn write_row<W: Write>(
    table: &mut csv::Writer<W>,
    fields: &[(Field, &str)],
    cells: &BTreeMap<Field, String>,
) -> io::Result<()> {
    for (field, _) in fields {
        match (field, cells.get(field)) {
            (Field::Name, Some(name)) => table.write_field(guarded(name))?,
            (_, cell) => table.write_field(cell.map_or("", String::as_str))?,
        }
    }
    table.write_record(None::<&[u8]>)?;
    Ok(())
}
