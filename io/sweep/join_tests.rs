//! Claims of several workers on one folder; time is given.

use std::collections::BTreeSet;
use std::path::Path;

use groundwave_model::terrain::GeoPoint;

use super::*;
use crate::fixtures;
use crate::unit_file::UnitWriter;

/// Lease of these workers, s and ns.
const LEASE_S: u64 = 60;
const LEASE_NS: u64 = LEASE_S * 1_000_000_000;

/// A sweep around sites on one parallel.
fn sweep(folder: &Path, lon_deg: &[f64]) -> Sweep {
    let places: Vec<_> =
        (lon_deg.iter()).map(|lon_deg| GeoPoint::new(57.5, *lon_deg).unwrap()).collect();
    let plan = fixtures::plan(&places, 4000.0, 1.0);
    Sweep::enter(plan, folder).unwrap()
}

fn worker(id: u64) -> Worker {
    Worker { host: "hill".to_owned(), process: 7, id }
}

fn claims<'s>(sweep: &'s Sweep, worker: &'s Worker) -> Claims<'s> {
    let lease_s = LEASE_S;
    Claims::new(sweep, Leases { worker, lease_s })
}

fn next(claims: &Claims<'_>, now_ns: u64) -> Next {
    claims.next(now_ns, &|_| {}).unwrap()
}

/// Takes all units that are free.
fn take_all(claims: &Claims<'_>, now_ns: u64) -> Vec<Unit> {
    let mut taken = Vec::new();
    while let Next::Compute(unit) = next(claims, now_ns) {
        taken.push(unit);
    }
    taken
}

/// The file of a unit, which no site reaches.
fn place(sweep: &Sweep, unit: Unit) {
    let file = UnitWriter::create(&sweep.unit_path(unit)).unwrap();
    file.commit().unwrap();
}

/// Lease files in the folder.
fn leases(sweep: &Sweep) -> usize {
    let folders = std::fs::read_dir(sweep.folder().join("units")).unwrap();
    let names = folders
        .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(".lease")).count()
}

#[test]
fn a_unit_goes_to_one_worker_and_all_end_when_all_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(folder.path(), &[11.5]);
    let all = sweep.plan.units();
    assert!(all.len() >= 4, "{} units", all.len());
    let [one, two] = [worker(0), worker(1)];
    let (one, two) = (claims(&sweep, &one), claims(&sweep, &two));
    let mut taken = Vec::new();
    for turn in 0..all.len() {
        let claims = if turn % 2 == 0 { &one } else { &two };
        let Next::Compute(unit) = next(claims, 0) else {
            panic!("{turn} of {}", all.len());
        };
        taken.push((claims, unit));
    }
    assert_eq!([next(&one, 0), next(&two, 0)], [Next::Wait, Next::Wait]);
    assert_eq!(leases(&sweep), all.len());
    for (claims, unit) in &taken {
        place(&sweep, *unit);
        claims.end(*unit, true).unwrap();
    }
    let heard = Mutex::new(Vec::new());
    let there = |unit| heard.lock().unwrap().push(unit);
    assert_eq!(one.next(0, &there).unwrap(), Next::Done);
    assert_eq!(next(&two, 0), Next::Done);
    assert_eq!(leases(&sweep), 0);
    let mut units: Vec<_> = taken.iter().map(|(_, unit)| *unit).collect();
    assert!(taken.iter().step_by(2).all(|(_, unit)| !heard.lock().unwrap().contains(unit)));
    assert_eq!(heard.lock().unwrap().len(), all.len() / 2);
    units.sort();
    assert_eq!(units, all);
    let joined = [&one, &two].map(|claims| claims.state().joined);
    assert_eq!(joined[0].computed + joined[1].computed, all.len());
    assert_eq!([joined[0].taken_over, joined[1].taken_over], [0, 0]);
}

#[test]
fn a_lease_without_renewal_lapses_and_exactly_one_takes_it_over() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(folder.path(), &[11.5]);
    let [dead, one, two] = [0, 1, 2].map(worker);
    let taken = take_all(&claims(&sweep, &dead), 0);
    assert_eq!(taken.len(), sweep.plan.units().len());
    let (one, two) = (claims(&sweep, &one), claims(&sweep, &two));
    // Clocks of the two have nothing in common.
    let starts = [5, 1 << 60];
    for waited_ns in [0, 1, LEASE_NS - 1] {
        assert_eq!(next(&one, starts[0] + waited_ns), Next::Wait);
        assert_eq!(next(&two, starts[1] + waited_ns), Next::Wait);
    }
    let over = take_all(&one, starts[0] + LEASE_NS);
    assert_eq!(over.len(), taken.len());
    assert_eq!(next(&two, starts[1] + LEASE_NS), Next::Wait);
    assert_eq!(one.state().joined.taken_over, taken.len());
    // Two watches anew.
    assert_eq!(next(&two, starts[1] + 2 * LEASE_NS - 1), Next::Wait);
    for unit in over {
        place(&sweep, unit);
        one.end(unit, true).unwrap();
    }
    assert_eq!(next(&two, starts[1] + 2 * LEASE_NS), Next::Done);
    assert_eq!(leases(&sweep), 0);
}

