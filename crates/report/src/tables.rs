//! Tables in the format of the paper's, with the paper's own figures beside them.
//!
//! The published figures are facts from PDoctor (arXiv 2404.17833, tables 2 to 7, figures 8 and 9). They are about
//! other models, cases and prompts than any of our campaigns, so they are in a separate block and share no row with
//! ours. Tables 4, 5 and 7 are about root causes; a campaign without dissected failures is in none of them.

mod causes;

use std::collections::{BTreeMap, BTreeSet};

use planproof_engine::{Rate, Report};
use serde::Serialize;

pub use causes::{
    CauseRow, ERRORS_MAX, NotDissected, TabledCauses, TabledDissection, TopicColumn, TopicCount,
};

/// Schema name of the tables.
pub const TABLES_SCHEMA: &str = "planproof/tables/v1";

/// The classes of table 3, in its order.
const CLASSES: [&str; 4] = ["timeout", "act_error", "action_lost", "order_error"];

/// The pass rate at which the paper's limits are taken (its section 6.2): the share below which an agent no longer
/// counts as capable.
pub const PAPER_THRESHOLD: f64 = 0.2;

/// The additional class of tables 6 and 7.
const PARAMETER_ERROR: &str = "parameter_error";

/// A campaign to be included in the tables.
#[derive(Debug, Clone, Copy)]
pub struct TabledCampaign<'a> {
    /// Its id in the run store.
    pub id: &'a str,
    /// Whether its cases are of the time form.
    pub is_time_form: bool,
    /// The summary of the campaign.
    pub report: &'a Report,
    /// The capability limit of the agent, if known: the paper's tables of classes and causes cover only the cases
    /// within it. A campaign with limits at several thresholds is handed over once for each.
    pub within_limit: Option<TabledLimit<'a>>,
    /// The causes of its failures.
    pub causes: TabledCauses<'a>,
}

/// A capability limit.
#[derive(Debug, Clone, Copy)]
pub struct TabledLimit<'a> {
    /// Most actions within it; one less than the fewest that were tried if the agent cannot do these either.
    pub limit: u32,
    /// The pass rate, from 0 to 1, below which the agent is beyond its limit.
    pub threshold: f64,
    /// The summary of the campaign's cases within it.
    pub report: &'a Report,
}

/// Tables v1, as written to files.
#[derive(Debug, Clone, Serialize)]
pub struct Tables {
    schema: &'static str,
    /// Table 2: errors and times.
    pub errors: Vec<ErrorRow>,
    /// Tables 3 (basic form) and 6 (time form): failures by class.
    pub classes: Vec<ClassRow>,
    /// Tables 4 (basic form) and 7 (time form): failures by root cause; only for dissected campaigns.
    pub causes: Vec<CauseRow>,
    /// Table 5: the topics that cause the most errors, by model.
    pub topics: Vec<TopicColumn>,
    /// Campaigns that were not dissected.
    pub not_dissected: Vec<NotDissected>,
    pub published: PaperFigures,
}

/// A row of table 2.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorRow {
    pub campaign: String,
    /// The agent, as on the command line.
    pub agent: String,
    /// The model, if known.
    pub model: Option<String>,
    /// Whether a model of the agent is a simulation, in which case the row says nothing about any real model.
    pub simulated: bool,
    /// Whether the cases are of the time form.
    pub time: bool,
    pub generated: u64,
    pub errors: u64,
    /// Error rate over scored runs with its 95 % interval; null without scored runs.
    pub rate: Option<Rate>,
    /// Solver calls during synthesis.
    pub solver_calls: u64,
    /// Seconds spent in the solver.
    pub solver_seconds: f64,
    /// Seconds spent in synthesis.
    pub synthesis_seconds: f64,
    /// Seconds taken by the agent.
    pub agent_seconds: f64,
}

/// A row of table 3 or 6.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassRow {
    pub campaign: String,
    /// The agent, as on the command line.
    pub agent: String,
    /// Whether a model of the agent is one of our simulations.
    pub simulated: bool,
    /// Whether the cases are of the time form, so that the row belongs to table 6.
    pub time: bool,
    /// The capability limit within which failures were counted; null if all failures of the campaign were counted.
    pub within: Option<u32>,
    /// The pass rate at which that limit was taken, from 0 to 1; null if there is none. Rows with different ones count
    /// different failures.
    pub threshold: Option<f64>,
    /// Counted failures.
    pub failures: u64,
    /// Failures by class. Classes that the paper does not have are `other`.
    pub classes: BTreeMap<&'static str, u64>,
}

