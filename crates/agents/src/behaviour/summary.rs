//! Summaries of tool results, and the choice between a summary and the results themselves (PASS, section 3 of Crouse et
//! al. 2024).

mod score;

use std::fmt;

use planproof_model::{Model, ModelError, Settings};
use planproof_spec::Compat;
use planproof_trace::Usage;

use super::plain::{ask, inset, without_mark};

pub use score::{ALPHA, ScoreFault, ScoredText, normalised, score};

/// The beginning of the prompt; statements, context and goal follow. A simulated model may recognise the request by
/// it.
pub const INSTRUCTION: &str = "Summarise in one line what the statements say about the context and the goal. Use the \
     statements alone, and leave out what the goal does not need.";

/// Most tokens of a summary, as published.
pub const SUMMARY_TOKENS_MAX: u32 = 128;

/// The mark that the summary is written after.
const MARK: &str = "Summary:";

/// What is summarised, and what for.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// The question of the run.
    pub question: &'a str,
    /// The sub-goal that the calls were made for.
    pub goal: &'a str,
    /// The results of the calls, in their order.
    pub results: &'a [&'a str],
    /// The whole context of the agent's model when it reads the returned text: the `x` of the paper's formula.
    pub before: &'a str,
}

/// Which of the two is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The text with the higher [`score`], if the model reports the log-probabilities of a given text
    /// ([`Capabilities::log_probabilities`](planproof_model::Capabilities::log_probabilities)); the summary only if
    /// its score is strictly higher. If the model does not report them, [`Otherwise`].
    Likelier(Otherwise),
    /// The summary, without scores.
    Summary,
    /// The results. No summary is made (the paper's "no summarizer").
    Results,
}

/// Which of the two is returned if there are no scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// The shorter one in characters, the results if both have the same length, as in the published code: a summary
    /// that is longer than its input is useless.
    #[default]
    Shorter,
    Summary,
    Results,
}

impl Default for Choice {
    fn default() -> Self {
        Self::Likelier(Otherwise::default())
    }
}

/// How to summarise and choose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummaryOptions {
    /// Which of the two is returned.
    pub choice: Choice,
    /// How much the length counts in a score: at 0 not at all.
    pub alpha: f64,
    /// Whose format the results have: see [`results_text`].
    pub compat: Compat,
    pub seed: u64,
}

impl Default for SummaryOptions {
    /// The likelier, with the published [`ALPHA`].
    fn default() -> Self {
        Self { choice: Choice::default(), alpha: ALPHA, compat: Compat::default(), seed: 0 }
    }
}

/// One of the two texts that can be returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateText {
    Summary,
    /// The results as they came.
    Results,
}

/// Why it was that one.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    Likelier {
        summary: ScoredText,
        /// That of the results.
        results: ScoredText,
    },
    /// By length, because there are no scores.
    Shorter {
        /// Why there are none.
        unscored: String,
    },
    /// As configured for models without scores.
    Otherwise {
        /// Why there are none.
        unscored: String,
    },
    Configured,
    /// The results are blank, so nothing was summarised.
    NothingToSummarise,
    /// The summary is blank.
    BlankSummary,
}

/// The text that the agent gets, and how it was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Summarised {
    /// The text that is returned.
    pub text: String,
    /// Which of the two it is.
    pub chosen: CandidateText,
    pub reason: Reason,
    /// The summary, if one was made, even if it is not returned.
    pub summary: Option<String>,
    /// Tokens of all requests.
    pub usage: Usage,
}

impl fmt::Display for Summarised {
    /// Which was chosen and why, in one line, for the trace: `summary, likelier: -1.2000 in 9 tokens against
    /// -1.9000 in 40 tokens`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.chosen {
            CandidateText::Summary => "summary",
            CandidateText::Results => "results",
        })?;
        match &self.reason {
            Reason::Likelier { summary, results } => {
                let (chosen, other) = match self.chosen {
                    CandidateText::Summary => (summary, results),
                    CandidateText::Results => (results, summary),
                };
                let word = if chosen.score > other.score { "likelier" } else { "as likely" };
                write!(f, ", {word}: {chosen} against {other}")
            }
            Reason::Shorter { unscored } => write!(f, ", by length; no scores: {unscored}"),
            Reason::Otherwise { unscored } => write!(f, ", as configured; no scores: {unscored}"),
            Reason::Configured => f.write_str(", as configured"),
            Reason::NothingToSummarise => f.write_str(", which are blank"),
            Reason::BlankSummary => f.write_str(", because the summary is blank"),
        }
    }
}

/// The results of several calls as one text: a single one unchanged, several as a numbered list; as published one
/// after the other, each on its own line. Trimmed.
pub fn results_text(results: &[&str], compat: Compat) -> String {
    match (results, compat) {
        ([result], _) => result.trim().to_owned(),
        (_, Compat::Original) => results.join("\n").trim().to_owned(),
        (_, Compat::Ours) => {
            let numbered =
                results.iter().zip(1..).map(|(result, number)| format!("{number}. {}", inset(result)));
            numbered.collect::<Vec<_>>().join("\n")
        }
    }
}

