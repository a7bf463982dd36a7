//! Data parallelism inside systems, on the one compute pool.
//!
//! Systems and their data share bevy's compute pool. A second pool of as many threads would only
//! make both fight for the cores.

use bevy_tasks::{ComputeTaskPool, TaskPool, TaskPoolBuilder};

/// Sets the number of threads of the process's compute pool. The first caller wins; the number
/// changes how fast results come, never what they are.
///
/// Returns the number of threads in use.
pub fn compute_threads(threads: usize) -> usize {
    let build = || TaskPoolBuilder::new().num_threads(threads.max(1)).build();
    ComputeTaskPool::get_or_init(build).thread_num()
}

/// Number of threads of the compute pool, which is started if need be.
#[must_use]
pub fn threads() -> usize {
    ComputeTaskPool::get_or_init(TaskPool::default).thread_num()
}

/// Applies `work` to every item, several at once. Each call must depend on its item alone, so
/// that order does not matter.
///
/// `chunk` is how many items one task takes: enough to outweigh the task, few enough to balance.
pub fn for_each<T: Send>(items: &mut [T], chunk: usize, work: impl Fn(&mut T) + Sync) {
    if items.len() <= chunk {
        items.iter_mut().for_each(work);
        return;
    }
    let work = &work;
    ComputeTaskPool::get_or_init(TaskPool::default).scope(|scope| {
        for part in items.chunks_mut(chunk.max(1)) {
            scope.spawn(async move { part.iter_mut().for_each(work) });
        }
    });
}
