//! Columns of tables of tracks, by their names.

use std::collections::BTreeSet;

use csv::StringRecord;

use super::super::super::Datum;
use super::super::super::dataset::{Dataset, Height};
use super::super::super::error::{Location, quoted};
use super::super::super::plan::values::parse;
use super::super::super::sumo;
use super::super::axis::{self, Parts};
use super::super::levels::bare;
use super::super::times::{self, DateOrder, Time};
use super::super::utm::Grid;
use super::identity;
use super::names::{
    DATES, EASTS, HEIGHTS, LATITUDES, LONGITUDES, NAMES, NODE_IDS, NODES, NORTHS, TIMES,
};

/// Columns of the nodes of a kind.
pub(super) struct Place {
    /// Kind of SUMO; empty in other tables.
    pub(super) kind: &'static str,
    pub(super) id: Option<usize>,
    /// Name of the node, beside its identifier.
    pub(super) name: Option<usize>,
    /// Longitude or x, and latitude or y.
    pub(super) x: usize,
    pub(super) y: usize,
    /// Height of vehicles of SUMO, and above a plane.
    pub(super) z: Option<usize>,
    /// Further parts of latitude and longitude in degrees.
    pub(super) parts: [Parts; 2],
    /// Columns of UTM, in a table without degrees.
    pub(super) grid: Option<Grid>,
}

/// Columns of a table.
pub(super) struct Columns {
    pub(super) time: Clock,
    /// One set for each kind of node.
    pub(super) nodes: Vec<Place>,
    /// Columns of identifiers of nodes, where the first one may be of rows.
    other_ids: Vec<usize>,
    heights: Vec<Altitude>,
    /// Heights without a known datum: column, its head, and metres in its unit.
    unknown: Vec<(usize, String, f64)>,
    pub(super) is_sumo: bool,
    /// Positions are those of a plane, unless their digits are those of degrees.
    pub(super) is_plane: bool,
    /// Column that states whether a position is one of satellites (Traccar).
    valid: Option<usize>,
}

/// Columns of the time of a row.
pub(super) struct Clock {
    column: usize,
    /// Column of the day of that time.
    date: Option<usize>,
    /// Order of dates whose year comes last, and units of numbers in a second.
    order: Option<DateOrder>,
    per_s: f64,
}

/// A column of heights.
struct Altitude {
    column: usize,
    height: fn(f64) -> Height,
    /// Metres in its unit.
    unit_m: f64,
}

