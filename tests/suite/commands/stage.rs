//! A reference server behind wires that break, and what can go wrong after it committed a command.

use sdk_core::{App, Method, Suite};
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::{Value, json};

use crate::fixtures::server;
use crate::peer::proxy::{Proxy, Then, Way};
use crate::peer::{Over, Protocol};
use crate::support::{Clients, builder_for, once};

/// A server, and clients of its applications over wires that can be broken.
pub(super) struct Stage {
    over: Over,
    pub(super) server: ReferenceServer,
    pub(super) crm: sdk_crm::Client,
    pub(super) calendar: sdk_calendar::Client,
    pub(super) accounting: sdk_accounting::Client,
    /// Of CRM, Calendar and Accounting.
    wires: [Proxy; 3],
}

impl Stage {
    pub(super) async fn start() -> Stage {
        Self::over(Over::DEFAULT).await
    }

    /// With clients that send like this.
    pub(super) async fn over(over: Over) -> Stage {
        let server = server().await;
        let origins = [
            server.crm_url(),
            server.calendar_url(),
            server.accounting_url(),
        ];
        let wires = origins.each_ref().map(|origin| Proxy::start(origin));
        let mut builder = over.set(builder_for(&server));
        for (app, (wire, origin)) in App::all().zip(wires.iter().zip(&origins)) {
            builder = builder
                .application_url(app, wire.url())
                .audience(app, origin);
        }
        let suite = builder.build().unwrap();
        Stage {
            crm: suite.crm(),
            calendar: suite.calendar(),
            accounting: suite.accounting(),
            over,
            server,
            wires,
        }
    }

    /// What another process has: clients that share nothing with the first ones.
    pub(super) fn elsewhere(&self) -> Suite {
        builder_for(&self.server).suite()
    }

    /// The last body that the server saw for an operation, as text.
    pub(super) fn sent(&self, operation: Operation) -> String {
        let seen = self.server.requests_for(operation).pop().unwrap();
        String::from_utf8(seen.body().to_vec()).unwrap()
    }

    /// The wire of an application.
    pub(super) fn wire(&self, application: &str) -> &Proxy {
        match application {
            "crm" => &self.wires[0],
            "calendar" => &self.wires[1],
            _ => &self.wires[2],
        }
    }

    /// Lets this happen to the next command of an operation.
    pub(super) async fn mishap(&self, mishap: Mishap, operation: Operation) {
        if self.over.protocol == Protocol::Http2 {
            // The first thing that a server says over HTTP/2 is no reply: let it be said.
            let anything = (Method::Get, "/anything");
            let _ = match operation.app().id() {
                "crm" => self.crm.raw_call(anything).await,
                "calendar" => self.calendar.raw_call(anything).await,
                _ => self.accounting.raw_call(anything).await,
            };
        }
        let fault = || once(&self.server, operation);
        let wire = self.wire(operation.app().id());
        match mishap {
            Mishap::LostReply => drop(fault().lose_reply()),
            Mishap::HalfReply => drop(fault().truncate_body()),
            Mishap::BrokenReply => drop(fault().break_body()),
            Mishap::Unavailable => drop(fault().reply_after_commit_with(503)),
            Mishap::Unauthenticated => drop(fault().reply_after_commit_with(401)),
            Mishap::Reset => wire.break_after(0, Way::Down, Then::Reset),
            Mishap::ResetMidway => wire.break_after(100, Way::Down, Then::Reset),
        }
    }
}

/// What comes between a commit and the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mishap {
    /// The connection is closed instead of a reply.
    LostReply,
    /// Half a JSON text, as if it were all.
    HalfReply,
    /// The connection ends within the body.
    BrokenReply,
    /// A 503 after the commit.
    Unavailable,
    /// A 401 after the commit.
    Unauthenticated,
    /// The connection is reset before a byte of the reply.
    Reset,
    /// The connection is reset within the reply.
    ResetMidway,
}

impl Mishap {
    pub(super) const ALL: [Mishap; 7] = [
        Mishap::LostReply,
        Mishap::HalfReply,
        Mishap::BrokenReply,
        Mishap::Unavailable,
        Mishap::Unauthenticated,
        Mishap::Reset,
        Mishap::ResetMidway,
    ];
}

/// A review of an intake submission.
pub(super) fn review(server: &ReferenceServer) -> Value {
    json!({"submissionReference": server.sample_intake_submission(), "decision": "accept"})
}
