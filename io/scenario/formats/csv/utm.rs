//! Positions in columns of UTM: zone, easting, northing, and the hemisphere or band.

use super::super::error::{Fault, quoted};
use super::super::plan::values;

/// Column of a position in UTM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Zone,
    Easting,
    Northing,
    Hemisphere,
}

/// Names of columns, in small letters without other characters than letters and digits; the first of a part wins.
const NAMES: [(&str, Part); 32] = [
    ("zone", Part::Zone),
    ("utmzone", Part::Zone),
    ("zoneutm", Part::Zone),
    ("gridzone", Part::Zone),
    ("zonenumber", Part::Zone),
    ("utmz", Part::Zone),
    ("easting", Part::Easting),
    ("utmeasting", Part::Easting),
    ("eastingutm", Part::Easting),
    ("eastingm", Part::Easting),
    ("utmeastingm", Part::Easting),
    ("utme", Part::Easting),
    ("utmx", Part::Easting),
    ("xutm", Part::Easting),
    ("ostwert", Part::Easting),
    ("x", Part::Easting),
    ("northing", Part::Northing),
    ("utmnorthing", Part::Northing),
    ("northingutm", Part::Northing),
    ("northingm", Part::Northing),
    ("utmnorthingm", Part::Northing),
    ("utmn", Part::Northing),
    ("utmy", Part::Northing),
    ("yutm", Part::Northing),
    ("nordwert", Part::Northing),
    ("y", Part::Northing),
    ("hemisphere", Part::Hemisphere),
    ("hemi", Part::Hemisphere),
    ("utmhemisphere", Part::Hemisphere),
    ("band", Part::Hemisphere),
    ("utmband", Part::Hemisphere),
    ("zoneletter", Part::Hemisphere),
];

/// A name in small letters and digits.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `true` for the columns of a plane, which are degrees where no zone stands beside them.
pub(super) fn is_plane(name: &str) -> bool {
    ["x", "y"].contains(&plain(name).as_str())
}

/// Columns of a position in UTM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    /// Zone, with its band or hemisphere unless that has a column.
    zone: usize,
    /// Easting, m.
    pub(super) easting: usize,
    /// Northing, m.
    pub(super) northing: usize,
    hemisphere: Option<usize>,
}

impl Grid {
    /// The columns of UTM among names; `None` without all of zone, easting and northing.
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Option<Self> {
        let names: Vec<String> = names.map(plain).collect();
        let first = |part: Part| {
            let mut own = NAMES.iter().filter(|(_, own)| *own == part);
            own.find_map(|(name, _)| names.iter().position(|own| own == name))
        };
        Some(Self {
            zone: first(Part::Zone)?,
            easting: first(Part::Easting)?,
            northing: first(Part::Northing)?,
            hemisphere: first(Part::Hemisphere),
        })
    }

    /// `true` for one of its columns.
    pub(super) fn has(&self, column: usize) -> bool {
        [self.zone, self.easting, self.northing].contains(&column)
            || self.hemisphere == Some(column)
    }

    /// Latitude and longitude of a row, deg.
    ///
    /// # Errors
    /// The column at fault, with the value found and those allowed.
    pub(super) fn degrees<'c>(
        &self,
        cell: impl Fn(usize) -> &'c str,
    ) -> Result<(f64, f64), (usize, Fault)> {
        let number = |column: usize| {
            let number = values::parse(cell(column));
            number.map_err(|fault| {
                (column, Fault::new("", quoted(cell(column)), format!("metres: {}", fault.allowed)))
            })
        };
        let (easting_m, northing_m) = (number(self.easting)?, number(self.northing)?);
        let hemisphere = self.hemisphere.map_or("", &cell);
        let place =
            groundwave_coordinate::utm_degrees(cell(self.zone), hemisphere, easting_m, northing_m);
        let [lat_deg, lon_deg] =
            place.map_err(|bad| (self.zone, Fault::new("", quoted(&bad.found), bad.allowed)))?;
        Ok((lat_deg, lon_deg))
    }
}

/// `true` for names with an easting and a northing of their own, whose zone is missing.
pub(super) fn lacks_zone<'n>(names: impl Iterator<Item = &'n str> + Clone) -> bool {
    let has = |part: Part| {
        names.clone().filter(|name| !is_plane(name)).any(|name| {
            let name = plain(name);
            NAMES.iter().any(|(own, of)| *own == name && *of == part)
        })
    };
    has(Part::Easting) && has(Part::Northing) && !has(Part::Zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_utm_are_known_by_their_names() {
        let of = |header: &str| Grid::of(header.split(','));
        let grid = of("name,Zone,Easting (m),Northing (m)").unwrap();
        assert_eq!((grid.zone, grid.easting, grid.northing, grid.hemisphere), (1, 2, 3, None));
        let grid = of("utm_zone,hemisphere,utm_n,utm_e").unwrap();
        assert_eq!((grid.zone, grid.easting, grid.northing, grid.hemisphere), (0, 3, 2, Some(1)));
        // An easting of its own goes before x.
        let grid = of("x,y,zone,easting,northing").unwrap();
        assert_eq!((grid.easting, grid.northing), (3, 4));
        assert!(grid.has(2) && !grid.has(0));
        assert_eq!(of("x,y,name"), None);
        assert!(lacks_zone("name,easting,northing".split(',')));
        assert!(!lacks_zone("name,x,y".split(',')) && !lacks_zone("zone,easting".split(',')));
    }
}
