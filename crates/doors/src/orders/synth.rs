//! `planproof synth`: cases to stdout.

use std::io::{BufWriter, Write as _};

use planproof_order::rewriting::{NamedModel, Rewriters};
use planproof_order::synth::file::write_case;
use planproof_order::synth::{
    Meaning, PlanningCase, SynthesisCounts, Synthesizer, Wordings, count_expansions,
};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::runtime::runtime;
use planproof_output::terminal::inline;
use planproof_output::{progress, secrets, tell, terminal};
use tokio::task::JoinSet;

use super::arguments::SynthArguments;
use super::files::{no_synthesis, refuse_keys, synthesis_failure, topic_bank};
use crate::Globals;
use crate::helper_model::HelperModel;

/// Most cases that are rewritten at once.
const REWRITTEN_AT_ONCE_MAX: usize = 8;

/// Most reasons for dropped cases that are listed.
const REASONS_MAX: usize = 5;

pub fn run(arguments: &SynthArguments, global: &Globals) -> Result<ExitCode, Failure> {
    let bank = topic_bank(arguments.cases.shape.topics.as_deref())?;
    let synthesizer = Synthesizer::new(arguments.cases.options(), Wordings::shipped(), &bank)
        .map_err(|error| no_synthesis(error, &bank))?;
    let mut counts = SynthesisCounts::default();
    let places = arguments.cases.places(arguments.count)?;
    if let Some(writer) = &arguments.rewrite {
        let cases = places.map(|index| synthesizer.case(global.seed, index, &mut counts, &mut ()));
        rewrite(cases.collect::<Result<_, _>>().map_err(synthesis_failure)?, writer, arguments, global)?;
    } else {
        let mut out = BufWriter::new(terminal::results(!arguments.text));
        for index in places {
            write(
                &mut out,
                &synthesizer.case(global.seed, index, &mut counts, &mut ()).map_err(synthesis_failure)?,
                arguments,
            )?;
        }
        // By hand, because dropping the buffer would swallow an error.
        out.flush()?;
    }
    if arguments.statistics {
        // All fields are named, so that a new count cannot be forgotten here.
        let SynthesisCounts {
            sentences_drawn,
            unsatisfiable,
            undecided,
            ambiguous,
            too_wide,
            discarded,
            easy,
            no_conflict,
            solver_calls,
        } = counts;
        tell!(
            "sentences drawn {sentences_drawn}: contradicted the paragraph so far {unsatisfiable}, had two readings {ambiguous}, wanted more actions than there are {too_wide}"
        );
        // Only the time form is decided by a search that may reach its limit.
        if arguments.cases.shape.time {
            tell!("not known within the limit of the search whether they did: {undecided}");
        }
        if arguments.cases.infeasible.is_some() {
            tell!("did not contradict the paragraph in one way alone, where that was wanted: {no_conflict}");
        }
        if arguments.cases.shape.hard {
            tell!("paragraphs discarded because an order read off at one look was right: {easy}");
        }
        let or_no_time = if arguments.cases.shape.time { ", or named no clock time," } else { "" };
        let or_no_time = match arguments.cases.turns {
            Some(_) => ", or could not be divided into messages:",
            None => or_no_time,
        };
        tell!(
            "paragraphs discarded because they could not mention every action{or_no_time} {discarded}; satisfiability checks {solver_calls}"
        );
        let depth = arguments.cases.shape.relative_depth;
        tell!(
            "ways to expand one sub-sentence with {depth} levels of relative clauses: {} (counted: productions and \
             directions; not counted: wordings, and the actions and lengths of lists)",
            count_expansions(depth, arguments.cases.shape.time)
        );
    }
    Ok(ExitCode::Passed)
}

fn write(
    out: &mut impl std::io::Write,
    case: &PlanningCase,
    arguments: &SynthArguments,
) -> Result<(), Failure> {
    // Topics of the user's and models may write one. In its place, the case would be another one.
    refuse_keys(case)?;
    if arguments.text {
        writeln!(out, "{}\n{}\n", case.id, case.query)?;
        let later = case.turns.iter().flat_map(|turns| &turns.later);
        for (number, message) in (2..).zip(later) {
            writeln!(out, "[message {number}]\n{message}\n")?;
        }
    } else {
        writeln!(out, "{}", write_case(case))?;
    }
    Ok(())
}

