//! How do I rotate the client secret without a restart and without failed calls?
//!
//! Dependencies: sdk-crm, futures-util and tokio (features `macros` and `rt-multi-thread`). This demo starts
//! sdk-reference-server and acts as the operator. A real service needs only the credential source and the file.

use std::fs;
use std::path::{Path, PathBuf};

use futures_util::future::try_join_all;
use sdk_crm::{
    App, Client, ClientCredentials, CredentialSource, CredentialsFuture, Suite, TokenError,
};
use sdk_reference_server::ReferenceServer;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The SDK calls this source before each token exchange, so it always gets the current secret.
struct SecretFile {
    client_id: String,
    path: PathBuf,
}

impl CredentialSource for SecretFile {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(async {
            let secret = fs::read_to_string(&self.path).map_err(TokenError::from_source)?;
            // Editors add a line break. If the file is empty, the SDK rejects the secret and calls this again later.
            Ok(ClientCredentials::new(&self.client_id, secret.trim_end()))
        })
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let server = ReferenceServer::start().await;
    // In production, only the service and its operator may read this folder. This secret is only for this demo.
    let folder = std::env::temp_dir().join(format!("suite-secret-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let path = folder.join("secret");
    replace(&path, server.client_secret())?;
    let client_id = server.client_id().to_owned();
    let suite = Suite::builder()
        .core_url(server.core_url())
        .application_url(App::Crm, server.crm_url())
        .credential_source(SecretFile {
            client_id,
            path: path.clone(),
        })
        .build()?;
    let crm = Client::new(&suite)?;
    crm.today().get().await?;
    println!("with the first secret: {:?}", suite.stats());

    // While calls are in flight, the operator writes the file and then updates the server. In production, the operator
    // has time between the two steps, because token endpoints accept both secrets for a while.
    let calls = try_join_all((0..100).map(|_| crm.today().get().send()));
    let rotation = async {
        replace(&path, "second-secret")?;
        server.rotate_secret(server.client_id(), "second-secret");
        server.revoke_tokens(); // as if the tokens had expired
        Result::Ok(())
    };
    let (calls, rotated) = tokio::join!(calls, rotation);
    rotated?;
    println!("during the rotation: {} calls, none failed", calls?.len());
    crm.today().get().await?;
    println!("with the second secret: {:?}", suite.stats());
    Ok(fs::remove_dir_all(folder)?)
}

/// Replaces the file atomically, so the service never reads a partial secret.
fn replace(path: &Path, secret: &str) -> Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, secret)?;
    Ok(fs::rename(new, path)?)
}
