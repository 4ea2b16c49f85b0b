//! Tests of the synthesis, rules, the reader, the oracle and the files, through the public interface.

mod files;
mod infeasible;
mod oracle;
mod reading;
mod rules;
mod shrink;
mod synthesis;
mod time;
mod time_oracle;
mod variants;

use planproof_synth::{Case, Options, Synthesizer, TimeOptions, TopicBank, Wordings};

/// Case `index` of seed 7 with a range of actions and otherwise default options.
fn case(actions: std::ops::RangeInclusive<u32>, index: u64) -> Case {
    let options =
        Options { actions_min: *actions.start(), actions_max: *actions.end(), ..Options::default() };
    synthesise(options, 7, index)
}

/// The same of the time form.
fn time_case(actions: std::ops::RangeInclusive<u32>, index: u64) -> Case {
    let (actions_min, actions_max) = actions.into_inner();
    let time = Some(TimeOptions::default());
    synthesise(Options { actions_min, actions_max, time, ..Options::default() }, 7, index)
}

fn synthesise(options: Options, seed: u64, index: u64) -> Case {
    Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped())
        .expect("the options are in range")
        .case(seed, index, &mut Default::default(), &mut ())
        .expect("there is room for a case")
}
