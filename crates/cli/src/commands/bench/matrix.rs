//! All combinations of agents, models and settings, on the same cases and with one budget.

use std::sync::Arc;

use planproof_agents::{AGENT_OPTIONS, AgentSpec};
use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{Left, ResumedMatrix, StoreOptions, begin_matrix, combinations, is_complete};
use planproof_config::{NOISE, agent_setting};
use planproof_doors::Outside;
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::own;
use planproof_output::progress;
use planproof_output::report_files::ReportFile;
use planproof_output::runtime::runtime;
use planproof_report::compare::matrix::Combination;
use planproof_report::short_in_the_middle;
use planproof_sim::GOLD_NAME;
use planproof_store::{CampaignRow, Matrix, Store};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::campaign::{
    CampaignPlan, Counts, WantedCases, carry_out, must_concern, named as named_of, new_campaign,
    resume_stored, run_time, stop_on_signal, tokens_unknown,
};
use super::super::matrix;
use super::super::view::Beside;
use crate::arguments::{BenchArguments, Global};
use crate::stored::Stored;
use crate::stored_options::CampaignOptions;
use crate::stream::Stream;
use crate::wanted::{self, Named};

/// Longest cause of a broken set-up in a note below a table, in characters.
const NOTE_CHARACTERS_MAX: usize = 600;

/// The command line's description of a matrix, with the maker of its cases.
pub(super) struct Request<'a> {
    pub(super) arguments: &'a BenchArguments,
    pub(super) plan: CampaignPlan<'a>,
    /// Other files of the command, with the options that name them.
    pub(super) taken: Vec<(&'a str, &'a std::path::Path)>,
    pub(super) global: &'a Global,
}

/// What a matrix writes beside the run store.
struct Files {
    page: Option<ReportFile>,
    stream: Option<Arc<Stream>>,
}

/// The agents in the command line: all combinations; `None` if it names no agent.
pub(super) fn asked_for(
    arguments: &BenchArguments,
    global: &Global,
) -> Result<Option<Vec<AgentSpec>>, Failure> {
    // Noise is written into the name of a model; the other settings are options of agents.
    let (noise, sets): (Vec<&String>, Vec<&String>) =
        global.set.iter().partition(|set| agent_setting(set).is_some_and(|(key, _)| key == NOISE));
    let settings = settings(&sets)?;
    let Some(first) = &arguments.campaign.agent else {
        return match settings.first() {
            Some((key, _)) => Err(Failure::usage(format!(
                "--set {key}: name the agents that it is for; a resumed campaign or matrix keeps its options"
            ))),
            None => Ok(None),
        };
    };
    let agents: Vec<String> = std::iter::once(first).chain(&arguments.others).cloned().collect();
    let noise: Vec<String> =
        noise.into_iter().filter_map(|set| agent_setting(set)).flat_map(|(_, text)| values(text)).collect();
    let (agents, models) = with_noise(agents, arguments.models.clone(), &noise)?;
    // Beside `--model`, a kind of agent alone is right, and `combinations` checks the whole names.
    if models.is_empty() {
        agents.iter().try_for_each(|agent| must_be_agent(agent))?;
    }
    let agents = combinations(&agents, &models, &settings).or_fail()?;
    let options = &arguments.campaign.agent_options;
    let with_options = |agent: &AgentSpec| planproof_assembly::with_options(agent.as_str(), options);
    agents.iter().map(with_options).collect::<Result<_, _>>().map(Some)
}

/// Refuses a text that names no agent. A kind of agent is one beside `--model`.
fn must_be_agent(name: &str) -> Result<(), Failure> {
    planproof_assembly::agent_spec(name).map(drop).map_err(|failure| match failure {
        Failure::Usage(what) if what.contains("@MODEL") => {
            Failure::Usage(format!("{what}; or name its model with --model"))
        }
        other => other,
    })
}

/// Agents and models, with each `sim/gold` among them repeated for each share of wrong answers.
fn with_noise(
    agents: Vec<String>,
    models: Vec<String>,
    noise: &[String],
) -> Result<(Vec<String>, Vec<String>), Failure> {
    if noise.is_empty() {
        return Ok((agents, models));
    }
    let of_agent = format!("@{GOLD_NAME}");
    let is_gold = |name: &String| name == GOLD_NAME || name.ends_with(&of_agent);
    if !agents.iter().chain(&models).any(is_gold) {
        return Err(Failure::usage(format!(
            "--set {NOISE} is for {GOLD_NAME}, which is not among the models"
        )));
    }
    let each = |names: Vec<String>| -> Vec<String> {
        let with_shares = |name: String| match is_gold(&name) {
            true => noise.iter().map(|share| format!("{name}/{share}")).collect(),
            false => vec![name],
        };
        names.into_iter().flat_map(with_shares).collect()
    };
    Ok((each(agents), each(models)))
}

