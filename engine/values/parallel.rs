//! Data parallelism of models, on the pool that the program installs: models have no pool.

use std::sync::OnceLock;

/// One piece of work.
pub type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Carries out all tasks, in any order and on any threads, and returns after the last.
pub type Run = fn(tasks: &mut dyn Iterator<Item = Task<'_>>);

static RUN: OnceLock<Run> = OnceLock::new();

/// Installs what carries out tasks in this process; the first call decides. Without it they are
/// carried out one after the other by the thread that calls.
pub fn install(run: Run) {
    let _first = RUN.set(run);
}

/// Calls `work` for `items` in chunks of `chunk`, in parallel where there are several.
pub fn for_each_chunk<T: Send>(items: &mut [T], chunk: usize, work: impl Fn(&mut [T]) + Sync) {
    let run = match RUN.get() {
        Some(run) if items.len() > chunk => run,
        _ => return items.chunks_mut(chunk.max(1)).for_each(work),
    };
    let work = &work;
    let parts = items.chunks_mut(chunk.max(1));
    run(&mut parts.map(|part| Box::new(move || work(part)) as Task<'_>));
}

/// Calls `work` for each of `items`, in parallel where they fill more than one chunk.
pub fn for_each<T: Send>(items: &mut [T], chunk: usize, work: impl Fn(&mut T) + Sync) {
    for_each_chunk(items, chunk, |part| part.iter_mut().for_each(&work));
}
