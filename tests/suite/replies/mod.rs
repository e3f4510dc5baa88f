//! How each response is decoded: without a body, of another shape or type, cut off, too large; and what of it shares
//! memory. `fault_NN_…` is row NN of the list of faults.

mod bounds;
mod empty;
mod shapes;
mod slices;
mod times;
mod truncated;
mod types;
mod unreadable;
