//! Tests of the reports, through the public interface.

mod campaigns;
mod csv;
mod junit;
mod mixed;
mod step_summary;
