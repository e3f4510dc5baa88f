//! Checks the settings and builds the suite.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, LazyLock};

use http::HeaderValue;
use url::Url;

use crate::app::{App, TOKEN_PATH};
use crate::error::Error;
use crate::observe::observers::Observers;
use crate::options::CallOptions;
use crate::policy::budget::RetryBudgets;
use crate::policy::concurrency::ConcurrencyLimit;
use crate::secret::redactor::RecentSecrets;
use crate::suite::address::{Purpose, invalid_setting};
use crate::suite::builder::{Authentication, SuiteBuilder};
use crate::suite::sources::{Key, Setting};
use crate::suite::{ApplicationConfig, Applications, Audience, Shared, Suite, address};
use crate::text::{TextKind, one_line};
use crate::token::cache::TokenCache;
use crate::token::credentials::CredentialSource;
use crate::token::credentials::{ClientAuthentication, ClientCredentials};
use crate::token::entry::EntryContext;
use crate::token::exchange::ClientCredentialsSource;
use crate::token::policy::TokenPolicy;
use crate::token::source::TokenSource;

/// The default retry budget: 100 retries in a row, and in the long run one retry for five successes.
pub(crate) const RETRY_BUDGET: u32 = 500;

/// Far above the largest documented response, 200 timeline entries.
pub(crate) const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// Many times the elements of the largest documented response. They take at most a few tens of mebibytes of memory.
pub(crate) const MAX_RESPONSE_ELEMENTS: usize = 100_000;

impl SuiteBuilder {
    /// Checks all settings and builds the suite. It sends nothing and starts no task.
    ///
    /// # Errors
    /// If a name, an address or a credential is invalid or missing. The error lists all such mistakes.
    pub fn build(mut self) -> Result<Suite, Error> {
        if let Some(name) = self.installation.take() {
            self.sources.prefix = variable_prefix(&name)?;
            self.label.get_or_insert(name);
        }
        let (label, label_error) = self.checked_label();
        self.build_labeled(label.clone(), label_error)
            .map_err(|error| error.with_installation(label))
    }

    fn build_labeled(
        mut self,
        label: Option<Arc<str>>,
        label_error: Option<Error>,
    ) -> Result<Suite, Error> {
        let mut errors = Vec::new();
        if self.environment {
            let variables = process_variables(&self.sources.prefix, &mut errors);
            self.sources
                .environment
                .get_or_insert_default()
                .read(variables);
        }
        let applications = self.applications(&mut errors);
        let tokens = self.tokens_from(&mut errors);
        let agent = self.agent().map_err(|error| errors.push(error));
        errors.extend(label_error);
        if self.max_in_flight == Some(0) {
            errors.push(invalid_setting("max_in_flight", "be at least 1", "0"));
        }
        let mut addresses: Vec<Url> = applications
            .iter()
            .filter_map(|application| application.url.as_deref().cloned())
            .collect();
        if let Some(TokensFrom::Exchange { endpoint, .. }) = &tokens {
            addresses.push(endpoint.clone());
        }
        let (Some(tokens), Ok(agent)) = (tokens.filter(|_| errors.is_empty()), agent) else {
            return Err(Error::all(errors));
        };
        let connections =
            std::mem::take(&mut self.transport).connect(&addresses, self.connection_timeouts)?;
        for address in &addresses {
            if !self.insecure_http {
                connections.admit(address)?;
            }
            // Report a client that can't be built here, not in the first call.
            connections.sender_for(address)?;
            connections.proxy_for(address)?;
        }
        let policy = self
            .token_policy
            .unwrap_or_else(TokenPolicy::shared_default);
        let recent = Arc::<RecentSecrets>::default();
        let observers = Observers::new(std::mem::take(&mut self.observers), label);
        let mut token_endpoint = None;
        let source = match tokens {
            TokensFrom::Source(source) => source,
            TokensFrom::Exchange {
                credentials,
                endpoint,
            } => {
                let proxy = connections.proxy_for(&endpoint)?;
                let sender = connections.sender_for(&endpoint)?;
                let source = ClientCredentialsSource {
                    agent: Some(Arc::clone(&agent)),
                    random: self.random.clone(),
                    proxy,
                    recent: Arc::clone(&recent),
                    observers: observers.clone(),
                    ..ClientCredentialsSource::of(
                        sender,
                        endpoint,
                        credentials,
                        Arc::clone(&policy),
                    )
                };
                token_endpoint = Some(Arc::clone(&source.token_url));
                Arc::new(source)
            }
        };
        let limits = |most| Box::new(App::each(|_| ConcurrencyLimit::new(most)));
        let concurrency = self.max_in_flight.map(limits);
        let shared = Shared {
            connections,
            agent,
            tokens: TokenCache::of(EntryContext {
                source,
                policy,
                random: self.random.clone(),
                recent,
                observers: observers.clone(),
                exchanges: AtomicU64::default(),
            }),
            options: self.options.map_or_else(CallOptions::unset, Arc::new),
            max_response_bytes: self.max_response_bytes.unwrap_or(MAX_RESPONSE_BYTES),
            max_response_elements: self.max_response_elements.unwrap_or(MAX_RESPONSE_ELEMENTS),
            random: self.random,
            budgets: RetryBudgets::new(self.retry_budget.unwrap_or(RETRY_BUDGET)),
            concurrency,
            calls: AtomicU64::default(),
            attempts: AtomicU64::default(),
            observers,
            token_endpoint,
            variable_prefix: self.sources.prefix.into(),
        };
        Ok(Suite {
            shared: Arc::new(shared),
            applications: Arc::new(applications),
        })
    }

