use sdk_accounting::types::{InvoiceDraftCreate, TaxAmount};
use sdk_accounting::{Client, Effect, Error, RawJson, Suite};

pub async fn draft_invoice(
    suite: &Suite,
    counterparty: &str,
    lines: Vec<RawJson>,
) -> Result<(), Error> {
    let accounting = Client::new(suite)?;
    // Minor units are exact, whatever their size: they never touch floating point.
    let tax = TaxAmount::new()
        .currency("EUR")
        .minor_units("1900")
        .scale(2);
    let draft = InvoiceDraftCreate::new(counterparty, tax, lines);
    match accounting.invoice_drafts().create(&draft).await {
        Ok(receipt) => println!("{}", receipt.subject_reference),
        Err(error) => match error.effect() {
            Effect::NotSent | Effect::Refused => return Err(error),
            // The reply was lost, and whether it happened is unknown. Sending the same command again returns its result. If
            // that is refused, it stays unknown: the refusal may be of the second one only.
            Effect::Unknown => {
                let command = error.command().ok_or(error.clone())?;
                accounting.send_prepared(command).await?;
            }
        },
    }
    Ok(())
}
