//! Values that tests of programs build, compared with the values that calls return, and repeatable runs (feature
//! `test-util`).

mod made;
mod scripted;
mod statuses;
