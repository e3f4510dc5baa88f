//! How each response is decoded: cut off, too large, without a body, of another shape or type; its times; and which parts
//! of it share memory. `fault_NN_…` is row NN of the list of faults.

mod bounds;
mod committed;
mod lost;
mod slices;
mod times;
mod unreadable;
