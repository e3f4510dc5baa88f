use sdk_platform::{Client, Error, Suite};

pub async fn print_apps(suite: &Suite) -> Result<(), Error> {
    let platform = Client::new(suite)?;
    // The contract does not show this body: it comes as JSON, to be opened as needed.
    let apps = platform.apps().list().await?;
    println!("{apps}");
    Ok(())
}
