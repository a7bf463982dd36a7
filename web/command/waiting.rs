//! Work without a count: a spinner beside it once it takes longer than a second.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::output::progress;

/// Time without a spinner.
const SILENT: Duration = Duration::from_secs(1);

/// Result of `work`, with a spinner and `what` on stderr while it takes longer than a second; without one where
/// progress is hidden.
pub fn with_spinner<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begin = || {
        let spinner = progress(0, "{spinner} {msg}  {elapsed} elapsed").with_elapsed(SILENT);
        spinner.set_message(what.to_owned());
        spinner
    };
    beside(SILENT, begin, |spinner| spinner.finish_and_clear(), work)
}

/// Result of `work`; where it takes longer than `silent`, what `begin` makes in another thread is there until `end`.
fn beside<T, S>(
    silent: Duration,
    begin: impl FnOnce() -> S + Send,
    end: impl FnOnce(S) + Send,
    work: impl FnOnce() -> T,
) -> T {
    let (work_is_done, wait) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(silent) == Err(RecvTimeoutError::Timeout) {
                let spinner = begin();
                // The other end is dropped with the end of the work.
                let _ = wait.recv();
                end(spinner);
            }
        });
        let result = work();
        drop(work_is_done);
        result
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn long_work_has_something_beside_it_until_its_end() {
        let (begins, is_begun) = channel();
        let is_ended = AtomicBool::new(false);
        let begin = move || begins.send(7).unwrap();
        let end = |()| is_ended.store(true, Ordering::SeqCst);
        let result = beside(Duration::ZERO, begin, end, || {
            let result = is_begun.recv().unwrap();
            assert!(!is_ended.load(Ordering::SeqCst));
            result
        });
        assert_eq!((result, is_ended.load(Ordering::SeqCst)), (7, true));
    }

    #[test]
    fn short_work_has_nothing_beside_it() {
        let begin = || unreachable!("the work ends before");
        let result = beside(Duration::MAX, begin, |(): ()| {}, || 5);
        assert_eq!((result, with_spinner("reading x", || 6)), (5, 6));
    }
}
