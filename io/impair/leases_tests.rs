//! Tests of leases.

use super::*;
use crate::impairment_spec::ImpairmentSpec;
use crate::state_file;

const PORT: Direction = Direction::PORT1;

fn spec(delay: &str, loss: &str) -> Impairment {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let spec = ImpairmentSpec { delay: some(delay), loss: some(loss), ..ImpairmentSpec::default() };
    spec.impairment().unwrap()
}

fn begin(leases: &mut Leases, ends_ns: u64, delay: &str, loss: &str) -> u64 {
    let impairment = spec(delay, loss);
    let fields =
        ImpairmentField::ALL.into_iter().filter(|field| field.is_in(&impairment)).collect();
    let change = LeasedFields { impairment, fields, rules: None };
    let changes = BTreeMap::from([(PORT, change)]);
    leases.begin(Owner::default(), &at(0, 0), ends_ns, changes)
}

/// A moment of the boot that leases begin in.
fn at(wall_ns: u64, boot_ns: u64) -> Moment {
    Moment { wall_ns, boot_ns, boot_id: "first".to_owned() }
}

#[test]
fn leases_end_in_any_order_and_give_back_their_own_fields() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1]] {
        let mut leases = Leases::default();
        leases.set_base(PORT, Some(spec("10ms", "1%")));
        let ids = [
            begin(&mut leases, 5, "", "100%"),
            begin(&mut leases, 6, "20ms", "50%"),
            begin(&mut leases, 7, "30ms", ""),
        ];
        assert_eq!(leases.compose(PORT), Some(spec("30ms", "50%")));
        for (ended, place) in order.into_iter().enumerate() {
            leases.end(ids[place]).unwrap();
            let left = &order[ended + 1..];
            let top = |values: [&'static str; 3], base: &'static str| {
                let mut on = (0..3).filter(|at| left.contains(at) && !values[*at].is_empty());
                on.next_back().map_or(base, |at| values[at])
            };
            let expected = spec(top(["", "20ms", "30ms"], "10ms"), top(["100%", "50%", ""], "1%"));
            assert_eq!(leases.compose(PORT), Some(expected), "{order:?} {ended}");
        }
        leases.forget_base(PORT);
        assert_eq!(leases.directions(), []);
    }
}

#[test]
fn a_change_beneath_a_lease_that_was_read_from_above_leaves_the_leased_field() {
    let mut leases = Leases::default();
    leases.set_base(PORT, Some(spec("10ms", "1%")));
    let id = begin(&mut leases, 5, "", "100%");
    let in_force = leases.compose(PORT).unwrap();
    // Read, its delay changed, and written.
    let base = leases.without_leased(PORT, &spec("70ms", "100%"), &[&in_force]);
    assert_eq!(base, spec("70ms", "1%"));
    let base = leases.without_leased(PORT, &spec("70ms", "2%"), &[&in_force]);
    assert_eq!(base, spec("70ms", "2%"));
    leases.set_base(PORT, Some(base));
    assert_eq!(leases.compose(PORT), Some(spec("70ms", "100%")));
    leases.end(id);
    assert_eq!(leases.compose(PORT), Some(spec("70ms", "2%")));
}

#[test]
fn a_direction_that_was_left_alone_is_left_alone_again() {
    let mut leases = Leases::default();
    leases.set_base(PORT, None);
    let id = begin(&mut leases, 5, "", "100%");
    assert_eq!(leases.compose(PORT), Some(spec("", "100%")));
    assert_eq!((leases.due(&at(4, 4)), leases.due(&at(5, 5))), (vec![], vec![id]));
    leases.end(id);
    assert_eq!(leases.compose(PORT), None);
}

#[test]
fn clock_that_is_set_changes_no_end_and_after_another_boot_the_wall_clock_counts() {
    const S: u64 = 1_000_000_000;
    let mut leases = Leases::default();
    let change = LeasedFields {
        impairment: spec("", "100%"),
        fields: vec![ImpairmentField::Loss],
        rules: None,
    };
    let changes = BTreeMap::from([(PORT, change)]);
    let id = leases.begin(Owner::default(), &at(1_000 * S, 10 * S), 60 * S, changes);
    for (wall_s, boot_s, left_s, ends_wall_s) in [
        (1_000, 10, 60, 1_060),
        (1_030, 40, 30, 1_060),
        // A year ahead, and back before the beginning.
        (31_536_000, 40, 30, 31_536_030),
        (5, 69, 1, 6),
        (5, 70, 0, 5),
    ] {
        let now = at(wall_s * S, boot_s * S);
        let lease = leases.get(id).unwrap();
        assert_eq!(lease.left_ns(&now), left_s * S, "{now:?}");
        assert_eq!(lease.ends_wall_ns(&now), ends_wall_s * S, "{now:?}");
        assert_eq!(leases.due(&now).len(), usize::from(left_s == 0), "{now:?}");
    }
    let rebooted = |wall_s: u64| Moment { boot_id: "second".to_owned(), ..at(wall_s * S, 40 * S) };
    assert_eq!((leases.due(&rebooted(1_059)), leases.due(&rebooted(1_060))), (vec![], vec![id]));
    assert!(leases.renew(id, &rebooted(1_059), 10 * S, BTreeMap::new()));
    assert_eq!(leases.get(id).unwrap().left_ns(&rebooted(1_059)), 10 * S);
    // Of a file of an earlier version, and where the system names no boot.
    let unknown = |wall_s: u64| Moment { boot_id: String::new(), ..at(wall_s * S, 0) };
    assert!(leases.renew(id, &unknown(7), 10 * S, BTreeMap::new()));
    assert_eq!((leases.due(&unknown(16)), leases.due(&unknown(17))), (vec![], vec![id]));
}

#[test]
fn leases_are_read_back_and_a_damaged_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = state_file::beside(&folder.path().join("impair.sock"), "leases");
    let load = || state_file::load::<Leases>(&path);
    assert_eq!(load().unwrap(), Leases::default());
    let mut leases = Leases::default();
    leases.set_base(PORT, None);
    leases.set_base(Direction::PORT2, Some(spec("10ms", "")));
    begin(&mut leases, 5, "20ms", "");
    state_file::store(&path, &leases).unwrap();
    assert_eq!(load().unwrap(), leases);
    std::fs::write(&path, b"{").unwrap();
    assert!(load().is_err());
}
