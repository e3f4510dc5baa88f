//! Worlds in which an assumption does not hold: what each does, seen by requests, and that nothing else changes.

use sdk_reference_server::{Assumption, Builder, ReferenceServer};

use crate::peer::Peer;
use Assumption::A07;

/// What shows an assumption here and in the world that contradicts it.
const SEEN: [(Assumption, &str, &str); 1] = [(A07, "items", "data")];

fn world(contradicted: impl IntoIterator<Item = Assumption>) -> Peer {
    let builder = ReferenceServer::builder();
    let builder = contradicted.into_iter().fold(builder, Builder::contradict);
    Peer::of(builder.in_memory())
}

/// What a request shows of an assumption.
async fn look(peer: &Peer, assumption: Assumption) -> String {
    match assumption {
        A07 => {
            let page = peer.crm("/people").await.expect(200);
            let (name, _) = page
                .as_object()
                .unwrap()
                .iter()
                .find(|member| member.1.is_array())
                .unwrap();
            name.clone()
        }
        other => panic!("no request shows {other}"),
    }
}

#[tokio::test]
async fn each_world_contradicts_its_assumption_and_no_other() {
    for contradicted in Assumption::all()
        .filter(|one| *one == A07)
        .map(Some)
        .chain([None])
    {
        let peer = world(contradicted);
        for (assumption, here, there) in SEEN {
            let expected = if contradicted == Some(assumption) {
                there
            } else {
                here
            };
            assert_eq!(
                look(&peer, assumption).await,
                expected,
                "{assumption} in {contradicted:?}"
            );
        }
    }
}

#[test]
fn an_assumption_is_known_by_its_id_however_it_is_written() {
    for one in Assumption::all() {
        assert_eq!(one.id().to_lowercase().parse(), Ok(one));
    }
    let error = "A7".parse::<Assumption>().unwrap_err().to_string();
    assert!(
        error.contains("\"A7\"") && error.ends_with("A82, A83, A85"),
        "{error}"
    );
}
