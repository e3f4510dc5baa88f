//! How responses are decoded: truncated, too large, without a body, with another shape or type; their times; and the
//! parts that share memory. `fault_NN_…` tests row NN of `faults/FAULTS.md`.

mod bounds;
mod committed;
mod lost;
mod slices;
mod times;
mod unreadable;
