//! The stops of the tour, one per application or theme.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use sdk_accounting::types::{ImportMode, ImportRunCreate, InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::{CalendarCommandResult, EventCommand};
use sdk_core::{App, Error, IdempotencyKey, RawJson, Record, Suite};
use sdk_crm::types::{OpportunityStage, PersonStatus};
use serde_json::{Value, json};

use super::print::{bar, fact, heading, or_dash, row, say, tell};

/// All stops, in their order.
pub(crate) async fn all(suite: &Suite) -> Result<(), Error> {
    let crm = sdk_crm::Client::new(suite)?;
    let calendar = sdk_calendar::Client::new(suite)?;
    let accounting = sdk_accounting::Client::new(suite)?;
    let platform = sdk_platform::Client::new(suite)?;

    organization(&platform).await?;
    attention(&crm).await?;
    people(&crm).await?;
    pipeline(&crm).await?;
    presentation(&crm).await?;
    event(&calendar).await?;
    books(&accounting).await?;
    // The same suite, allowed to do less: its CRM tokens are for the attention queue only.
    let narrow = suite.with_scopes(App::Crm, ["crm:today:read"])?;
    refusal(&sdk_crm::Client::new(&narrow)?).await
}

/// Organization and installed apps.
async fn organization(platform: &sdk_platform::Client) -> Result<(), Error> {
    heading("Platform");
    // The contract does not show these bodies, so they come as JSON to be opened as needed.
    let context = platform.organization().get().await?.to_value()?;
    fact(
        "organization",
        text(&context["organization"]["displayName"]),
    );
    fact("workspace", text(&context["installation"]["workspace"]));
    let apps = platform.apps().list().await?.to_value()?;
    for app in apps["items"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        let (name, version) = (text(&app["displayName"]), text(&app["contractVersion"]));
        fact(
            "installed",
            format!("{name} {version} ({})", text(&app["runtimeStatus"])),
        );
    }
    Ok(())
}

/// A text out of JSON whose shape is not documented, or a dash.
fn text(value: &Value) -> &str {
    or_dash(value.as_str())
}

/// The attention queue.
async fn attention(crm: &sdk_crm::Client) -> Result<(), Error> {
    let today = crm.today().get().await?;
    heading("CRM: what needs attention today");
    fact("in the queue", today.attention.len());
    for item in today.attention.iter().take(3) {
        let why = item
            .priority
            .as_ref()
            .and_then(|priority| priority.explanation.as_deref());
        say(format!(
            "• {} ({})",
            or_dash(item.title.as_deref()),
            or_dash(why)
        ));
    }
    fact("recent changes", today.recent_changes.len());
    Ok(())
}

/// A walk over all people, page by page behind the scenes.
async fn people(crm: &sdk_crm::Client) -> Result<(), Error> {
    heading("CRM: everybody");
    let mut people = crm.people().list().limit(50).items();
    let (mut count, mut active) = (0, 0);
    while let Some(person) = people.try_next().await? {
        count += 1;
        active +=
            i32::from(person.text("status").as_deref() == Some(PersonStatus::Active.as_str()));
    }
    fact("people", count);
    fact("of them active", active);
    Ok(())
}

/// One opportunity, and the funnel that it is in.
async fn pipeline(crm: &sdk_crm::Client) -> Result<(), Error> {
    heading("CRM: the pipeline");
    let page = crm
        .opportunities()
        .list()
        .stage(OpportunityStage::Qualified)
        .limit(1)
        .await?;
    if let Some(reference) = page
        .items()?
        .first()
        .and_then(|first| first.text("publicReference"))
    {
        let opportunity: Record = crm.opportunities().get(reference).await?.into_inner();
        fact(
            "a qualified opportunity",
            or_dash(opportunity.text("title").as_deref()),
        );
    }
    let funnel = crm.funnel().get().await?;
    let most = funnel
        .stages
        .iter()
        .filter_map(|stage| stage.open_count)
        .max()
        .unwrap_or(1);
    for stage in &funnel.stages {
        let open = stage.open_count.unwrap_or(0);
        let (entered, exited) = (
            stage.entered_in_window.unwrap_or(0),
            stage.exited_in_window.unwrap_or(0),
        );
        let name = or_dash(stage.stage.as_deref());
        row(
            name,
            format_args!(
                "{open:>4} open  {:<24}  +{entered} −{exited}",
                bar(open, most, 24)
            ),
        );
    }
    let outcomes = &funnel.outcomes;
    fact(
        "won / deferred / closed",
        format!(
            "{} / {} / {}",
            outcomes.won.unwrap_or(0),
            outcomes.deferred.unwrap_or(0),
            outcomes.closed_not_proceeding.unwrap_or(0)
        ),
    );
    Ok(())
}

