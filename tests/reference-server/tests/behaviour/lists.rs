//! Lists: their cursors (A75) and their items (A76). The suite tests filters, limits and defaults.

use std::time::Duration;

use sdk_reference_server::{App, ReferenceServer};
use serde_json::json;

use crate::peer::{Peer, rows};
use crate::rows::shows;

const A_YEAR: Duration = Duration::from_secs(365 * 86_400);

/// A path, and the fields of its first item.
const FIELDS: &str = "
    /people | publicReference recordVersion displayName status email organization updatedAt
    /organizations | publicReference recordVersion displayName status updatedAt
    /opportunities | publicReference recordVersion title stage owner organization updatedAt
    /tasks | publicReference recordVersion title status owner updatedAt
    /intake-submissions | publicReference recordVersion status
    /search?q=an | publicReference type title
    /actors | publicReference displayName workload";

const SHOWN: &str = r#"
    /search?q=zzzzzz | /items | []
    /presentation | /navigation/sections/5/order | 6
    /today | /recentChanges/24/subjectType | "task""#;

#[tokio::test]
async fn a_cursor_belongs_to_its_query_and_never_expires() {
    let peer = Peer::start().await;
    let whole = peer.walk("/people?status=active").await;
    let first = peer.crm("/people?status=active&limit=10").await.expect(200);
    let cursor = first["nextCursor"].as_str().unwrap();
    assert!((20..=500).contains(&cursor.len()));

    // A new record comes after all others.
    let new = json!({"displayName": "New Comer", "status": "active"});
    let command = json!({"commandType": "person.create", "payload": new});
    peer.command(&command).await.expect(201);
    peer.server.advance(10 * A_YEAR);
    let next = format!("/people?status=active&limit=50&cursor={cursor}");
    let next = peer.crm(&next).await.expect(200);
    assert_eq!(next["items"], json!(whole[10..60]));
    let later = peer.walk("/people?status=active").await;
    assert_eq!(later[..whole.len()], whole);
    assert_eq!(later.last().unwrap()["displayName"], "New Comer");
}

#[tokio::test]
async fn items_have_the_fields_of_their_kind() {
    let peer = Peer::start().await;
    for [path, fields] in rows(FIELDS) {
        let page = peer.crm(path).await.expect(200);
        for field in fields.split(' ') {
            assert!(page["items"][0].get(field).is_some(), "{path}: {field}");
        }
    }
    shows(&peer, App::Crm, SHOWN).await;
}

#[tokio::test]
async fn a_million_people_can_be_listed() {
    let peer = Peer::of(ReferenceServer::builder().people(1_000_000).start().await);
    let page = peer.crm("/people?limit=50").await.expect(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 50);
}
