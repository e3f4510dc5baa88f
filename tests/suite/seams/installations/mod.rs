//! Many installations in one process: suites that share their connections and nothing else.

mod apart;
mod labels;
mod settings;
mod world;
