//! The server of a run and its workers. Each measurement runs in its own process, which prints its result as JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::process::Command;

use crate::clients::{Failure, Target};
use crate::growth::{self, Many};
use crate::load::{Done, Job, Until, Work};
use crate::report::ratio;
use crate::server::{Counters, Server};
use crate::system::number;
use crate::{listing, micro};

/// The protocols between client and server. Without TLS, HTTP/2 uses prior knowledge.
pub const TRANSPORTS: [&str; 4] = ["HTTP/1.1", "HTTP/2", "HTTP/1.1, TLS", "HTTP/2, TLS"];

/// The time limit of a worker, ample even under callgrind.
const LONGEST: Duration = Duration::from_secs(300);

/// A worker's task, which prints [`Done`], the allocations of each part, [`listing::Listed`], or [`growth::Seen`].
#[derive(Debug, Serialize, Deserialize)]
pub enum Task {
    Load(Job),
    Parts(String),
    List(String, usize, usize, bool),
    Grow(Many, usize, String),
}

impl Task {
    pub async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Load(job) => print(&job.run_by_name().await?),
            Self::Parts(origin) => print(&micro::parts(&origin).await?),
            Self::List(origin, pages, each, by_page) => {
                print(&listing::run(&origin, pages, each, by_page).await?)
            }
            Self::Grow(many, count, origin) => print(&growth::run(many, count, &origin).await?),
        }
    }
}

pub fn print(result: &impl Serialize) -> Result<(), Failure> {
    println!("{}", serde_json::to_string(result)?);
    Ok(())
}

#[derive(Clone, Copy, Debug)]
pub struct Case(pub &'static str, pub &'static str, pub Work);

pub struct Bench {
    /// Whether instructions are counted: valgrind is installed, and this build is optimized.
    pub valgrind: bool,
    /// The number of cores. If there are several, the server and the workers use separate cores.
    pub cores: usize,
    /// The program with octocrab, if it was built.
    pub octocrab: Option<PathBuf>,
    server: Arc<Server>,
    /// The folder for callgrind's files.
    folder: TempDir,
}

impl Bench {
    /// Starts the server on the first core that this process may use. The workers inherit the last core.
    pub async fn start() -> Result<Self, Failure> {
        rlimit::increase_nofile_limit(u64::MAX)?;
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        if let [_, .., last] = cores[..] {
            core_affinity::set_for_current(last);
        }
        Ok(Self {
            valgrind: !cfg!(debug_assertions) && version("valgrind").await.is_some(),
            cores: cores.len(),
            octocrab: None,
            server: Server::start(cores.first().copied())?,
            folder: TempDir::new()?,
        })
    }

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port)
    }

    /// Returns the requests since the last call.
    pub fn counters(&self) -> Counters {
        self.server.counters()
    }

    /// Puts load on a client, and compares its count with the server's counts.
    pub async fn load(&self, case: Case, until: Until, in_flight: usize) -> Result<Done, Failure> {
        let Case(client, transport, work) = case;
        let mut target = Target::plain(client, &self.origin());
        target.http2 = transport.starts_with("HTTP/2");
        #[cfg(feature = "peers")]
        if transport.ends_with("TLS") {
            target.origin = format!("https://localhost:{}", self.server.port);
            target.certificate = Some(self.server.certificate.clone());
        }
        let counted = match until {
            Until::Counted(times) => Some(times as f64),
            _ => None,
        };
        let task = Task::Load(Job {
            target,
            work,
            until,
            in_flight,
        });
        self.counters();
        let (mut done, counts): (Done, _) = self.work(&task, counted.is_some()).await?;
        done.instructions = ratio(counts.get(1).copied(), counted);
        let asked = self.counters();
        let (pages, commands) = match work {
            Work::Page => (done.all, 0),
            Work::Command => (0, done.all),
        };
        match (asked.pages, asked.commands, asked.wrong) == (pages, commands, 0) {
            true => Ok(done),
            false => Err(format!("{case:?}: {asked:?} after {done:?}").into()),
        }
    }

    /// Runs a task in a worker. If `counted`, also returns the instructions between [`mark`](crate::system::mark)s.
    pub async fn work<T: DeserializeOwned>(
        &self,
        task: &Task,
        counted: bool,
    ) -> Result<(T, Vec<f64>), Failure> {
        let counted = counted && self.valgrind;
        let program = match (task, &self.octocrab) {
            (Task::Load(job), Some(program)) if job.target.client == "octocrab" => program.clone(),
            _ => std::env::current_exe()?,
        };
        let out = self.folder.path().join("out").display().to_string();
        let mut worker = Command::new(if counted {
            Path::new("valgrind")
        } else {
            &program
        });
        if counted {
            worker.args([
                "--tool=callgrind",
                "--dump-before=*suite_bench*system*mark*",
            ]);
            worker
                .arg(format!("--callgrind-out-file={out}"))
                .arg(program);
        }
        worker
            .arg("work")
            .arg(serde_json::to_string(task)?)
            .kill_on_drop(true);
        let output = tokio::time::timeout(LONGEST, worker.output()).await;
        let output = output.map_err(|_| format!("{task:?} takes longer than {LONGEST:?}"))??;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{task:?}: {}\n{stderr}", output.status).into());
        }
        let mut counts = Vec::new();
        while let Ok(text) = std::fs::read_to_string(format!("{out}.{}", counts.len() + 1)) {
            std::fs::remove_file(format!("{out}.{}", counts.len() + 1))?;
            counts.push(number(&text, "totals:").ok_or("a count without a total")?);
        }
        Ok((serde_json::from_slice(&output.stdout)?, counts))
    }
}

/// Returns the version of a program, if it is installed.
pub async fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().await.ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(version)
}
