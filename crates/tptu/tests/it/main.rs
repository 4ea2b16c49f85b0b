//! The suite with agents, events and the references of all questions, executed: SQL in the engine of the tool, Python
//! in the sandbox.
//!
//! The test binary is its own worker: with [`WORKER_ARGUMENT`] it is nothing else.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod agents;
mod classes;
mod python;
mod references;
mod sub_tasks;
mod whatever;

use std::env;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use planproof_sandbox::WORKER_ARGUMENT;

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some(WORKER_ARGUMENT) {
        planproof_sandbox::worker::main();
    }
    let tests: [(&str, fn()); 21] = [
        ("readers_take_whatever_there_is", whatever::readers_take_whatever_there_is),
        ("opposites_of_right_sub_tasks_fail", sub_tasks::opposites_of_right_sub_tasks_fail),
        ("every_sub_task_has_a_verdict", whatever::every_sub_task_has_a_verdict),
        ("plans_that_are_carried_out_need_no_words", agents::plans_that_are_carried_out_need_no_words),
        ("figures_by_words_are_marked", agents::figures_by_words_are_marked),
        ("a_case_without_a_prediction_is_missing", agents::a_case_without_a_prediction_is_missing),
        ("every_answer_has_a_verdict", whatever::every_answer_has_a_verdict),
        ("an_agent_with_the_key_passes_every_case", agents::an_agent_with_the_key_passes_every_case),
        ("wrong_answers_fail_in_every_case", agents::wrong_answers_fail_in_every_case),
        ("wrong_numbers_differ_from_the_right_one", agents::wrong_numbers_differ_from_the_right_one),
        ("cases_come_back_from_their_lines", agents::cases_come_back_from_their_lines),
        ("plans_land_in_their_classes", classes::plans_land_in_their_classes),
        (
            "plans_that_were_carried_out_land_in_their_classes",
            classes::plans_that_were_carried_out_land_in_their_classes,
        ),
        (
            "sub_tasks_are_judged_by_what_their_calls_returned",
            classes::sub_tasks_are_judged_by_what_their_calls_returned,
        ),
        ("sub_tasks_are_judged_by_their_meaning", sub_tasks::sub_tasks_are_judged_by_their_meaning),
        ("statements_land_in_their_classes", classes::statements_land_in_their_classes),
        ("code_lands_in_its_classes", classes::code_lands_in_its_classes),
        ("answers_land_in_their_classes", classes::answers_land_in_their_classes),
        ("every_reference_gives_the_answer", references::every_reference_gives_the_answer),
        ("the_examples_of_the_paper_are_true", references::the_examples_of_the_paper_are_true),
        ("tables_have_rows", references::tables_have_rows),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), tests.into_iter().map(trial).collect()).exit_code()
}
