//! Commands: what became of them can always be found out, and the service commits them once.
//!
//! `fault_NN_…` is row NN of the list of faults, as in `faults/`.

mod builders;
mod invoices;
mod keyed;
mod keys;
mod outbox;
mod prepared;
mod receipts;
mod replays;
mod stage;
pub(crate) mod stored;
mod unkeyed;