/// The paper's figures, with its own names for models and agents.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PaperFigures {
    pub source: &'static str,
    /// The threshold of the limits within which tables 3, 4, 6 and 7 count failures.
    pub threshold: f64,
    /// Table 2.
    pub errors: [PublishedErrors; 6],
    /// Table 3: shares of Timeout, Act Error, Action Lost and Order Error, in per cent.
    pub classes: [(&'static str, &'static str, [f64; 4]); 6],
    /// Table 6: like table 3, with Parameter Error; null if the agent solved nothing.
    pub time_classes: [(&'static str, &'static str, Option<[f64; 5]>); 6],
    /// Table 4: shares of Probability, Terminal, Topic, Structure and Constraint, in per cent.
    pub causes: [(&'static str, &'static str, [f64; 5]); 6],
    /// Table 5.
    pub topics: [PublishedTopics; 2],
    /// Table 7: like table 4. The table names no model; the text says that it is GPT-4.
    pub time_causes: [(&'static str, &'static str, [f64; 5]); 3],
    /// Figures 8 and 9: the limit of each model, as given in the text.
    pub limits: [(&'static str, &'static str, &'static str); 4],
}

/// A row of the paper's table 2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PublishedErrors {
    pub model: &'static str,
    pub agent: &'static str,
    /// Number of cases.
    pub generated: u64,
    /// Cases with an error.
    pub errors: u64,
    /// Calls of Z3.
    pub solver_calls: u64,
    /// Minutes and seconds of Z3, of synthesis and of the agent.
    pub times: [&'static str; 3],
}

/// A column of the paper's table 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PublishedTopics {
    pub model: &'static str,
    /// Topics and the errors they cause.
    pub topics: [(&'static str, u64); 5],
    /// Topics, out of 50, without an error.
    pub without_errors: u64,
}

impl PaperFigures {
    /// The figures of the paper.
    pub const PDOCTOR: Self = Self {
        source: "PDoctor, arXiv 2404.17833",
        threshold: PAPER_THRESHOLD,
        errors: [
            PublishedErrors::new(
                "GPT-3.5",
                "ReAct",
                [843, 519, 99_972],
                ["00:24.96", "00:59.13", "58:00.86"],
            ),
            PublishedErrors::new("GPT-3.5", "OT", [1168, 635, 133_008], ["00:34.30", "01:20.49", "57:11.94"]),
            PublishedErrors::new("GPT-3.5", "OA", [327, 179, 36_694], ["00:09.67", "00:22.52", "59:22.24"]),
            PublishedErrors::new("GPT-4", "ReAct", [160, 47, 19_726], ["00:05.03", "00:11.73", "59:54.44"]),
            PublishedErrors::new("GPT-4", "OT", [144, 32, 16_253], ["00:04.13", "00:09.66", "59:40.41"]),
            PublishedErrors::new("GPT-4", "OA", [111, 40, 12_775], ["00:03.38", "00:07.75", "59:54.25"]),
        ],
        classes: [
            ("GPT-3.5", "ReAct", [0.0, 1.03, 8.25, 90.72]),
            ("GPT-3.5", "OT", [0.0, 0.0, 0.46, 99.54]),
            ("GPT-3.5", "OA", [0.0, 0.8, 0.4, 98.8]),
            ("GPT-4", "ReAct", [0.0, 1.27, 0.0, 98.73]),
            ("GPT-4", "OT", [0.0, 1.12, 0.0, 98.88]),
            ("GPT-4", "OA", [0.0, 1.61, 0.13, 98.26]),
        ],
        time_classes: [
            ("GPT-3.5", "ReAct", None),
            ("GPT-3.5", "OT", Some([0.0, 7.14, 0.0, 28.57, 64.29])),
            ("GPT-3.5", "OA", Some([0.0, 0.0, 0.0, 50.0, 50.0])),
            ("GPT-4", "ReAct", Some([0.0, 64.44, 0.0, 33.33, 2.22])),
            ("GPT-4", "OT", Some([0.0, 3.77, 2.83, 66.04, 27.36])),
            ("GPT-4", "OA", Some([0.0, 0.74, 1.12, 64.31, 33.83])),
        ],
        causes: [
            ("GPT-3.5", "ReAct", [19.0, 50.0, 18.0, 9.0, 4.0]),
            ("GPT-3.5", "OT", [8.0, 42.0, 22.0, 15.0, 13.0]),
            ("GPT-3.5", "OA", [27.0, 28.0, 15.0, 18.0, 12.0]),
            ("GPT-4", "ReAct", [19.0, 44.0, 14.0, 18.0, 5.0]),
            ("GPT-4", "OT", [15.0, 37.0, 23.0, 17.0, 8.0]),
            ("GPT-4", "OA", [28.0, 30.0, 14.0, 17.0, 11.0]),
        ],
        topics: [
            PublishedTopics {
                model: "GPT-3.5",
                topics: [
                    ("Waiter/Waitress", 6),
                    ("Computer Programmer", 5),
                    ("Physical Therapist", 4),
                    ("Marketing Manager", 4),
                    ("Stock Broker", 4),
                ],
                without_errors: 19,
            },
            PublishedTopics {
                model: "GPT-4",
                topics: [
                    ("Graphic Designer", 5),
                    ("Electrician", 4),
                    ("Human Resources Manager", 4),
                    ("Journalist", 4),
                    ("Video Game Designer", 4),
                ],
                without_errors: 16,
            },
        ],
        time_causes: [
            ("GPT-4", "ReAct", [8.0, 22.0, 11.0, 14.0, 45.0]),
            ("GPT-4", "OT", [25.0, 32.0, 12.0, 8.0, 23.0]),
            ("GPT-4", "OA", [23.0, 22.0, 11.0, 5.0, 39.0]),
        ],
        limits: [
            ("basic", "GPT-3.5", "4"),
            ("basic", "GPT-4", "8"),
            ("time", "GPT-3.5", "below 3"),
            ("time", "GPT-4", "5, with a sharp decline above 4"),
        ],
    };
}

impl PublishedErrors {
    const fn new(
        model: &'static str,
        agent: &'static str,
        [generated, errors, solver_calls]: [u64; 3],
        times: [&'static str; 3],
    ) -> Self {
        Self { model, agent, generated, errors, solver_calls, times }
    }
}

impl Tables {
    /// Builds the tables for these campaigns.
    pub fn new(campaigns: &[TabledCampaign<'_>]) -> Self {
        // A campaign with limits at several thresholds is named several times, and these rows know no limit.
        let mut ids = BTreeSet::new();
        let once: Vec<_> = campaigns.iter().filter(|campaign| ids.insert(campaign.id)).collect();
        Self {
            schema: TABLES_SCHEMA,
            errors: once.iter().map(|campaign| ErrorRow::of(campaign)).collect(),
            classes: campaigns.iter().map(ClassRow::of).collect(),
            causes: campaigns.iter().filter_map(CauseRow::of).collect(),
            topics: TopicColumn::of_all(campaigns),
            not_dissected: once.iter().filter_map(|campaign| NotDissected::of(campaign)).collect(),
            published: PaperFigures::PDOCTOR,
        }
    }

    /// The rows of table 4, or of table 7, whose limits are taken at this threshold.
    pub fn causes_of(&self, is_time_form: bool, threshold: Option<f64>) -> impl Iterator<Item = &CauseRow> {
        self.causes.iter().filter(move |row| (row.time, row.threshold) == (is_time_form, threshold))
    }

    /// The rows of table 3, or of table 6, whose limits are taken at this threshold.
    pub fn classes_of(&self, is_time_form: bool, threshold: Option<f64>) -> impl Iterator<Item = &ClassRow> {
        self.classes.iter().filter(move |row| (row.time, row.threshold) == (is_time_form, threshold))
    }

    /// The thresholds of the rows, each once: the paper's first, then the others, and last none, which stands for rows
    /// that count all failures. Rows with different ones do not belong into one table.
    pub fn thresholds(&self) -> Vec<Option<f64>> {
        let mut all: Vec<Option<f64>> = self.classes.iter().map(|row| row.threshold).collect();
        let place = |it: &Option<f64>| (it.is_none(), *it != Some(PAPER_THRESHOLD), it.unwrap_or_default());
        all.sort_by(|one, other| {
            let (one, other) = (place(one), place(other));
            (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2))
        });
        all.dedup();
        all
    }
}

impl ErrorRow {
    fn of(campaign: &TabledCampaign<'_>) -> Self {
        let report = campaign.report;
        Self {
            campaign: campaign.id.to_owned(),
            agent: report.agent.clone(),
            model: report.model.clone(),
            simulated: report.simulated,
            time: campaign.is_time_form,
            generated: report.runs,
            errors: report.failed,
            // The interval of the error rate is that of the success rate, mirrored.
            rate: report.success().map(|Rate { rate, low, high }| Rate {
                rate: 1.0 - rate,
                low: 1.0 - high,
                high: 1.0 - low,
            }),
            // Cases from a file were not synthesised.
            solver_calls: report.solver.map_or(0, |solver| solver.calls),
            solver_seconds: report.solver.map_or(0.0, |solver| solver.seconds),
            synthesis_seconds: report.synthesis_seconds.unwrap_or_default(),
            agent_seconds: report.agent_seconds,
        }
    }
}

impl ClassRow {
    /// The classes of table 3 and, in the time form, parameter errors; then all others combined.
    fn of(campaign: &TabledCampaign<'_>) -> Self {
        let report = campaign.within_limit.map_or(campaign.report, |within| within.report);
        let parameter_error = campaign.is_time_form.then_some(PARAMETER_ERROR);
        let count = |class: &str| report.classes.get(class).copied().unwrap_or(0);
        let named = CLASSES.into_iter().chain(parameter_error);
        let mut classes: BTreeMap<&'static str, u64> = named.map(|class| (class, count(class))).collect();
        // Each failure has one class, so no more failures are counted than there are.
        classes.insert("other", report.failed - classes.values().sum::<u64>());
        Self {
            campaign: campaign.id.to_owned(),
            agent: report.agent.clone(),
            simulated: report.simulated,
            time: campaign.is_time_form,
            within: campaign.within_limit.map(|within| within.limit),
            threshold: campaign.within_limit.map(|within| within.threshold),
            failures: report.failed,
            classes,
        }
    }

    /// Shares of all failures in per cent: the paper's columns in order, then the others; `None` without failures.
    pub fn shares(&self) -> Option<Vec<f64>> {
        let parameter_error = self.time.then_some(PARAMETER_ERROR);
        // The map is sorted by name, and the columns are in the order of the paper.
        let names = CLASSES.into_iter().chain(parameter_error).chain(["other"]);
        let share = |name| self.classes.get(name).copied().unwrap_or(0) as f64 / self.failures as f64 * 100.0;
        (self.failures > 0).then(|| names.map(share).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the consistency of the paper's figures: its rates match its counts, and shares add up.
    #[test]
    fn the_published_figures_agree_with_each_other() {
        let printed = [61.57, 54.37, 54.74, 29.38, 22.22, 36.04];
        for (row, printed) in PaperFigures::PDOCTOR.errors.iter().zip(printed) {
            let rate = row.errors as f64 / row.generated as f64 * 100.0;
            assert!((rate - printed).abs() < 0.0051, "{row:?}: {rate}");
        }
        for (_, agent, shares) in PaperFigures::PDOCTOR.classes {
            assert!((shares.iter().sum::<f64>() - 100.0).abs() < 0.011, "{agent}");
        }
        for (_, agent, shares) in PaperFigures::PDOCTOR.time_classes {
            assert!(
                shares.is_none_or(|shares| (shares.iter().sum::<f64>() - 100.0).abs() < 0.011),
                "{agent}"
            );
        }
        let causes = PaperFigures::PDOCTOR.causes.iter().chain(&PaperFigures::PDOCTOR.time_causes);
        for (_, agent, shares) in causes {
            assert!((shares.iter().sum::<f64>() - 100.0).abs() < 1e-9, "{agent}");
        }
        // 300 errors of each model were dissected. The number caused by the topic matches the counts in table 5 and
        // the topics without errors; all 300 would not match, because the topic with the most errors has only six.
        for column in PaperFigures::PDOCTOR.topics {
            let rows = PaperFigures::PDOCTOR.causes.iter().filter(|(model, ..)| *model == column.model);
            let caused: f64 = rows.map(|(_, _, shares)| shares[2]).sum();
            let named: u64 = column.topics.iter().map(|(_, count)| count).sum();
            let others = 50 - column.without_errors - 5;
            let least = column.topics[4].1;
            assert!(caused >= (named + others) as f64, "{column:?}");
            assert!(caused <= (named + others * least) as f64, "{column:?}");
            assert!(300 > named + others * least, "{column:?}");
        }
    }
}
