//! Tables of others, and at fault.

use groundwave_model::radio::{Pointing, Waveform, presets};

use super::super::{Source, identify};
use super::{CSV, assert_notes, defaults, fixture, plan_of, pointed, read, refused, written};

#[test]
fn rows_of_others_become_nodes() {
    let (plan, notes) = read(CSV, &fixture("foreign.csv"), &defaults()).unwrap();
    let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["Säve; north", "Nolvik"]);
    let first = &plan.nodes[0];
    assert_eq!((first.position.lat_deg(), first.position.lon_deg()), (57.78, 11.88));
    assert_eq!(first.station.height_agl_m, 18.0);
    let lora = &presets::radio("lora_868_eu").unwrap().radio;
    assert_eq!(first.station.radio.waveform, lora.waveform);
    assert_eq!(first.station.radio.tx_power_dbm, 10.0);
    assert_eq!(plan.nodes[1].station, defaults());
    assert_notes(
        &notes,
        &[
            "column \"Owner\" is not used: dropped (line 1: Owner)",
            "\"Altitude\" is not a height above ground: dropped (line 2: Altitude)",
            "a height without a datum is taken as m above ground (line 2: antenna height)",
            "no radio: that of the default station is taken (line 3)",
            "no antenna: that of the default station is taken, 9 dBi (2 times, first at line 2)",
            "empty row: passed over (line 4)",
            "no name of the deployment",
        ],
    );
}

#[test]
fn other_names_and_separators_are_read() {
    for text in [
        "y,x\n57,11\n",
        "lng\tlat\n11\t57\n",
        "LAT_DEG;Lon Deg\n57;11\n",
        "\u{feff}longitude,latitude\r\n11,57",
    ] {
        let (plan, _) = plan_of(CSV, text);
        let at = plan.nodes[0].position;
        assert_eq!((at.lat_deg(), at.lon_deg()), (57.0, 11.0), "{text}");
    }
    let (_, notes) = plan_of(CSV, "x,y\n11,57\n");
    assert_notes(&notes, &["x is taken as the longitude in degrees", "y is taken as the latitude"]);
}

#[test]
fn hemispheres_minutes_and_seconds_of_their_own_columns_count() {
    for text in [
        "name,lat,N/S,lon,E/W\nA,33.81,S,70.5,W\n",
        "name,lat_deg,lat_min,lat_sec,lat_dir,lon_deg,lon_min,lon_dir\nA,33,48,36,S,70,30,W\n",
    ] {
        let (plan, notes) = plan_of(CSV, text);
        let at = plan.nodes[0].position;
        assert!((at.lat_deg() + 33.81).abs() < 1e-9 && at.lon_deg() == -70.5, "{at:?}");
        assert!(!format!("{notes:?}").contains("is not used"), "{notes:?}");
    }
    refused(CSV, b"name,lat,ns,lon,ew\nA,33.8,X,70.5,W\n", &["N or S"]);
}

#[test]
fn title_and_comments_above_the_header_are_left_out() {
    let above = "line above the header: dropped (line 1)";
    for (head, line, notes_above) in [
        ("Sites of 2026\n\n", 3, vec![above]),
        ("# made by hand, in spring\r\n", 2, vec![above]),
        ("\"Sites\";;;\n", 2, vec![above]),
        ("\n\n", 3, vec![]),
    ] {
        let text = format!("{head}name;lat;lon;owner\nnorth;57,5;11,5;x\nsouth;high;11;x\n");
        let format = identify(&Source::of(text.clone().into())).unwrap();
        assert_eq!(format.name, "csv", "{text}");
        let (plan, notes) = plan_of(CSV, &text);
        assert_eq!(plan.nodes.len(), 1, "{text}");
        assert_eq!(plan.nodes[0].position.lat_deg(), 57.5, "{text}");
        assert_notes(&notes, &notes_above);
        let unused = format!("column \"owner\" is not used: dropped (line {line}: owner)");
        let fault = format!(
            "(found \"high\", allowed degrees, or degrees, minutes and seconds): dropped (line {}",
            line + 2
        );
        assert_notes(&notes, &[&unused, &fault]);
    }
    // Two cells do not make a title.
    refused(CSV, b"Sites,2026\nlat,lon\n57,11\n", &["the columns"]);
}

