//! `suite doctor`.

use std::process::ExitCode;

use crate::context::Context;
use crate::output::Failure;

pub(crate) async fn run(context: &Context) -> Result<ExitCode, Failure> {
    let _ = context;
    Ok(ExitCode::SUCCESS)
}