/// The settings of agents among `--set`, each with its values.
fn settings(sets: &[&String]) -> Result<Vec<(&'static str, Vec<String>)>, Failure> {
    let mut all: Vec<(&'static str, Vec<String>)> = Vec::new();
    for (key, text) in sets.iter().filter_map(|set| agent_setting(set)) {
        let option = AGENT_OPTIONS.into_iter().find(|option| *option == key).ok_or_else(|| {
            Failure::usage(format!(
                "--set agent.{key}: there is no option \"{key}\" of an agent; there are {}",
                AGENT_OPTIONS.join(", ")
            ))
        })?;
        let values = values(text);
        // Elsewhere the last `--set` of a key counts. Here each one adds values to try.
        match all.iter_mut().find(|(other, _)| *other == option) {
            Some((_, before)) => before.extend(values),
            None => all.push((option, values)),
        }
    }
    Ok(all)
}

/// The values of a setting, separated by commas; a comma after a backslash is a part of a value.
fn values(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek(), values.last_mut()) {
            // Only before a comma, so that backslashes in paths and patterns stay as they are.
            ('\\', Some(','), Some(value)) => value.extend(characters.next()),
            (',', _, _) => values.push(String::new()),
            (_, _, Some(value)) => value.push(character),
            // There is always a last value.
            (_, _, None) => {}
        }
    }
    values
}

/// A new matrix.
pub(super) fn begin(request: &Request<'_>, agents: &[AgentSpec]) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    let Request { arguments, plan, global, .. } = request;
    let campaign = &arguments.campaign;
    if campaign.recording.replay.is_some() {
        return Err(Failure::usage(
            "--replay is for one campaign: a matrix has a recording for each of its combinations; replay them one by one",
        ));
    }
    // Before the campaigns are created: a file that cannot be written is a mistake in the request.
    let files = files(request)?;
    let Some(first) = agents.first() else { return Err(Failure::usage("name an agent")) };
    for agent in agents.iter().filter(|_| campaign.guard.is_none()) {
        if let Some(rules) = planproof_assembly::rules_named_by(agent)? {
            let rules = rules.display();
            return Err(Failure::usage(format!(
                "{agent} names the rules {rules}, and all agents of a matrix are held to the same: pass --guard {rules}, \
                 or test it on its own"
            )));
        }
    }
    let asking = campaign.asking(run_time(campaign, first))?;
    let world = Outside { asking: &asking, is_quiet: global.quiet, store: &campaign.store.store };
    // Each combination is like the first one, except for its agent and the name of its recording.
    let (new, _) = new_campaign(campaign, global, first.clone(), plan)?;
    let id = begin_matrix(&world, &new, agents, || {
        let cases = plan.cases(new.seed, WantedCases::default())?;
        if let Some(guard) = &new.guard {
            must_concern(guard, &cases.cases)?;
        }
        Ok(cases)
    })?;
    let store = StoreOptions::from(&campaign.store).open().or_fail()?;
    let row = store.matrix(&id)?.ok_or_else(|| Failure::outside(format!("the matrix {id} is gone")))?;
    let named = named(request, Some(agents))?;
    run(request, &store, row, named.as_deref(), files, began)
}

/// What the command line names of each campaign of a matrix of these agents, if it names them.
fn named(request: &Request<'_>, agents: Option<&[AgentSpec]>) -> Result<Option<Vec<Named>>, Failure> {
    let of = |agent| named_of(&request.arguments.campaign, agent, &request.plan, request.global);
    let Some(agents) = agents else { return Ok(of(None)?.map(|named| vec![named])) };
    let numbered =
        (1..).zip(agents).map(|(number, agent)| Ok(of(Some(agent.clone()))?.map(|it| it.numbered(number))));
    numbered.collect()
}

