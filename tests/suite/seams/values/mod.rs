//! Values that a program's tests build, compared with the values of calls, and repeatable runs (feature `test-util`).

mod made;
mod scripted;
mod statuses;
