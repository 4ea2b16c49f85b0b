//! `planproof synth`: cases to stdout.

use std::io::{BufWriter, Write as _};

use planproof_order::synth::file::write_case;
use planproof_order::synth::{SynthesisCounts, Synthesizer, Wordings, count_expansions};

use crate::arguments::{Global, SynthArguments};
use crate::failure::{ExitCode, Failure};
use crate::progress::tell;
use crate::select;
use crate::terminal;

pub(crate) fn run(arguments: &SynthArguments, global: &Global) -> Result<ExitCode, Failure> {
    let bank = select::topic_bank(arguments.cases.shape.topics.as_deref())?;
    let synthesizer = Synthesizer::new(arguments.cases.options(), Wordings::shipped(), &bank)
        .map_err(|error| select::no_synthesis(error, &bank))?;
    let mut counts = SynthesisCounts::default();
    let mut out = BufWriter::new(terminal::results(!arguments.text));
    for index in arguments.cases.places(arguments.count)? {
        let case = synthesizer.case(global.seed, index, &mut counts, &mut ())?;
        if arguments.text {
            writeln!(out, "{}\n{}\n", case.id, case.query)?;
        } else {
            writeln!(out, "{}", write_case(&case))?;
        }
    }
    // By hand, because dropping the buffer would swallow an error.
    out.flush()?;
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
