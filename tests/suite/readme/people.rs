use sdk_crm::types::PersonStatus;
use sdk_crm::{Client, Error, Suite};

pub async fn print_active_people(suite: &Suite) -> Result<(), Error> {
    let crm = Client::new(suite)?;
    let mut people = crm.people().list().status(PersonStatus::Active).items();
    while let Some(person) = people.try_next().await? {
        println!("{}", person.text("displayName").unwrap_or_default());
    }
    Ok(())
}
