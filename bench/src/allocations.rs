//! Counts allocations on request.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// The system allocator with counters. While the counters are off, an allocation costs one extra load and branch.
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU64 = AtomicU64::new(0);
static ALLOCATED: AtomicI64 = AtomicI64::new(0);
static FREED: AtomicI64 = AtomicI64::new(0);

pub fn start() {
    COUNT.store(0, Ordering::Relaxed);
    ALLOCATED.store(0, Ordering::Relaxed);
    FREED.store(0, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
}

/// Turns the counters off and returns the number of allocations. Growing a vector counts as one allocation.
pub fn stop() -> f64 {
    ON.store(false, Ordering::Relaxed);
    COUNT.load(Ordering::Relaxed) as f64
}

/// Returns the bytes that were allocated since [`start`] and not freed.
pub fn held() -> f64 {
    (ALLOCATED.load(Ordering::Relaxed) - FREED.load(Ordering::Relaxed)) as f64
}

fn note(allocated: usize, freed: usize) {
    if ON.load(Ordering::Relaxed) {
        COUNT.fetch_add(1, Ordering::Relaxed);
        ALLOCATED.fetch_add(allocated as i64, Ordering::Relaxed);
        FREED.fetch_add(freed as i64, Ordering::Relaxed);
    }
}

// SAFETY: every method passes its arguments to the system's allocator unchanged.
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
            FREED.fetch_add(layout.size() as i64, Ordering::Relaxed);
        }
        unsafe { System.dealloc(memory, layout) }
    }
}
