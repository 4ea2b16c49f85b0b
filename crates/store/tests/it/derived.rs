use planproof_store::{DerivedCase, NewCase, Store, StoreError};
use rusqlite::Connection;

use crate::support::{Directory, campaign, check_integrity, create, run};

fn derived(place: u32) -> DerivedCase {
    let case = NewCase { id: format!("trial-{place}"), json: "{}".into(), summary: None };
    DerivedCase { case, origin: format!("{{\"of\":{place}}}") }
}

#[test]
fn a_derived_campaign_grows_and_stands_in_no_listing() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "abc", 2, 1);
    assert_eq!(store.derived("abc").expect("reads"), []);
    store.create_derived("abc", &campaign("abc.trials", 9, 1)).expect("is created");
    let again = store.create_derived("abc", &campaign("abc.trials", 9, 1));
    assert!(matches!(again, Err(StoreError::CampaignExists { .. })), "{again:?}");
    store.add_cases("abc.trials", 0, &[derived(0), derived(1)]).expect("are added");
    store.add_cases("abc.trials", 2, &[derived(2)]).expect("is added");
    let wrong = store.add_cases("abc.trials", 2, &[derived(3)]);
    assert!(
        matches!(&wrong, Err(StoreError::Failed { what, .. }) if what.contains("3 cases where 2")),
        "{wrong:?}"
    );
    store.create_derived("abc", &campaign("abc.more", 9, 4)).expect("is created");
    let writer = store.writer().expect("starts");
    for place in 0..2 {
        run(&writer, "abc.trials", place, 0, 2).expect("runs");
    }
    drop(writer);

    for store in [&store, &Store::open_read_only(store.path()).expect("opens")] {
        let ids: Vec<String> = store.campaigns().expect("reads").into_iter().map(|it| it.id).collect();
        assert_eq!(ids, ["abc"]);
        assert_eq!(store.campaign("last").expect("reads").id, "abc");
        assert_eq!(store.campaign("ab").expect("reads").id, "abc");
        assert_eq!(store.campaign("abc.trials").expect("reads").total(), 3);
        assert!(store.campaign("abc.t").is_err());
        let found = store.derived("abc").expect("reads");
        let found: Vec<_> = found.iter().map(|it| (it.id.as_str(), it.total(), it.finished())).collect();
        assert_eq!(found, [("abc.trials", 3, 2), ("abc.more", 0, 0)]);
        assert_eq!(store.derived("abc.trials").expect("reads"), []);
        let origins: Vec<_> = store.origins("abc.trials").expect("reads").into_iter().flatten().collect();
        assert_eq!(origins, ["{\"of\":0}", "{\"of\":1}", "{\"of\":2}"]);
        assert_eq!(store.origins("abc").expect("reads"), [None, None]);
    }
    assert!(matches!(
        Store::open_read_only(store.path()).expect("opens").add_cases("abc.trials", 3, &[derived(3)]),
        Err(StoreError::ReadOnly { .. })
    ));
}

/// What is stored when the second of its two writes fails, as after a crash between them.
#[test]
fn a_derived_campaign_is_there_with_its_parent_or_not_at_all() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "abc", 2, 1);
    let other = Connection::open(store.path()).expect("opens");
    other
        .execute_batch(
            "CREATE TRIGGER fault BEFORE UPDATE OF parent ON campaign BEGIN SELECT RAISE(ABORT, 'fault'); END;",
        )
        .expect("creates");
    let failed = store.create_derived("abc", &campaign("abc.trials", 9, 1));
    assert!(matches!(&failed, Err(StoreError::Failed { .. })), "{failed:?}");
    other.execute_batch("DROP TRIGGER fault").expect("drops");
    let ids: Vec<String> = store.campaigns().expect("reads").into_iter().map(|it| it.id).collect();
    assert_eq!(ids, ["abc"]);
    store.create_derived("abc", &campaign("abc.trials", 9, 1)).expect("is created");
    let found = store.derived("abc").expect("reads");
    assert_eq!(found.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["abc.trials"]);
    check_integrity(store.path());
}
