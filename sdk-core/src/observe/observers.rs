//! The observers of a suite, and their notification.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::app::App;
use crate::caught::unless_panicked;
use crate::macros::debug_fields;
use crate::observe::events::{ObservedCall, Renewal, Wait, WaitReason};
use crate::observe::observer::Observer;
use crate::operation::{Method, Operation};

#[derive(Clone, Default)]
pub(crate) struct Observers(Arc<Shared>);

#[derive(Default)]
struct Shared {
    observers: Box<[Arc<dyn Observer>]>,
    installation: Option<Arc<str>>,
    /// The operations whose deprecation was announced.
    deprecated: Mutex<HashSet<(App, &'static str, Method)>>,
}

impl Observers {
    pub(crate) fn new(observers: Vec<Arc<dyn Observer>>, installation: Option<Arc<str>>) -> Self {
        let observers = observers.into();
        Self(Arc::new(Shared {
            observers,
            installation,
            deprecated: Mutex::default(),
        }))
    }

    /// Shareable without a copy.
    pub(crate) fn label(&self) -> Option<&Arc<str>> {
        self.0.installation.as_ref()
    }

    pub(crate) fn installation(&self) -> Option<&str> {
        self.0.installation.as_deref()
    }

    pub(crate) fn any(&self) -> bool {
        !self.0.observers.is_empty()
    }

    pub(crate) fn call(&self, operation: &'static Operation) -> ObservedCall<'_> {
        ObservedCall {
            operation,
            installation: self.installation(),
        }
    }

    pub(super) fn is_first_deprecation(&self, operation: &Operation) -> bool {
        let key = (operation.application, operation.id, operation.method);
        let mut deprecated = self
            .0
            .deprecated
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        deprecated.insert(key)
    }

    /// Notifies all observers. If an observer panics, the panic affects neither the other observers nor the call.
    pub(super) fn notify(&self, mut event: impl FnMut(&dyn Observer)) {
        for observer in &self.0.observers {
            // Unwind safe: a panic can only break the observer's own state.
            let result = catch_unwind(AssertUnwindSafe(|| event(&**observer)));
            if unless_panicked(result).is_none() {
                tracing::error!(name: "suite.observer.panic", "an observer panicked");
            }
        }
    }

    /// Begins a wait, which ends when the returned timer is dropped.
    pub(crate) fn wait(
        &self,
        reason: WaitReason,
        application: App,
        operation: Option<&'static Operation>,
    ) -> Option<WaitTimer<'_>> {
        self.any().then(|| WaitTimer {
            observers: self,
            wait: Wait {
                application,
                operation,
                installation: self.installation(),
                reason,
                duration: Duration::ZERO,
            },
            started: Instant::now(),
        })
    }

    /// Begins a token renewal. If the returned timer is dropped before it ended, the renewal was lost.
    pub(crate) fn renewal<'a>(
        &'a self,
        application: Option<App>,
        lost: &'a str,
    ) -> RenewalTimer<'a> {
        let renewal = Renewal {
            application,
            installation: self.installation(),
            error_type: Some(lost),
            duration: Duration::ZERO,
        };
        let (observers, started) = (self, Instant::now());
        RenewalTimer {
            observers,
            renewal,
            started,
        }
    }
}

debug_fields! { Observers |it| observers: it.0.observers.len(), installation: it.0.installation }

pub(crate) struct WaitTimer<'a> {
    observers: &'a Observers,
    wait: Wait<'a>,
    started: Instant,
}

impl Drop for WaitTimer<'_> {
    fn drop(&mut self) {
        self.wait.duration = self.started.elapsed();
        self.observers
            .notify(|observer| observer.waited(&self.wait));
    }
}

pub(crate) struct RenewalTimer<'a> {
    observers: &'a Observers,
    renewal: Renewal<'a>,
    started: Instant,
}

impl RenewalTimer<'_> {
    /// `error_type` names the error kind of a failed renewal.
    pub(crate) fn end(mut self, error_type: Option<&'static str>) {
        self.renewal.error_type = error_type;
    }
}

impl Drop for RenewalTimer<'_> {
    fn drop(&mut self) {
        self.renewal.duration = self.started.elapsed();
        self.observers
            .notify(|observer| observer.token_renewed(&self.renewal));
    }
}
