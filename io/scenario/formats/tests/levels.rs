//! Values of tables of levels and of the tables they name.

use groundwave_model::sample::station;

use super::super::Source;
use super::super::csv::levels;
use super::recordings::{dropped, mapping, observed, table};

#[test]
fn decimal_commas_are_read_in_levels_and_their_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, "time;from;to;rssi\n0;A;B;-60,5\n1,5;A;B;-61,25\n").unwrap();
    std::fs::write(folder.path().join("nodes.csv"), "n;la;lo\nA;57,7;11,9\nB;57,71;11,9\n")
        .unwrap();
    let text = levels::guess(&Source::open(&path).unwrap()).unwrap();
    let nodes = "[nodes]\nfile = \"nodes.csv\"\nname = \"n\"\nlat_deg = \"la\"\nlon_deg = \"lo\"\n";
    let levels = mapping(folder.path(), &format!("{text}{nodes}")).unwrap();
    assert_eq!(levels.mapping.step_s, 1.5);
    let recording = table(path.clone(), levels).unwrap();
    let values = observed(&recording).into_iter().map(|one| (one.0, one.3.rx_power_dbm));
    assert_eq!(values.collect::<Vec<_>>(), [(0.0, Some(-60.5)), (1.5, Some(-61.25))]);
    assert!(recording.nodes.iter().all(|node| node.position.is_some()));
    std::fs::write(&path, "time,from,to,rssi\n0,A,B,low\n").unwrap();
    let error = levels::guess(&Source::open(&path).unwrap()).unwrap_err().to_string();
    assert!(error.contains("found \"low\" in the column \"rssi\""), "{error}");
}

#[test]
fn heights_and_frequencies_of_tables_are_taken_or_reported_with_their_row() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let head =
        "step_s = 1\n[time]\ncolumn = \"t\"\nunit = \"seconds\"\n[values]\nsnr_db = \"snr\"\n";
    let radio = "[station]\nheight_agl_m = 30\nradio = \"ptp_11g\"\nantenna = \"dish_32\"\n";
    write(
        "nodes.csv",
        "n,la,lo,h\nx,57.7,11.9,40\ny,57.71,11.9,-3\nz,57.72,11.9,\nx,57.7,11.9,41\n",
    );
    let nodes = "[link]\nfrom = \"a\"\nto = \"b\"\n[nodes]\nfile = \"nodes.csv\"\nname = \"n\"\nlat_deg = \"la\"\n\
                 lon_deg = \"lo\"\nheight_agl_m = \"h\"\n";
    let rows = write("levels.csv", "t,a,b,snr\n0,x,y,9\n1,y,z,9\n");
    for (station_text, default_m) in [("", station().height_agl_m), (radio, 30.0)] {
        let levels = mapping(folder.path(), &format!("{head}{nodes}{station_text}")).unwrap();
        let recording = table(rows.clone(), levels).unwrap();
        let height_m = |index: usize| recording.station(index, &station()).height_agl_m;
        assert_eq!([0, 1, 2].map(height_m), [41.0, default_m, default_m]);
        let line = |what: &str| {
            let note = recording.report.notes.iter().find(|note| note.what.contains(what));
            note.map(|note| (note.count, note.first.line))
        };
        assert_eq!(line("height above ground, such as \"-3\""), Some((1, 3)));
        assert_eq!(line("a name that a row before has"), Some((1, 5)));
    }
    write(
        "links.csv",
        "id,a1,a2,b1,b2,f\n1,57.7,11.9,57.8,11.9,11200\n2,57.7,12,57.8,12,11.2 GHz\n",
    );
    let links = "[link]\nid = \"l\"\n[links]\nfile = \"links.csv\"\nid = \"id\"\na_lat_deg = \"a1\"\na_lon_deg = \"a2\"\n\
                 b_lat_deg = \"b1\"\nb_lon_deg = \"b2\"\nfrequency_mhz = \"f\"\n";
    let rows = write("levels.csv", "t,l,snr\n0,1,9\n1,2,9\n");
    let levels = mapping(folder.path(), &format!("{head}{links}{radio}")).unwrap();
    let preset_mhz = levels.station.as_ref().unwrap().radio.frequency_mhz;
    let recording = table(rows, levels).unwrap();
    let frequency_mhz = |index: usize| recording.station(index, &station()).radio.frequency_mhz;
    assert_eq!([0, 1, 2, 3].map(frequency_mhz), [11_200.0, 11_200.0, preset_mhz, preset_mhz]);
    assert_eq!(dropped(&recording, "frequency in MHz, such as \"11.2 GHz\""), 1);
}

#[test]
fn path_loss_below_1_db_is_not_a_measurement_in_any_format() {
    let text = "step_s = 1\n[time]\ncolumn = \"t\"\nunit = \"seconds\"\n[link]\nfrom = \"a\"\nto = \"b\"\n\
                [values]\npath_loss_db = \"loss\"\nsnr_db = \"snr\"\n";
    let folder = tempfile::tempdir().unwrap();
    let levels = mapping(folder.path(), text).unwrap();
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, "t,a,b,loss,snr\n0,x,y,0,\n1,x,y,0,7\n2,x,y,80,\n").unwrap();
    let recording = table(path, levels).unwrap();
    let values = observed(&recording).into_iter().map(|one| (one.3.path_loss_db, one.3.snr_db));
    assert_eq!(values.collect::<Vec<_>>(), [(None, Some(7.0)), (Some(80.0), None)]);
    assert_eq!(dropped(&recording, "below 1 dB"), 2);
}

#[test]
fn empty_table_gives_an_error_with_the_content_of_a_first_line() {
    let text = "step_s = 1\n[time]\ncolumn = \"t\"\nunit = \"seconds\"\n[link]\nfrom = \"a\"\nto = \"b\"\n\
                [values]\nsnr_db = \"snr\"\n";
    let folder = tempfile::tempdir().unwrap();
    let levels = mapping(folder.path(), text).unwrap();
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, "").unwrap();
    let error = table(path, levels).unwrap_err().to_string();
    assert!(
        error.ends_with("no column \"t\", allowed a first line with the names of columns"),
        "{error}"
    );
}