/// A matrix of the store, whose combinations are resumed.
/// Agents that the command line names again are those of the matrix.
pub(super) fn go_on(
    request: &Request<'_>,
    store: &Store,
    row: Matrix,
    agents: Option<&[AgentSpec]>,
) -> Result<ExitCode, Failure> {
    let with_options = |row: CampaignRow| Ok((row.clone(), crate::stored::options(&row)?));
    let campaigns: Vec<(CampaignRow, CampaignOptions)> =
        store.campaigns_of_matrix(&row.id)?.into_iter().map(with_options).collect::<Result<_, Failure>>()?;
    let Some((_, options)) = campaigns.first() else {
        return Err(Failure::usage(format!("the matrix {} holds no campaign", row.id)));
    };
    // One command began all combinations, so the first one speaks for them.
    let what = format!("the matrix {}", row.id);
    request.plan.must_fit(&options.kept, &what, ("resume it with", &format!("--resume {}", row.id)))?;
    let named = named(request, agents)?;
    wanted::matrix_must_be_wanted(store, &row, &campaigns, named.as_deref())?;
    let files = files(request)?;
    run(request, store, row, named.as_deref(), files, Instant::now())
}

/// The requested page and stream. A matrix has no other files.
fn files(request: &Request<'_>) -> Result<Files, Failure> {
    let Request { arguments, taken, global, .. } = request;
    if let Some(shard) = arguments.all.shard {
        return Err(Failure::usage(format!(
            "--shard {shard} is for one agent: run a command for each agent"
        )));
    }
    if arguments.all.gate.baseline.is_some() {
        return Err(Failure::usage(
            "--baseline is for one agent; compare each campaign of a matrix by `planproof report A B --fail-if-worse`",
        ));
    }
    if arguments.all.success_min.is_some_and(|least| least.is_proved) {
        return Err(Failure::usage("--success-min P%:proved is for one agent: leave `:proved` out"));
    }
    if let Some(option) = arguments.all.files.of_one() {
        return Err(Failure::usage(format!(
            "{option} is for one campaign; a matrix is available as text, with --html or with --json, and each \
             of its campaigns \
             with `planproof report`"
        )));
    }
    let page = ReportFile::page(arguments.all.files.html.as_deref(), taken, global.json)?;
    // Last, because it empties a file that exists.
    let stream = Stream::open(arguments.campaign.stream.as_deref(), taken)?;
    Ok(Files { page, stream })
}

/// Runs the unfinished part of it, one combination after the other, and shows the whole. What is `named` of each is
/// used in place of what is stored.
fn run(
    request: &Request<'_>,
    store: &Store,
    row: Matrix,
    named: Option<&[Named]>,
    files: Files,
    began: Instant,
) -> Result<ExitCode, Failure> {
    let Request { arguments, global, .. } = request;
    let Files { page, stream } = files;
    let rows = store.campaigns_of_matrix(&row.id)?;
    store.hold(rows.iter().map(|campaign| campaign.id.as_str()))?;
    // Only after the lock: another process could otherwise spend from the same budget meanwhile.
    let goes_on =
        ResumedMatrix::open(store, row, &(&arguments.campaign.budget).into(), began, own::key()).or_fail()?;
    let ended = runtime()?.block_on(async {
        let stop = stop_on_signal();
        carry_on(request, (store, named), &goes_on, stream.as_ref(), &stop).await
    })?;
    let mut table = matrix::table(store, &goes_on.row)?;
    // A budget that was used up by the very last run ended nothing.
    table.ended_by = ended.budget.filter(|_| table.not_run() > 0);
    let resume = matrix::resume(store, &table);
    let mut notes = ended.notes;
    if let Some(budget) = &table.ended_by {
        let larger = planproof_campaign::larger(budget);
        notes.push(format!(
            "Ended by the budget of {budget}: {} not finished. Resume with: {resume}{larger}",
            match table.not_run() {
                1 => "1 run was".to_owned(),
                rest => format!("{rest} runs were"),
            }
        ));
    }
    let unscored: u64 = table.combinations.iter().map(|row| row.unscored).sum();
    if unscored > 0 {
        let runs = if unscored == 1 { "1 run is".to_owned() } else { format!("{unscored} runs are") };
        notes.push(format!("{runs} unscored. Try them again: {resume}"));
    }
    if let Some(failure) = ended.failure {
        if let Some(page) = page {
            // What is finished is shown even if the matrix could not continue.
            unless_closed(page.write(global.quiet, |out| planproof_report::html::write_matrix(&table, out)))?;
        }
        return Err(failure);
    }
    unless_closed(matrix::print(&table, page, &notes, global))?;
    let least = arguments.all.success_min.map(|least| least.percent);
    let has_failed = table.combinations.iter().any(|row| {
        let right_but_over = row.over().map_or(0, |over| over.right);
        let (passed, failed) = (row.passed.saturating_sub(right_but_over), row.failed + right_but_over);
        let counts = Counts { passed, failed, rest: 0, is_limited: row.over().is_some() };
        counts.exit_code(least) == ExitCode::Failed
    });
    // Of each campaign, because a resumed matrix has its limits from its beginning.
    let unknown = table.combinations.iter().filter_map(Combination::over).find(|it| it.tokens_unknown);
    if let Some(over) = unknown.filter(|_| !has_failed) {
        progress::say(global.quiet, &tokens_unknown(over));
    }
    Ok(match (has_failed, unscored + table.not_run()) {
        (true, _) => ExitCode::Failed,
        (false, 0) if unknown.is_some() => ExitCode::Outside,
        (false, 1..) => ExitCode::Outside,
        (false, 0) => ExitCode::Passed,
    })
}

