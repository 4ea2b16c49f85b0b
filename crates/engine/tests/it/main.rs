//! Tests of the engine through its public interface, with cases of a toy suite: the engine itself knows no suite.
//! Campaigns with real cases are tested in the crates of their suites, most of them in `order`.

mod campaign;
mod effort;
mod jobs;
mod monitored;
mod report;
mod toy;
