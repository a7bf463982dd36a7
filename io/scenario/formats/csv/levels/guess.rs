//! A first mapping of a table, from the names of its columns and its first rows.

use std::fmt::Write;

use csv::{ReaderBuilder, StringRecord};

use super::super::super::Source;
use super::super::super::clock::date_units_per_s;
use super::super::super::error::{Fault, FormatError, Location, quoted};
use super::super::super::plan::values::parse;
use super::super::super::text::text;
use super::super::FORMAT;
use super::super::read::delimiter;
use super::super::times::{self, DateOrder, Time};
use super::TimeUnit;
use super::clock::time_of;

/// Rows that are looked at.
const ROWS_MAX: usize = 1_000;

/// Names of columns by the keys of a mapping, without case, units and other characters than letters and digits.
const NAMES: [(&str, &[&str]); 12] = [
    (
        "time",
        &[
            "time",
            "timestamp",
            "date",
            "datetime",
            "t",
            "when",
            "tunix",
            "unixtime",
            "timeunix",
            "ts",
            "epoch",
            "utc",
            "timeutc",
            "timestamputc",
            "datetimeutc",
        ],
    ),
    ("from", &["from", "tx", "src", "source", "sender", "transmitter", "txnode", "fromnode", "a"]),
    ("to", &["to", "rx", "dst", "target", "destination", "receiver", "rxnode", "tonode", "b"]),
    ("link", &["link", "sublink", "linkname"]),
    ("rx_power_dbm", &["rxpower", "rssi", "rsl", "signal", "rx", "rxlevel", "rsrp", "power"]),
    ("tx_power_dbm", &["txpower", "tsl", "txlevel", "eirp"]),
    ("path_loss_db", &["pathloss", "loss", "attenuation"]),
    ("snr_db", &["snr", "sinr", "sn"]),
    ("delivery_prob", &["pdr", "prr", "delivery", "deliveryprob", "deliveryratio"]),
    ("quality", &["quality", "lq", "tq", "linkquality"]),
    ("rate_bps", &["rate", "bitrate", "throughput", "datarate"]),
    (
        FREQUENCY,
        &[
            "freq",
            "frequency",
            "freqmhz",
            "frequencymhz",
            "freqhz",
            "frequencyhz",
            "freqghz",
            "frequencyghz",
            "channelfrequency",
            "centerfrequency",
            "centrefrequency",
        ],
    ),
];

/// Key of the frequency, which is not a level.
const FREQUENCY: &str = "frequency_mhz";

/// Names of columns of days beside those of times.
const DATES: [&str; 4] = ["date", "day", "dateutc", "utcdate"];

/// Positions of links, to be completed.
const LINKS: &str = "\n[links]                  # positions of both ends: file and columns to be completed\n\
    file = \"links.csv\"\nid = \"link\"\na_lat_deg = \"a_lat\"\na_lon_deg = \"a_lon\"\nb_lat_deg = \"b_lat\"\n\
    b_lon_deg = \"b_lon\"\n";

/// Positions of nodes, which a mapping may do without.
const NODES: &str = "\n# [nodes]                # positions, by the names in the columns of the link\n\
    # file = \"nodes.csv\"\n# name = \"name\"\n# lat_deg = \"lat\"\n# lon_deg = \"lon\"\n";

/// Endings of names that are units.
const UNITS: [&str; 6] = ["dbm", "dbi", "db", "bps", "prob", "id"];

fn is_unit(word: &str) -> bool {
    UNITS.contains(&word) || times::is_unit(word)
}

/// A column name in lower case without units, spaces and signs.
pub(in super::super) fn bare(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let words = match words.split_last() {
        Some((last, rest)) if !rest.is_empty() && is_unit(last) => rest,
        _ => &words[..],
    };
    words.concat()
}

/// Names of columns that are measured levels whatever stands beside them.
const LEVELS: [&str; 10] =
    ["rssi", "rsl", "rxpower", "rxlevel", "rsrp", "signal", "snr", "sinr", "pdr", "prr"];

/// True for the name of a column of measured levels.
pub(in super::super) fn is_level(name: &str) -> bool {
    LEVELS.contains(&bare(name).as_str())
}

