//! Handles panics in the caller's code, such as observers, token sources and credential sources.

use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Returns the value of code that ran inside `catch_unwind`, or `None` if it panicked.
///
/// Dropping the payload of a panic runs the caller's code again. If this panics too, the second payload is leaked.
/// Dropping it could panic forever, and a panic during unwinding aborts the process.
pub(crate) fn unless_panicked<T>(result: thread::Result<T>) -> Option<T> {
    result
        .map_err(|payload| {
            if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                forget(next);
            }
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, panic_any};

    use super::unless_panicked;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any(Self);
        }
    }

    #[test]
    fn a_payload_that_always_panics_when_dropped_is_leaked() {
        assert_eq!(unless_panicked(catch_unwind(|| 1)), Some(1));
        let never: Option<()> = unless_panicked(catch_unwind(|| panic_any(Bomb)));
        assert_eq!(never, None);
    }
}
