//! Values of recordings: out of range, of other units, several of one time.

use groundwave_model::sample::station;

use super::super::{
    Dataset, Datum, Event, Height, ReadOptions, Source, csv, eel, identify, nmea, ttnmapper,
};
use super::recordings::{mapping, observed, table};
use super::{count, dataset};

/// A table of levels with the columns `t,from,to` and one of `head` for `key`.
fn levels(key: &str, head: &str, cells: &[&str]) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let rows = cells.iter().enumerate().map(|(at_s, cell)| format!("{at_s},a,b,-70,{cell}\n"));
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, format!("t,from,to,rssi,{head}\n{}", rows.collect::<String>())).unwrap();
    let text = format!(
        "step_s = 1\n[time]\ncolumn = \"t\"\nunit = \"seconds\"\n[link]\nfrom = \"from\"\nto = \"to\"\n[values]\n\
         rx_power_dbm = \"rssi\"\n{key} = \"{head}\"\n"
    );
    table(path, mapping(folder.path(), &text).unwrap()).unwrap()
}

#[test]
fn value_out_of_range_leaves_the_others_of_its_row() {
    let drive = levels("snr_db", "snr", &["5", "-128"]);
    let values: Vec<_> = observed(&drive).iter().map(|level| level.3).collect();
    assert_eq!(values.iter().map(|own| own.snr_db).collect::<Vec<_>>(), [Some(5.0), None]);
    assert_eq!(values[1].rx_power_dbm, Some(-70.0));
    assert_eq!(count(&drive.report, "snr_db beyond -100 to 100"), 1);
}

#[test]
fn shares_of_100_and_255_are_shares_of_1() {
    let shares = |key: &str, cells: &[&str]| {
        let drive = levels(key, "share", cells);
        let share = |level: &(f64, &str, &str, groundwave_simulation::measure::Measured)| {
            level.3.delivery_prob.or(level.3.quality)
        };
        let shares: Vec<_> = observed(&drive).iter().map(share).collect();
        (shares, count(&drive.report, "the column \"share\""))
    };
    let percent = [Some(0.98), Some(0.01), Some(0.0), Some(0.55)];
    assert_eq!(shares("delivery_prob", &["98", "1", "0", "55"]), (percent.to_vec(), 1));
    assert_eq!(shares("quality", &["255", "51"]), (vec![Some(1.0), Some(0.2)], 1));
    assert_eq!(shares("delivery_prob", &["1", "0.5"]), (vec![Some(1.0), Some(0.5)], 0));
}

#[test]
fn frequencies_of_ghz_are_read() {
    let drive = levels("frequency_mhz", "f", &["2.437", "5180"]);
    let mhz: Vec<_> = observed(&drive).iter().map(|level| level.3.frequency_mhz).collect();
    assert_eq!(mhz, [Some(2437.0), Some(5180.0)]);
}

#[test]
fn several_levels_and_positions_of_one_time_are_counted() {
    let drive =
        dataset(&eel::FORMAT, &[b"0.0 nem:1 pathloss nem:2,80\n0.0 nem:1 pathloss nem:2,90\n"]);
    let replaced = count(&drive.unwrap().report, "replaced by a later one");
    assert_eq!(replaced, 1);
    let rows = "time,id,lat,lon\n0,a,57.7,11.9\n0,a,57.71,11.9\n10,a,57.72,11.9\n";
    let track =
        csv::tracks::FORMAT.read(&Source::of(rows.into()), &ReadOptions::new(station())).unwrap();
    assert_eq!(count(&track.report, "another position of a node at one time"), 1);
}

#[test]
fn losses_of_links_that_are_down_are_not_measurements() {
    let drive =
        dataset(&eel::FORMAT, &[b"0.0 nem:1 pathloss nem:2,300.0\n1.0 nem:1 pathloss nem:2,80\n"]);
    let drive = drive.unwrap();
    let values: Vec<_> = observed(&drive).iter().map(|level| level.3).collect();
    assert_eq!((values[0].path_loss_db, values[0].delivery_prob), (None, Some(0.0)));
    assert_eq!(values[1].path_loss_db, Some(80.0));
}

#[test]
fn devices_of_two_applications_are_two_nodes() {
    let text = "time,dev_id,app_id,gateway_id,snr,rssi,lat,lon\n\
                2024-05-01T10:00:00Z,dev,one,roof,9,-34,57.70,11.9\n\
                2024-05-01T10:00:01Z,dev,two,roof,9,0,57.72,11.9\n";
    let source = Source::of(text.into());
    let mapped = ttnmapper::FORMAT.read(&source, &ReadOptions::new(station())).unwrap();
    assert_eq!(mapped.courses().len(), 2);
    assert_eq!(count(&mapped.report, "0 dBm"), 1);
}

#[test]
fn positions_that_are_not_of_satellites_are_counted() {
    let text = "id,time,latitude,longitude,valid\nv,0,57.70,11.9,true\nv,10,57.75,11.9,false\nv,20,57.71,11.9,true\n";
    let source = Source::of(text.into());
    assert_eq!(identify(&source), Ok(&csv::tracks::FORMAT));
    let track = csv::tracks::FORMAT.read(&source, &ReadOptions::new(station())).unwrap();
    assert_eq!((track.courses()[&0].len(), count(&track.report, "stated to be invalid")), (2, 1));
    let sentence = |time: &str, quality: u8| {
        format!("$GPGGA,{time},5742.000,N,01154.000,E,{quality},08,1.0,10.0,M,38.0,M,,\n")
    };
    let text = [sentence("100000", 1), sentence("100001", 6), sentence("100002", 8)].concat();
    let fixes = dataset(&nmea::FORMAT, &[text.as_bytes()]).unwrap();
    assert_eq!(count(&fixes.report, "a sentence without a fix"), 2);
}

#[test]
fn heights_that_are_not_numbers_are_counted() {
    let text =
        "id,time,lat,lon,altitude,geoidheight\nv,0,57.70,11.9,n/a,38\nv,10,57.71,11.9,70,38\n";
    let options = ReadOptions { datum: Some(Datum::Ground), ..ReadOptions::new(station()) };
    let track = csv::tracks::FORMAT.read(&Source::of(text.into()), &options).unwrap();
    let height = |event: &(f64, Event)| match event.1 {
        Event::Height(_, height) => Some(height),
        _ => None,
    };
    let heights: Vec<Height> = track.events.iter().filter_map(height).collect();
    assert_eq!(heights, [Height::Sea(70.0)]);
    assert_eq!(count(&track.report, "a height that is not a number"), 1);
}
