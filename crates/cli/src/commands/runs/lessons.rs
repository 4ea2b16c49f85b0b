//! `planproof runs lessons` and `planproof runs forget`: the lessons of runs for agents with a memory.

use std::io::Write as _;
use std::path::Path;

use planproof_output::failure::Failure;
use planproof_output::layout::counted;
use planproof_output::print::print_json;
use planproof_output::{tell, terminal};
use planproof_store::{LessonRow, NewLesson, Store, StoreLimits, WhichLessons};
use serde_json::json;

use crate::arguments::Global;
use crate::stored;

/// Lists lessons, at most the newest `most`.
pub(super) fn list(
    store: &Store,
    run: Option<&str>,
    tool: Option<&str>,
    most: u32,
    global: &Global,
) -> Result<(), Failure> {
    let campaign = run.map(|run| stored::find(store, run)).transpose()?;
    let campaign = campaign.as_ref().map(|campaign| campaign.id.as_str());
    let which = WhichLessons { campaign, tool, ..WhichLessons::default() };
    let rows = store.lessons(&which, most)?;
    let left = store.count_lessons(&which)?.saturating_sub(rows.len() as u64);
    // On stderr, because stdout has nothing but lessons, for programs a document in each line.
    if left > 0 {
        let are = if left == 1 { "is" } else { "are" };
        tell!("{} {are} left out; list more with --most", counted(left, "older lesson"));
    }
    if rows.is_empty() {
        tell!(
            "there are no such lessons; runs of agents that write sub-tasks teach some with the option memory=on"
        );
    }
    let mut out = terminal::text();
    for LessonRow { campaign, case, repeat, lesson } in rows {
        let NewLesson { kept_as, tool, about, text } = lesson;
        if global.json {
            print_json(&json!({
                "run": campaign, "case": case, "repeat": repeat, "kept_as": kept_as, "tool": tool, "about": about,
                "text": text,
            }))?;
            continue;
        }
        let (case, kept_as) = (terminal::inline(&case), terminal::inline(&kept_as));
        writeln!(
            out,
            "{campaign}, case {case}, repeat {repeat}, for {kept_as}\n  {}",
            terminal::inline(&text)
        )?;
    }
    Ok(())
}

/// Deletes lessons, and reports their number.
pub(super) fn forget(
    path: &Path,
    run: Option<&str>,
    tool: Option<&str>,
    global: &Global,
) -> Result<(), Failure> {
    let store = Store::open(path, StoreLimits::default())?;
    let campaign = run.map(|run| stored::find(&store, run)).transpose()?;
    let campaign = campaign.as_ref().map(|campaign| campaign.id.as_str());
    let deleted = store.delete_lessons(&WhichLessons { campaign, tool, ..WhichLessons::default() })?;
    if global.json {
        return print_json(&json!({ "deleted": deleted }));
    }
    writeln!(terminal::text(), "{} deleted", counted(deleted, "lesson"))?;
    Ok(())
}
