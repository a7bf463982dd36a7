//! Data parallelism inside systems, on the one compute pool.
//!
//! Systems and their data share bevy's compute pool. A second pool of as many threads would only
//! make both fight for the cores; the exception is [`BackgroundPool`], for long computations beside a
//! world, whose tasks must not stand before those of a tick.

use std::cell::RefCell;
use std::sync::Arc;

use bevy_tasks::{ComputeTaskPool, TaskPool, TaskPoolBuilder};
use groundwave_values::parallel::Task;
pub use groundwave_values::parallel::{for_each, for_each_chunk};

thread_local! {
    /// Pool of the long computation that this thread carries out.
    static INSTALLED: RefCell<Option<Arc<TaskPool>>> = const { RefCell::new(None) };
}

/// Threads of long computations beside a world.
#[derive(Debug, Clone)]
pub struct BackgroundPool(Arc<TaskPool>);

impl BackgroundPool {
    /// A pool of `threads`, each of which calls `begin` first. The caller of [`Self::install`] is one
    /// thread more, so that none is enough.
    #[must_use]
    pub fn new(threads: usize, begin: impl Fn() + Send + Sync + 'static) -> Self {
        install();
        let pool = TaskPoolBuilder::new()
            .num_threads(threads)
            .thread_name("background".to_owned())
            .on_thread_spawn(begin);
        Self(Arc::new(pool.build()))
    }

    /// Carries out `work`, whose [`for_each`] uses this pool.
    pub fn install<T>(&self, work: impl FnOnce() -> T) -> T {
        let _before = Restored(INSTALLED.replace(Some(Arc::clone(&self.0))));
        work()
    }
}

/// Installs a pool again on drop, also when the work panicked.
struct Restored(Option<Arc<TaskPool>>);

impl Drop for Restored {
    fn drop(&mut self) {
        INSTALLED.set(self.0.take());
    }
}

/// Sets the number of threads of the process's compute pool. The first caller wins; the number
/// changes how fast results come, never what they are.
///
/// Returns the number of threads in use.
pub fn compute_threads(threads: usize) -> usize {
    install();
    let build = || TaskPoolBuilder::new().num_threads(threads.max(1)).build();
    ComputeTaskPool::get_or_init(build).thread_num()
}

/// Number of threads of the compute pool, which is started if need be.
#[must_use]
pub fn threads() -> usize {
    install();
    ComputeTaskPool::get_or_init(TaskPool::default).thread_num()
}

/// Makes models compute on the pools of this module.
pub(crate) fn install() {
    groundwave_values::parallel::install(run);
}

/// Carries out tasks on the background pool that this thread has entered, else on the compute pool.
fn run(tasks: &mut dyn Iterator<Item = Task<'_>>) {
    let entered = INSTALLED.with_borrow(Clone::clone);
    let pool = match &entered {
        Some(pool) => &**pool,
        None => &**ComputeTaskPool::get_or_init(TaskPool::default),
    };
    pool.scope(|scope| {
        for task in tasks {
            scope.spawn(async move { task() });
        }
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::mpsc;

    use super::*;

    /// Names of the threads that apply work to the items.
    fn names(items: usize) -> BTreeSet<Option<String>> {
        let (sender, names) = mpsc::channel();
        let mut items = vec![sender; items];
        for_each(&mut items, 1, |sender| {
            let name = std::thread::current().name().map(str::to_owned);
            sender.send(name).unwrap();
        });
        drop(items);
        names.iter().collect()
    }

    #[test]
    fn a_long_computation_uses_no_thread_of_the_compute_pool() {
        let background = BackgroundPool::new(2, || {});
        let own = std::thread::current().name().map(str::to_owned);
        let used = background.install(|| names(1000));
        let allowed = [own, Some("background (0)".to_owned()), Some("background (1)".to_owned())];
        assert!(used.iter().all(|name| allowed.contains(name)), "{used:?}");
        let none = BackgroundPool::new(0, || {});
        assert_eq!(none.install(|| names(1000)), [allowed[0].clone()].into());
    }
}
