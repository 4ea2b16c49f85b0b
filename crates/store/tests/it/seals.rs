//! Campaigns are sealed by keys that are stored in no file.

use planproof_store::{
    Damage, DerivedCase, Finish, NewCase, Progress, SealKey, Sealed, Seals, Signatures, Store, StoreError,
    Writer,
};
use rusqlite::Connection;

use crate::support::{Directory, PASSED, campaign, create, event, run, start};

const CASES: u32 = 6;

fn key(n: u8) -> SealKey {
    SealKey::from_seed(&[n; 32]).expect("is a seed")
}

/// A writer that seals.
fn sealing(store: &Store, n: u8) -> Writer {
    let writer = store.writer().expect("starts");
    assert_eq!(writer.seal(key(n)), key(n).fingerprint());
    writer
}

/// Runs some cases under a key, and ends its seal.
fn sealed(directory: &Directory, n: u8, ordinals: std::ops::Range<u32>) -> Sealed {
    let store = directory.store();
    let writer = sealing(&store, n);
    for ordinal in ordinals {
        run(&writer, "a", ordinal, 0, 3).expect("runs");
    }
    let mut sealed = writer.end_seals().wait().expect("commits");
    assert_eq!(sealed.len(), 1);
    sealed.pop().expect("one campaign")
}

fn seals(directory: &Directory) -> Seals {
    directory.store().seals("a", Signatures::All).expect("reads").expect("is sealed")
}

fn change(directory: &Directory, sql: &str) {
    let connection = Connection::open(directory.file("store.db")).expect("opens");
    connection.pragma_update(None, "foreign_keys", false).expect("sets");
    connection.execute_batch(sql).expect("changes");
}

/// Whether a check of the seals finds no problem.
fn is_sound(seals: &Seals) -> bool {
    seals.faults.is_empty() && seals.damaged.is_empty()
}

#[test]
fn a_campaign_is_sealed_over_all_its_beginnings() {
    let directory = Directory::new();
    create(&directory.store(), "a", CASES, 1);
    assert_eq!(directory.store().seals("a", Signatures::All), Ok(None));
    let first = sealed(&directory, 1, 0..2);
    let of_first = seals(&directory);
    assert!(is_sound(&of_first) && of_first.is_ended && of_first.are_of(&first), "{of_first:?}");

    // A process that is killed: it signs no number of links.
    {
        let store = directory.store();
        let writer = sealing(&store, 2);
        run(&writer, "a", 2, 0, 3).expect("runs");
        let open = start(&writer, "a", 3, 0).expect("starts");
        writer.append(open, &event(3, 0)).expect("appends");
        writer.flush().wait().expect("commits");
    }
    let cut_off = seals(&directory);
    assert!(is_sound(&cut_off) && !cut_off.is_ended, "{cut_off:?}");

    let last = sealed(&directory, 3, 3..6);
    let all = seals(&directory);
    assert!(is_sound(&all) && all.is_ended, "{all:?}");
    assert!(all.are_of(&last) && !all.are_of(&first));
    assert_eq!(all.fingerprints, [1, 2, 3].map(|n| key(n).fingerprint()));
    assert_eq!(all.links, u64::from(CASES));
}

#[test]
fn runs_that_are_run_again_leave_the_chain_sound() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 2, 1);
    {
        let writer = sealing(&store, 1);
        let unscored = start(&writer, "a", 0, 0).expect("starts");
        writer.finish_run(unscored, &Finish { passed: None, ..PASSED }).wait().expect("commits");
        run(&writer, "a", 1, 0, 3).expect("runs");
        writer.end_seals().wait().expect("commits");
    }
    assert!(is_sound(&seals(&directory)));
    let store = directory.store();
    let writer = sealing(&store, 2);
    let again = start(&writer, "a", 0, 0).expect("starts");
    writer.flush().wait().expect("commits");
    // Deleted and not yet finished again.
    assert!(is_sound(&seals(&directory)));
    writer.finish_run(again, &PASSED).wait().expect("commits");
    writer.end_seals().wait().expect("commits");
    let seals = seals(&directory);
    assert!(is_sound(&seals), "{seals:?}");
    assert_eq!(seals.links, 4, "two ends, one that was deleted, its new end");
}