/// What the caller may see and do, as the CRM describes it.
async fn presentation(crm: &sdk_crm::Client) -> Result<(), Error> {
    heading("CRM: what this client may see and do");
    let presentation = crm.presentation().get().await?;
    let sections = presentation
        .navigation
        .sections
        .as_deref()
        .unwrap_or_default();
    let labels: Vec<&str> = sections
        .iter()
        .filter_map(|section| section.label.as_deref())
        .collect();
    fact("sections", labels.join(", "));
    fact("views", presentation.views.len());
    fact("actions", presentation.actions.len());
    Ok(())
}

/// An event, the same command again, and another command under the same key.
async fn event(calendar: &sdk_calendar::Client) -> Result<(), Error> {
    heading("Calendar: one command, sent twice, committed once");
    let start = Timestamp::now().to_zoned(TimeZone::UTC);
    let end = start.saturating_add(SignedDuration::from_mins(45));
    let command = EventCommand::create()
        .collection_reference("tour")
        .title("Kick-off")
        .between(&start, &end)
        .check_conflicts(false);

    // A key follows from what the command is about; preparing binds it to this very body.
    let key = || IdempotencyKey::derive("tour/kick-off", [start.to_string()]);
    let prepared = calendar
        .events()
        .command(&command)
        .idempotency_key(key())
        .prepare()?;
    for _ in 0..2 {
        let receipt = calendar
            .send_prepared(&prepared)
            .typed::<CalendarCommandResult>()
            .await?;
        say(format!(
            "{} {} → {}, replayed: {}",
            receipt.http_status(),
            receipt.operation,
            receipt.public_reference,
            receipt.replayed
        ));
    }

    // Only the service knows what a key stands for, and says so.
    let other = command.title("Something else");
    let call = calendar.events().command(&other).idempotency_key(key());
    match call.await {
        Err(error) if error.is_idempotency_conflict() => {
            say("another command, same key:");
            tell(&error);
        }
        Err(error) => return Err(error),
        Ok(receipt) => say(format!(
            "another command, same key → taken as {}",
            receipt.public_reference
        )),
    }
    Ok(())
}

/// An invoice draft with an exact amount, and an import run.
async fn books(accounting: &sdk_accounting::Client) -> Result<(), Error> {
    heading("Accounting: a draft and an import");
    let counterparties = accounting.counterparties().list().await?;
    let Some(counterparty) = first_reference(&counterparties) else {
        say("there is no counterparty to invoice");
        return Ok(());
    };
    // Minor units are text or a number of any size: they never touch floating point.
    let tax = TaxAmount::new()
        .currency("EUR")
        .minor_units("1900")
        .scale(2);
    let line = RawJson::from(json!({"description": "Workshop", "quantity": 1}));
    let draft = InvoiceDraftCreate::new(counterparty, tax, [line]).customer_note("Thank you.");
    let receipt = accounting.invoice_drafts().create(&draft).await?;
    say(format!(
        "invoice draft {} {} ({})",
        receipt.subject_reference,
        receipt.outcome,
        receipt.http_status()
    ));

    let run = ImportRunCreate::new(
        "tour-adapter",
        "1.0.0",
        json!({"name": "tour"}),
        ImportMode::EvidenceOnly,
        json!({"from": "2026-01-01", "to": "2026-01-31"}),
    );
    let receipt = accounting.import_runs().create(&run).await?;
    say(format!(
        "import run {} {} ({})",
        receipt.subject_reference,
        receipt.outcome,
        receipt.http_status()
    ));
    Ok(())
}

/// The first reference that a list of an unknown shape holds.
fn first_reference(list: &RawJson) -> Option<String> {
    let value = list.to_value().ok()?;
    let items = value.get("items").or(Some(&value))?.as_array()?;
    items
        .iter()
        .find_map(|item| item.get("publicReference")?.as_str().map(str::to_owned))
}

/// A call that the token does not allow.
async fn refusal(narrow: &sdk_crm::Client) -> Result<(), Error> {
    heading("A refusal that explains itself");
    match narrow.people().list().await {
        Err(error) if error.is_forbidden() => tell(&error),
        Err(error) => return Err(error),
        Ok(_) => say("this suite granted more than was asked for"),
    }
    Ok(())
}
