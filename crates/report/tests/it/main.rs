//! Tests of the reports, through the public interface.

mod campaigns;
mod html;
mod markup;
