use std::cell::RefCell;
use std::collections::BTreeSet;

use planproof_engine::Unit;
use planproof_report::html::{self, HtmlLimits};
use planproof_report::{CommandLines, ReportedCampaign, TraceSource};
use planproof_sim::SimKind;
use planproof_synth::{ConstraintId, OracleVerdict, OrderClass, PlanningCase, Source, SynthesisOptions};
use planproof_trace::{
    ATTACHMENTS_MAX, Arguments, Attachment, Attachments, CallId, EndReason, EventKind, FinishReason,
    PictureType, ToolCall, ToolResult, Trace, Usage,
};
use proptest::prelude::*;

use crate::campaigns::{TestCampaign, acted_by_samples, cases, dated, right_plan, run};
use crate::markup::{Element, parse};

pub(crate) fn page_within(campaign: &ReportedCampaign<'_>, limits: &HtmlLimits) -> String {
    let mut out = Vec::new();
    html::write(campaign, limits, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("a page is text")
}

pub(crate) fn page(campaign: &TestCampaign) -> String {
    page_within(&campaign.reported(), &HtmlLimits::default())
}

pub(crate) fn parsed(campaign: &TestCampaign) -> Element {
    parse(&page(campaign)).expect("the page is all ours")
}

/// Headings with their levels, and notes in boxes.
fn outline(page: &Element) -> String {
    let is_line = |element: &Element| {
        ["h1", "h2", "h3", "h5"].contains(&element.name.as_str())
            || element.has_class("banner")
            || element.name == "summary"
    };
    let lines = page.find(&is_line).into_iter().map(|line| format!("{}: {}", line.name, line.lines()));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_parts_come_in_order() {
    let options = SynthesisOptions { actions_max: 3, ..SynthesisOptions::default() };
    let campaign = TestCampaign::simulated(SimKind::InOrder, options, 4);
    let page = parsed(&campaign);
    insta::assert_snapshot!(outline(&page), @r#"
    h1: tools@sim/in-order
    p: SIMULATION: a simulated model planned; these figures say nothing about any real model.
    h2: Key figures
    h2: Findings
    h2: Success by number of actions
    h2: What a run took
    h2: By wording and relation
    h2: Failures by class
    h2: Flags
    h2: Failing cases
    h3: Findings: the smallest cases, one of each class first
    summary: Finding 1 order_error case 7-3, 3 actions traffic camera search came before police dog training: "Earlier than traffic camera search, police dog training and bank transfer tracing happen" (and 1 more)
    h5: Constraints
    h5: Trace
    summary: Finding 2 order_error case 7-2, 3 actions leather auction came before runway lighting rehearsal: "Runway lighting rehearsal precedes leather auction and button inventory" (and 1 more)
    h5: Constraints
    h5: Trace
    summary: Finding 3 order_error case 7-1, 3 actions simulation code profiling came before pulsar signal fitting: "Simulation code profiling comes after pulsar signal fitting" (and 2 more)
    h5: Constraints
    h5: Trace
    h2: Runs that passed
    h3: The first of them, with their traces 1 of 1
    summary: case 7-0, 3 actions Merger cost simulation is undertaken in advance of warehouse stock count; ethics examination and warehouse stock count are taken care of later than merger cost simulation.
    h5: Constraints
    h5: Trace
    "#);
    let top: Vec<&str> = page.only("body", "").children.iter().filter_map(name).collect();
    assert_eq!(top, ["header", "p", "main", "footer", "script"]);
    insta::assert_snapshot!(page.only("header", "").lines().replace(env!("CARGO_PKG_VERSION"), "VERSION"), @r"
    planproof VERSION campaign report
    Dark theme
    tools@sim/in-order
    with the model sim/in-order
    Campaign
    20261120-1233-abcd
    Began
    2026-11-20 12:33 UTC
    Seed
    7
    Cases
    4
    Command
    planproof test 'tools@sim/in-order' --cases 4
    ");
    insta::assert_snapshot!(page.all("details", "")[0].lines(), @r#"
    Finding 1 order_error case 7-3, 3 actions traffic camera search came before police dog training: "Earlier than traffic camera search, police dog training and bank transfer tracing happen" (and 1 more)
    Earlier than traffic camera search, police dog training and bank transfer tracing happen; at some stage after police dog training and bank transfer tracing are carried out, traffic camera search takes place.
    Called
    traffic camera search (first wrong call)
    police dog training
    bank transfer tracing
    First wrong call
    #1 traffic camera search (expected police dog training or bank transfer tracing)
    Right
    police dog training
    bank transfer tracing
    traffic camera search
    Constraints
    police dog training before traffic camera search
    bank transfer tracing before traffic camera search
    2
    police dog training
    1
    traffic camera search
    3
    bank transfer tracing
    An arrow: comes before. Numbers: the order of the calls; a dashed border: not called.
    ✗ violated police dog training before traffic camera search c1
    bank transfer tracing before traffic camera search c2
    Earlier than traffic camera search, police dog training and bank transfer tracing happen at some stage after police dog training and bank transfer tracing are carried out, traffic camera search takes place
    Trace
    call 1 traffic_camera_search answer The task "traffic camera search" is done.
    First wrong call. Expected police dog training or bank transfer tracing.
    call 2 police_dog_training answer The task "police dog training" is done.
    call 3 bank_transfer_tracing answer The task "bank transfer tracing" is done.
    final answer All tasks are done.
    644 tokens read and 22 written by the model, 1.5 s. planproof runs show 20261120-1233-abcd --case 7-3
    "#);
}

fn name(node: &crate::markup::Node) -> Option<&str> {
    match node {
        crate::markup::Node::Element(element) => Some(&element.name),
        crate::markup::Node::Text(_) => None,
    }
}

#[test]
fn headings_skip_no_level() {
    let page = parsed(&TestCampaign::of_everything(39));
    let is_heading =
        |element: &Element| element.name.len() == 2 && element.name.starts_with('h') && element.name != "hr";
    let levels: Vec<u32> =
        page.find(&is_heading).iter().filter_map(|heading| heading.name[1..].parse().ok()).collect();
    assert_eq!(levels[0], 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

/// The places where the case states a constraint of either kind.
fn sources<'a>(case: &'a PlanningCase, id: &ConstraintId) -> &'a [Source] {
    let mut all = case.constraint_ids().zip(case.constraint_sources());
    all.find(|(known, _)| *known == id).expect("a verdict names constraints of its case").1
}

/// The characters of the paragraph that state what was violated, according to the constraints' own positions.
pub(crate) fn violated_characters(case: &PlanningCase, verdict: &OracleVerdict) -> BTreeSet<usize> {
    let violated = verdict.violated.iter().flat_map(|violated| sources(case, &violated.id));
    violated.flat_map(|source| source.start as usize..source.end as usize).collect()
}

#[test]
fn marks_cover_exactly_the_violated_words() {
    for options in
        [SynthesisOptions { actions_max: 7, ..SynthesisOptions::default() }, crate::time_form::options()]
    {
        marks_cover_exactly_what_is_violated(&TestCampaign::simulated(SimKind::Careless, options, 80));
    }
}

fn marks_cover_exactly_what_is_violated(campaign: &TestCampaign) {
    let page = parsed(campaign);
    let shown = page.all("details", "case");
    assert_eq!(shown.len() as u64, campaign.report.failed);
    let mut marks_with_several = 0;
    for details in shown {
        let ordinal = campaign.cases.iter().position(|case| case.id == details.attribute("data-case"));
        let ordinal = ordinal.expect("only cases of the campaign are shown");
        let case = &campaign.cases[ordinal];
        let verdict = &campaign.verdict(ordinal);
        let paragraph = details.only("p", "paragraph");
        assert_eq!(paragraph.text(), case.paragraph);

        let mut marked = BTreeSet::new();
        let mut at = 0;
        for child in &paragraph.children {
            let (text, mark) = match child {
                crate::markup::Node::Text(text) => (text.clone(), None),
                crate::markup::Node::Element(mark) => (mark.text(), Some(mark)),
            };
            let end = at + text.chars().count();
            if let Some(mark) = mark {
                marked.extend(at..end);
                let ids: Vec<&str> = mark.attribute("data-constraint").split(' ').collect();
                for violated in &verdict.violated {
                    let first = sources(case, &violated.id)[0];
                    let is_here = (at..end).contains(&(first.start as usize));
                    assert!(
                        !is_here || ids.contains(&violated.id.as_str()),
                        "{ids:?} without {}",
                        violated.id
                    );
                    assert!(!is_here || text.contains(&violated.words), "{text:?}");
                }
                assert!(mark.attribute("title").starts_with("Violated: "));
                marks_with_several += usize::from(ids.len() > 1);
            }
            at = end;
        }
        assert_eq!(marked, violated_characters(case, verdict), "{}", case.id);
        let violated: BTreeSet<&str> = verdict.violated.iter().map(|violated| violated.id.as_str()).collect();
        let listed = |class: &str| -> Vec<&str> {
            let items = details.only("ul", "constraints").all("li", class);
            items.iter().flat_map(|item| item.attribute("data-constraint").split(' ')).collect()
        };
        assert_eq!(listed("violated").into_iter().collect::<BTreeSet<_>>(), violated);
        assert_eq!(listed("").len(), case.constraint_ids().count());
    }
    assert!(marks_with_several > 0, "the cases are too simple to show anything");
}

#[test]
fn the_first_wrong_call_is_marked_in_the_trace() {
    let campaign = TestCampaign::simulated(SimKind::Careless, SynthesisOptions::default(), 60);
    for details in parsed(&campaign).all("details", "case") {
        let ordinal = campaign.cases.iter().position(|case| case.id == details.attribute("data-case"));
        let case = &campaign.cases[ordinal.unwrap()];
        let verdict = campaign.verdict(ordinal.unwrap());
        let wrong =
            verdict.first_wrong_call.expect("an order error of calls in sequence has a first wrong call");
        let action = case.actions.iter().find(|action| action.id == verdict.calls[wrong]).unwrap();
        let row = details.only("ol", "trace").only("li", "wrong");
        assert_eq!(row.all("code", "")[0].text(), action.tool);
        assert!(row.text().starts_with(&format!("call {} ", wrong + 1)), "{}", row.text());
        let right = row.only("div", "hint").text();
        for id in &verdict.correct_next[wrong] {
            let action = case.actions.iter().find(|action| action.id == *id).unwrap();
            assert!(right.contains(&action.text), "{right}");
        }
    }
}

#[test]
fn rows_of_agents_within_the_agent_have_their_names() {
    let case = cases(SynthesisOptions::default(), 1).swap_remove(0);
    let wrong = &right_plan(&case)[1..];
    let events = run(&case, wrong, EndReason::Answered { text: "All done.".into() });
    let events = acted_by_samples(&case, events);
    let agent = "direct:samples=1@sim/test";
    let campaign = TestCampaign::of_runs(agent, Some("sim/test"), vec![case.clone()], vec![Some(events)]);
    let page = page(&campaign);
    assert!(page.contains("<code>sample-1</code> <span class=\"what\">turn 1</span>"), "{page}");
    assert_eq!(page.matches("<code>other</code> <span class=\"what\">call").count(), wrong.len());
}

#[test]
fn every_class_has_a_finding_and_all_failures_are_shown() {
    let campaign = TestCampaign::of_everything(130);
    let page = parsed(&campaign);
    let findings =
        page.all("details", "").into_iter().filter(|details| !details.all("span", "finding").is_empty());
    let classes: BTreeSet<&str> = findings.map(|details| details.attribute("data-class")).collect();
    let met = campaign.report.classes.iter().filter(|(_, cases)| **cases > 0).map(|(name, _)| *name);
    assert_eq!(classes, met.collect());
    // They are listed at the top, and each line leads to one that is open.
    let open = page.find(&|element| element.name == "details" && element.attributes.contains_key("open"));
    let open: Vec<String> = open.iter().map(|details| format!("#{}", details.attribute("id"))).collect();
    let listed = page.only("ol", "findings").all("a", "");
    assert!(listed.len() >= classes.len());
    assert_eq!(listed.iter().map(|link| link.attribute("href")).collect::<Vec<_>>(), open);
    let shown: BTreeSet<&str> =
        page.all("details", "case").iter().map(|details| details.attribute("data-case")).collect();
    let failed = campaign.outcomes.iter().filter(|outcome| outcome.passed() == Some(false));
    assert_eq!(shown, failed.map(|outcome| campaign.cases[outcome.ordinal as usize].id.as_str()).collect());

    let reasons = page.only("ul", "reasons");
    assert_eq!(reasons.children.len(), 2);
    let unscored = reasons.text();
    assert!(unscored.contains("4 runs: the model is down") && unscored.contains("7-12"), "{unscored}");
    assert!(unscored.contains("3 runs: the trace was cut off"), "{unscored}");
    let banner = page.only("p", "banner").text();
    assert!(banner.starts_with("Not finished: 3 cases have no finished run."), "{banner}");
}

#[test]
fn a_simulation_says_so_and_a_real_model_is_no_simulation() {
    let cases = cases(SynthesisOptions::default(), 3);
    let runs = |cases: &[PlanningCase]| {
        let answer = || EndReason::Answered { text: "Done.".into() };
        cases.iter().map(|case| Some(run(case, &right_plan(case), answer()))).collect()
    };
    for (model, is_simulated) in [("sim/perfect", true), ("openai/gpt", false)] {
        let campaign = TestCampaign::of_runs("tools@x", Some(model), cases.clone(), runs(&cases));
        let banners =
            parsed(&campaign).all("p", "banner").iter().map(|banner| banner.text()).collect::<Vec<_>>();
        let expected =
            "SIMULATION: a simulated model planned; these figures say nothing about any real model."
                .to_owned();
        assert_eq!(banners, if is_simulated { vec![expected] } else { vec![] });
    }
}

#[test]
fn campaigns_without_failures_have_pages_too() {
    let text = |campaign: &TestCampaign| parsed(campaign).only("main", "").text();
    let perfect = TestCampaign::simulated(SimKind::Perfect, SynthesisOptions::default(), 5);
    assert!(text(&perfect).contains("Failing casesNo case failed."));
    assert_eq!(parsed(&perfect).all("details", "passed-case").len(), 5);

    let none = TestCampaign::of_runs("tools@x", None, Vec::new(), Vec::new());
    assert!(text(&none).contains("no case has a score"));
    assert!(text(&none).ends_with("No run has a score yet, so there is nothing to show."));

    let cases = cases(SynthesisOptions::default(), 3);
    let waiting = TestCampaign::of_runs("tools@x", None, cases.clone(), vec![None, None, None]);
    assert!(text(&waiting).contains("3 cases have no finished run."));

    let done = run(&cases[0], &right_plan(&cases[0]), EndReason::Answered { text: String::new() });
    let mut begun = TestCampaign::of_runs("tools@x", None, cases, vec![Some(done), None, None]);
    assert!(text(&begun).contains("No case has failed so far."));
    begun.report.ended_by = Some("0.50 USD".into());
    assert!(text(&begun).contains("the budget of 0.50 USD was used up. 2 cases have no finished run."));
}

/// Records which traces were requested.
struct Counting<'a> {
    campaign: &'a TestCampaign,
    asked: RefCell<Vec<u32>>,
}

impl TraceSource for Counting<'_> {
    fn trace(&self, unit: Unit) -> Result<Option<Trace>, String> {
        self.asked.borrow_mut().push(unit.ordinal);
        self.campaign.trace(unit)
    }
}

#[test]
fn what_has_no_room_is_summed_up_and_its_traces_are_not_fetched() {
    let campaign = TestCampaign::of_everything(65);
    let counting = Counting { campaign: &campaign, asked: RefCell::default() };
    let reported = ReportedCampaign { traces: &counting, ..campaign.reported() };
    let limits = HtmlLimits { cases_max: 10, ..HtmlLimits::default() };
    let page = parse(&page_within(&reported, &limits)).expect("the page is all ours");
    assert_eq!(page.all("details", "case").len(), 10);
    assert_eq!(counting.asked.take().len(), 10);
    let main = page.only("main", "").text();
    let rest = campaign.report.failed - 10;
    assert!(main.contains(&format!("no room for {rest} further failures")), "{main}");
    assert!(
        main.contains(&format!("planproof runs show {} --findings {}", campaign.id, campaign.report.failed))
    );

    let whole = page_within(&reported, &HtmlLimits::default()).len();
    let bare = page_within(&reported, &HtmlLimits { cases_max: 0, ..limits }).len();
    for bytes_max in [0, 5000, 20_000, 100_000] {
        let limits = HtmlLimits { bytes_max, ..HtmlLimits::default() };
        let page = page_within(&reported, &limits);
        assert!(page.len() <= bare + bytes_max && page.len() < whole, "{bytes_max}: {}", page.len());
        parse(&page).expect("the page is all ours");
    }
}

#[test]
fn a_broken_trace_is_a_note() {
    let mut campaign = TestCampaign::simulated(SimKind::Careless, SynthesisOptions::default(), 60);
    let failed: Vec<usize> = campaign
        .outcomes
        .iter()
        .filter(|outcome| outcome.passed() == Some(false))
        .map(|outcome| outcome.ordinal as usize)
        .collect();
    let other = campaign.traces[failed[3]].clone();
    campaign.traces[failed[0]] = Err("line 3: <not> JSON".into());
    campaign.traces[failed[1]] = Ok(None);
    campaign.traces[failed[2]] = other;
    let page = parsed(&campaign);
    let notes = |ordinal: usize| -> Vec<String> {
        let id = format!("case-{ordinal}");
        let details = page.find(&|element| element.attribute("id") == id);
        details[0].all("p", "note").iter().map(|note| note.text()).collect()
    };
    assert_eq!(notes(failed[0]), ["The trace cannot be shown: line 3: <not> JSON"]);
    assert_eq!(notes(failed[1]), ["The run has no trace."]);
    assert_eq!(notes(failed[2]), ["This is not the trace that was judged: its calls differ."]);
    assert!(notes(failed[3]).is_empty());
}

#[test]
fn the_same_campaign_is_the_same_bytes() {
    let campaign = TestCampaign::of_everything(52);
    assert_eq!(page(&campaign), page(&campaign));
}

#[test]
fn the_drawing_has_a_point_and_an_interval_for_each_number_of_actions() {
    let options = SynthesisOptions { actions_min: 19, actions_max: 22, ..SynthesisOptions::default() };
    let campaign = TestCampaign::simulated(SimKind::Careless, options, 12);
    let page = parsed(&campaign);
    let drawing = &page.only("figure", "chart").all("svg", "")[0];
    let groups = campaign.report.by_size.len();
    assert_eq!(drawing.only("g", "measured").all("circle", "").len(), groups);
    assert_eq!(drawing.all("path", "interval").len(), groups);
    assert_eq!(drawing.only("g", "in-order").all("polygon", "").len(), groups);
    assert_eq!(drawing.only("g", "one-look").all("polygon", "").len(), groups);
    // The rate of chance is unknown above 20 actions.
    let known =
        campaign.report.by_size.iter().filter(|group| group.baselines.rate("chance").is_some()).count();
    assert!(0 < known && known < groups);
    assert_eq!(drawing.only("g", "chance").all("polygon", "").len(), known);
    let body = page.all("tbody", "")[0];
    assert_eq!(body.all("tr", "").len(), groups);
    assert_eq!(body.all("tr", "")[groups - 1].all("td", "")[3].text(), "–");
}

/// Small pictures with this name, if it is a valid one.
fn pictures(name: &str, count: usize) -> Attachments {
    let picture = Attachment::new(name, PictureType::Png, "iVBORw0=");
    Attachments::new(picture.into_iter().cycle().take(count).collect()).unwrap_or_default()
}

#[test]
fn pictures_stand_beside_the_results_that_made_them() {
    let cases = cases(SynthesisOptions::default(), 1);
    let tool = &cases[0].actions[0].tool;
    // The failing run with this number of results, each with the maximum number of pictures.
    let page_of = |results: usize| {
        let done = EndReason::Answered { text: "Done.".into() };
        let mut kinds: Vec<EventKind> =
            run(&cases[0], &[], done).into_iter().map(|event| event.kind).collect();
        for number in 0..results {
            let id = CallId::new(format!("p{number}"));
            let call = ToolCall { id: id.clone(), name: tool.clone(), arguments: Arguments::none() };
            let text = format!("{{\"image\":\"out-{number}.png\"}}");
            let result = ToolResult::ok(id, text).with_attachments(pictures("out-\"0.png", ATTACHMENTS_MAX));
            kinds.splice(1..1, [EventKind::Call(call), EventKind::Result(result)]);
        }
        page(&TestCampaign::of_runs("tools@x", None, cases.clone(), vec![Some(dated(kinds))]))
    };
    let page = parse(&page_of(1)).expect("the page is all ours");
    let shown = page.only("div", "pictures").all("img", "");
    assert_eq!(shown.len(), ATTACHMENTS_MAX);
    assert_eq!(shown[0].attribute("src"), "data:image/png;base64,iVBORw0=");
    assert_eq!(shown[0].attribute("alt"), "The picture out-\"0.png");
    let policies = page.find(&|it| it.attribute("http-equiv") == "Content-Security-Policy");
    assert!(policies[0].attribute("content").contains("; img-src data:; "));
    let page = parse(&page_of(8)).expect("the page is all ours");
    assert_eq!(page.all("img", "").len(), 24);
    assert_eq!(page.text().matches("4 pictures are left out here.").count(), 2);
}

/// A campaign in which every text that can come from outside is `text`.
pub(crate) fn hostile(text: &str) -> TestCampaign {
    let mut cases = cases(SynthesisOptions { distractors: 1, ..SynthesisOptions::default() }, 5);
    for case in &mut cases {
        case.id += text;
        case.topic = text.to_owned();
        for action in &mut case.actions {
            action.text += text;
            action.tool += text;
        }
        for tool in &mut case.tools {
            tool.name += text;
            tool.description = text.to_owned();
        }
        // The positions of constraints stay valid, because the addition comes after them.
        case.paragraph += text;
        case.query = format!("{text}{}{text}", case.paragraph);
    }
    let usage = Usage::new(u64::MAX / 16, 1);
    let run_of = |place: usize, case: &PlanningCase| {
        let mut tools = right_plan(case);
        tools.reverse();
        let end = match place {
            0 => EndReason::Answered { text: text.to_owned() },
            1 => EndReason::AgentFailed { reason: text.to_owned() },
            2 => EndReason::Unscored { reason: text.to_owned() },
            _ => EndReason::Answered { text: "Done.".into() },
        };
        let mut kinds: Vec<EventKind> = run(case, &tools, end).into_iter().map(|event| event.kind).collect();
        let id = || CallId::new(text);
        let arguments = match place {
            0 => Arguments::Malformed(text.to_owned()),
            _ => Arguments::Object([(text.to_owned(), text.into())].into_iter().collect()),
        };
        let call = ToolCall { id: id(), name: text.to_owned(), arguments };
        let finish = FinishReason::Length;
        let more = [
            EventKind::Query { text: text.to_owned() },
            EventKind::Turn { text: text.to_owned(), reasoning: String::new(), calls: 2, finish, usage },
            EventKind::Call(call.clone()),
            EventKind::Call(ToolCall { id: CallId::new("late"), ..call }),
            EventKind::Result(ToolResult::error(id(), text).with_attachments(pictures(text, 1))),
        ];
        kinds.splice(1..1, more);
        Some(dated(kinds))
    };
    let runs = cases.iter().enumerate().map(|(place, case)| run_of(place, case)).collect();
    let mut campaign = TestCampaign::of_runs(text, Some(text), cases, runs);
    campaign.id += text;
    campaign.command_line = text.to_owned();
    campaign.commands = CommandLines::new("test", Some(text), [text]);
    campaign.report.ended_by = Some(text.to_owned());
    campaign.traces[4] = Err(text.to_owned());
    if let Ok(Some(trace)) = &mut campaign.traces[0] {
        trace.header.version = text.to_owned();
    }
    campaign
}

#[test]
fn the_hostile_campaign_shows_what_it_is_given() {
    let text = parsed(&hostile("Zxq")).text();
    assert!(text.matches("Zxq").count() > 100);
}

/// Texts that try to be more than text.
pub(crate) const ATTACKS: &[&str] = &[
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</style></title></textarea>",
    "\" onmouseover=\"alert(1)",
    "' autofocus onfocus='alert(1)",
    "]]><!-- --!> <![CDATA[",
    "&lt;b&gt; &#60; &amp",
    "\0\u{1}\u{1b}[31m\u{7f}\u{85}",
    "abc\u{202e}fed\u{2066}\u{2069}\u{200f}\u{feff}",
    "\r\n\t\u{2028}\u{2029}",
    "`${alert(1)}` {{7*7}}",
    "\u{fffe}\u{ffff}\u{10ffff}\u{e0041}",
];

#[test]
fn known_attacks_stay_text() {
    for text in ATTACKS {
        let page = page(&hostile(text));
        let parsed = parse(&page).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(parsed.all("script", "").len(), 1, "{text:?}");
        assert_eq!(parsed.all("details", "case").len(), 4, "{text:?}");
        assert!(!page.contains('\u{202e}') && !page.contains('\0'), "{text:?}");
    }
}

#[test]
fn long_text_is_cut() {
    let everywhere = page(&hostile(&"x".repeat(20_000)));
    assert!(everywhere.len() < 400_000, "{}", everywhere.len());
    assert!(everywhere.contains("more characters)"));
    parse(&everywhere).expect("the page is all ours");

    let cases = cases(SynthesisOptions::default(), 1);
    let answered = |text: String| {
        let run = run(&cases[0], &[], EndReason::Answered { text });
        page(&TestCampaign::of_runs("tools@x", None, cases.clone(), vec![Some(run)])).len()
    };
    assert!(answered("x".repeat(1_000_000)) < answered(String::new()) + 5000);
}

/// Markup, characters that end it, and arbitrary characters, visible or not.
pub(crate) const HOSTILE: &str = "([<>&\"'/=!\\-\\]]|script|style|&#|\\PC|\\p{C}|[ \n\r\0]){0,24}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_from_outside_the_page_is_ours(text in HOSTILE) {
        let parsed = parse(&page(&hostile(&text)));
        prop_assert!(parsed.is_ok(), "{:?}: {:?}", text, parsed.err());
        let cases = parsed.map(|page| page.all("details", "case").len());
        prop_assert_eq!(cases, Ok(4));
    }
}

#[test]
fn every_class_has_a_gist() {
    let campaign = TestCampaign::of_everything(39);
    let page = parsed(&campaign);
    // These only occur in campaigns with the time form, infeasible cases, rules of a topic, tools that fail or several
    // messages, and with models that ramble or write calls as text.
    let others = [
        OrderClass::OutOfTurn,
        OrderClass::MissedCorrection,
        OrderClass::RetriedForever,
        OrderClass::CalledVanished,
        OrderClass::WentOnAfterFailure,
        OrderClass::NoRetry,
        OrderClass::GaveUp,
        OrderClass::ReplyLimit,
        OrderClass::UnparsedCall,
        OrderClass::ParameterError,
        OrderClass::FalseAlarm,
        OrderClass::ConflictMissed,
        OrderClass::WrongValue,
    ];
    for class in OrderClass::ALL.into_iter().filter(|class| !others.contains(class)) {
        let gists = page.find(&|element| element.attribute("data-class") == class.as_str());
        assert!(!gists.is_empty(), "{class:?}");
        assert!(
            gists.iter().all(|details| !details.only("span", "gist").text().trim().is_empty()),
            "{class:?}"
        );
    }
}
