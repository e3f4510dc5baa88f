//! The processes of a run: one server, and one worker at a time. Each is ended by the handle that started it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::clients::{Failure, Target};
use crate::server::{Address, Counters};
use crate::system::{self, number};

/// The longest that one worker may take. Under callgrind a minute is a lot.
const WORKER: Duration = Duration::from_secs(300);

/// How client and server talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// 1 or 2; in plain text, HTTP/2 by prior knowledge.
    http: u8,
    tls: bool,
}

impl Transport {
    pub const H1: Self = Self::new(1, false);
    pub const ALL: [Self; 4] = [
        Self::H1,
        Self::new(2, false),
        Self::new(1, true),
        Self::new(2, true),
    ];

    const fn new(http: u8, tls: bool) -> Self {
        Self { http, tls }
    }

    pub fn name(self) -> &'static str {
        match (self.http, self.tls) {
            (1, false) => "HTTP/1.1",
            (1, true) => "HTTP/1.1, TLS",
            (_, false) => "HTTP/2",
            (_, true) => "HTTP/2, TLS",
        }
    }
}

/// A running server, and what workers are started with.
pub struct Bench {
    /// This program, or the one that has octocrab.
    pub program: PathBuf,
    /// Whether valgrind is there to count instructions.
    pub valgrind: bool,
    folder: PathBuf,
    cores: Option<(usize, usize)>,
    server: Child,
    address: Address,
    http: reqwest::Client,
}

impl Bench {
    /// Starts the server on the first core that this process may use.
    pub async fn start() -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let folder = std::env::temp_dir().join(format!("suite-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let cores = present("taskset").await.then(system::cores).flatten();
        let mut server = command(&program, cores.map(|(first, _)| first))
            .arg("serve")
            .arg(folder.join("certificate.pem"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = server.stdout.take().ok_or("the server has no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        Ok(Self {
            program,
            valgrind: present("valgrind").await,
            folder,
            cores,
            server,
            address: serde_json::from_str(&line)?,
            http: reqwest::Client::new(),
        })
    }

    /// Ends the server.
    pub async fn end(mut self) -> Result<(), Failure> {
        drop(self.server.stdin.take());
        if tokio::time::timeout(Duration::from_secs(5), self.server.wait())
            .await
            .is_err()
        {
            self.server.kill().await?;
        }
        std::fs::remove_dir_all(&self.folder)?;
        Ok(())
    }

    /// Whether server and workers have a core each.
    pub fn pinned(&self) -> bool {
        self.cores.is_some_and(|(first, last)| first != last)
    }

    pub fn target(&self, transport: Transport) -> Target {
        let Transport { http, tls } = transport;
        let (origin, port) = if tls {
            ("https://localhost", self.address.tls)
        } else {
            ("http://127.0.0.1", self.address.plain)
        };
        Target {
            origin: format!("{origin}:{port}"),
            http,
            certificate: tls.then(|| self.folder.join("certificate.pem")),
            lean: false,
        }
    }

    /// What the server was asked since the last time.
    pub async fn counters(&self) -> Result<Counters, Failure> {
        let url = format!("http://127.0.0.1:{}/bench/counters", self.address.plain);
        Ok(self.http.get(url).send().await?.json().await?)
    }

    /// Runs a worker to its end and reads what it says.
    pub async fn work<T: DeserializeOwned>(
        &self,
        program: &Path,
        arguments: &[&str],
    ) -> Result<T, Failure> {
        let mut worker = command(program, self.cores.map(|(_, last)| last));
        let (stdout, _) = finish(worker.args(arguments)).await?;
        Ok(serde_json::from_str(stdout.trim())?)
    }

    /// The same under callgrind, and the instructions of its whole life. With a `mark`, a function of this name, there
    /// are as many counts as it was called: each up to then, from the one before.
    pub async fn count<T: DeserializeOwned>(
        &self,
        program: &Path,
        arguments: &[&str],
        mark: Option<&str>,
    ) -> Result<(T, Vec<u64>), Failure> {
        let out = self.folder.join("callgrind");
        let mut worker = command(Path::new("valgrind"), self.cores.map(|(_, last)| last));
        worker.args(["--tool=callgrind", "--error-exitcode=0"]);
        worker.arg(format!("--callgrind-out-file={}", out.display()));
        if let Some(mark) = mark {
            worker.arg(format!("--dump-before={mark}"));
        }
        let (stdout, stderr) = finish(worker.arg(program).args(arguments)).await?;
        let done = serde_json::from_str(stdout.trim())?;
        let mut counts = Vec::new();
        if mark.is_some() {
            while let Ok(text) = std::fs::read_to_string(numbered(&out, counts.len() + 1)) {
                std::fs::remove_file(numbered(&out, counts.len() + 1))?;
                counts.push(number(&text, "totals:").ok_or("a count without a total")?);
            }
        } else {
            let all = stderr
                .lines()
                .find_map(|line| number(line.split_once("== ")?.1, "Collected :"));
            counts.push(all.ok_or_else(|| format!("callgrind counted nothing: {stderr}"))?);
        }
        Ok((done, counts))
    }
}

fn numbered(out: &Path, number: usize) -> PathBuf {
    PathBuf::from(format!("{}.{number}", out.display()))
}

/// A command on a core of its own, with as many open files as the system allows.
fn command(program: &Path, core: Option<usize>) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg("ulimit -n \"$(ulimit -Hn)\"; exec \"$@\"")
        .arg("sh");
    if let Some(core) = core {
        command.arg("taskset").arg("-c").arg(core.to_string());
    }
    command.arg(program);
    command
}

async fn finish(command: &mut Command) -> Result<(String, String), Failure> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = tokio::time::timeout(WORKER, child.wait_with_output())
        .await
        .map_err(|_| format!("{command:?} takes longer than {WORKER:?}"))??;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(format!("{command:?}: {}\n{stderr}", output.status).into());
    }
    Ok((String::from_utf8(output.stdout)?, stderr))
}

async fn present(program: impl AsRef<OsStr>) -> bool {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().await.is_ok_and(|status| status.success())
}
