//! Serialised form of stations, environments and results.

use groundwave_propagation::itm;
use schemars::schema_for;
use serde_json::{Value, from_value, json, to_value};

use super::super::{
    Clutter, Environment, LinkResult, Multipath, Pointing, Station, Vegetation, Warning, Warnings,
    Waveform,
};
use super::{flat, link, ridge, station};

#[test]
fn a_result_survives_the_round_trip() {
    let end = station("lora_868_eu", "omni_5", 8.0);
    for ground in [flat(700.0), ridge(25_000.0, 300.0)] {
        let mut result = link(&ground, &end, &end, &Environment::default());
        result.tx_node_id = Some("relay-1".to_owned());
        let value = to_value(&result).unwrap();
        assert_eq!(from_value::<LinkResult>(value.clone()).unwrap(), result);
        let mut unknown = value;
        unknown["loss_db"] = json!(1.0);
        assert!(from_value::<LinkResult>(unknown).is_err());
    }
}

#[test]
fn inputs_survive_the_round_trip_and_refuse_unknown_fields() {
    let mut end = station("ptp_5g8", "dish_30", 8.0);
    end.pointing = Some(Pointing { azimuth_deg: 12.5, elevation_deg: -1.0 });
    let value = to_value(&end).unwrap();
    assert_eq!(value["radio"]["waveform"]["kind"], "ofdm");
    assert_eq!(value["antenna"]["polarization"], "vertical");
    assert_eq!(from_value::<Station>(value.clone()).unwrap(), end);
    let mut typo = value;
    typo["radio"]["frequency_hmz"] = json!(1.0);
    assert!(from_value::<Station>(typo).unwrap_err().to_string().contains("frequency_hmz"));
    let env = Environment {
        clutter: Some(Clutter::Statistical { below_height_m: 8.0, location_percent: 40.0 }),
        multipath: Some(Multipath {
            gradient_1_percent_n_units_km: -200.0,
            terrain_roughness_m: 30.0,
        }),
        vegetation: Some(Vegetation {
            depth_m: 10.0,
            specific_attenuation_db_m: 0.1,
            maximum_attenuation_db: 20.0,
        }),
        ..Environment::default()
    };
    assert_eq!(from_value::<Environment>(to_value(&env).unwrap()).unwrap(), env);
    assert!(from_value::<Environment>(json!({ "rain": 5.0 })).is_err());
}

#[test]
fn what_is_left_out_takes_its_documented_default() {
    assert_eq!(from_value::<Environment>(json!({})).unwrap(), Environment::default());
    assert_eq!(Environment::default().validate(), Ok(()));
    let wave: Waveform = from_value(json!({ "kind": "ofdm" })).unwrap();
    assert_eq!(wave, Waveform::Ofdm { spatial_streams: 1, mac_efficiency_prob: 0.6 });
}

#[test]
fn a_linking_result_carries_every_number_it_should() {
    let end = station("lora_868_eu", "omni_5", 8.0);
    let value = to_value(link(&flat(5_000.0), &end, &end, &Environment::default())).unwrap();
    for path in [
        "/model",
        "/model_version",
        "/geometry/slant_range_m",
        "/clearance/fresnel_clearance_ratio",
        "/itm/terrain_irregularity_m",
        "/itm/horizon_distance_m/1",
        "/budget/eirp_dbm",
        "/losses/reference_attenuation_db",
        "/losses/variability_db",
        "/losses/total_path_loss_db",
        "/receiver/snr_db",
        "/rate/modulation_id",
        "/rate/etx_forward",
        "/margin/fade_margin_db",
        "/availability/time_percent",
        "/terrain/missing_samples",
        "/verdict",
        "/limiting_factor",
    ] {
        assert!(value.pointer(path).is_some_and(|field| !field.is_null()), "{path} in {value}");
    }
    fn no_null(value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Array(items) => items.iter().all(no_null),
            Value::Object(fields) => fields.values().all(no_null),
            _ => true,
        }
    }
    assert!(no_null(&value));
}

#[test]
fn warnings_are_names_in_a_fixed_order() {
    let set: Warnings = [Warning::TerrainVoid, Warning::ItmFrequency, Warning::DistanceBelow1Km]
        .into_iter()
        .collect();
    let names = json!(["itm_frequency", "terrain_void", "distance_below_1km"]);
    assert_eq!(to_value(set).unwrap(), names);
    assert_eq!(from_value::<Warnings>(names).unwrap(), set);
    assert!(from_value::<Warnings>(json!(["itm_frequencies"])).is_err());
    let whole: Warnings = Warning::ALL.into_iter().collect();
    assert!(whole.iter().eq(Warning::ALL) && Warnings::default().is_empty());
}

/// The first sixteen warnings are ITM's own, by name and bit.
#[test]
fn warnings_of_itm_keep_their_names() {
    for bit in 0..16u16 {
        let itm: itm::Warnings = from_value(json!(1u16 << bit)).unwrap();
        let mut set = Warnings::default();
        set.insert_itm(itm);
        let ours: Vec<String> = from_value(to_value(set).unwrap()).unwrap();
        let theirs: Vec<String> = itm.names().map(|name| format!("itm_{name}")).collect();
        assert_eq!(ours, theirs);
        assert_eq!(theirs.len(), 1);
    }
}

#[test]
fn schemas_know_every_field() {
    let schema = to_value(schema_for!(LinkResult)).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), 22);
    assert_eq!(schema["additionalProperties"], json!(false));
    let station = to_value(schema_for!(Station)).unwrap();
    let polarization = &station["$defs"]["Antenna"]["properties"]["polarization"];
    assert_eq!(polarization["enum"], json!(["horizontal", "vertical"]));
}