impl Columns {
    /// The columns of a header; `None` where it is not one of tracks.
    pub(super) fn of(header: &StringRecord) -> Option<Self> {
        let heads: Vec<String> = header.iter().map(|head| bare(head.trim())).collect();
        let first = |names: &[&str]| {
            names.iter().find_map(|name| heads.iter().position(|head| head == name))
        };
        let column = first(&TIMES)?;
        let date = first(&DATES).filter(|date| *date != column);
        let raw = |name: &str| header.iter().position(|head| head.trim() == name);
        let of_kind = |kind: &'static str| {
            let column = |end: &str| raw(&format!("{kind}_{end}"));
            let (x, y) = (column("x")?, column("y")?);
            let (id, z) = (Some(column("id")?), column("z"));
            Some(Place { kind, id, name: None, x, y, z, parts: Default::default(), grid: None })
        };
        let is_sumo = raw("timestep_time") == Some(column);
        let mut is_plane = is_sumo;
        let nodes: Vec<Place> = match is_sumo {
            true => sumo::KINDS.into_iter().filter_map(of_kind).collect(),
            false => {
                let degrees = first(&LONGITUDES).zip(first(&LATITUDES));
                let grid = Grid::of(header.iter()).filter(|_| degrees.is_none());
                let angles = degrees.or_else(|| grid.map(|grid| (grid.easting, grid.northing)));
                is_plane = angles.is_none();
                let (x, y) = angles.or_else(|| first(&EASTS).zip(first(&NORTHS)))?;
                let z = first(&HEIGHTS).filter(|_| is_plane);
                let (id, parts) = (first(&NODES), axis::parts(header));
                let name = first(&NAMES).filter(|name| id != Some(*name));
                vec![Place { kind: "", id, name, x, y, z, parts, grid }]
            }
        };
        let (mut heights, mut unknown) = (Vec::new(), Vec::new());
        for (column, head) in header.iter().enumerate() {
            match datum(head) {
                Some((Some(height), unit_m)) => heights.push(Altitude { column, height, unit_m }),
                Some((None, unit_m)) => unknown.push((column, head.trim().to_owned(), unit_m)),
                None => {}
            }
        }
        let time = Clock { column, date, order: None, per_s: 1.0 };
        let is_node = |head: &String| NODE_IDS.contains(&head.as_str());
        let of_nodes = (0..heads.len()).filter(|column| is_node(&heads[*column]));
        let others = NODES.iter().filter(|name| !NAMES.contains(name));
        let others = others.filter_map(|name| heads.iter().position(|head| head == name));
        let other_ids = of_nodes.chain(others).collect();
        let valid = first(&["valid"]).filter(|_| !is_sumo);
        (!nodes.is_empty()).then_some(Self {
            time,
            nodes,
            other_ids,
            heights,
            unknown,
            is_sumo,
            is_plane,
            valid,
        })
    }

    /// `true` for a row whose position is stated to be invalid.
    pub(super) fn is_invalid(&self, row: &StringRecord) -> bool {
        let cell = self.valid.and_then(|column| row.get(column)).unwrap_or_default().trim();
        ["false", "0", "no"].iter().any(|word| cell.eq_ignore_ascii_case(word))
    }

    /// Takes another column of identifiers where those of the first one are of rows: no two have the same. Without such
    /// a column, that which differs between the rows of one time is taken; its number, to be noted.
    pub(super) fn settle_node<'r>(
        &mut self,
        header: &StringRecord,
        rows: impl Iterator<Item = &'r StringRecord> + Clone,
    ) -> Option<usize> {
        if self.is_sumo {
            return None;
        }
        let place = &mut self.nodes[0];
        let Some(id) = place.id else {
            let times = [Some(self.time.column), self.time.date];
            place.id = identity::column(header, times, [place.x, place.y], rows);
            return place.id;
        };
        let is_again = |column: usize| {
            let mut cells = BTreeSet::new();
            rows.clone().any(|row| !cells.insert(row.get(column).unwrap_or_default().trim()))
        };
        if !is_again(id) {
            let mut others = self.other_ids.iter().copied();
            let other = others.find(|other| *other != id && is_again(*other));
            place.id = other.or(place.id);
        }
        None
    }

    /// Takes the height of a row at a time, s: that above ground where there are several.
    pub(super) fn take_height(
        &self,
        row: &StringRecord,
        (at_s, node): (f64, u32),
        line: usize,
        dataset: &mut Dataset,
    ) {
        let mut height = |altitude: &Altitude| {
            let cell = row.get(altitude.column)?.trim();
            let Ok(number) = parse(cell) else {
                if !cell.is_empty() {
                    dataset.drop("a height that is not a number: not used", line);
                }
                return None;
            };
            Some((altitude.height)(number * altitude.unit_m))
        };
        let rank = |height: &Height| match height {
            Height::Ground(_) => 0,
            Height::Sea(_) => 1,
            Height::Ellipsoid(_) => 2,
        };
        if let Some(height) = self.heights.iter().filter_map(&mut height).min_by_key(rank) {
            dataset.altitude(at_s, node, height, line);
        }
    }

    /// Takes the heights without a datum for those above `datum`; without one, notes that they are not used.
    pub(super) fn settle_heights(
        &mut self,
        datum: Option<Datum>,
        line: usize,
        dataset: &mut Dataset,
    ) {
        for (column, head, unit_m) in std::mem::take(&mut self.unknown) {
            if let Some(datum) = datum {
                self.heights.push(Altitude { column, height: datum.height(), unit_m });
                continue;
            }
            let what = format!(
                "the column {}: heights above an unknown level are not used; --datum agl, msl or hae sets it",
                quoted(&head)
            );
            dataset.report.add(&what, || Location::line(line));
        }
    }
}