#[test]
fn columns_go_over_presets_and_presets_over_defaults() {
    let text = "lat,lon,radio,spreading_factor,waveform,azimuth,antenna\n\
                57,11,lora_868_eu,12,,,\n57,11,ptp_5g8,,narrowband,,\n57,11,,,,90,dish_24\n";
    let (plan, notes) = read(CSV, text.as_bytes(), &pointed()).unwrap();
    assert_eq!(plan.nodes.len(), 2);
    assert_notes(&notes, &["a value for narrowband): dropped (line 3: bit_rate_bps)"]);
    let text = text.replace("narrowband", "");
    let (plan, _) = read(CSV, text.as_bytes(), &pointed()).unwrap();
    let waveforms: Vec<_> = plan.nodes.iter().map(|node| &node.station.radio.waveform).collect();
    let lora = Waveform::Lora { spreading_factor: 12, coding_rate: 5 };
    assert_eq!(*waveforms[0], lora);
    assert_eq!(plan.nodes[1].station.radio, presets::radio("ptp_5g8").unwrap().radio);
    assert_eq!(plan.nodes[1].station.pointing, pointed().pointing);
    let east = Pointing { azimuth_deg: 90.0, elevation_deg: 0.0 };
    assert_eq!(plan.nodes[2].station.pointing, Some(east));
}

#[test]
fn azimuths_of_a_turn_either_way_are_read() {
    let text = "name,lat,lon,azimuth\na,57,11,360\nb,57,11.1,-90\nc,57,11.2,361\n";
    let (plan, notes) = plan_of(CSV, text);
    let azimuths: Vec<_> =
        plan.nodes.iter().map(|node| node.station.pointing.unwrap().azimuth_deg).collect();
    assert_eq!(azimuths, [0.0, 270.0]);
    assert_notes(&notes, &["found 361, allowed [-360, 360]"]);
}

#[test]
fn faults_have_their_place() {
    let cases: [(&str, &[&str]); 16] = [
        (
            "lat;lon;height_agl_m\n57;11;1,500\n",
            &["line 2: height_agl_m", "\"1,500\"", "thousands"],
        ),
        (
            "lat,lon\n57,7,11,9\n",
            &["line 2: found 4 cells", "2, as in the header", "decimal point"],
        ),
        ("name,lon\na,1\n", &["line 1", "name, lon", "a header with lat and lon"]),
        ("", &["a header with lat and lon"]),
        ("lat,lon,lat\n1,2,3\n", &["line 1: lat", "each column once"]),
        ("lat,lon,latitude\n1,2,3\n", &["\"latitude\" besides \"lat\""]),
        ("lat,lon\n,2\n", &["line 2: lat", "degrees"]),
        ("lat,lon\n91,200\n", &["line 2: lat: found 91", "-90 to 90"]),
        ("lat,lon\n151.2,-33.8\n", &["may be swapped"]),
        ("lat,lon\ninf,0\n", &["\"inf\"", "degrees"]),
        ("lat,lon,role\n1,2,chief\n", &["line 2: role", "\"chief\""]),
        ("lat,lon,radio\n1,2,lora\n", &["line 2: radio", "unknown preset \"lora\""]),
        ("lat,lon,gain_dbi\n1,2,99\n", &["line 2: gain_dbi", "99", "[-30, 60]"]),
        (
            "lat,lon,waveform,coding_rate\n1,2,ofdm,5\n",
            &["line 2: coding_rate", "nothing unless lora"],
        ),
        (
            "lat,lon,id\n1,2,67e55044-10b1-426f-9247-bb680e5fe0c8\n1,2,67e55044-10b1-426f-9247-bb680e5fe0c8\n",
            &["line 3: id", "each id once"],
        ),
        ("lat,lon,deployment\n1,2,{\"name\":3}\n", &["line 2: deployment"]),
    ];
    for (text, says) in cases {
        refused(CSV, text.as_bytes(), says);
    }
    refused(CSV, b"lat,lon\n1,2\n\0\xe5,3\n", &["line 3", "not UTF-8"]);
}

