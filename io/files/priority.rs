//! Priority of a thread.

use std::io;

/// Niceness of threads whose work may wait: a tenth of the share of others on a busy processor.
#[cfg(target_os = "linux")]
const BACKGROUND: i32 = 10;

/// Lets all other threads of usual priority go before the calling one, for ever. Only Linux has a niceness by thread:
/// without effect elsewhere.
///
/// # Errors
/// When the system refuses.
pub fn lower() -> io::Result<()> {
    // No id is the calling thread.
    #[cfg(target_os = "linux")]
    rustix::process::setpriority_process(None, BACKGROUND)?;
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn only_the_calling_thread_is_lowered() {
        let own = || rustix::process::getpriority_process(None).unwrap();
        let before = own();
        let lowered = std::thread::spawn(move || {
            super::lower().unwrap();
            own()
        });
        assert_eq!(lowered.join().unwrap(), super::BACKGROUND);
        assert_eq!(own(), before);
    }
}
