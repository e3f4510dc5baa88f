//! What is checked when a suite is built, and what it is built of.

use std::collections::HashMap;
use std::sync::Arc;

use http::HeaderValue;
use url::Url;

use crate::app::{App, TOKEN_PATH};
use crate::error::Error;
use crate::policy::budget::RetryBudget;
use crate::secret::value::Secret;
use crate::suite::address::Purpose;
use crate::suite::builder::SuiteBuilder;
use crate::suite::layers::{From, Setting};
use crate::suite::{ApplicationConfig, Audience, Counters, Shared, Suite, address};
use crate::token::cache::TokenCache;
use crate::token::credentials::ClientCredentials;
use crate::token::exchange::ClientCredentialsSource;
use crate::token::source::TokenSource;
use crate::transport::cause;
use crate::transport::clients::Clients;

/// How much may be spent on repeats: 100 in a row, one for five successes in the long run.
const RETRY_BUDGET: u32 = 500;

impl SuiteBuilder {
    /// Checks everything and builds the suite. Nothing is sent and nothing is started.
    ///
    /// # Errors
    /// When a name, an address or a credential is refused or missing; all such mistakes are told at once.
    pub fn build(mut self) -> Result<Suite, Error> {
        let mut faults = std::mem::take(&mut self.faults);
        let applications = self.applications(&mut faults);
        let tokens = self.tokens_from(&mut faults);
        faults.extend(self.crossed());
        if let Err(error) = HeaderValue::from_str(&self.agent()) {
            let message =
                "`user_agent` must have visible characters only, as a header has: got another text";
            faults.push(Error::configuration(message).with_cause(error));
        }
        if let Some(Err(fault)) = self.digest_key.as_ref().map(Secret::as_key) {
            let short = Error::short_secret(fault);
            let message = format!("`digest_key`: {}", short.message());
            faults.push(Error::configuration(message).with_cause(short));
        }
        let mut addresses: Vec<Url> = applications
            .values()
            .filter_map(|application| application.url.clone())
            .collect();
        if let Some(TokensFrom::Exchange { endpoint, .. }) = &tokens {
            addresses.push(endpoint.clone());
        }
        if self.http.is_none() {
            faults.extend(address::without_tls(&addresses, HAS_TLS));
        }
        let Some(tokens) = tokens.filter(|_| faults.is_empty()) else {
            return Err(Error::all(faults));
        };
        let clients = Clients::build(self.http.take(), &self.agent(), &addresses, self.waits);
        let clients = clients.map_err(|error| {
            Error::configuration(format!(
                "cannot build the HTTP client: {}",
                cause::root(&error)
            ))
            .with_cause(error)
        })?;
        let (mut own, mut token_endpoint) = (None, None);
        let source = match tokens {
            TokensFrom::Source(source) => source,
            TokensFrom::Exchange {
                credentials,
                endpoint,
            } => {
                let proxy = clients.proxy_for(&endpoint);
                let client = clients.client_for(&endpoint);
                let client = client.ok_or_else(|| {
                    Error::configuration("the suite has no HTTP client for this address")
                })?;
                let policy = &self.token_policy;
                own = Some(credentials.clone());
                token_endpoint = Some(endpoint.clone());
                let source = ClientCredentialsSource::new(client, endpoint, credentials, policy);
                Arc::new(source.through(proxy))
            }
        };
        let shared = Shared {
            clients,
            tokens: TokenCache::new(source, self.token_policy),
            settings: self.settings,
            budget: RetryBudget::new(self.retry_budget.unwrap_or(RETRY_BUDGET)),
            counters: Counters::default(),
            token_endpoint,
            credentials: own,
            digest_key: self.digest_key,
        };
        Ok(Suite {
            shared: Arc::new(shared),
            applications: Arc::new(applications),
        })
    }

    /// The applications as they are configured.
    fn applications(&mut self, faults: &mut Vec<Error>) -> HashMap<App, ApplicationConfig> {
        let scopes = std::mem::take(&mut self.scopes);
        let mut applications = HashMap::new();
        for app in App::ALL {
            let url = self.layers.url(app).and_then(|url| {
                address::parse_url(&url.name, url.value, Purpose::Base, self.insecure_http)
                    .map_err(|fault| faults.push(fault))
                    .ok()
            });
            let audience = self.layers.audience(app).and_then(|audience| {
                let checked = address::check_audience(&audience.name, audience.value);
                checked.map_err(|fault| faults.push(fault)).ok()?;
                Some(Audience {
                    text: audience.value.to_owned(),
                    set_by: Some(audience.name),
                })
            });
            let scopes = scopes.get(&app).cloned().unwrap_or_default();
            let config = ApplicationConfig {
                url,
                audience,
                scopes,
            };
            applications.insert(app, config);
        }
        applications
    }

