//! Tests of the synthesis, rules, the reader, the oracle and the files, through the public interface.

mod faults;
mod files;
mod infeasible;
mod oracle;
mod overlaps;
mod reading;
mod rewriting;
mod rules;
mod shrink;
mod synthesis;
mod time;
mod time_oracle;
mod tool_names;
mod turns;
mod variants;

use planproof_synth::{PlanningCase, SynthesisOptions, Synthesizer, TimeOptions, TopicBank, Wordings};

/// Case `index` of seed 7 with a range of actions and otherwise default options.
fn case(actions: std::ops::RangeInclusive<u32>, index: u64) -> PlanningCase {
    let options = SynthesisOptions {
        actions_min: *actions.start(),
        actions_max: *actions.end(),
        ..SynthesisOptions::default()
    };
    synthesise(options, 7, index)
}

/// The same of the time form.
fn time_case(actions: std::ops::RangeInclusive<u32>, index: u64) -> PlanningCase {
    let (actions_min, actions_max) = actions.into_inner();
    let time = Some(TimeOptions::default());
    synthesise(SynthesisOptions { actions_min, actions_max, time, ..SynthesisOptions::default() }, 7, index)
}

fn synthesise(options: SynthesisOptions, seed: u64, index: u64) -> PlanningCase {
    Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped())
        .expect("the options are in range")
        .case(seed, index, &mut Default::default(), &mut ())
        .expect("there is room for a case")
}
