//! The reference server in a process of its own, so that what is measured is the client alone.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use sdk_core::{App, ClientCredentials, Suite};
use sdk_reference_server::{ReferenceServer, Transport};

use crate::out::put;
use crate::stop::shield;

/// The argument that makes this program a server.
pub(crate) const SERVE: &str = "--serve";

/// Serves so many people until standard input ends, which it does when the walking process does.
pub(crate) async fn serve(people: u32) -> Result<(), Box<dyn Error>> {
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .recorded_requests(0)
        .people(u64::from(people))
        .start()
        .await;
    put!("{} {}", server.core_url(), server.crm_url());
    put!("{} {}", server.client_id(), server.client_secret());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// This program once more, as a server.
pub(crate) struct Server {
    process: Child,
    pub(crate) suite: Suite,
}

impl Server {
    pub(crate) fn start(people: u32) -> Result<Self, Box<dyn Error>> {
        let mut process = shield(&mut Command::new(std::env::current_exe()?))
            .args([SERVE, &people.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut words = Vec::new();
        for line in BufReader::new(output).lines().take(2) {
            words.extend(line?.split(' ').map(str::to_owned));
        }
        let [core, crm, id, secret] = words.as_slice() else {
            return Err("the server did not say where it is".into());
        };
        let suite = Suite::builder()
            .core_url(core)
            .application_url(App::Crm, crm)
            .credentials(ClientCredentials::new(id, secret.as_str()))
            .build()?;
        Ok(Self { process, suite })
    }

    pub(crate) fn stop(mut self) -> Result<(), Box<dyn Error>> {
        drop(self.process.stdin.take());
        self.process.wait()?;
        Ok(())
    }
}
