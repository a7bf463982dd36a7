//! Malformed netlink messages: every decoder returns.

use proptest::prelude::*;

use super::decoders::{accepting_decoders, corpus};

#[test]
fn every_message_of_the_kernel_is_decoded() {
    for message in corpus() {
        assert!(accepting_decoders(&message) > 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(accepting_decoders(&bytes) <= 18);
    }

    #[test]
    fn modified_messages_never_panic(
        pick in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let corpus = corpus();
        let mut bytes = pick.get(&corpus).clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert!(accepting_decoders(&bytes) <= 18);
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(accepting_decoders(&bytes) <= 18);
    }
}
