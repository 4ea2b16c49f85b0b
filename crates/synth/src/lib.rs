//! Synthesised planning cases whose right answers are known, and the oracle that judges plans.
