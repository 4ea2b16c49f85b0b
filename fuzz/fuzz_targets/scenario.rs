//! The target of the body `scenario` (`ci/fuzzing`).
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| planproof_ci_fuzzing::run("scenario", bytes));