#[test]
fn the_header_is_the_contract() {
    let (plan, _) = plan_of(CSV, "lat,lon,name,radio\n57,11,=1+1,lora_868_eu\n");
    let text = String::from_utf8(written(CSV, &plan)).unwrap();
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(
        lines[0],
        "id,name,role,lat,lon,height_agl_m,radio,antenna,frequency_mhz,bandwidth_hz,tx_power_dbm,\
         noise_figure_db,feeder_loss_db,waveform,spatial_streams,mac_efficiency_prob,\
         spreading_factor,coding_rate,bit_rate_bps,sensitivity_dbm,gain_dbi,azimuth_beamwidth_deg,\
         elevation_beamwidth_deg,front_to_back_db,polarization,pointing_azimuth_deg,\
         pointing_elevation_deg,electrical_tilt_deg,surroundings,indoor,antenna_pattern,deployment,woodland_depth_m"
    );
    assert!(lines[1].starts_with(",Imported plan,,,,,"), "{}", lines[1]);
    assert_eq!(
        lines[2],
        ",'=1+1,relay,57,11,7.25,lora_868_eu,,868.1,125000,14,6,0,lora,,,9,5,,,9,360,12,20,vertical,,,,,,,,"
    );
}

/// Positions and heights of a table, and what was told.
fn sites(table: &[u8]) -> (Vec<[f64; 3]>, String) {
    let (plan, report) = read(CSV, table, &defaults()).unwrap();
    let row = |node: &crate::formats::PlanNode| {
        [node.position.lat_deg(), node.position.lon_deg(), node.station.height_agl_m]
    };
    (plan.nodes.iter().map(row).collect(), report.to_string())
}

#[test]
fn tables_are_read_as_people_have_them() {
    let expected = [57.5, 11.25, 30.0];
    for table in [
        "sep=;\r\nName;Breite;L\u{e4}nge;H\u{f6}he (m)\r\nA;57,5;11,25;30\r\n",
        "nom;latitude;longitude;hauteur\nA;57,5;11,25;30\n",
        "nombre,latitud,longitud,altura\nA,57.5,11.25,30\n",
        "site,lat,lon,antenna height (m)\nA,57°30'N,11°15'E,30\n",
        "site,lat,lon,Tower Height (ft)\nA,57.5N,11.25E,98.4251968503937\n",
        "name,position,height_agl_m\nA,\"57°30'00\"\"N 11°15'00\"\"E\",30\n",
        "name,wkt,height_agl_m\nA,POINT (11.25 57.5),30\n",
        "name,lat,lon,height_agl_m\nA,57.5,11.25,30\nB,,,30\n",
    ] {
        let (sites, report) = sites(table.as_bytes());
        assert_eq!(sites.len(), 1, "{table}: {report}");
        for (value, expected) in sites[0].iter().zip(expected) {
            assert!((value - expected).abs() < 1e-9, "{table}: {sites:?}");
        }
    }
    let latin = b"name;lat;lon;h\xf6he\nMalm\xf6;57,5;11,25;30\n";
    let (read, report) = sites(latin);
    assert_eq!(read, [expected]);
    assert!(report.contains("windows-1252"), "{report}");
    let utf_16: Vec<u8> = "\u{feff}name,lat,lon,height_agl_m\nA,57.5,11.25,30\n"
        .encode_utf16()
        .flat_map(|unit| unit.to_le_bytes())
        .collect();
    assert_eq!(sites(&utf_16).0, [expected]);
}