    fn applications(&mut self, errors: &mut Vec<Error>) -> Applications {
        let mut scopes = std::mem::take(&mut self.scopes);
        let mut configure = |app: App| {
            let url = self.sources.get(Key::Url(app)).and_then(|url| {
                address::parse_url(&url.name, url.value, Purpose::Base, self.insecure_http)
                    .map_err(|error| errors.push(error))
                    .ok()
                    .map(Arc::new)
            });
            let audience = self.sources.get(Key::Audience(app)).map(|audience| {
                let Setting { value, name, .. } = audience;
                // The audience is sent in a form and appears in messages.
                if value.is_empty() || value.contains(char::is_control) {
                    let rule = "be a non-empty string without control characters";
                    errors.push(invalid_setting(&name, rule, &format!("{value:?}")));
                }
                Arc::new(Audience {
                    value: value.to_owned(),
                    set_by: name,
                })
            });
            let scopes = scopes.remove(&app).unwrap_or_else(|| Ok(Vec::new()));
            let scopes = scopes.map_err(|error| errors.push(error));
            let scopes = scopes.unwrap_or_default().into();
            ApplicationConfig {
                url,
                audience,
                scopes,
            }
        };
        App::each(&mut configure)
    }

    fn tokens_from(&self, errors: &mut Vec<Error>) -> Option<TokensFrom> {
        let credentials: Option<Arc<dyn CredentialSource>> = match &self.authentication {
            Some(Authentication::TokenSource(source)) => {
                return Some(TokensFrom::Source(Arc::clone(source)));
            }
            Some(Authentication::CredentialSource(source)) => Some(Arc::clone(source)),
            Some(Authentication::Credentials(fixed)) => Some(checked(fixed.clone(), errors)),
            None => self
                .credential_of_variables(errors)
                .map(|fixed| checked(fixed, errors)),
        };
        let endpoint = self.sources.get(Key::TokenUrl);
        let endpoint = endpoint.map(|url| (url, "", Purpose::TokenEndpoint));
        let endpoint = endpoint.or_else(|| {
            let platform = self.sources.get(Key::Url(App::Platform))?;
            Some((platform, TOKEN_PATH, Purpose::Base))
        });
        errors.extend(self.missing(credentials.is_some(), endpoint.is_some()));
        let credentials = credentials?;
        let (url, path, purpose) = endpoint?;
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
            Err(error) => {
                // `applications` reports an invalid core URL.
                if purpose == Purpose::TokenEndpoint {
                    errors.push(error);
                }
                None
            }
        }
    }

    /// Returns the credential from the variables, with its authentication method.
    fn credential_of_variables(&self, errors: &mut Vec<Error>) -> Option<ClientCredentials> {
        let mut taken = |key, rule, is_sound: fn(&str) -> bool| {
            let Setting { value, name, .. } = self.sources.next_to_secret(key)?;
            if !is_sound(value) {
                let got = one_line(&format!("{value:?}"));
                errors.push(invalid_setting(&name, rule, &got));
            }
            Some(value)
        };
        let rule = "be `client_secret_basic` or `client_secret_post`";
        let is_method = |name: &str| ClientAuthentication::of(name).is_some();
        let method = taken(Key::AuthMethod, rule, is_method);
        let rule = "name an unused form field of the token request, with only letters, digits, `-`, `.` and `_`";
        let field = taken(Key::AudienceField, rule, may_be_audience);
        let id = self.sources.get(Key::ClientId)?.value;
        let secret = self.sources.get(Key::ClientSecret)?.value;
        let method = method.and_then(ClientAuthentication::of);
        let credential =
            ClientCredentials::new(id, secret).with_authentication(method.unwrap_or_default());
        Some(match field {
            Some(field) => credential.with_audience_field(field),
            None => credential,
        })
    }

    fn missing(&self, has_credentials: bool, has_endpoint: bool) -> Option<Error> {
        let core_url = self.sources.variable(Key::Url(App::Platform));
        let given = |key| has_credentials || self.sources.get(key).is_some();
        let mut missing = Vec::new();
        missing.extend((!has_endpoint).then(|| core_url.clone()));
        let credential = [Key::ClientId, Key::ClientSecret].into_iter();
        let unset = credential.filter(|key| !given(*key));
        missing.extend(unset.map(|key| self.sources.variable(key)));
        let message = if missing.is_empty() {
            return None;
        } else if self.sources.has_variables() {
            let prefix = &self.sources.prefix;
            let none = if prefix.is_empty() || self.sources.has_prefixed() {
                String::new()
            } else {
                format!("; no variable begins with {prefix}SUITE_")
            };
            format!(
                "missing environment variables: {}{none}",
                missing.join(", ")
            )
        } else if has_credentials {
            let token_url = self.sources.variable(Key::TokenUrl);
            format!(
                "the token endpoint is missing: call `core_url` or `token_url`, or set {core_url} or {token_url}"
            )
        } else {
            "the credential is missing: call `credentials`, `token_source` or `environment`"
                .to_owned()
        };
        Some(Error::configuration(message))
    }

    /// Returns the label, or the error if it doesn't fit in a log line.
    fn checked_label(&self) -> (Option<Arc<str>>, Option<Error>) {
        let Some(label) = self.label.as_deref() else {
            return (None, None);
        };
        // Error messages put the label in brackets.
        let odd = label.is_empty() || label.contains(['[', ']']);
        if !odd && TextKind::Label.of(label) == label {
            return (Some(label.into()), None);
        }
        let most = TextKind::Label.longest();
        let rule = format!(
            "be 1 to {most} visible characters without brackets; single spaces are allowed only between words"
        );
        let got = one_line(&format!("{label:?}"));
        (None, Some(invalid_setting("label", &rule, &got)))
    }

    /// Returns the user agent of all requests. Suites share the default value, because a process may have many suites.
    fn agent(&self) -> Result<Arc<HeaderValue>, Error> {
        const SDK: &str = concat!("suite-sdk-rust/", env!("CARGO_PKG_VERSION"));
        static USUAL: LazyLock<Arc<HeaderValue>> =
            LazyLock::new(|| Arc::new(HeaderValue::from_static(SDK)));
        let Some(product) = &self.user_agent else {
            return Ok(Arc::clone(&USUAL));
        };
        let agent = format!("{product} {SDK}");
        HeaderValue::from_str(&agent)
            .map(Arc::new)
            .map_err(|error| {
                let (rule, got) = (
                    "contain only visible ASCII characters",
                    format!("{agent:?}"),
                );
                invalid_setting("user_agent", rule, &one_line(&got)).with_cause(error)
            })
    }
}