/// Names of columns of positions in the rows.
const LATITUDES: [&str; 4] = ["lat", "latitude", "gpslat", "rxlat"];
const LONGITUDES: [&str; 7] = ["lon", "lng", "long", "longitude", "gpslon", "rxlon", "rxlng"];

/// A mapping file for the table of `source`, with comments where it must be completed.
///
/// # Errors
/// A table without rows, or without a column of measured values.
pub fn mapping(source: &Source) -> Result<String, FormatError> {
    let invalid = |actual: String, allowed: &str| {
        Fault::new("", actual, allowed).at(&FORMAT, Location::line(1))
    };
    let text = text(&FORMAT, source.bytes())?;
    let mark = delimiter(text);
    let mut table =
        ReaderBuilder::new().delimiter(mark).flexible(true).from_reader(text.as_bytes());
    let header = table.headers().map_err(|error| invalid(error.to_string(), "a table"))?.clone();
    let rows: Vec<StringRecord> = table.records().take(ROWS_MAX).filter_map(Result::ok).collect();
    if rows.is_empty() {
        return Err(invalid("no rows".to_owned(), "a table with a header and rows"));
    }
    let columns: Vec<&str> = header.iter().map(str::trim).collect();
    let cells = |column: usize| {
        let cells = rows.iter().filter_map(move |row| row.get(column)).map(str::trim);
        cells.filter(|cell| !cell.is_empty())
    };
    let is_number = |column: usize| {
        let numbers = cells(column).filter(|cell| parse(cell).is_ok()).count();
        numbers > 0 && numbers * 2 > cells(column).count()
    };
    let named = |key: &str, fits: &dyn Fn(usize) -> bool| {
        let (_, names) = NAMES.iter().find(|(name, _)| *name == key)?;
        // The first name that a column has, since names come in the order of how sure they are.
        names.iter().find_map(|name| {
            let is_it = |index: &usize| bare(columns[*index]) == *name && fits(*index);
            (0..columns.len()).find(is_it)
        })
    };
    let time = named("time", &|_| true);
    let (from, to) =
        (named("from", &|column| !is_number(column)), named("to", &|column| !is_number(column)));
    let (from, to) =
        (from.or_else(|| named("from", &|_| true)), to.or_else(|| named("to", &|_| true)));
    let others = [time, from, to];
    let keys = NAMES[4..].iter().map(|(key, _)| *key);
    let values: Vec<(&str, usize)> = keys
        .filter_map(|key| {
            let fits = |column: usize| is_number(column) && !others.contains(&Some(column));
            Some((key, named(key, &fits)?))
        })
        .collect();
    if values.iter().all(|(key, _)| *key == FREQUENCY) {
        let names = NAMES[4..].iter().flat_map(|(_, names)| *names);
        let text = names.into_iter().find_map(|name| {
            let column = (0..columns.len()).find(|index| bare(columns[*index]) == *name)?;
            let column = Some(column).filter(|column| !others.contains(&Some(*column)))?;
            let cell = cells(column).find(|cell| parse(cell).is_err())?;
            Some(format!("{} in the column {}", quoted(cell), quoted(columns[column])))
        });
        if let Some(actual) = text {
            return Err(invalid(actual, "numbers with a decimal point or comma"));
        }
        let actual = format!("the columns {}", quoted(&columns.join(", ")));
        return Err(invalid(actual, "a column of measured values, such as rssi, snr or pdr"));
    }
    let texts = |day: Option<usize>| {
        let time = time.unwrap_or(usize::MAX);
        let texts = rows.iter().map(|row| time_of(row, time, day).into_owned());
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>()
    };
    let day = (0..columns.len())
        .find(|column| Some(*column) != time && DATES.contains(&bare(columns[*column]).as_str()));
    // A time may have its date, whatever the other column is.
    let day = day.filter(|day| dates(&texts(Some(*day))).len() * 2 > rows.len());
    let head = time.map_or("", |column| columns[column]);
    let (unit, seconds) = unit(head, &texts(day));
    let mut out = String::from("# A first mapping: check it against the table.\n");
    let column = |column: Option<usize>, what: &str| match column {
        Some(column) => format!("{:?}", columns[column]),
        None => format!("\"\"   # {what}: one of {}", columns.join(", ")),
    };
    let _ = writeln!(out, "step_s = {}", step_s(&seconds));
    if mark != b',' {
        let _ = writeln!(out, "delimiter = {:?}", char::from(mark).to_string());
    }
    let _ = writeln!(out, "\n[time]\ncolumn = {}", column(time, "time"));
    if let Some(day) = day {
        let _ = writeln!(out, "date = {:?}", columns[day]);
    }
    let _ = writeln!(out, "unit = {unit:?}");
    let texts = texts(day);
    let order = DateOrder::of(texts.iter().map(String::as_str));
    if order.is_none() && texts.iter().any(|text| times::is_ambiguous(text)) {
        out += "order = \"\"   # of the dates: dmy (day first) or mdy (month first)\n";
    }
    let link = named("link", &|_| true).filter(|_| from.is_none() && to.is_none());
    let _ = match link {
        Some(link) => writeln!(out, "\n[link]\nid = {:?}", columns[link]),
        None => {
            let (from, to) = (column(from, "sender"), column(to, "receiver"));
            writeln!(out, "\n[link]\nfrom = {from}\nto = {to}")
        }
    };
    out += "\n[values]\n";
    for (key, index) in values {
        let _ = writeln!(out, "{key} = {:?}", columns[index]);
    }
    let column_of = |names: &[&str]| {
        names.iter().find_map(|name| (0..columns.len()).find(|at| bare(columns[*at]) == *name))
    };
    if let Some((lat, lon)) = column_of(&LATITUDES).zip(column_of(&LONGITUDES)) {
        let _ = writeln!(
            out,
            "\n[position]               # of the end that moves, \"to\" or \"from\": check it\nof = \"to\"\nlat_deg = \
             {:?}\nlon_deg = {:?}",
            columns[lat], columns[lon]
        );
    }
    out += match link {
        Some(_) => LINKS,
        None => NODES,
    };
    Ok(out)
}

