//! Reports of campaigns, for people and for pipelines.
