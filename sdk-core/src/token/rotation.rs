//! Credentials that change while a program runs.

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use crate::token::credentials::ClientCredentials;
use crate::token::error::TokenError;

/// The future of a [`CredentialSource`].
pub type CredentialsFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ClientCredentials, TokenError>> + Send + 'a>>;

/// Gives the client credential of the moment, so that a secret can be rotated without a restart: from a file that changes, or
/// from a vault. Set it with [`SuiteBuilder::credential_source`](crate::SuiteBuilder::credential_source).
///
/// The suite asks before each attempt at the token endpoint, which is every few minutes for each application in use. If the
/// endpoint rejects the credential, the renewal fails, and the suite asks again after a backoff of up to a second. Calls with a
/// live token do not notice that a source fails, is slow or panics. Its time counts against
/// [`TokenPolicy::renewal_timeout`](crate::TokenPolicy::renewal_timeout). [The guide](crate::guide::credentials) shows a mounted
/// file and a vault.
///
/// ```
/// use sdk_core::{ClientCredentials, CredentialSource, CredentialsFuture, TokenError};
///
/// /// Reads the secret from a file that is replaced when it is rotated.
/// struct SecretFile(std::path::PathBuf);
///
/// impl CredentialSource for SecretFile {
///     fn credentials(&self) -> CredentialsFuture<'_> {
///         let path = self.0.clone();
///         Box::pin(async move {
///             // Reading may block, if only on a network drive: not on a thread that serves others.
///             let read = tokio::task::spawn_blocking(|| std::fs::read_to_string(path)).await;
///             let secret = read.map_err(TokenError::from_source)?.map_err(TokenError::from_source)?;
///             Ok(ClientCredentials::new("reporting-service", secret.trim()))
///         })
///     }
/// }
/// ```
pub trait CredentialSource: Send + Sync + 'static {
    /// The credential to send now.
    ///
    /// # Errors
    /// When there is none, as [`TokenError::from_source`] or [`TokenError::unavailable`]. Only the latter is retried at once;
    /// after either, the suite asks again when the backoff between renewals has passed.
    fn credentials(&self) -> CredentialsFuture<'_>;
}

impl<S: CredentialSource + ?Sized> CredentialSource for Arc<S> {
    fn credentials(&self) -> CredentialsFuture<'_> {
        (**self).credentials()
    }
}

/// Always the same.
impl CredentialSource for ClientCredentials {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(ready(Ok(self.clone())))
    }
}
