//! Tests of the reports, through the public interface.

mod agents;
mod any_suite;
mod campaigns;
mod compare;
mod csv;
mod drawing;
mod effort;
mod findings;
mod gate;
mod html;
mod infeasible;
mod inspect;
mod junit;
mod limit;
mod markup;
mod matrix;
mod mixed;
mod shrinking;
mod step_summary;
mod time_form;
mod toy;
