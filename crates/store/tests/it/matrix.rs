use planproof_store::{Matrix, NewCase, Store, StoreError};

use crate::support::{Directory, campaign, check_integrity, create, store_of_version};

fn matrix(id: &str) -> Matrix {
    Matrix { id: id.to_owned(), created_ms: 5, command_line: "line".to_owned(), budgets: "{}".to_owned() }
}

fn cases(count: usize) -> Vec<NewCase> {
    (0..count).map(|number| NewCase::from((format!("case-{number}"), "{}"))).collect()
}

fn ids(store: &Store, matrix: &str) -> Vec<String> {
    store.campaigns_of_matrix(matrix).expect("reads").into_iter().map(|campaign| campaign.id).collect()
}

#[test]
fn campaigns_that_were_asked_for_together_are_found_together() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "b7", 2, 1);
    // Campaigns created at the same time are in the order of the combinations.
    let all = ["a1.1", "a1.2", "a1.10"].map(|id| campaign(id, 5, 2));
    store.create_matrix(&matrix("a1"), &all, &cases(3)).expect("creates");
    assert_eq!(ids(&store, "a1"), ["a1.1", "a1.2", "a1.10"]);
    let one = store.campaign("a1.2").expect("it is there");
    assert_eq!((one.cases, one.repeats), (3, 2));
    // It is an ordinary campaign, which is listed.
    assert_eq!(store.campaigns().expect("reads").len(), 4);
    for name in ["a1", "a", "last"] {
        let found = store.matrix(name).expect("reads");
        assert_eq!(found, Some(matrix("a1")), "{name}");
    }
    for name in ["b7", "b", "a1.", "nothing", ""] {
        assert_eq!(store.matrix(name).expect("reads"), None, "{name}");
    }
    assert_eq!(store.matrix_of("a1.10").expect("reads"), Some(matrix("a1")));
    assert_eq!(store.matrix_of("b7").expect("reads"), None);
    // A newer campaign, whose id also starts the same way.
    store.create_campaign(&campaign("a2", 9, 1), cases(1)).expect("creates");
    assert_eq!(["last", "a"].map(|name| store.matrix(name).expect("reads")), [None, None]);
    store.set_matrix_budgets("a1", "{\"most\":1}").expect("writes");
    drop(store);
    let store = Store::open_read_only(&directory.file("store.db")).expect("opens");
    assert_eq!(store.matrix("a1").expect("reads").map(|it| it.budgets), Some("{\"most\":1}".to_owned()));
    assert_eq!(ids(&store, "a1").len(), 3);
    check_integrity(&directory.file("store.db"));
}

#[test]
fn a_matrix_is_there_as_a_whole_or_not_at_all() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a1.2", 1, 1);
    let all = ["a1.1", "a1.2"].map(|id| campaign(id, 5, 1));
    let error = store.create_matrix(&matrix("a1"), &all, &cases(3)).expect_err("one is there");
    assert!(matches!(&error, StoreError::CampaignExists { id } if id == "a1.2"), "{error}");
    assert!(store.matrix("a1").expect("reads").is_none() && store.campaign("a1.1").is_err());
    store.create_matrix(&matrix("c"), &[campaign("c.1", 5, 1)], &cases(1)).expect("creates");
    let again = store.create_matrix(&matrix("c"), &[campaign("c.3", 5, 1)], &cases(1));
    assert!(matches!(again, Err(StoreError::CampaignExists { id }) if id == "c"));
    let read_only = Store::open_read_only(&directory.file("store.db")).expect("opens");
    let refused = read_only.create_matrix(&matrix("d"), &[], &[]);
    assert!(matches!(refused, Err(StoreError::ReadOnly { .. })));
}

#[test]
fn a_store_of_before_has_no_matrix() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    let insert =
        "INSERT INTO campaign (id, created_ms, command_line, agent, simulated, options, cases, repeats)
                  VALUES ('a', 5, 'x', 'x', 0, '{}', 0, 1)";
    store_of_version(&path, 4).execute_batch(insert).expect("inserts");
    let store = Store::open_read_only(&path).expect("opens");
    assert_eq!((store.matrix("last").expect("reads"), store.matrix_of("a").expect("reads")), (None, None));
    assert_eq!(ids(&store, "a"), Vec::<String>::new());
}
