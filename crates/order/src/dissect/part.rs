//! A dissection restricted to some errors: those within a capability limit, or a random sample.

use std::collections::BTreeSet;

use super::{Dissection, draw};

impl Dissection {
    /// Keeps the errors whose index `counts`, with their trials.
    pub fn retain(&mut self, counts: impl Fn(u32) -> bool) {
        self.errors.retain(|it| counts(it.error));
        self.trials.retain(|it| counts(it.error));
    }

    /// Keeps a limited number of the errors, drawn by the seed of the campaign, with their trials; all if there are
    /// no more. For a dissection of all errors these are the ones that
    /// [`DissectOptions::errors_max`](super::DissectOptions::errors_max) would have drawn.
    pub fn draw(&mut self, most: u32, seed: u64) {
        if self.errors.len() <= most as usize {
            return;
        }
        let mut drawn: Vec<u32> = self.errors.iter().map(|it| it.error).collect();
        draw(&mut drawn, most, seed);
        let drawn: BTreeSet<u32> = drawn.into_iter().collect();
        self.retain(|error| drawn.contains(&error));
    }
}
