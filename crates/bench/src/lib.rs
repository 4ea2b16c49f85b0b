//! Campaigns of runs, simulated models, baselines and metrics.