#[test]
fn what_a_campaign_says_of_itself_is_sealed_when_it_ends() {
    for (changed, is_noticed) in [
        ("cases = 3", true),
        ("cases = cases + 1", true),
        ("ended_by = '1 USD'", true),
        ("budgets = '{\"isolation\": \"all\"}'", true),
        ("budgets = ''", true),
        ("spent_input_tokens = 7", false),
        ("label = 'x'", false),
    ] {
        let directory = Directory::new();
        create(&directory.store(), "a", CASES, 1);
        {
            let store = directory.store();
            let writer = sealing(&store, 1);
            run(&writer, "a", 0, 0, 1).expect("runs");
            writer.set_progress("a", &Progress::default()).wait().expect("commits");
            writer.end_seals().wait().expect("commits");
        }
        assert!(is_sound(&seals(&directory)), "{changed}");
        change(&directory, &format!("UPDATE campaign SET {changed}"));
        assert_eq!(!is_sound(&seals(&directory)), is_noticed, "{changed}");
        // Whoever resumes the campaign changes it, and seals it anew.
        change(&directory, "UPDATE campaign SET cases = (SELECT count(*) FROM campaign_case)");
        sealed(&directory, 2, 1..2);
        assert!(is_sound(&seals(&directory)), "{changed}");
    }
    // A case that nobody runs.
    let directory = Directory::new();
    create(&directory.store(), "a", CASES, 1);
    sealed(&directory, 1, 0..2);
    change(
        &directory,
        "INSERT INTO campaign_case (campaign, ordinal, case_id, json) VALUES (1, 99, 'z', '{}')",
    );
    assert!(!is_sound(&seals(&directory)));
}

#[test]
fn runs_that_are_open_at_the_end_of_a_seal_are_abandoned() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 2, 1);
    let writer = sealing(&store, 1);
    run(&writer, "a", 0, 0, 3).expect("runs");
    let open = start(&writer, "a", 1, 0).expect("starts");
    writer.append(open, &event(1, 0)).expect("appends");
    let sealed = writer.end_seals().wait().expect("commits");
    let is_closed = Err(StoreError::RunNotOpen { run: open });
    assert_eq!(writer.append(open, &event(1, 1)), is_closed);
    assert_eq!(writer.finish_run(open, &PASSED).wait(), is_closed);
    writer.flush().wait().expect("commits");
    let of_first = seals(&directory);
    assert!(is_sound(&of_first) && of_first.is_ended && of_first.are_of(&sealed[0]), "{of_first:?}");
    // Its unit can be run again, under a new seal.
    run(&writer, "a", 1, 0, 3).expect("runs");
    writer.end_seals().wait().expect("commits");
    let of_both = seals(&directory);
    assert!(is_sound(&of_both) && of_both.is_ended, "{of_both:?}");
    assert_eq!(of_both.links, 2);
}

