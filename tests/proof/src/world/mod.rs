//! A small world of services, installations and a network, all from one seed on a clock that stands still.
