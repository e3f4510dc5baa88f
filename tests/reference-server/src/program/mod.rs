//! The server as a program: `suite-reference-server`, and `suite serve`.

mod args;
mod health;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use crate::{App, ReferenceServer, RequestLog};
use args::{Args, Wanted};

/// Runs the server as a program with these command-line options, and returns its exit status. The program serves the
/// suite on fixed ports, with demo data, until Ctrl-C or SIGTERM. Messages start with `name`.
///
/// The program reads the `REFERENCE_*` variables and writes to standard output and standard error. This function needs
/// a Tokio runtime with I/O and timers enabled. `--help` lists the options.
pub async fn run(name: &str, options: impl IntoIterator<Item = String>) -> ExitCode {
    let (problem, code) = match Args::parse(name, options.into_iter()) {
        Ok(Wanted::Serve(args)) => match serve(name, &args).await {
            Ok(()) => return ExitCode::SUCCESS,
            Err(problem) => (problem.to_string(), 1),
        },
        Ok(Wanted::Health(args)) => match health::check(args.control_host, args.control_port()) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(problem) => (problem, 1),
        },
        Ok(Wanted::Help) => {
            print!("{}", args::HELP.replace("{name}", name));
            return ExitCode::SUCCESS;
        }
        Ok(Wanted::Version) => {
            println!("{name} {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        Err(problem) => (format!("{problem}\nTry --help."), 2),
    };
    eprintln!("{name}: {problem}");
    ExitCode::from(code)
}

async fn serve(name: &str, args: &Args) -> Result<(), Box<dyn Error>> {
    // Register the handlers first, because a container's first process ignores signals without a handler. A script that
    // reads the announcement can also send a signal immediately.
    let stop_signal = stop_signal()?;
    let started = args.builder()?.try_start().await;
    let server = started.map_err(|problem| args.explain(&problem.to_string()))?;
    warn(name, args);
    announce(&server, args);
    stop_signal.await;
    eprintln!("stopping; tokens issued: {}", server.exchanges());
    server.stop();
    Ok(())
}

/// Warns if other machines can reach the server.
fn warn(name: &str, args: &Args) {
    for (host, what) in [
        (args.host, "the client's secret is public"),
        (
            args.control_host,
            "anyone who can reach the control endpoint controls the server",
        ),
    ] {
        if !host.is_loopback() {
            eprintln!("{name}: warning: {host} can be reached from other machines: {what}");
        }
    }
}

/// Prints the variables for a client, the addresses and `# ready`. The reader may close the pipe after that.
fn announce(server: &ReferenceServer, args: &Args) {
    // With `--log json`, standard output must contain only the log.
    let mut out: Box<dyn Write> = match args.log {
        Some(RequestLog::Json) => Box::new(std::io::stderr()),
        _ => Box::new(std::io::stdout()),
    };
    for (name, value) in server.environment() {
        let _ = writeln!(out, "export {name}={}", quoted(&value));
    }
    for app in App::all() {
        let shown = |port| server.url(app).ends_with(&format!(":{port}"));
        if let Some(at) = server.address(app).filter(|at| !shown(at.port())) {
            let _ = writeln!(out, "# {app} listens at {at}");
        }
    }
    let _ = writeln!(out, "# status page: {}/", server.core_url());
    if let Some(url) = server.control_url() {
        let _ = writeln!(out, "# control: {url}/");
    }
    let _ = writeln!(out, "# ready: {} people, seed {}", args.people, args.seed);
    let _ = out.flush();
}

/// Quotes a value for a shell.
fn quoted(value: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:@%+=,[]".contains(letter);
    if value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// Registers the signal handlers, and returns a future that completes on Ctrl-C or SIGTERM.
#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
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

#[cfg(windows)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut interrupted = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupted.recv().await;
    })
}