    /// Where tokens come from, if that is said without a mistake.
    fn tokens_from(&self, faults: &mut Vec<Error>) -> Option<TokensFrom> {
        if let Some(source) = &self.source {
            return Some(TokensFrom::Source(Arc::clone(source)));
        }
        let credentials = self.credentials.clone().or_else(|| {
            let id = self.layers.client_id()?.value;
            let secret = self.layers.client_secret()?.value;
            Some(ClientCredentials::new(id, secret.clone()))
        });
        let endpoint = self
            .layers
            .token_url()
            .map(|url| (url, "", Purpose::TokenEndpoint));
        let endpoint = endpoint.or_else(|| {
            let platform = self.layers.url(App::Platform)?;
            Some((platform, TOKEN_PATH, Purpose::Base))
        });
        faults.extend(self.missing(credentials.is_some(), endpoint.is_some()));
        let credentials = credentials?;
        let (url, path, purpose) = endpoint?;
        for (empty, what) in [
            (credentials.id().is_empty(), "client id"),
            (credentials.secret().expose().is_empty(), "secret"),
        ] {
            if empty {
                let rule = format!("`credentials` must have a {what}: got an empty one");
                faults.push(Error::configuration(rule));
            }
        }
        match address::parse_url(&url.name, url.value, purpose, self.insecure_http) {
            Ok(mut endpoint) => {
                let base = endpoint.path().trim_end_matches('/');
                if !path.is_empty() {
                    endpoint.set_path(&format!("{base}{path}"));
                }
                Some(TokensFrom::Exchange {
                    credentials,
                    endpoint,
                })
            }
            Err(fault) => {
                // A core URL that is refused was told already.
                if purpose == Purpose::TokenEndpoint {
                    faults.push(fault);
                }
                None
            }
        }
    }

    /// What lacks for an exchange of the credential, all of it at once.
    fn missing(&self, has_credentials: bool, has_endpoint: bool) -> Option<Error> {
        let missing: Vec<&str> = [
            (App::Platform.url_variable(), has_endpoint),
            (
                address::CLIENT_ID,
                has_credentials || self.layers.client_id().is_some(),
            ),
            (
                address::CLIENT_SECRET,
                has_credentials || self.layers.client_secret().is_some(),
            ),
        ]
        .into_iter()
        .filter_map(|(name, present)| (!present).then_some(name))
        .collect();
        let message = if missing.is_empty() {
            return None;
        } else if self.trusts_environment && !self.credential_from_environment && !has_credentials {
            "the credential is missing: call `credentials` or `token_source`, since `environment_addresses` takes none \
             from the environment"
                .to_owned()
        } else if self.layers.has_variables() {
            format!("missing environment variables: {}", missing.join(", "))
        } else if has_credentials {
            format!(
                "the token endpoint is missing: call `core_url` or `token_url`, or set {} or {}",
                App::Platform.url_variable(),
                address::TOKEN_URL
            )
        } else {
            "neither `credentials` nor a `token_source` is set".to_owned()
        };
        Some(Error::configuration(message))
    }

    /// Whether a credential of the program's own would go to an address from the environment, though nobody said that it may.
    fn crossed(&self) -> Option<Error> {
        let from_environment =
            |setting: &Setting<&str>| setting.from == From::Environment && !self.trusts_environment;
        let own = self.source.is_some()
            || self.credentials.is_some()
            || self
                .layers
                .client_secret()
                .is_some_and(|secret| secret.from != From::Environment);
        let urls = App::ALL.into_iter().map(|app| self.layers.url(app));
        let address = std::iter::once(self.layers.token_url())
            .chain(urls)
            .flatten()
            .find(from_environment)
            .filter(|_| own)?;
        Some(Error::configuration(format!(
            "the credential is set in code and {} in the environment: if the credential may go there, call \
             `environment_addresses`; otherwise set the address in code",
            address.name
        )))
    }

    fn agent(&self) -> String {
        let sdk = concat!("suite-sdk-rust/", env!("CARGO_PKG_VERSION"));
        match &self.user_agent {
            Some(product) => format!("{product} {sdk}"),
            None => sdk.to_owned(),
        }
    }
}

/// Where the suite's tokens come from.
enum TokensFrom {
    Source(Arc<dyn TokenSource>),
    Exchange {
        credentials: ClientCredentials,
        endpoint: Url,
    },
}

/// Whether this build can speak TLS by itself.
const HAS_TLS: bool = cfg!(any(feature = "rustls", feature = "native-tls"));