#[test]
fn a_lease_that_is_renewed_stays() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(folder.path(), &[11.5]);
    let [holder, other] = [0, 1].map(worker);
    let (holder, other) = (claims(&sweep, &holder), claims(&sweep, &other));
    let all = take_all(&holder, 0);
    for lease in 0..3 {
        assert_eq!(next(&other, lease * LEASE_NS), Next::Wait);
        holder.renew().unwrap();
    }
    assert_eq!(next(&other, 3 * LEASE_NS), Next::Wait);
    assert_eq!(take_all(&other, 4 * LEASE_NS), all);
}

#[test]
fn a_unit_given_back_is_free_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(folder.path(), &[11.5]);
    let [stopped, other] = [0, 1].map(worker);
    let (stopped, other) = (claims(&sweep, &stopped), claims(&sweep, &other));
    let all = take_all(&stopped, 0);
    assert_eq!(next(&other, 0), Next::Wait);
    stopped.end(all[2], false).unwrap();
    assert_eq!(next(&other, 1), Next::Compute(all[2]));
    assert_eq!(next(&other, 1), Next::Wait);
}

#[test]
fn a_lease_being_written_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(folder.path(), &[11.5]);
    let first = sweep.plan.units()[0];
    let path = sweep.unit_path(first).with_extension("lease");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, b"").unwrap();
    let other = worker(1);
    let other = claims(&sweep, &other);
    let taken = take_all(&other, 0);
    assert_eq!(taken.len() + 1, sweep.plan.units().len());
    assert!(!taken.contains(&first));
    // Of one who died while writing it, the watcher's own time counts.
    assert_eq!(next(&other, LEASE_NS - 1), Next::Wait);
    assert_eq!(next(&other, LEASE_NS), Next::Compute(first));
}

#[test]
fn a_damaged_unit_is_computed_again() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(folder.path(), &[11.5]);
    let all = sweep.plan.units();
    for unit in &all {
        place(&sweep, *unit);
    }
    std::fs::write(sweep.unit_path(all[1]), b"torn").unwrap();
    let worker = worker(0);
    let claims = claims(&sweep, &worker);
    assert_eq!(take_all(&claims, 0), [all[1]]);
}

#[test]
fn workers_take_different_regions_and_help_where_all_have_one() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(folder.path(), &[11.5, 13.5]);
    // The same id: both would begin in the same region.
    let (one, two) = (worker(4), worker(4));
    let (one, two) = (claims(&sweep, &one), claims(&sweep, &two));
    let square = |unit| region(&sweep.plan, unit);
    let mut of = [Vec::new(), Vec::new()];
    for _ in 0..3 {
        for (claims, of) in [&one, &two].into_iter().zip(&mut of) {
            let Next::Compute(unit) = next(claims, 0) else {
                panic!("{of:?}");
            };
            of.push(square(unit));
        }
    }
    assert!(of.iter().all(|of| of.windows(2).all(|pair| pair[0] == pair[1])), "{of:?}");
    assert_ne!(of[0][0], of[1][0]);
    // One alone finishes the region of the other, from its end.
    let rest = take_all(&one, 0);
    assert_eq!(rest.len() + 6, sweep.plan.units().len());
    assert!(rest.iter().any(|unit| square(*unit) == of[1][0]));
    assert_eq!(next(&two, 0), Next::Wait);
}

#[test]
fn threads_of_several_workers_compute_each_unit_once() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(folder.path(), &[11.5]);
    let computed = Mutex::new(Vec::new());
    let evaluate = |unit: Unit, site: u16| {
        computed.lock().unwrap().push(unit);
        let window = sweep.plan.grid.window(unit.row, unit.col);
        let cells = (window.cols * window.rows) as usize;
        Ok(crate::unit::SiteTile::blank(site, cells, &BTreeSet::new()))
    };
    let stop = AtomicBool::new(false);
    let all = sweep.plan.units().len();
    let outcomes: Vec<Joined> = std::thread::scope(|scope| {
        let run = |id| {
            let (sweep, evaluate, stop) = (&sweep, &evaluate, &stop);
            scope.spawn(move || {
                let done = |_, _| {};
                sweep.join(&worker(id), LEASE_S, stop, evaluate, done).unwrap()
            })
        };
        let workers: Vec<_> = (0..3).map(run).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().map(|joined| joined.computed).sum::<usize>(), all);
    let mut computed = computed.into_inner().unwrap();
    computed.sort();
    assert_eq!(computed, sweep.plan.units());
    assert_eq!(leases(&sweep), 0);
    sweep.require_all().unwrap();
}

#[test]
fn a_worker_that_fails_gives_its_units_back() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(folder.path(), &[11.5]);
    let fails = |_: Unit, _: u16| Err("no ground".to_owned());
    let stop = AtomicBool::new(false);
    let error = sweep.join(&worker(0), LEASE_S, &stop, &fails, |_, _| {}).unwrap_err();
    assert!(matches!(error, SweepError::Evaluate { .. }), "{error}");
    let other = worker(1);
    assert_eq!(take_all(&claims(&sweep, &other), 0).len(), sweep.plan.units().len());
}
