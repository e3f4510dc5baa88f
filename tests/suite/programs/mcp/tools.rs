//! The offered tools and reads.

use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::{EVENT, LEGACY, MODERN, Stage, event};

#[tokio::test]
async fn both_eras_of_the_protocol_list_the_tools_read_and_propose() {
    for protocol in [LEGACY, MODERN] {
        let stage = Stage::new().await;
        stage.register();
        let mut agent = stage.agent_with("", protocol);
        assert!(agent.names().contains(&EVENT.to_owned()));
        let page = agent.call("crm_people_list", json!({"limit": 2})).unwrap();
        assert_eq!(stage.server.attempts(Operation::ListPeople), 1);
        let page: Value = serde_json::from_str(&page[0]).unwrap();
        assert_eq!(page["items"].as_array().unwrap().len(), 2);

        let proposed = agent.propose(EVENT, event("Kick-off"));
        assert_eq!(proposed["status"], "pending");
        assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 0);
        assert_eq!(agent.end().0, Some(0));
    }
}
