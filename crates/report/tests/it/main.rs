//! Tests of the reports, through the public interface.

mod campaigns;
mod csv;
mod inspect;
mod junit;
mod mixed;
mod step_summary;
