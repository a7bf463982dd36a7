//! Ten thousand random impairments on the model.

use proptest::prelude::*;

use super::super::conformance::{draw, options, round_trip};
use super::super::netem::{Netem, Odds, fraction, probability};
use super::super::tbf::{Tbf, ticks};
use super::super::{Fake, Shaper};

/// A runtime for one test; the model never waits.
pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Every impairment either reads back unchanged or leaves the previous one: here the kernel fails
    /// at some request of the second one.
    #[test]
    fn impairments_read_back_or_leave_the_previous_one(seed: u64, step in 1usize..6) {
        let mut stream = groundwave_engine::Seed(seed).stream("impairments", 0, 0);
        let mut next = || stream.bits();
        let (first, second, third) = (draw(&mut next), draw(&mut next), draw(&mut next));
        block_on(async {
            let fake = Fake::new(&["eth0"]);
            let tables = std::path::Path::new("/nowhere");
            let mut shaper = Shaper::start(fake.clone(), options(tables)).await.unwrap();
            round_trip(&mut shaper, "eth0", &first).await;
            let before = shaper.read("eth0").await.unwrap();
            let table = fake.table("eth0");
            fake.fail_at(step, 12);
            if let Err(err) = shaper.apply("eth0", &second).await {
                let after = shaper.read("eth0").await.unwrap();
                assert_eq!(after.impairment, before.impairment, "{second:?}: {err}");
                assert_eq!(after.divergence, before.divergence);
                let jitter = first.latency.as_ref().map_or(0, |latency| latency.jitter_ns());
                if jitter > 0 && table.is_some() {
                    assert_eq!(fake.table("eth0"), table, "the distribution went back as well");
                }
            }
            fake.fail_at(usize::MAX, 0);
            round_trip(&mut shaper, "eth0", &third).await;
        });
    }

    #[test]
    fn probabilities_come_back_as_they_were_written(tenths in 0u32..=1_000_000) {
        let pct = f64::from(tenths) / 10_000.0;
        prop_assert_eq!(fraction(probability(pct / 100.0), 100.0), pct);
    }

    #[test]
    fn netem_codec_round_trips(words: [u32; 15], times: [i64; 2], gemodel: bool) {
        let [limit, loss, loss_corr, delay_corr, duplicate, dup_corr, gap, reorder] =
            *words.first_chunk().unwrap();
        let netem = Netem {
            latency_ns: times[0],
            jitter_ns: times[1],
            delay_corr,
            limit,
            gap,
            loss: Odds { prob: loss, correlation: loss_corr },
            duplicate: Odds { prob: duplicate, correlation: dup_corr },
            reorder: Odds { prob: reorder, correlation: words[12] },
            corrupt: Odds { prob: words[13], correlation: words[14] },
            gemodel: gemodel.then_some([words[8], words[9], words[10], words[11]]),
            ..Netem::default()
        };
        let payload = netem.payload(Some(&[1, -2, 3]));
        let mut read = Netem::parse(&payload).unwrap();
        // A request carries a slot of zeros, a dump only a non-zero one.
        read.unsupported.slots = false;
        prop_assert_eq!(read, netem);
    }

    #[test]
    fn tbf_codec_round_trips(rate in 1u64..1 << 40, burst: u32, limit: u32, mtu_ticks: u32) {
        let tbf = Tbf { rate, buffer_ticks: ticks(burst, rate), mtu_ticks, limit, peak_rate: 0 };
        let read = Tbf::parse(&tbf.payload(burst)).unwrap();
        let low = Tbf { buffer_ticks: tbf.buffer_ticks.min(u32::MAX.into()), ..tbf };
        prop_assert_eq!(read, low);
    }

    #[test]
    fn malformed_options_are_an_error(bytes: Vec<u8>) {
        let _ = Netem::parse(&bytes);
        let _ = Tbf::parse(&bytes);
    }
}
