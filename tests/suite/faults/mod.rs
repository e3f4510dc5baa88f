//! Faults that clients survive. `fault_NN_…` is row NN of the list of faults; rows 4, 5 and 9 to 11, which are about the
//! token engine alone, have their tests in `sdk-core`.

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
