//! A token source of one's own: a file that a sidecar rewrites.
//!
//! Many platforms put a fresh token into a file and renew it behind the program's back. The SDK asks the source
//! whenever it needs a token, caches what it gets and renews it in time, so the source only has to read the file.
//!
//! ```text
//! cargo run --example token_source
//! ```

#[path = "support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use out::put;
use sdk_core::{AccessToken, App, Suite, TokenError, TokenFuture, TokenRequest, TokenSource};
use sdk_reference_server::ReferenceServer;
use support::{out, private, stop};

/// Reads the token that a sidecar keeps in a file.
struct FileTokenSource {
    path: PathBuf,
    /// How long a token that was just read is trusted. The file does not say; the sidecar's period is known.
    period: Duration,
}

impl TokenSource for FileTokenSource {
    fn token<'a>(&'a self, _request: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(async move {
            // A small local file: reading it takes less time than handing it to another thread. It may be a link: that
            // is how volumes change many files at once, and who may write to the folder could as well write the token.
            let text = std::fs::read_to_string(&self.path).map_err(TokenError::from_source)?;
            match text.trim() {
                // The sidecar has truncated the file and not yet written it: worth another try in a moment.
                "" => Err(TokenError::unavailable("the token file is empty")),
                token => Ok(AccessToken::new(token).with_lifetime(self.period)),
            }
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut stop = stop::Stop::listen()?;
    let server = ReferenceServer::start().await;
    // Whoever can read the token is the client. The folder goes with the file in it, on Ctrl-C too.
    let folder = private::Folder::new("suite-token")?;
    let file = folder.0.join("token");
    tokio::select! {
        () = stop.heard() => Ok(stop.status()),
        done = run(&server, &file) => done.map(|()| out::end(ExitCode::SUCCESS)),
    }
}

async fn run(server: &ReferenceServer, file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let source = FileTokenSource {
        path: file.to_owned(),
        period: Duration::from_secs(60),
    };
    let suite = Suite::builder()
        .application_url(App::Crm, server.crm_url())
        .token_source(source)
        .build()?;
    let crm = sdk_crm::Client::new(&suite)?;

    let Err(error) = crm.today().get().await else {
        return Err("there is no token yet, and still the call succeeded".into());
    };
    put!("before the sidecar wrote the file: {error}");

    sidecar_writes(server, file).await?;
    // A failure is followed by a backoff of about a second, in which calls get the last error without traffic.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let today = crm.today().get().await?;
    put!(
        "with the first token: {} in the queue",
        today.attention.len()
    );

    // The service takes the token back before its time. The next call gets a 401, and the source is asked again.
    server.revoke_tokens();
    sidecar_writes(server, file).await?;
    let today = crm.today().get().await?;
    put!(
        "with the next token: {} in the queue, {} attempts",
        today.attention.len(),
        today.attempts()
    );
    Ok(())
}

/// What the sidecar does in reality: obtains a token and puts it into place in one step.
async fn sidecar_writes(
    server: &ReferenceServer,
    file: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    let platform = Suite::builder()
        .core_url(server.core_url())
        .credentials(sdk_core::ClientCredentials::new(
            server.client_id(),
            server.client_secret(),
        ))
        .build()?;
    let request = sdk_platform::types::TokenForm::new()
        .client_id(server.client_id())
        .client_secret(server.client_secret())
        .audience(server.crm_url());
    let reply = sdk_platform::Client::new(&platform)?
        .oauth()
        .token(&request)
        .await?;
    let token = reply
        .access_token
        .as_ref()
        .ok_or("the reply has no token")?;
    private::replace(file, token.expose().as_bytes())?;
    Ok(())
}
