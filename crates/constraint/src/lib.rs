//! Typed constraints over a plan: checking, solving, explaining and repairing.
