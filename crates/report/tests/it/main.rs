//! Tests of the reports, through the public interface.

mod campaigns;