/// What became of the rewritten cases.
#[derive(Default)]
struct Kept {
    read: usize,
    judged: usize,
    /// Demands something else.
    other: usize,
    unread: usize,
    /// Why some could not be read.
    reasons: Vec<String>,
}

/// Has a model rewrite these cases, and writes those that are known to demand the same, in their order.
fn rewrite(
    cases: Vec<PlanningCase>,
    writer: &str,
    arguments: &SynthArguments,
    global: &Globals,
) -> Result<(), Failure> {
    let judge = arguments.judge.as_deref();
    if judge == Some(writer) {
        return Err(Failure::usage(format!(
            "--judge {writer}: name another model than that of --rewrite, which would read its own words"
        )));
    }
    let helper = HelperModel::find_both(writer, judge, &arguments.asking)?;
    // A model that is named by its URL may have a key in it.
    let named = |name: &str, model| NamedModel { name: secrets::without(name), model };
    let rewriters = Rewriters {
        writer: named(writer, helper.model.clone()),
        judge: judge.zip(helper.second.clone()).map(|(name, model)| named(name, model)),
        seed: global.seed,
    };
    let all = cases.len();
    let bar = progress::bar(global.quiet, all as u64, 0);
    let (mut finished, mut failed, mut is_stopped) = (Vec::new(), None, false);
    runtime()?.block_on(async {
        let stop = helper.stop();
        let (mut waiting, mut asking) = (cases.into_iter().enumerate(), JoinSet::new());
        loop {
            // After a failure nothing new is begun, but what is under way is awaited.
            while asking.len() < REWRITTEN_AT_ONCE_MAX && failed.is_none() {
                let Some((place, case)) = waiting.next() else { break };
                let rewriters = rewriters.clone();
                asking.spawn(async move { (place, rewriters.rewrite(&case).await) });
            }
            let joined = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    is_stopped = true;
                    break;
                }
                joined = asking.join_next() => joined,
            };
            match joined {
                None => break,
                Some(Ok((place, Ok(meaning)))) => {
                    bar.inc(1);
                    finished.push((place, meaning));
                }
                Some(Ok((_, Err(error)))) => {
                    failed.get_or_insert(error.to_string());
                }
                Some(Err(error)) => {
                    failed.get_or_insert(error.to_string());
                }
            }
        }
    });
    bar.finish_and_clear();
    helper.tell_spent(global.quiet);
    // In the order of the cases, whichever answer came first.
    finished.sort_by_key(|(place, _)| *place);
    let tried = finished.len();
    let mut kept = Kept::default();
    let mut out = BufWriter::new(terminal::results(!arguments.text));
    let mut printed = Ok(());
    for (_, meaning) in finished {
        match meaning {
            Meaning::Same(case) => {
                match case.rewritten.as_ref().and_then(|it| it.judge.as_ref()) {
                    None => kept.read += 1,
                    Some(_) => kept.judged += 1,
                }
                printed = printed.and_then(|()| write(&mut out, &case, arguments));
            }
            Meaning::Other => kept.other += 1,
            Meaning::Unread(why) => {
                kept.unread += 1;
                kept.reasons.push(why);
            }
        }
    }
    unless_closed(printed.and_then(|()| out.flush().map_err(Failure::from)))?;
    let Kept { read, judged, other, unread, reasons } = &kept;
    tell!(
        "kept {} of {tried}: {read} read, {judged} judged; dropped {}: {other} mean something else, {unread} unread",
        read + judged,
        other + unread
    );
    for why in reasons.iter().take(REASONS_MAX) {
        progress::say(global.quiet, &inline(&format!("note: unread: {why}")));
    }
    if judge.is_none() && *unread > 0 {
        progress::say(global.quiet, "note: with --judge MODEL another model reads what the reader cannot");
    }
    let why = match (failed, is_stopped) {
        (Some(error), _) => error,
        (None, true) => helper.stopped_by(),
        (None, false) => return Ok(()),
    };
    Err(Failure::outside(format!(
        "only {tried} of {all} cases were rewritten: {}{}",
        inline(&why),
        helper.advice()
    )))
}
