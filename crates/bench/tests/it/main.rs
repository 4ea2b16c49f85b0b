//! Tests of the engine through its public interface, with cases of a toy suite: it knows none itself. Campaigns of real
//! cases are tested in the crates of their suites, most of them in `order`.

mod campaign;
mod jobs;
mod monitored;
mod report;
mod toy;