/// Unit of the times of a column by its name and its cells, and those times, s.
fn unit(head: &str, texts: &[String]) -> (&'static str, Vec<f64>) {
    let numbers: Vec<f64> = texts.iter().filter_map(|cell| parse(cell).ok()).collect();
    if numbers.len() * 2 <= texts.len() {
        let times = [dates(texts), times_of_day(texts)].into_iter().find(|times| !times.is_empty());
        return match times {
            Some(times) => ("iso8601", times),
            None => ("seconds", Vec::new()),
        };
    }
    let per_s = times::units_per_s(head, &numbers);
    let is_unix = date_units_per_s(numbers[numbers.len() / 2]) == Some(per_s);
    let seconds = numbers.iter().map(|number| number / per_s).collect();
    (TimeUnit::of(per_s, is_unix).name(), seconds)
}

/// The cells that are times of the day alone, s since midnight.
fn times_of_day(texts: &[String]) -> Vec<f64> {
    let time = |text: &String| match Time::of(text, None)? {
        Time::OfDay(at_s) => Some(at_s),
        _ => None,
    };
    texts.iter().filter_map(time).collect()
}

/// The cells that are dates, s since the Unix epoch: with the day first where none shows the order.
fn dates(texts: &[String]) -> Vec<f64> {
    let order = DateOrder::of(texts.iter().map(String::as_str)).or(Some(DateOrder::DayFirst));
    let date = |text: &String| match Time::of(text, order)? {
        Time::Date(at_s) => Some(at_s),
        _ => None,
    };
    texts.iter().filter_map(date).collect()
}

/// Minimum interval between two times that differ, s, within the range of a step; 1 without two.
fn step_s(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let intervals = times.windows(2).map(|two| two[1] - two[0]).filter(|interval| *interval > 0.0);
    let least_s = intervals.fold(f64::INFINITY, f64::min);
    let rounded_s = (least_s * 1e3).round() / 1e3;
    if least_s.is_finite() { rounded_s.clamp(0.001, 3600.0) } else { 1.0 }
}
