use sdk_crm::testing::ScriptedTransport;
use sdk_crm::{Client, Error, ErrorKind};

/// The function under test.
async fn titles(crm: &Client) -> Result<Vec<String>, Error> {
    let opportunities = crm.opportunities().list().items().collect(100).await?;
    Ok(opportunities
        .iter()
        .filter_map(|it| it.text("title"))
        .collect())
}

fn page(items: &str, next_cursor: &str) -> String {
    let version = "suite-crm-opportunities-page.v2";
    format!(r#"{{"schemaVersion": "{version}", "items": {items}, "nextCursor": {next_cursor}}}"#)
}

#[tokio::test]
async fn titles_are_read_from_all_pages() -> Result<(), Error> {
    let (roof, garage) = (r#"[{"title": "Roof"}]"#, r#"[{"title": "Garage"}]"#);
    let transport = ScriptedTransport::new()
        .json(200, page(roof, r#""page-2""#))
        .json(200, page(garage, "null"))
        .json(200, r#"{"items": [], "nextCursor": null}"#);
    let crm = Client::new(&transport.suite().build()?)?;

    assert_eq!(titles(&crm).await?, ["Roof", "Garage"]);
    assert_eq!(transport.requests()[1].uri().query(), Some("cursor=page-2"));

    let error = titles(&crm).await.unwrap_err(); // the third page has no `schemaVersion`
    assert_eq!(error.kind(), ErrorKind::SchemaVersion);
    Ok(())
}
