//! A plan as a table.

use std::io::{self, Write};

use super::super::collect::Deployment;
use super::super::field::{FIELDS, Field};
use super::super::flat;
use super::super::{Format, PlanFile};
use super::guarded;

/// Writes `plan`: a header, the row of the deployment, a row for each node.
///
/// # Errors
/// See [`super::super::write`].
pub fn write(plan: &PlanFile, out: &mut impl Write) -> io::Result<()> {
    plan.writable(Format::Csv)?;
    let mut table = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    table.write_record(FIELDS.map(|(_, name)| name))?;
    let outline = &plan.outline;
    let deployment = Deployment {
        name: None,
        center: outline.center,
        region: outline.region.clone(),
        environment: Some(outline.environment.clone()),
    };
    let row = [
        (Field::Name, outline.name.clone()),
        (Field::Deployment, serde_json::to_string(&deployment)?),
    ];
    write_row(&mut table, &row)?;
    for node in &plan.nodes {
        write_row(&mut table, &flat::row(node))?;
    }
    table.flush()
}

/// Writes cells in their columns. `cells` are in the order of [`FIELDS`].
fn write_row<W: Write>(table: &mut csv::Writer<W>, cells: &[(Field, String)]) -> io::Result<()> {
    let mut cells = cells.iter().peekable();
    for (field, _) in FIELDS {
        let cell = cells.next_if(|(at, _)| *at == field);
        match cell {
            Some((Field::Name, name)) => table.write_field(guarded(name))?,
            Some((_, text)) => table.write_field(text)?,
            None => table.write_field("")?,
        }
    }
    debug_assert!(cells.next().is_none(), "cells come in the order of FIELDS");
    table.write_record(None::<&[u8]>)?;
    Ok(())
}
