//! Tests of the reports, through the public interface.

mod campaigns;
mod compare;
mod html;
mod markup;
