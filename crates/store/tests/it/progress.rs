use planproof_store::{Progress, Store, StoreError, StoredSpent};
use planproof_trace::Usage;

use crate::support::{Directory, create, run};

fn progress(tokens: u64) -> Progress {
    Progress {
        spent: StoredSpent {
            input_tokens: tokens,
            output_tokens: tokens / 2,
            picodollars: Some(u64::from(u32::MAX) * tokens),
            is_estimate: tokens > 100,
        },
        served_input_tokens: tokens + 1,
        served_output_tokens: tokens + 2,
        ended_by: (tokens > 50).then(|| "0.50 USD".to_owned()),
        budgets: format!("{{\"tokens\":{tokens}}}"),
    }
}

#[test]
fn the_last_word_counts() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 40, 1);
    create(&store, "b", 1, 1);
    assert_eq!(store.campaign("a").expect("reads").progress, Progress::default());
    let writer = store.writer().expect("starts");
    let mut last = None;
    for tokens in 0..40 {
        run(&writer, "a", tokens, 0, 3).expect("runs");
        last = Some(writer.set_progress("a", &progress(tokens.into())));
    }
    last.expect("some").wait().expect("commits");
    let reader = Store::open_read_only(&directory.file("store.db")).expect("opens");
    assert_eq!(reader.campaign("a").expect("reads").progress, progress(39));
    assert_eq!(reader.campaign("b").expect("reads").progress, Progress::default());
    writer.set_progress("a", &progress(200)).wait().expect("commits");
    assert_eq!(store.campaign("a").expect("reads").progress, progress(200));

    let unknown = writer.set_progress("c", &progress(1)).wait();
    assert_eq!(unknown, Err(StoreError::UnknownCampaign { name: "c".to_owned() }));
    writer.flush().wait().expect("the mistake harms nobody");
}

#[test]
fn spending_is_noted_beside_the_rest() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 1, 1);
    let writer = store.writer().expect("starts");
    writer.set_progress("a", &progress(60)).wait().expect("commits");
    let served = |tokens| Usage::new(tokens + 1, tokens + 2);
    for tokens in 61..=200 {
        writer.note_spending("a", progress(tokens).spent, served(tokens));
        writer.note_spending("nobody", progress(tokens).spent, served(tokens));
    }
    writer.flush().wait().expect("commits");
    let noted = Progress { ended_by: progress(60).ended_by, budgets: progress(60).budgets, ..progress(200) };
    assert_eq!(store.campaign("a").expect("reads").progress, noted);
    // Progress set later is newer than what was noted, whether or not the note has been written.
    writer.note_spending("a", progress(300).spent, served(300));
    writer.set_progress("a", &progress(7)).wait().expect("commits");
    assert_eq!(store.campaign("a").expect("reads").progress, progress(7));
    // Nobody waits for it.
    writer.note_spending("a", progress(8).spent, served(8));
    drop((writer, store));
    assert_eq!(directory.store().campaign("a").expect("reads").progress.spent, progress(8).spent);
}

#[test]
fn it_is_kept_by_whoever_closes_the_store() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 1, 1);
    let writer = store.writer().expect("starts");
    // Nobody waits for it.
    drop(writer.set_progress("a", &progress(7)));
    drop((writer, store));
    assert_eq!(directory.store().campaign("a").expect("reads").progress, progress(7));
}
