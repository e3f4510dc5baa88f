//! Serves the suite on fixed ports with demo data, until Ctrl-C or SIGTERM.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = std::env::args().skip(1);
    sdk_reference_server::program::run("suite-reference-server", options).await
}
