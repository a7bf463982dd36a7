//! Configurations, timelines, templates and what people type.

use groundwave_credentials::PrivateKey;
use groundwave_fuzz::fuzz_target;
use groundwave_impair::Direction;
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_io_impair::timeline::TimelineOptions;
use groundwave_io_impair::{config, quantity, timeline_file};
use groundwave_sensor::expr::Expr;

use super::{as_file, shipped, text};

fuzz_target!(impaird_config, vec![shipped("examples/impaird.toml")], |bytes: &[u8]| drop(
    config::parse(&text(bytes), "fuzz")
));
fuzz_target!(
    timelines,
    vec![
        shipped("examples/timeline.toml"),
        shipped("examples/timeline.csv"),
        b"0\n1\n1\n".to_vec()
    ],
    |bytes: &[u8]| {
        let options = TimelineOptions {
            directions: Direction::BOTH.to_vec(),
            window_ns: 100_000_000,
            speed: 1.0,
            base: ImpairmentSpec::default(),
        };
        for name in ["t.toml", "t.csv", "t.down"] {
            as_file(name, bytes, |path| drop(timeline_file::load(path, &options)));
        }
    }
);
fuzz_target!(
    impairment_json,
    vec![br#"{"delay":"20ms","jitter":"5ms","loss":"1%","rate":"10mbit"}"#.to_vec()],
    |bytes: &[u8]| {
        if let Ok(spec) = serde_json::from_slice::<ImpairmentSpec>(bytes)
            && let Ok(impairment) = spec.impairment()
        {
            drop(impairment.validate());
        }
    }
);
fuzz_target!(
    quantities,
    vec![
        b"1.5ms".to_vec(),
        b"10mbit".to_vec(),
        b"64kb".to_vec(),
        b"3.25%".to_vec(),
        b"1000 packets".to_vec()
    ],
    |bytes: &[u8]| {
        let word = text(bytes);
        if let Ok(ns) = quantity::duration_ns(&word) {
            assert_eq!(quantity::duration_ns(&quantity::print_duration(ns)), Ok(ns));
        }
        drop(quantity::rate_bps(&word));
        drop(quantity::size_bytes(&word));
        drop(quantity::queue_limit(&word));
        drop(quantity::percent(&word));
        drop(quantity::share(&word));
        drop(quantity::factor(&word));
        drop(PrivateKey::from_text(&word));
    }
);
fuzz_target!(changes, vec![shipped("examples/changes.toml")], |bytes: &[u8]| as_file(
    "c.toml",
    bytes,
    |path| drop(groundwave_scenario::changes::load(path))
));
fuzz_target!(calibration, vec![b"name = \"c\"\n[[class]]\nfrequency_mhz = [3000.0, 8000.0]\ndistance_km = [0.0, 1.0]\nloss_db = -4.2\ninterval_db = [-5.0, -3.0]\nspread_db = 2.0\nlinks = 9\nerror_before_db = 6.0\nerror_held_out_db = 2.5\n".to_vec()], |bytes: &[u8]| as_file("c.toml", bytes, |path| drop(groundwave_scenario::calibration_profile::load(path))));
fuzz_target!(
    sensor_templates,
    vec![shipped("io/host/i2c/templates/bme280.toml"), shipped("io/host/i2c/templates/lm75.toml")],
    |bytes: &[u8]| drop(groundwave_host::i2c::load::template(&text(bytes), "fuzz"))
);
fuzz_target!(
    expressions,
    vec![b"(raw - 32768) * 0.0025 + min(t, 85)".to_vec(), b"raw >> 4 & 0xff".to_vec()],
    |bytes: &[u8]| {
        if let Ok(expression) = Expr::parse(&text(bytes)) {
            drop(expression.evaluate(|_| Some(7.0)));
        }
    }
);