#[test]
fn a_chain_that_a_killed_process_left_is_ended_without_another_run() {
    let directory = Directory::new();
    create(&directory.store(), "a", 2, 1);
    {
        let store = directory.store();
        store.create_derived("a", &campaign("a.dissection", 2, 1)).expect("is created");
        let case = NewCase { id: "trial".into(), json: "{}".into(), summary: None };
        let cases = [DerivedCase { case, origin: "{}".to_owned() }];
        store.add_cases("a.dissection", 0, &cases).expect("are added");
        let writer = sealing(&store, 1);
        for (id, ordinal) in [("a", 0), ("a", 1), ("a.dissection", 0)] {
            run(&writer, id, ordinal, 0, 3).expect("runs");
        }
    }
    let of = |id| directory.store().seals(id, Signatures::All).expect("reads").expect("is sealed");
    assert!(["a", "a.dissection"].into_iter().all(|id| is_sound(&of(id)) && !of(id).is_ended));

    let resumed = |n| {
        let store = directory.store();
        let writer = sealing(&store, n);
        writer.resume_seals("a");
        writer.end_seals().wait().expect("commits")
    };
    assert_eq!(resumed(2).len(), 2);
    let both = ["a", "a.dissection"].map(of);
    for seals in &both {
        assert!(is_sound(seals) && seals.is_ended, "{seals:?}");
        assert_eq!(seals.fingerprints, [1, 2].map(|n| key(n).fingerprint()));
    }
    // What has ended needs no other key.
    assert!(resumed(3).is_empty());
    assert_eq!(["a", "a.dissection"].map(of), both);
}

#[test]
fn what_is_changed_and_made_to_fit_again_is_found() {
    // An attacker who changes a run can recompute its digest and that of its link, but not the signature.
    let changes = [
        // Replaces the digest by another one, as after rewriting the run.
        ("UPDATE run SET digest = zeroblob(32) WHERE id = 2", true),
        (
            "UPDATE run SET digest = zeroblob(32) WHERE id = 2; UPDATE link SET digest = zeroblob(32) WHERE run = 2",
            true,
        ),
        ("DELETE FROM run WHERE id = 2", true),
        ("DELETE FROM run WHERE id = 2; DELETE FROM link WHERE run = 2", true),
        (
            "DELETE FROM run WHERE id = 2; DELETE FROM link WHERE run = 2;
             UPDATE link SET number = number - 1 WHERE run > 2",
            true,
        ),
        ("UPDATE seal SET public_key = zeroblob(32)", true),
        ("UPDATE seal SET ended = 3", true),
        ("UPDATE campaign SET agent = 'another'", true),
        ("UPDATE campaign SET options = '{}'", true),
        // The last run is removed with every trace of it: without the seal nobody can detect that.
        (
            "DELETE FROM run WHERE id = 6; DELETE FROM link WHERE run = 6; UPDATE seal SET ended = NULL, end_signature = NULL",
            false,
        ),
        // Makes the campaign look unsealed.
        ("DELETE FROM link; DELETE FROM seal", false),
    ];
    for (sql, is_found) in changes {
        let directory = Directory::new();
        create(&directory.store(), "a", CASES, 1);
        let sealed = sealed(&directory, 1, 0..CASES);
        assert!(is_sound(&seals(&directory)));
        change(&directory, sql);
        let found = directory.store().seals("a", Signatures::All).expect("reads");
        assert_eq!(found.as_ref().is_some_and(|seals| !is_sound(seals)), is_found, "{sql}: {found:?}");
        let quick = directory.store().seals("a", Signatures::Ends).expect("reads");
        assert_eq!(quick.is_some_and(|seals| !is_sound(&seals)), is_found, "{sql}");
        // The process that sealed it, or a user who has its fingerprint and checks that the seal was ended, is
        // never fooled.
        let is_the_same = found.is_some_and(|seals| {
            seals.are_of(&sealed)
                && seals.is_ended
                && is_sound(&seals)
                && seals.last() == Some(key(1).fingerprint())
        });
        assert!(!is_the_same, "{sql}");
    }
}

#[test]
fn a_signature_in_the_middle_is_looked_at_where_all_are() {
    let directory = Directory::new();
    create(&directory.store(), "a", CASES, 1);
    sealed(&directory, 1, 0..CASES);
    change(&directory, "UPDATE link SET signature = zeroblob(64) WHERE number = 2 AND signature IS NOT NULL");
    let found = |signatures| directory.store().seals("a", signatures).expect("reads").expect("is sealed");
    assert_eq!(found(Signatures::All).faults, ["the signature of link 2 of the chain is wrong"]);
    // This does not allow any run to differ.
    assert!(is_sound(&found(Signatures::Ends)));
    change(&directory, "UPDATE link SET signature = zeroblob(64) WHERE number = 5");
    assert_eq!(found(Signatures::Ends).faults, ["the signature of link 5 of the chain is wrong"]);
}