impl Clock {
    /// Takes the order of dates and the unit of numbers from the rows; `head` is the name of the column.
    pub(super) fn settle<'r>(
        &mut self,
        head: &str,
        rows: impl Iterator<Item = &'r StringRecord> + Clone,
    ) {
        let texts: Vec<String> = rows.clone().filter_map(|row| self.text(row)).collect();
        self.order = DateOrder::of(texts.iter().map(String::as_str));
        let cells = rows.filter_map(|row| row.get(self.column));
        let numbers: Vec<f64> = cells.filter_map(|cell| parse(cell).ok()).collect();
        self.per_s = times::units_per_s(head, &numbers);
    }

    /// Takes an order of dates in place of that which the rows show, if there is one.
    pub(super) fn take_order(&mut self, order: Option<DateOrder>) {
        self.order = order.or(self.order);
    }

    /// Takes the day for the first number of dates whose order no row decides: enough to recognise a table.
    pub(super) fn assume_order(&mut self) {
        self.order = self.order.or(Some(DateOrder::DayFirst));
    }

    /// The time of a row that is another one in each order of dates, where no row shows which it is.
    pub(super) fn ambiguous(&self, row: &StringRecord) -> Option<String> {
        let text = self.text(row).filter(|_| self.order.is_none())?;
        times::is_ambiguous(&text).then_some(text)
    }

    /// Column of times.
    pub(super) const fn column(&self) -> usize {
        self.column
    }

    /// Day and time of a row; `None` without a column of days.
    fn text(&self, row: &StringRecord) -> Option<String> {
        let cell = |column: usize| row.get(column).unwrap_or_default().trim();
        match self.date {
            Some(date) => Some(format!("{} {}", cell(date), cell(self.column))),
            None => Some(cell(self.column).to_owned()),
        }
    }

    /// Time of a row, s.
    pub(super) fn time(&self, row: &StringRecord) -> Option<(f64, Time)> {
        let both = self.date.and_then(|_| Time::of(&self.text(row)?, self.order));
        // A time may have its date, whatever the other column is.
        let both = both.filter(|time| matches!(time, Time::Date(_)));
        let time = both.or_else(|| Time::of(row.get(self.column)?, self.order))?;
        Some((time.seconds(self.per_s), time))
    }
}

/// Datum of a column of heights, `None` where its name leaves that open, and metres in its unit; `None` for
/// another column.
fn datum(head: &str) -> Option<(Option<fn(f64) -> Height>, f64)> {
    let lower = head.trim().to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let unit_m = |word: &str| match word {
        "m" | "meter" | "meters" | "metre" | "metres" => Some(1.0),
        "ft" | "foot" | "feet" => Some(0.3048),
        _ => None,
    };
    let stated_m = words.split_last().filter(|(_, rest)| !rest.is_empty());
    let stated_m = stated_m.and_then(|(last, rest)| Some((unit_m(last)?, rest)));
    let (unit_m, words) = stated_m.unwrap_or((1.0, &words));
    let name = words.concat();
    let height: Option<fn(f64) -> Height> = match name.as_str() {
        "heightagl" | "agl" | "altitudeagl" | "altagl" | "heightaboveground" => {
            Some(Height::Ground)
        }
        "heightmsl" | "heightamsl" | "msl" | "amsl" | "elevation" | "ele" | "elev" | "altitude"
        | "alt" | "altitudemsl" | "altitudeamsl" | "altmsl" | "altamsl" | "gpsaltitude"
        | "gpsalt" | "altitudemeters" => Some(Height::Sea),
        "heighthae"
        | "hae"
        | "altitudehae"
        | "althae"
        | "heightaboveellipsoid"
        | "ellipsoidalheight" => Some(Height::Ellipsoid),
        _ => None,
    };
    let is_height = ["height", "altitude", "elevation"].iter().any(|part| name.contains(part));
    // Accuracies, rates and limits of heights are none.
    let is_other = [
        "accuracy",
        "error",
        "rate",
        "speed",
        "mode",
        "angle",
        "min",
        "max",
        "geoid",
        "undulation",
        "separation",
    ];
    let is_open = is_height && !is_other.iter().any(|part| name.contains(part));
    (height.is_some() || is_open).then_some((height, unit_m))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_have_the_datum_and_unit_of_their_names() {
        for (head, expected) in [
            ("alt_m", Some(Height::Sea(10.0))),
            ("Altitude (ft)", Some(Height::Sea(3.048))),
            ("height_agl_ft", Some(Height::Ground(3.048))),
            ("hae_m", Some(Height::Ellipsoid(10.0))),
            ("height_m", None),
        ] {
            let (height, unit_m) = datum(head).expect(head);
            assert_eq!(height.map(|height| height(10.0 * unit_m)), expected, "{head}");
        }
        for head in
            ["vertical_accuracy", "altitude_accuracy_m", "geoidheight", "m", "salt", "speed"]
        {
            assert!(datum(head).is_none(), "{head}");
        }
    }
}