/// The prompt for a summary: the results as statements, the question as their context, and the goal. Lines within one
/// of these texts are indented, so that a result cannot pass for another goal.
pub fn prompt(material: &Material<'_>) -> String {
    let mut out = format!("{INSTRUCTION}\n\nStatements:\n");
    for result in material.results {
        out.push_str(&format!("- {}\n", inset(result)));
    }
    out.push_str(&format!("Context: {}\nGoal: {}\n{MARK}", inset(material.question), inset(material.goal)));
    out
}

/// Makes the text for the agent: asks `model` for a summary, of one line and at most [`SUMMARY_TOKENS_MAX`] tokens,
/// and chooses between it and the results. At most three requests: the summary, and a score for each of the two.
///
/// A blank text never wins against one with content: it would have the highest possible score.
///
/// # Errors
/// Any error of the model, except from a server that turns out not to report log-probabilities.
pub async fn summarise(
    model: &dyn Model,
    material: &Material<'_>,
    options: &SummaryOptions,
) -> Result<Summarised, ModelError> {
    let results = results_text(material.results, options.compat);
    let mut usage = Usage::default();
    if material.results.iter().all(|result| result.trim().is_empty()) {
        return Ok(Summarised::results(results, Reason::NothingToSummarise, None, usage));
    }
    if options.choice == Choice::Results {
        return Ok(Summarised::results(results, Reason::Configured, None, usage));
    }
    let settings = Settings {
        temperature: Some(0.0),
        output_tokens_max: Some(SUMMARY_TOKENS_MAX),
        seed: Some(options.seed),
        stop: vec!["\n".to_owned()],
        ..Settings::default()
    };
    let reply = ask(model, &prompt(material), &settings).await?;
    usage += reply.usage;
    let summary = without_mark(&reply.text, MARK).to_owned();
    if summary.is_empty() {
        return Ok(Summarised::results(results, Reason::BlankSummary, None, usage));
    }
    let otherwise = match options.choice {
        Choice::Likelier(otherwise) => otherwise,
        Choice::Summary | Choice::Results => {
            return Ok(Summarised::summary(summary, Reason::Configured, usage));
        }
    };
    // The `p` of the paper's formula is the agent's own model, which also wrote the summary.
    let scores = if model.capabilities().log_probabilities {
        scores(model, material.before, &summary, &results, options, &mut usage).await?
    } else {
        Err(format!("{} does not tell the log-probabilities of a given text", model.name()))
    };
    // Both comparisons are strict, so a tie goes to the results.
    let (is_summary, reason) = match (scores, otherwise) {
        (Ok((of_summary, of_results)), _) => (
            of_summary.score > of_results.score,
            Reason::Likelier { summary: of_summary, results: of_results },
        ),
        (Err(unscored), Otherwise::Shorter) => {
            (summary.chars().count() < results.chars().count(), Reason::Shorter { unscored })
        }
        (Err(unscored), Otherwise::Summary) => (true, Reason::Otherwise { unscored }),
        (Err(unscored), Otherwise::Results) => (false, Reason::Otherwise { unscored }),
    };
    Ok(if is_summary {
        Summarised::summary(summary, reason, usage)
    } else {
        Summarised::results(results, reason, Some(summary), usage)
    })
}

/// The scores of both, or why there are none.
async fn scores(
    model: &dyn Model,
    before: &str,
    summary: &str,
    results: &str,
    options: &SummaryOptions,
    usage: &mut Usage,
) -> Result<Result<(ScoredText, ScoredText), String>, ModelError> {
    let mut both = Vec::with_capacity(2);
    for text in [summary, results] {
        match score(model, before, text, options.alpha, options.seed, usage).await {
            Ok(scored) => both.push(scored),
            // A server can refuse what its capabilities promise. The configured choice then decides, and the run
            // continues.
            Err(ScoreFault::Model(ModelError::Unsupported { model, what })) => {
                return Ok(Err(format!("{model} cannot {what}")));
            }
            Err(ScoreFault::Model(error)) => return Err(error),
            Err(fault) => return Ok(Err(fault.to_string())),
        }
    }
    // Both were scored, or the loop has returned.
    Ok(Ok((both[0], both[1])))
}

impl Summarised {
    fn summary(summary: String, reason: Reason, usage: Usage) -> Self {
        Self { text: summary.clone(), chosen: CandidateText::Summary, reason, summary: Some(summary), usage }
    }

    fn results(results: String, reason: Reason, summary: Option<String>, usage: Usage) -> Self {
        Self { text: results, chosen: CandidateText::Results, reason, summary, usage }
    }
}