#[test]
fn a_campaign_goes_on_after_a_gap_in_its_chain() {
    let directory = Directory::new();
    create(&directory.store(), "a", CASES, 1);
    sealed(&directory, 1, 0..5);
    change(&directory, "DELETE FROM link WHERE number IN (1, 2)");
    let missing = |seals: &Seals| {
        seals.faults.iter().filter(|fault| fault.ends_with(" missing")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(missing(&seals(&directory)), ["links 1 to 2 of the chain are missing"]);
    // The number of the last link is taken, so the new link must not get it.
    sealed(&directory, 2, 5..CASES);
    let found = seals(&directory);
    assert_eq!(missing(&found), ["links 1 to 2 of the chain are missing"]);
    assert_eq!(found.links, u64::from(CASES));
    change(&directory, "DELETE FROM link WHERE number = 0");
    assert_eq!(missing(&seals(&directory)), ["links 0 to 2 of the chain are missing"]);
}

#[test]
fn whoever_writes_all_of_it_anew_has_another_seal() {
    let directory = Directory::new();
    create(&directory.store(), "a", CASES, 1);
    let sealed_first = sealed(&directory, 1, 0..CASES);
    change(&directory, "DELETE FROM link; DELETE FROM seal; DELETE FROM event; DELETE FROM run");
    sealed(&directory, 9, 0..CASES);
    let forged = seals(&directory);
    assert!(is_sound(&forged) && forged.is_ended, "nothing else gives it away");
    assert!(!forged.are_of(&sealed_first));
    assert_eq!(forged.last(), Some(key(9).fingerprint()));
    assert_ne!(forged.last(), Some(key(1).fingerprint()));
}

#[test]
fn a_run_that_vanished_is_named() {
    let directory = Directory::new();
    create(&directory.store(), "a", CASES, 1);
    sealed(&directory, 1, 0..CASES);
    change(&directory, "DELETE FROM run WHERE ordinal = 4");
    let damaged = seals(&directory).damaged;
    assert_eq!(
        damaged.iter().map(|run| (run.unit.ordinal, &run.damage)).collect::<Vec<_>>(),
        [(4, &Damage::Missing)]
    );
}

#[test]
fn an_export_leaves_out_a_run_that_is_not_the_sealed_one() {
    let directory = Directory::new();
    create(&directory.store(), "a", CASES, 1);
    sealed(&directory, 1, 0..CASES);
    change(&directory, "UPDATE link SET digest = zeroblob(32) WHERE ordinal = 4");
    let mut out = Vec::new();
    let exported = directory.store().export_traces("a", &mut out).expect("exports the others");
    let left_out: Vec<_> = exported.left_out.iter().map(|run| (run.unit.ordinal, &run.damage)).collect();
    assert_eq!((exported.traces, left_out), (u64::from(CASES) - 1, vec![(4, &Damage::NotSealed)]));
    assert!(!String::from_utf8(out).expect("UTF-8").contains("case-4"));
}

#[test]
fn a_link_of_somebody_else_stops_the_writer() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", CASES, 1);
    let writer = sealing(&store, 1);
    run(&writer, "a", 0, 0, 3).expect("runs");
    change(&directory, "INSERT INTO link SELECT campaign, 1, seal, 99, 1, 0, digest, signature FROM link");
    let error = run(&writer, "a", 1, 0, 3).expect_err("its place is taken");
    assert_eq!(error, StoreError::Interfered { path: directory.file("store.db") });
}

#[test]
fn only_its_fingerprint_shows_of_a_key() {
    assert_eq!(format!("{:?}", key(1)), format!("SealKey({})", key(1).fingerprint()));
}