/// Returns a fixed credential, and adds an error for each empty part.
fn checked(credential: ClientCredentials, errors: &mut Vec<Error>) -> Arc<dyn CredentialSource> {
    for field in credential.empty_fields() {
        let rule = format!("have a {field}");
        errors.push(invalid_setting("credentials", &rule, "an empty string"));
    }
    Arc::new(credential)
}

/// Whether a form field can carry the audience: a valid name (RFC 6749, appendix A) that the form doesn't use yet.
fn may_be_audience(field: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let taken = ["grant_type", "client_id", "client_secret", "scope"];
    field.bytes().all(is_name) && !taken.contains(&field)
}

/// Returns the prefix of an installation's variables, such as `ACME_EU_` for `acme-eu`.
fn variable_prefix(installation: &str) -> Result<String, Error> {
    let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let lengths = 1..=TextKind::Label.longest();
    if lengths.contains(&installation.len()) && installation.bytes().all(is_sound) {
        return Ok(installation.to_ascii_uppercase().replace('-', "_") + "_");
    }
    let rule = format!(
        "be 1 to {} ASCII letters, digits, `-` and `_`",
        lengths.end()
    );
    let got = one_line(&format!("{installation:?}"));
    Err(invalid_setting("installation", &rule, &got))
}

/// Returns the suite's variables of the process environment. Adds an error for each value that is not UTF-8.
fn process_variables(prefix: &str, errors: &mut Vec<Error>) -> Vec<(String, String)> {
    let named =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let prefix = format!("{prefix}SUITE_");
    let mut variables = Vec::new();
    for (name, value) in named.filter(|(name, _)| name.starts_with(&prefix)) {
        match value.into_string() {
            Ok(value) => variables.push((name, value)),
            Err(_) => errors.push(invalid_setting(&name, "be UTF-8", "invalid UTF-8")),
        }
    }
    variables
}

enum TokensFrom {
    Source(Arc<dyn TokenSource>),
    Exchange {
        credentials: Arc<dyn CredentialSource>,
        endpoint: Url,
    },
}
