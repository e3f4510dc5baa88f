//! Serves the suite on fixed ports, with demo data, until it is told to stop.

mod args;

use std::io::Write;
use std::process::ExitCode;

use args::{Args, Wanted};
use sdk_reference_server::{ReferenceServer, Transport};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match Args::parse(std::env::args().skip(1)) {
        Ok(Wanted::Serve(args)) => serve(&args).await,
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

async fn serve(args: &Args) -> ExitCode {
    match run(args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("suite-reference-server: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: &Args) -> Result<(), String> {
    let server = start(args).await?;
    // Before the announcement: whoever reads it may stop the program at once.
    let told_to_stop = told_to_stop().map_err(|error| error.to_string())?;
    warn(args);
    announce(&server, args);
    told_to_stop.await;
    eprintln!("stopping; tokens issued: {}", server.exchanges());
    server.stop();
    Ok(())
}

async fn start(args: &Args) -> Result<ReferenceServer, String> {
    let mut builder = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .workers(args.workers)
        .host(args.host)
        .control_host(args.control_host)
        .control_port(args.control_port())
        .read_timeout(args.read_timeout)
        .recorded_requests(256)
        .token_lifetime(args.token_lifetime)
        .seed(args.seed)
        .people(args.people)
        .organizations(args.organizations)
        .opportunities(args.opportunities)
        .tasks(args.tasks)
        .intake_submissions(args.intake_submissions);
    for (app, port) in args.ports() {
        builder = builder.port(app, port);
    }
    for name in &args.allowed_hosts {
        builder = builder.allow_host(name);
    }
    let faults = args.faults.as_ref().map(|path| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    });
    let faults = faults.transpose()?;
    let server = builder
        .try_start()
        .await
        .map_err(|error| error.to_string())?;
    if let (Some(json), Some(path)) = (faults, &args.faults) {
        server
            .load_faults(&json)
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(server)
}

/// What is reached from other machines is for them to use.
fn warn(args: &Args) {
    for (host, what) in [
        (args.host, "everybody knows the client's secret"),
        (
            args.control_host,
            "whoever reaches the control endpoint commands the server",
        ),
    ] {
        if !host.is_loopback() {
            eprintln!(
                "suite-reference-server: warning: {host} is reached from other machines: {what}"
            );
        }
    }
}

/// The variables for a client, where to look, and that it is ready. Whoever waits for that may close the pipe then.
fn announce(server: &ReferenceServer, args: &Args) {
    let mut out = std::io::stdout().lock();
    for (name, value) in server.environment() {
        let _ = writeln!(out, "export {name}={value}");
    }
    let _ = writeln!(out, "# status page: {}/", server.core_url());
    if let Some(url) = server.control_url() {
        let _ = writeln!(out, "# control: {url}/");
    }
    let _ = writeln!(out, "# ready: {} people, seed {}", args.people, args.seed);
    let _ = out.flush();
}

/// Listens from now on for Ctrl-C, and for SIGTERM where there is one.
#[cfg(unix)]
fn told_to_stop() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

/// Listens from now on for Ctrl-C.
#[cfg(windows)]
fn told_to_stop() -> std::io::Result<impl Future<Output = ()>> {
    let mut interrupted = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupted.recv().await;
    })
}
