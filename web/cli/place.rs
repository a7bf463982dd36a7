//! Places of the command line: positions in all spellings, and towns by name.
//!
//! The table of towns is that of the page (GeoNames, CC BY 4.0): towns from 10 000 inhabitants on, whose
//! positions are rounded to a hundredth of a degree.

use groundwave_http::Failure;
use groundwave_model::terrain::GeoPoint;

use super::output;

/// Steps of positions of the table, of a degree.
const STEPS: f64 = 100.0;

/// Towns that a message names at most.
const NAMED_MAX: usize = 5;

/// A town of the table.
#[derive(Debug, Clone, PartialEq)]
struct Town {
    name: String,
    /// Country of two letters, ISO 3166-1.
    country: String,
    lat_deg: f64,
    lon_deg: f64,
    /// Twice the binary logarithm of the thousands of inhabitants.
    rank: u32,
}

impl Town {
    fn label(&self) -> String {
        format!("{}, {}", self.name, self.country)
    }
}

/// Reads a position, or NAME[,COUNTRY] of a town, and the height behind it, m.
///
/// # Errors
/// For neither, with the spellings that are allowed.
pub fn read(text: &str) -> Result<(GeoPoint, Option<f64>), Failure> {
    let after_hyphen = text.strip_prefix('-').and_then(|rest| rest.chars().next());
    if after_hyphen.is_some_and(|first| first == '-' || first.is_ascii_alphabetic()) {
        return Err(Failure::Input(format!(
            "unknown option: found {text:?}, allowed those of --help"
        )));
    }
    let error = match groundwave_coordinate::parse_with_height(text) {
        Ok(place) => return Ok(place),
        Err(error) => error,
    };
    // Digits are those of a position at fault, or of the height behind a name.
    let (name, height_agl_m) = match text.rsplit_once(',') {
        Some((name, height)) => match height.trim().parse::<f64>() {
            Ok(height_m) if height_m.is_finite() => (name, Some(height_m)),
            _ => (text, None),
        },
        None => (text, None),
    };
    // Numbers at fault have letters too: nan, inf.
    let is_number = |part: &str| part.trim().parse::<f64>().is_ok();
    let is_name = name.chars().any(char::is_alphabetic)
        && !name.chars().any(|c| c.is_ascii_digit())
        && !name.split([',', ';']).any(is_number);
    if !is_name {
        return Err(Failure::input(error));
    }
    let Some(table) = groundwave_page::towns() else {
        return Err(Failure::Input(format!(
            "{error}; names of towns need a program with the page (`make web`)"
        )));
    };
    let towns = search(&table, name);
    let Some(town) = towns.first() else {
        return Err(Failure::Input(format!(
            "{error}, or NAME[,COUNTRY] of a town of 10 000 inhabitants or more, such as Uppsala,SE"
        )));
    };
    let mut line =
        format!("{text}: {} at {}, {} (to about 1 km)", town.label(), town.lat_deg, town.lon_deg);
    if towns.len() > 1 {
        let place = |town: &Town| format!("{} at {},{}", town.label(), town.lat_deg, town.lon_deg);
        let others: Vec<_> = towns.iter().skip(1).take(NAMED_MAX).map(place).collect();
        line += &format!("; others of this name: {}", others.join("; "));
    }
    output::note(&output::faint(&line));
    let position = GeoPoint::new(town.lat_deg, town.lon_deg).map_err(Failure::input)?;
    Ok((position, height_agl_m))
}

/// Towns of a name, in any letter case and with or without marks, the most inhabitants first.
fn search(table: &str, text: &str) -> Vec<Town> {
    let (name, country) = match text.split_once(',') {
        Some((name, country)) => (name, Some(country.trim().to_ascii_uppercase())),
        None => (text, None),
    };
    let name = plain(name);
    let mut lines = table.lines();
    let names = |part: &str| part.split('|').map(str::to_owned).collect::<Vec<_>>();
    let exonyms = lines.next().unwrap_or_default().split_once('\t').unwrap_or_default();
    let exonyms = names(exonyms.0).into_iter().zip(names(exonyms.1));
    let listed: Vec<String> = exonyms
        .filter(|(other, _)| plain(other) == name)
        .map(|(_, listed)| plain(&listed))
        .collect();
    let mut towns = Vec::new();
    for line in lines {
        let parts: Vec<&str> = line.split('\t').collect();
        let [code, own, lats, lons, ranks, _, folded] = parts[..] else { continue };
        if country.as_deref().is_some_and(|country| country != code) {
            continue;
        }
        let numbers = lats.split(' ').zip(lons.split(' ')).zip(ranks.split(' '));
        for ((own, folded), ((lat, lon), rank)) in
            own.split('|').zip(folded.split('|')).zip(numbers)
        {
            let plain_own = plain(own);
            if plain_own != name && folded != name && !listed.contains(&plain_own) {
                continue;
            }
            let degrees = |steps: &str| steps.parse::<f64>().ok().map(|steps| steps / STEPS);
            let Some((lat_deg, lon_deg)) = degrees(lat).zip(degrees(lon)) else { continue };
            let rank = rank.parse().unwrap_or_default();
            let (name, country) = (own.to_owned(), code.to_owned());
            towns.push(Town { name, country, lat_deg, lon_deg, rank });
        }
    }
    // Stable: towns of one rank stay in the order of the table.
    towns.sort_by_key(|town| std::cmp::Reverse(town.rank));
    towns
}

/// A name in small letters, with single blanks for blanks and hyphens.
fn plain(name: &str) -> String {
    let lower = name.to_lowercase().replace('-', " ");
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "Gothenburg|gothenburg|Cologne|cologne\tGöteborg|Göteborg|Köln|Köln\n\
        DE\tFrankfurt (Oder)|Köln\t5234 5093\t1455 695\t12 20\t-1\t|koln\n\
        SE\tGöteborg|Upplands Väsby|Vara\t5771 5952 5826\t1197 1791 1295\t18 11 7\t-1\tgoteborg|upplands vasby|\n\
        US\tVara\t3000\t-9000\t9\t-1\t";

    #[test]
    fn towns_have_their_names_with_and_without_marks_and_those_of_other_languages() {
        for text in ["Göteborg", "goteborg", "GÖTEBORG", "Gothenburg", "gothenburg,se"] {
            let towns = search(TABLE, text);
            assert_eq!(towns.len(), 1, "{text}");
            assert_eq!((towns[0].lat_deg, towns[0].lon_deg), (57.71, 11.97), "{text}");
        }
        assert_eq!(search(TABLE, "upplands-väsby")[0].name, "Upplands Väsby");
        assert!(search(TABLE, "Göteborg,DE").is_empty() && search(TABLE, "Göte").is_empty());
        // The most inhabitants first; a country decides.
        let countries: Vec<_> =
            search(TABLE, "Vara").into_iter().map(|town| town.country).collect();
        assert_eq!(countries, ["US", "SE"]);
        assert_eq!(search(TABLE, "Vara,SE")[0].lat_deg, 58.26);
    }

    #[test]
    fn what_is_neither_a_position_nor_a_name_gives_the_allowed_spellings() {
        for text in ["97,11", "57.7;", "1234", "", "nan,0", "nan", "inf,inf", "NaN,NaN,10"] {
            let error = read(text).unwrap_err();
            assert!(error.message().contains("invalid position"), "{text}");
        }
        assert!(read("Nowhere at all").unwrap_err().message().contains("town"));
    }
}
