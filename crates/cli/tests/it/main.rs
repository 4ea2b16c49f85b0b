//! Tests of the planproof command as a process.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod bad_input;
mod behaviours;
mod bench;
mod bench_models;
mod budgets;
mod campaigns;
mod cases;
mod check;
mod checker;
mod child;
mod combinations;
mod completions;
mod config;
mod crafted;
mod crash;
mod damaged;
mod deciding;
mod demo;
mod dissect;
mod doctor;
mod documents;
mod echo;
mod effort;
mod external;
mod faults;
mod from_rules;
mod gate;
mod guard;
mod guarded;
mod guarded_http;
mod held;
mod history;
mod hook_install;
mod hooks;
mod infeasible;
mod init;
mod input;
mod install;
mod interrupt;
mod keys;
mod launcher;
mod limit;
mod limits;
mod matrix;
mod memory;
mod mnms;
mod mnms_data;
mod models;
mod one_decision;
mod otlp;
mod outputs;
mod own_suite;
mod paper_tables;
mod private;
mod prompts;
mod providers;
mod published;
mod reaching;
mod recorded;
mod recorded_files;
mod recording;
mod remembered;
mod repeats;
mod replaced;
mod replay;
mod reports;
mod rewriting;
mod rules;
mod run;
mod running;
mod runs;
mod sandbox;
mod scenario;
mod score;
mod servers;
mod service;
#[path = "../../../guard/tests/it/sessions.rs"]
mod sessions;
mod setup;
mod shard_plans;
mod shards;
mod shrink;
mod spec;
mod stand_in;
mod stored;
mod stream;
mod strict;
mod subtasks;
#[path = "../support/mod.rs"]
mod support;
mod tables;
mod team;
mod terminal;
mod text_calls;
mod time;
mod topics;
mod travel;
mod turns;
mod unread;
#[cfg(unix)]
mod view;
mod wanted;
mod ways_out;
mod ways_out_all;
mod worker;
mod worlds;

use std::time::Duration;

/// Asks again and again until there is an answer.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..6000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("in a minute it did not come to this: {what}");
}