/// How the combinations came to an end.
#[derive(Default)]
struct Ended {
    /// The budget that ended them all.
    budget: Option<String>,
    failure: Option<Failure>,
    notes: Vec<String>,
}

async fn carry_on(
    request: &Request<'_>,
    (store, named): (&Store, Option<&[Named]>),
    matrix: &ResumedMatrix,
    stream: Option<&Arc<Stream>>,
    stop: &CancellationToken,
) -> Result<Ended, Failure> {
    let Request { arguments, global, .. } = request;
    let mut ended = Ended::default();
    let count = store.campaigns_of_matrix(&matrix.row.id)?.len();
    progress::say(global.quiet, &format!("matrix {}: {count} combinations", matrix.row.id));
    // One server for all combinations, with the list of them.
    let _beside = Beside::start(&arguments.campaign, None)?;
    // The rows are read again for each combination, because what is left depends on what the earlier ones spent.
    for place in 0..count {
        let rows = store.campaigns_of_matrix(&matrix.row.id)?;
        let Some(row) = rows.get(place) else { break };
        if is_complete(row) {
            continue;
        }
        let budgets = match matrix.left(&rows, &row.id).or_fail()? {
            Left::Some(budgets) => budgets,
            Left::Nothing(budget) => {
                ended.budget = Some(budget);
                break;
            }
        };
        progress::say(global.quiet, &format!("combination {} of {count}: {}", place + 1, row.agent));
        // A prepared campaign owns its store, so each combination opens the file once more.
        let own = StoreOptions::from(&arguments.campaign.store).open().or_fail()?;
        let mut options = crate::stored::options(row)?;
        let named = named.and_then(|named| named.get(place)).cloned();
        let agent = named.map(|named| named.put_into(&mut options));
        let stored = Stored::load_with(&own, row.clone(), options)?;
        let about = |failure: Failure| failure.about(&format!("combination {}, {}", place + 1, row.agent));
        let prepared =
            resume_stored(own, stored, agent, &arguments.campaign.model, budgets, &request.plan, global);
        let mut prepared = prepared.map_err(about)?;
        prepared.matrix = Some(matrix.row.id.clone());
        prepared.stream = stream.cloned();
        let run = &prepared.run;
        let came = carry_out(&prepared, global, stop, |outcomes| run.all_at_once(outcomes)).await?;
        // A store that cannot be written or an interruption would end the next combination, too.
        if let Some(failure) = came.failure {
            ended.failure = Some(failure);
            break;
        }
        if let Some(budget) = &came.progress.ended_by {
            ended.budget = Some(matrix.ended_by(budget));
            break;
        }
        // Other combinations may have a working set-up, so they are still run.
        if let Some(why) = prepared.run.options.broken_setup(&came.progress) {
            ended.notes.push(format!(
                "Combination {} was stopped, because its set-up is broken: {}",
                place + 1,
                short_in_the_middle(&planproof_output::terminal::inline(&why), NOTE_CHARACTERS_MAX)
            ));
        }
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_values_and_a_backslash_keeps_one() {
        for (text, expected) in [
            ("json,code", vec!["json", "code"]),
            ("one", vec!["one"]),
            ("", vec![""]),
            (",model", vec!["", "model"]),
            (r"none,program:judge a\,b", vec!["none", "program:judge a,b"]),
            (r"a\b,c\\,d", vec![r"a\b", r"c\,d"]),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
    }

    #[test]
    fn settings_of_agents_are_told_from_other_keys_and_may_be_repeated() {
        let sets = |sets: &[&str]| {
            let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
            settings(&sets.iter().collect::<Vec<_>>()).map_err(|failure| failure.describe())
        };
        let expected = vec![("samples", vec!["1".to_owned(), "3".to_owned(), "5".to_owned()])];
        assert_eq!(sets(&["agent.samples=1,3", "bench.limit=4", "samples=5", "seed=3"]), Ok(expected));
        let error = sets(&["agent.depth=2"]).expect_err("there is no such option");
        assert!(error.contains("no option \"depth\" of an agent; there are samples, "), "{error}");
    }
}
