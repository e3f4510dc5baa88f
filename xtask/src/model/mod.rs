//! The model of an application, with its operations, parameters, schemas and their provenance, as plain data. Nothing here
//! reads a document or writes code.

pub(crate) mod app;
pub(crate) mod operation;
pub(crate) mod pattern;
pub(crate) mod reach;
pub(crate) mod schema;
pub(crate) mod spec;
pub(crate) mod taken;
pub(crate) mod ty;

pub(crate) use app::App;
pub(crate) use operation::{
    Auth, Body, Case, Method, Operation, Parameter, Place, Replay, Reply, ReplyHeader, Safety,
    Statuses, Style,
};
pub(crate) use pattern::{Pattern, Piece};
pub(crate) use reach::Reach;
pub(crate) use schema::{
    Choice, Component, Kind, Map, Property, Provenance, Schemas, Use, Variant,
};
pub(crate) use spec::{Group, Skipped, Spec, all};
pub(crate) use ty::Ty;
