//! My platform issues the tokens, and a sidecar writes the current token to a file. How does the SDK use it?
//!
//! Dependencies: sdk-crm, sdk-platform and tokio (features `macros`, `rt-multi-thread` and `time`). This demo
//! starts sdk-reference-server and acts as the sidecar. A real service needs only the token source and the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sdk_crm::{
    AccessToken, App, Client, Suite, TokenError, TokenFuture, TokenRequest, TokenSource,
};
use sdk_platform::types::TokenForm;
use sdk_reference_server::ReferenceServer;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The SDK calls this source when it needs a token, caches the token, and renews it before it expires.
struct TokenFile(PathBuf);

impl TokenSource for TokenFile {
    fn token<'a>(&'a self, _request: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(async move {
            let text = fs::read_to_string(&self.0).map_err(TokenError::from_source)?;
            match text.trim() {
                // The sidecar is writing the file. The SDK calls this again after about a second.
                "" => Err(TokenError::unavailable("the token file is empty")),
                // The file states no lifetime. This sidecar replaces the token after 60 s, half its lifetime.
                token => Ok(AccessToken::new(token).with_lifetime(Duration::from_secs(60))),
            }
        })
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let server = ReferenceServer::start().await;
    // In production, only the service and its sidecar may read this folder. This token is only for this demo.
    let folder = std::env::temp_dir().join(format!("suite-token-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let file = folder.join("token");
    let suite = Suite::builder()
        .application_url(App::Crm, server.crm_url())
        .token_source(TokenFile(file.clone())) // instead of a credential and a token endpoint
        .build()?;
    let crm = Client::new(&suite)?;

    if let Err(error) = crm.today().get().await {
        println!("before the sidecar wrote the file: {error}");
    }
    sidecar(&server, &file).await?;
    // After a failure, calls fail with the last error for about a second, without calling the source.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let today = crm.today().get().await?;
    println!("with the first token: {} attempt", today.attempts());

    // The token is revoked before it expires. The call gets a 401, fetches a new token and retries.
    server.revoke_tokens();
    sidecar(&server, &file).await?;
    let today = crm.today().get().await?;
    println!("with the next token: {} attempts", today.attempts());
    Ok(fs::remove_dir_all(folder)?)
}

/// Fetches a token and replaces the file atomically.
async fn sidecar(server: &ReferenceServer, file: &Path) -> Result<()> {
    let suite = Suite::builder().variables(server.environment()).build()?;
    let form = TokenForm::new()
        .client_id(server.client_id())
        .client_secret(server.client_secret())
        .audience(server.crm_url());
    let response = sdk_platform::Client::new(&suite)?
        .oauth()
        .token(&form)
        .await?;
    let token = response.access_token.as_ref().ok_or("no token")?;
    let new = file.with_extension("new");
    fs::write(&new, token.expose())?;
    Ok(fs::rename(new, file)?)
}