#[test]
fn rows_without_a_position_leave_the_others_and_are_reported() {
    let (nodes, report) = sites(b"name,lat,lon\nA,57.5,11.25\nB,,11\nC,north,11\nD,58,12\n");
    assert_eq!(nodes.len(), 2);
    assert!(report.contains("row without a position") && report.contains("dropped"), "{report}");
    let error = read(CSV, b"name,lat,lon\nB,,11\nC,north,11\n", &defaults()).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}

#[test]
fn row_at_fault_is_dropped_with_a_note_and_the_others_stay() {
    let bad = [
        ("97.7,11,5", "found 97.7, allowed degrees north"),
        ("57,11,high", "found \"high\", allowed a finite number"),
        ("57,11,5,7", "found 5 cells, allowed 4"),
        ("57,11,-5", "found -5"),
    ];
    for (row, note) in bad {
        let text = format!("name,lat,lon,height_agl_m\nA,57.5,11.25,30\nB,{row}\nC,58,12,8\n");
        let (nodes, report) = sites(text.as_bytes());
        assert_eq!(nodes, [[57.5, 11.25, 30.0], [58.0, 12.0, 8.0]], "{row}");
        assert!(report.contains(note) && report.contains("line 3"), "{report}");
        // Alone it is no table.
        refused(CSV, format!("name,lat,lon,height_agl_m\nB,{row}\n").as_bytes(), &["line 2"]);
    }
}

#[test]
fn quantities_keep_the_units_of_their_headers_and_cells() {
    let station = |header: &str, cells: &str| {
        let text = format!("name,lat,lon,{header}\nA,57.5,11.25,{cells}\n");
        plan_of(CSV, &text).0.nodes.remove(0).station
    };
    let radio = |header: &str, cells: &str| station(header, cells).radio;
    for (header, cell) in [
        ("Frequency (GHz)", "5.8"),
        ("frequency_ghz", "5.8"),
        ("Frequenz (MHz)", "5800"),
        ("freq", "5800"),
        ("frequency_mhz", "5.8 GHz"),
        ("freq", "5.8GHz"),
    ] {
        let frequency_mhz = radio(header, cell).frequency_mhz;
        assert!((frequency_mhz - 5_800.0).abs() < 1e-9, "{header}: {frequency_mhz}");
    }
    for (header, cells) in [
        ("Power (W)", "0.1"),
        ("power_w", "0.1"),
        ("txw", "0.1"),
        ("Tx Power (mW)", "100"),
        ("tx_power_dbm", "0.1 W"),
        ("gain_dbi,EIRP (dBm)", "6,26"),
        ("gain_dbd,feeder_loss_db,EIRP (W)", "3.85,1,0.316227766016838"),
        ("gain_dbi,erp", "2.15,0.1"),
    ] {
        let power_dbm = radio(header, cells).tx_power_dbm;
        assert!((power_dbm - 20.0).abs() < 1e-6, "{header}: {power_dbm}");
    }
    let antenna = station("txg,azi,tlt,pol", "12,120,4,h");
    assert_eq!((antenna.antenna.gain_dbi, antenna.antenna.electrical_tilt_deg), (12.0, 0.0));
    assert_eq!(antenna.pointing, Some(Pointing { azimuth_deg: 120.0, elevation_deg: -4.0 }));
    assert_eq!(station("gain,tilt", "6 dBd,3").antenna.electrical_tilt_deg, 3.0);
    for (header, cell) in [
        ("Height (feet AGL)", "100"),
        ("Rad Center (ft)", "100"),
        ("hgt", "100ft"),
        ("alt_agl", "30.48 m"),
        ("height_agl_m", "100 feet"),
    ] {
        let height_agl_m = station(header, cell).height_agl_m;
        assert!((height_agl_m - 30.48).abs() < 1e-9, "{header}: {height_agl_m}");
    }
    // A unit of another quantity is none of the column.
    let (_, notes) = plan_of(CSV, "lat,lon,Frequency (V)\n57,11,5\n");
    assert_notes(&notes, &["column \"Frequency (V)\" is not used: dropped"]);
}
