//! What the pages show.

use std::fs;

use planproof_store::Unit;
use planproof_trace::{EndReason, Event, EventKind};
use planproof_view::limits::RUNS_PER_PAGE;

use crate::support::{Campaign, Directory, Site};

/// The units of the rows of a table.
fn units(page: &str) -> Vec<String> {
    let values = page.split("data-unit=\"").skip(1);
    values.map(|rest| rest.split('"').next().expect("is closed").to_owned()).collect()
}

/// The address of the link with these words, below the token.
fn link(page: &str, words: &str) -> Option<String> {
    let before = page.split(&format!(">{words}</a>")).next().filter(|before| before.len() < page.len())?;
    let address = before.rsplit("href=\"").next()?.split('"').next()?;
    Some(address.splitn(3, '/').nth(2)?.replace("&amp;", "&"))
}

#[test]
fn runs_are_filtered_and_paged() {
    let directory = Directory::new();
    let store = directory.store();
    let campaign = Campaign::create(&store, "abc", "some@agent", 60, 2);
    for ordinal in 0..60 {
        let mut order = campaign.right(ordinal);
        campaign.run(ordinal, 0, &order);
        if ordinal % 4 == 0 {
            order.reverse();
        }
        if ordinal % 5 != 4 {
            campaign.run(ordinal, 1, &order);
        } else {
            campaign.start(Unit { ordinal, repeat: 1 });
        }
    }
    let site = directory.serve();
    let all = |query: &str| {
        let (mut found, mut address, mut pages) = (Vec::new(), Some(format!("0/abc/?{query}")), 0);
        while let Some(at) = address {
            let answer = site.get(&at);
            assert_eq!(answer.status, 200, "{at}");
            assert!(units(&answer.body).len() <= RUNS_PER_PAGE);
            found.extend(units(&answer.body));
            address = link(&answer.body, "Next runs").or_else(|| link(&answer.body, "Look further"));
            pages += 1;
            assert!(pages < 20);
        }
        found
    };
    let expected: Vec<String> =
        (0..60).flat_map(|ordinal| [format!("{ordinal}-0"), format!("{ordinal}-1")]).collect();
    assert_eq!(all(""), expected);
    let row = store.campaign("abc").expect("is there");
    assert!(row.failed > 5 && row.started == 12, "{row:?}");
    let failed = all("outcome=failed");
    assert_eq!(failed.len() as u64, row.failed);
    let is_reversed = |unit: &String| {
        unit.ends_with("-1") && unit.split('-').next().unwrap().parse::<u32>().unwrap() % 4 == 0
    };
    assert!(failed.iter().all(is_reversed), "{failed:?}");
    assert_eq!(all("outcome=passed").len() as u64, row.passed);
    assert_eq!(all("outcome=unscored").len(), 0);
    assert_eq!(all("outcome=running").len(), 12);
    assert_eq!(all("class=order_error"), failed);
    assert_eq!(all("class=order_error&outcome=passed").len(), 0);
    let id = &planproof_suite::Case::card(&*campaign.cases[17]).id.clone();
    assert!(all(&format!("text={id}")).contains(&"17-0".to_owned()));
    assert_eq!(all("text=no+such+case"), Vec::<String>::new());
    let page = site.get("0/abc/").body;
    assert!(
        page.contains("of 5,000 tokens")
            && page.contains("&lt;script&gt;alert(1)")
            && !page.contains("<script>alert")
    );
}

#[test]
fn campaigns_of_several_stores_are_listed_newest_first_and_found() {
    let directory = Directory::new();
    let store = directory.store();
    for number in 0..30 {
        Campaign::create(
            &store,
            &format!("a{number:02}"),
            if number % 3 == 0 { "x@y" } else { "<b>z" },
            1,
            1,
        );
    }
    let other = directory.file("other.db");
    drop(planproof_store::Store::open(&other, Default::default()).expect("opens"));
    let broken = directory.file("broken.db");
    fs::write(&broken, "no database").expect("is written");
    let missing = directory.file("missing.db");
    let site = Site::over(vec![directory.file("runs.db"), other, broken, missing]);
    let listed = |page: &str| page.matches("data-campaign=").count();
    let first = site.get("").body;
    assert_eq!(listed(&first), 25);
    assert!(first.contains("&lt;b&gt;z") && !first.contains("<b>z"));
    let second = site.get(&link(&first, "Older campaigns").expect("there are more")).body;
    assert_eq!(listed(&second), 5);
    assert!(
        second.contains("is not a planproof run store") && second.contains("is not there any more"),
        "{second}"
    );
    assert_eq!(listed(&site.get("?agent=X%40").body), 10);
    assert_eq!(listed(&site.get("?text=a07").body), 1);
    assert!(site.get("?text=nothing").body.contains("No campaign fits, among 30 campaigns"));
}

#[test]
fn a_store_without_campaigns_and_one_that_is_removed_are_said_to_be_so() {
    let directory = Directory::new();
    let store = directory.store();
    let site = directory.serve();
    assert!(site.get("").body.contains("has no campaign yet"));
    Campaign::create(&store, "abc", "agent", 1, 1);
    assert_eq!(site.get("0/abc/").status, 200);
    assert_eq!(site.get("0/abc/report").body, "the report of abc");
    drop(store);
    fs::remove_file(directory.file("runs.db")).expect("is removed");
    let gone = site.get("0/abc/");
    assert!(gone.status == 503 && gone.body.contains("is not there any more"), "{gone:?}");
}

#[test]
fn a_run_is_shown_with_its_steps_and_foreign_text_stays_text() {
    let directory = Directory::new();
    let store = directory.store();
    let campaign = Campaign::create(&store, "abc", "agent", 2, 1);
    let mut order = campaign.right(0);
    order.reverse();
    campaign.run(0, 0, &order);
    let site = directory.serve();
    let page = site.get("0/abc/0/0").body;
    assert!(page.contains("&lt;img src=x onerror") && !page.contains("<img src=x"), "{page}");
    assert!(
        page.contains("data-state=\"broken\"")
            && page.contains("order_error")
            && page.contains("First wrong call")
    );
    let count = order.len();
    let mut address = link(&page, "← one call back");
    for left in (0..count).rev() {
        let page = site.get(&address.expect("there is a step back")).body;
        assert!(page.contains(&format!("call {left} of {count}")), "{left}");
        assert_eq!(
            page.matches("class=\"node undone").count() + page.matches("node broken undone").count(),
            count - left
        );
        assert!(!page.contains("data-live="));
        address = link(&page, "← one call back");
    }
    assert_eq!(address, None);
    assert!(site.get("0/abc/1/0").body.contains("not begun"));
}

#[test]
fn an_event_of_five_megabytes_is_cut_and_says_so() {
    let directory = Directory::new();
    let store = directory.store();
    let campaign = Campaign::create(&store, "abc", "agent", 1, 1);
    let unit = Unit { ordinal: 0, repeat: 0 };
    let run = campaign.start(unit);
    let text = "x".repeat(5_000_000);
    let events = [Event::new(0, EventKind::End(EndReason::Answered { text }))];
    campaign.append(run, &events[0]);
    campaign.finish(run, unit, &events);
    let page = directory.serve().get("0/abc/0/0").body;
    assert!(page.len() < 200_000 && page.contains("more characters)"), "{}", page.len());
}
