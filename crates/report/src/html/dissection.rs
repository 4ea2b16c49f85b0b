//! The results of dissecting failures: causes, topics, and every trial with its text, its change and its verdict.

use std::io;

use maud::{Markup, PreEscaped, html};
use planproof_engine::studies::{DissectedCase, DissectionReport, ReportedTrial};

use super::parts::{HtmlLimits, NAME_CHARACTERS_MAX, Page};
use super::text::{Foreign, count, counted, percent, percent_range};

/// Maximum number of characters shown of a paragraph.
const PARAGRAPH_CHARACTERS_MAX: usize = 4000;
/// Maximum number of characters shown of a piece before or after its change.
const PIECE_CHARACTERS_MAX: usize = 200;

pub(super) fn write(report: &DissectionReport, limits: &HtmlLimits, page: &mut Page<'_>) -> io::Result<()> {
    page.write(&html! {
        (PreEscaped("<section aria-labelledby=\"dissection\">"))
        h2 #dissection { "Causes of failures" }
        p.intro {
            "Of " (counted(report.errors, "failed case", "failed cases")) " " (count(report.taken))
            " were dissected in " (counted(report.runs, "run", "runs")) ": each was asked again up to "
            (counted(u64::from(report.reruns), "time", "times")) ", then in up to "
            (counted(u64::from(report.variants), "variant", "variants"))
            " of each kind with the same constraints. The first one that passes names the cause."
            @if report.original {
                " As in the published algorithm, the first failed variant with another structure ended the search."
            }
        }
        (causes(report))
        (rest(report))
        (topics(report))
        h3 { "Every dissected failure" }
    })?;
    let mut bytes = 0;
    let mut shown = 0;
    for case in report.cases.iter().take(limits.cases_max) {
        let markup = dissected(case);
        bytes += markup.0.len();
        // All later cases are left out, too, so that the cases shown have no gaps.
        if bytes > limits.bytes_max {
            break;
        }
        page.write(&markup)?;
        shown += 1;
    }
    let left_out = (report.cases.len() - shown) as u64;
    page.write(&html! {
        @if left_out > 0 {
            p { (counted(left_out, "more failure is", "more failures are")) " in the report as JSON." }
        }
        (PreEscaped("</section>"))
    })
}

fn causes(report: &DissectionReport) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of causes" {
            table {
                thead {
                    tr {
                        th scope="col" { "Cause" }
                        th scope="col" { "Failures" }
                        th scope="col" { "Share " span.interval { "95 % interval" } }
                        th.words scope="col" { "Meaning" }
                    }
                }
                tbody {
                    @for cause in &report.causes {
                        tr {
                            th scope="row" { (cause.cause) }
                            td { (count(cause.errors)) }
                            td {
                                (cause.share.map_or("–".to_owned(), percent)) " "
                                span.interval { (percent_range(cause.low, cause.high)) }
                            }
                            td.words { (cause.meaning) }
                        }
                    }
                }
            }
        }
    }
}

fn rest(report: &DissectionReport) -> Markup {
    let enough = report.enough;
    html! {
        @if enough.wordings + enough.actions + enough.either + enough.both > 0 {
            p {
                "Of the failures by wording, other wordings alone were enough for " (count(enough.wordings))
                ", other tasks alone for " (count(enough.actions)) ", either for " (count(enough.either))
                "; " (count(enough.both)) " needed both."
            }
        }
        @if report.undecided > 0 {
            p {
                (counted(report.undecided, "failure is", "failures are"))
                " undecided: some kind of variant could not be made, and none of the others passed."
            }
        }
        @if report.unfinished > 0 {
            p { "The dissection of " (counted(report.unfinished, "failure", "failures")) " is not finished." }
        }
    }
}

fn topics(report: &DissectionReport) -> Markup {
    if report.topics.is_empty() {
        return Markup::default();
    }
    html! {
        h3 { "Topics with the most failures" }
        div.scroll tabindex="0" role="region" aria-label="Table of topics with the most failures" {
            table.few {
                thead {
                    tr { th scope="col" { "Topic" } th scope="col" { "Failures" } th scope="col" { "Cases" } }
                }
                tbody {
                    @for topic in &report.topics {
                        tr {
                            th scope="row" { (Foreign::short(&topic.topic, NAME_CHARACTERS_MAX)) }
                            td { (count(topic.errors)) }
                            td { (count(topic.cases)) }
                        }
                    }
                }
            }
        }
        p.quiet { (counted(report.topics_without_errors, "other topic has", "other topics have")) " none." }
    }
}

fn dissected(case: &DissectedCase) -> Markup {
    let cause = case.cause.unwrap_or(if case.is_open { "not finished" } else { "undecided" });
    html! {
        details.case {
            summary {
                code { (Foreign::short(&case.case, NAME_CHARACTERS_MAX)) } " "
                b { (cause) }
                @if let Some(enough) = case.enough { " (" (enough) ")" }
                span.quiet {
                    " " (Foreign::short(&case.topic, NAME_CHARACTERS_MAX)) ", "
                    (counted(case.trials.len() as u64, "trial", "trials"))
                }
            }
            p { (Foreign::short(&case.paragraph, PARAGRAPH_CHARACTERS_MAX)) }
            ol { @for trial in &case.trials { li { (tried(trial)) } } }
            @for skipped in &case.impossible {
                p.quiet { "There is no " (skipped.step) " " (skipped.number) ": " (skipped.why) "." }
            }
        }
    }
}

fn tried(trial: &ReportedTrial) -> Markup {
    let verdict = match (trial.passed, trial.class) {
        (Some(true), _) => "passed",
        (Some(false), class) => class.unwrap_or("failed"),
        (None, _) if trial.unscored.is_some() => "unscored",
        (None, _) => "not run",
    };
    html! {
        b { (trial.step) " " (trial.number) ": " (verdict) }
        @if let Some(why) = &trial.unscored { " (" (Foreign::short(why, PIECE_CHARACTERS_MAX)) ")" }
        @if let Some(paragraph) = &trial.paragraph {
            p { (Foreign::short(paragraph, PARAGRAPH_CHARACTERS_MAX)) }
        }
        // A new paragraph as a whole is shown above.
        @for change in trial.changes.iter().filter(|change| change.piece != "paragraph") {
            p.quiet {
                (change.piece) " " q { (Foreign::short(&change.from, PIECE_CHARACTERS_MAX)) } " became "
                q { (Foreign::short(&change.to, PIECE_CHARACTERS_MAX)) }
            }
        }
    }
}
