//! Serves the suite on fixed ports, with demo data, until it is told to stop.

mod args;

use std::io::Write;
use std::process::ExitCode;

use args::{Args, Wanted};
use sdk_reference_server::{ReferenceServer, Transport};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match Args::parse(std::env::args().skip(1)) {
        Ok(Wanted::Serve(args)) => serve(args).await,
        Ok(Wanted::Help) => {
            print!("{}", args::HELP);
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("suite-reference-server: {problem}\nTry --help.");
            ExitCode::from(2)
        }
    }
}

async fn serve(args: Args) -> ExitCode {
    let mut builder = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .workers(args.workers)
        .host(args.host)
        .recorded_requests(256)
        .token_lifetime(args.token_lifetime)
        .seed(args.seed)
        .people(args.people);
    for (app, port) in args.ports() {
        builder = builder.port(app, port);
    }
    let server = match builder.try_start().await {
        Ok(server) => server,
        Err(error) => {
            eprintln!("suite-reference-server: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut out = std::io::stdout().lock();
    for (name, value) in server.environment() {
        let _ = writeln!(out, "export {name}={value}");
    }
    let _ = writeln!(out, "# ready: {} people, seed {}", args.people, args.seed);
    let _ = out.flush();
    drop(out);
    told_to_stop().await;
    eprintln!("stopping; tokens issued: {}", server.exchanges());
    server.stop();
    ExitCode::SUCCESS
}

/// Waits for Ctrl-C, or for SIGTERM where there is one.
async fn told_to_stop() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
