//! A token in wire form, with its schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use secrecy::zeroize::Zeroizing;
use tokio::time::Instant;

use crate::macros::debug_fields;
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::lifetime;
use crate::token::lifetime::Schedule;
use crate::token::policy::TokenPolicy;
use crate::token::source::AccessToken;

/// A live token with its header. Its memory is wiped when the last clone of the header is dropped.
pub struct BearerToken {
    header: HeaderValue,
    scopes: Option<Arc<[String]>>,
    generation: u64,
    pub(super) schedule: Schedule,
    accepted: AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Fresh,
    RenewSoon,
    RenewNow,
    Expired,
}

impl BearerToken {
    pub(crate) fn prepare(
        token: &AccessToken,
        start: Instant,
        generation: u64,
        policy: &TokenPolicy,
        random: f64,
    ) -> Result<Self, TokenError> {
        let secret = token.expose();
        let lifetime = lifetime::effective(token.lifetime(), secret, policy);
        Ok(Self {
            header: bearer_header(secret)?,
            scopes: token.scopes().map(Arc::from),
            generation,
            schedule: lifetime::schedule(start, lifetime, policy, random),
            accepted: AtomicBool::new(false),
        })
    }

    /// Returns the value of the `Authorization` header, marked sensitive. Cloning it copies no bytes.
    #[must_use]
    pub fn header(&self) -> &HeaderValue {
        &self.header
    }

    /// Returns the granted scopes, if the source states them.
    #[must_use]
    pub fn granted_scopes(&self) -> Option<&[String]> {
        self.scopes.as_deref()
    }

    /// Returns how long the token is still trusted.
    #[must_use]
    pub fn expires_in(&self) -> Duration {
        self.schedule
            .expires_at
            .saturating_duration_since(Instant::now())
    }

    /// Returns the number of this token within its entry, starting at 1.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn mark_accepted(&self) {
        // A read is cheaper than a write.
        if !self.was_accepted() {
            self.accepted.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn was_accepted(&self) -> bool {
        self.accepted.load(Ordering::Relaxed)
    }

    pub(super) fn phase(&self, now: Instant) -> Phase {
        let Schedule {
            renew_soon_at,
            renew_now_at,
            expires_at,
        } = self.schedule;
        match now {
            _ if now < renew_soon_at => Phase::Fresh,
            _ if now < renew_now_at => Phase::RenewSoon,
            _ if now < expires_at => Phase::RenewNow,
            _ => Phase::Expired,
        }
    }

    pub(super) fn expires_at(&self) -> Instant {
        self.schedule.expires_at
    }
}

debug_fields! {
    BearerToken |it|
    header: "[redacted]", granted_scopes: it.scopes, generation: it.generation,
    expires_in: it.expires_in()
}

/// Builds `Bearer <token>` in memory that is wiped on drop.
fn bearer_header(secret: &str) -> Result<HeaderValue, TokenError> {
    if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        let rule = "the token must contain only visible ASCII characters; its value is redacted";
        return Err(TokenError::new(TokenErrorKind::Malformed).with_description(rule));
    }
    sensitive_header(Zeroizing::new(["Bearer ", secret].concat().into_bytes()))
}

/// The value is marked sensitive, and its memory is wiped on drop.
pub(super) fn sensitive_header(bytes: Zeroizing<Vec<u8>>) -> Result<HeaderValue, TokenError> {
    let mut header = HeaderValue::from_maybe_shared(Bytes::from_owner(bytes))
        .map_err(|error| TokenError::new(TokenErrorKind::Malformed).with_cause(error))?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
impl BearerToken {
    /// Copies the token. The copy records its acceptance separately.
    pub(super) fn fork(&self) -> Self {
        Self {
            header: self.header.clone(),
            scopes: self.scopes.clone(),
            generation: self.generation,
            schedule: self.schedule,
            accepted: AtomicBool::new(self.was_accepted()),
        }
    }
}
