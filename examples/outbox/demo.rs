//! Kills the service at each of its steps, starts it again, and counts.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use sdk_reference_server::{Operation, ReferenceServer, Transport};

use crate::Failure;
use crate::out::{self, put};
use crate::private::Folder;
use crate::stop::{Stop, shield};
use crate::store::Store;

/// How many orders the service takes in each of its lives.
const ORDERS: u32 = 2;

/// What the service sends for each of them.
const OPERATION: Operation = Operation::SubmitEventCommand;

/// Kills it at every step and once between two of them, or at one step only.
pub(crate) async fn run(only: Option<u32>, stop: &Stop) -> Result<ExitCode, Failure> {
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .start()
        .await;
    let folder = Folder::new("suite-outbox")?;
    put!("A service with {ORDERS} orders is killed (SIGKILL) and started again.\n");
    put!("step  killed when the command was         orders  commits  receipts  replayed");
    let (first, last) = only.map_or((1, u32::MAX), |step| (step, step));
    for step in first..=last {
        if stop.is_heard() {
            put!("\nStopped; the next run begins anew.");
            return Ok(stop.status());
        }
        if out::is_lost() {
            return Ok(ExitCode::SUCCESS);
        }
        let life = Life::begin(&server, &folder.0, step.to_string());
        match life.kill_at(step)? {
            Some(name) => life.end(&name)?,
            None if only.is_some() => return Err(format!("the service has no step {step}").into()),
            None => break,
        }
    }
    if only.is_none() {
        let life = Life::begin(&server, &folder.0, "-".to_owned());
        life.kill_before_the_reply()?;
        life.end("committed, its reply under way")?;
        put!(
            "\nEach order was committed once and has its receipt. `replayed` counts the receipts that"
        );
        put!("came on a second sending, because the first one's reply was never recorded.");
    }
    Ok(ExitCode::SUCCESS)
}

/// A service from its first start to its last end.
struct Life<'a> {
    server: &'a ReferenceServer,
    database: PathBuf,
    label: String,
    /// What the server had committed before.
    commits: u64,
}

impl<'a> Life<'a> {
    fn begin(server: &'a ReferenceServer, folder: &Path, label: String) -> Self {
        Self {
            server,
            database: folder.join(format!("order{label}.db")),
            label,
            commits: server.commits(OPERATION),
        }
    }

    /// Runs the service up to a step and kills it there; the name of the step, or `None` if it has no such step.
    fn kill_at(&self, step: u32) -> Result<Option<String>, Failure> {
        let mut service = self
            .service()
            .args(["--stop-at", &step.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let said = service.stdout.take().map(BufReader::new);
        let name = said.and_then(|said| said.lines().next()).transpose()?;
        kill(service)?;
        Ok(name)
    }

    /// Kills the service between two of its steps: the server has committed a command and holds its reply back.
    fn kill_before_the_reply(&self) -> Result<(), Failure> {
        let held = self.server.fault(OPERATION).times(1);
        let held = held.delay(Duration::from_secs(60));
        let mut service = self.service().spawn()?;
        while self.server.commits(OPERATION) == self.commits {
            if service.try_wait()?.is_some() {
                return Err("the service ended before it had sent anything".into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        kill(service)?;
        held.remove();
        Ok(())
    }

    /// Starts the service once more, lets it end, and compares.
    fn end(&self, killed: &str) -> Result<(), Failure> {
        if !self.service().status()?.success() {
            return Err("the service failed".into());
        }
        let (orders, receipts, replayed, _) = Store::open(&self.database)?.counts()?;
        let commits = u32::try_from(self.server.commits(OPERATION) - self.commits)?;
        put!(
            "{:>4}  {killed:<36}{orders:>6}{commits:>9}{receipts:>10}{replayed:>10}",
            self.label
        );
        if [orders, commits, receipts] != [ORDERS; 3] {
            return Err("orders, commits and receipts do not agree".into());
        }
        Ok(())
    }

    /// The service as a process of its own, which knows the server from its environment.
    fn service(&self) -> Command {
        let program = std::env::current_exe().unwrap_or_else(|_| "outbox".into());
        let mut command = Command::new(program);
        shield(&mut command)
            .arg("service")
            .arg(&self.database)
            .arg(ORDERS.to_string())
            .envs(self.server.environment());
        command
    }
}

fn kill(mut service: Child) -> Result<(), Failure> {
    service.kill()?;
    service.wait()?;
    Ok(())
}
