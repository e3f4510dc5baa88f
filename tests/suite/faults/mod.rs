//! Faults that clients survive: the rows of `FAULTS.md` whose topic has no other folder. `fault_NN_…` tests row NN. The
//! last column of the table lists the files of each row, and `table` compares it with the code.

mod connections;
mod deadlines;
mod drift;
mod dropped;
mod in_flight;
mod network;
mod proxies;
mod refusals;
mod rejections;
mod retries;
mod rotation;
mod settings;
mod table;
mod token_endpoint;
mod tokens;
