//! Counts allocations, for those who ask.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// The system's allocator, with a count. While it is off it costs a load and a branch.
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicI64 = AtomicI64::new(0);

/// Allocations and their bytes; growing a vector counts as one allocation of its new size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Allocations {
    /// How many.
    pub count: u64,
    /// How many bytes they asked for.
    pub bytes: u64,
}

/// Begins to count.
pub fn start() {
    COUNT.store(0, Ordering::Relaxed);
    BYTES.store(0, Ordering::Relaxed);
    HELD.store(0, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
}

/// Ends it and says what was counted.
pub fn stop() -> Allocations {
    ON.store(false, Ordering::Relaxed);
    Allocations {
        count: COUNT.load(Ordering::Relaxed),
        bytes: BYTES.load(Ordering::Relaxed),
    }
}

/// The bytes that were allocated since [`start`] and not freed.
pub fn held() -> i64 {
    HELD.load(Ordering::Relaxed)
}

fn note(size: usize, freed: usize) {
    if ON.load(Ordering::Relaxed) {
        COUNT.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(size as u64, Ordering::Relaxed);
        HELD.fetch_add(size as i64 - freed as i64, Ordering::Relaxed);
    }
}

// SAFETY: every method hands its arguments on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size, layout.size());
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if ON.load(Ordering::Relaxed) {
            HELD.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        }
        unsafe { System.dealloc(memory, layout) }
    }
}
