//! `suite mcp`: a Model Context Protocol server for agents, and the approvals of their writes.
//!
//! The agent's process runs reads and stores writes as proposals, and can't send a write. The approver's process,
//! `suite mcp approvals`, sends what a person approved.

mod access;
mod calls;
mod deliver;
mod desk;
mod review;
mod store;
mod tools;
