//! Combinations, and one budget shared by all of them.

use planproof_agents::AgentSpec;
use planproof_campaign::{
    BudgetOptions, COMBINATIONS_MAX, CampaignError, Keeping, Left, RequestedCampaign, ResumedMatrix,
    begin_matrix, combinations, parts,
};
use planproof_store::{Progress, StoredSpent};
use tokio::time::Instant;

use crate::toys::{Folder, Playground};
use crate::{cases, new, store};

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn names(
    agents: &[&str],
    models: &[&str],
    settings: &[(&'static str, &[&str])],
) -> Result<Vec<String>, String> {
    let settings: Vec<_> = settings.iter().map(|(key, values)| (*key, words(values))).collect();
    let all = combinations(&words(agents), &words(models), &settings);
    all.map(|all| all.iter().map(ToString::to_string).collect()).map_err(|error| error.to_string())
}

#[test]
fn agents_models_and_settings_are_combined_in_order() {
    assert_eq!(names(&["a", "tools@x/1"], &[], &[]).map_err(|error| error.contains("--model")), Err(true));
    assert_eq!(
        names(&["direct", "tools@x/1", "command:run"], &["x/1", "x/2"], &[]),
        Ok(words(&["direct@x/1", "direct@x/2", "tools@x/1", "command:run"]))
    );
    let settings: [(_, &[&str]); 2] = [("samples", &["1", "2"]), ("examples", &["", "on"])];
    assert_eq!(
        names(&["cot"], &["x/1"], &settings),
        Ok(words(&[
            "cot:samples=1@x/1",
            "cot:samples=1,examples=on@x/1",
            "cot:samples=2@x/1",
            "cot:samples=2,examples=on@x/1"
        ]))
    );
    // A path in a name may contain the characters that separate its parts.
    assert_eq!(names(&["spec:a.spec"], &["x/1"], &[]), Ok(words(&["spec:a.spec@x/1"])));
}

#[test]
fn there_are_not_more_combinations_than_a_matrix_has() {
    let values: Vec<String> = (1..=COMBINATIONS_MAX).map(|value| value.to_string()).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    assert_eq!(names(&["cot"], &["x/1"], &[("samples", &values)]).map(|all| all.len()), Ok(COMBINATIONS_MAX));
    let error = names(&["cot", "direct"], &["x/1"], &[("samples", &values)]).expect_err("too many");
    assert!(error.contains("make 200 combinations; a matrix has at most 100"), "{error}");
    // So many combinations that their number overflows, and so many models that they are not even combined.
    let all: Vec<(&'static str, &[&str])> = vec![("samples", &values); 40];
    assert!(names(&["cot"], &["x/1"], &all).expect_err("too many").contains("countless"));
    assert!(names(&["cot", "direct"], &values, &[]).expect_err("too many").contains("make 200"));
}

#[test]
fn a_name_has_its_parts_back() {
    let of = |name: &str| parts(&AgentSpec::parse(name).expect("an agent"));
    let found = of("repair:spec:a@b.spec:samples=3,evaluator=x/y@openai/z");
    assert_eq!((found.kind.as_str(), found.model.as_deref()), ("repair:spec:a@b.spec", Some("openai/z")));
    assert_eq!(found.settings, [("samples", "3".to_owned()), ("evaluator", "x/y".to_owned())]);
    let found = of("command:run a@b");
    assert_eq!((found.kind.as_str(), found.model, found.settings.len()), ("command:run a@b", None, 0));
}

#[test]
fn what_one_has_spent_the_others_do_not_have() {
    let (folder, world) = (Folder::new("matrix"), Playground::default());
    let spec = |name| AgentSpec::parse(name).expect("an agent");
    let budgets = BudgetOptions { max_tokens: Some(100), ..BudgetOptions::default() };
    let asked = RequestedCampaign { budgets, keeping: Keeping::Nowhere, ..new(&folder) };
    let agents = [spec("tools@toy/done"), spec("responses@toy/done")];
    let id = begin_matrix(&world, &asked, &agents, cases).expect("it begins");
    let kept = store(&folder).open().expect("the store");
    let rows = kept.campaigns_of_matrix(&id).expect("reads");
    assert_eq!(
        rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>(),
        [format!("{id}.1"), format!("{id}.2")]
    );
    let row = || kept.matrix(&id).expect("reads").expect("it is there");
    let open = |new: &BudgetOptions| ResumedMatrix::open(&kept, row(), new, Instant::now(), None);
    let left = |matrix: &ResumedMatrix, place: usize| -> Result<Option<u64>, CampaignError> {
        let rows = kept.campaigns_of_matrix(&id)?;
        Ok(match matrix.left(&rows, &rows[place].id)? {
            Left::Some(budgets) => budgets.max_tokens,
            Left::Nothing(_) => None,
        })
    };
    let matrix = open(&BudgetOptions::default()).expect("it goes on");
    assert_eq!(left(&matrix, 0).expect("known"), Some(100));
    let spend = |place: usize, tokens: u64| {
        let spent = StoredSpent { input_tokens: tokens, ..StoredSpent::default() };
        let writer = kept.writer().expect("starts");
        writer
            .set_progress(&rows[place].id, &Progress { spent, ..Progress::default() })
            .wait()
            .expect("writes");
    };
    spend(0, 60);
    // Its own spending is counted separately; it may use what the other has left.
    assert_eq!((left(&matrix, 0).expect("known"), left(&matrix, 1).expect("known")), (Some(100), Some(40)));
    spend(1, 40);
    assert_eq!(left(&matrix, 1).expect("known"), None);
    assert_eq!(matrix.ended_by("40 tokens"), "100 tokens");
    let error = open(&BudgetOptions::default()).err().expect("nothing is left").to_string();
    assert_eq!(
        error,
        "the budget of 100 tokens of the matrix is used up: set a larger one with --max-tokens"
    );
    // A larger budget persists.
    let larger = BudgetOptions { max_tokens: Some(250), ..BudgetOptions::default() };
    open(&larger).expect("it goes on");
    assert_eq!(left(&open(&BudgetOptions::default()).expect("it goes on"), 1).expect("known"), Some(190));
    // Those that leave nothing are refused, and replace none.
    for (refused, words) in [
        (
            BudgetOptions { max_tokens: Some(10), ..BudgetOptions::default() },
            "the budget of 10 tokens of the matrix is used up: set a larger one with --max-tokens",
        ),
        (
            BudgetOptions { minutes: Some(1e-9), ..BudgetOptions::default() },
            "the budget of 0.000000001 minutes of the matrix is used up: set a larger one with --minutes",
        ),
    ] {
        assert_eq!(open(&refused).err().expect("nothing is left").to_string(), words);
    }
    assert_eq!(left(&open(&BudgetOptions::default()).expect("it goes on"), 1).expect("known"), Some(190));
}

#[test]
fn a_combination_that_cannot_be_leaves_no_store() {
    let (folder, world) = (Folder::new("matrix-wrong"), Playground::default());
    let spec = |name| AgentSpec::parse(name).expect("an agent");
    let agents = [spec("tools@toy/done"), spec("tools@toy/other")];
    let error = begin_matrix(&world, &new(&folder), &agents, cases).expect_err("one cannot be").to_string();
    assert_eq!(error, "combination 2, tools@toy/other: there is no model toy/other");
    assert!(!store(&folder).path.exists() && !folder.path("r.1.jsonl").exists());
}
