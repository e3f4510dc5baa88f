//! Faults that clients survive: the rows of `FAULTS.md` that have no folder of their own. `fault_NN_…` is row NN, and the last
//! column of the table says where each row is tested. `table` compares it with the code.

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
