//! A secret that is rotated while the program runs: a file that an operator, or a vault's agent, replaces.
//!
//! The SDK asks for the credential whenever it exchanges it for a token, so the program takes up a new secret without a
//! restart, and no call fails.
//!
//! ```text
//! cargo run --example rotation
//! ```

#[path = "support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use out::put;
use sdk_core::{App, ClientCredentials, CredentialSource, CredentialsFuture, Suite, TokenError};
use sdk_reference_server::ReferenceServer;
use support::{out, private, stop};

/// Reads the secret whenever it is needed.
struct SecretFile {
    client_id: String,
    path: PathBuf,
}

impl CredentialSource for SecretFile {
    fn credentials(&self) -> CredentialsFuture<'_> {
        let path = self.path.clone();
        Box::pin(async move {
            // A volume may be slow: reading it must not hold up what else this thread serves.
            let read = tokio::task::spawn_blocking(|| std::fs::read_to_string(path)).await;
            let secret = read.map_err(TokenError::from_source)?;
            let secret = secret.map_err(TokenError::from_source)?;
            // Editors add a line break. An empty secret, as in a file that is being written, is refused and read again.
            let secret = secret.trim_end();
            Ok(ClientCredentials::new(&self.client_id, secret))
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut stop = stop::Stop::listen()?;
    let server = ReferenceServer::start().await;
    // Whoever can read the secret is the client. The folder goes with the file in it, on Ctrl-C too.
    let folder = private::Folder::new("suite-secret")?;
    let file = folder.0.join("secret");
    tokio::select! {
        () = stop.heard() => Ok(stop.status()),
        done = run(&server, &file) => done.map(|()| out::end(ExitCode::SUCCESS)),
    }
}

async fn run(server: &ReferenceServer, file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    private::replace(file, server.client_secret().as_bytes())?;
    let source = SecretFile {
        client_id: server.client_id().to_owned(),
        path: file.to_owned(),
    };
    let suite = Suite::builder()
        .core_url(server.core_url())
        .application_url(App::Crm, server.crm_url())
        .credential_source(source)
        .build()?;
    let crm = sdk_crm::Client::new(&suite)?;
    crm.today().get().await?;
    put!("with the first secret: {:?}", suite.stats());

    // First the program's side, then the server's, while calls are under way. Reality leaves minutes for that: most
    // token endpoints take both secrets for a while, and a token that was issued for the old one stays good.
    let calls = (0..100).map(|_| crm.today().get().send());
    let calls = futures_util::future::try_join_all(calls);
    let rotated = async {
        private::replace(file, b"second-secret")?;
        server.rotate_secret(server.client_id(), "second-secret");
        // As if the token had reached the end of its five minutes.
        server.revoke_tokens();
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    let (calls, rotated) = tokio::join!(calls, rotated);
    rotated?;
    put!("while it was rotated: {} calls, none failed", calls?.len());
    crm.today().get().await?;
    put!("with the second secret: {:?}", suite.stats());
    Ok(())
}
