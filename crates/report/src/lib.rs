//! Reports of campaigns, for people and for pipelines. Everything here makes text of what it is given and writes no
//! file.

mod campaign;
mod command_lines;
pub mod compare;
mod conflict;
pub mod csv;
pub mod drawing;
mod explanation;
pub mod html;
pub mod inspect;
pub mod junit;
mod stated;
pub mod step_summary;
pub mod tables;

pub use campaign::{ReportedCampaign, TraceSource};
pub use command_lines::{CommandLines, shell_word};
pub use conflict::conflict_lines;
pub use explanation::{in_one_line, order_notes, short_in_the_middle, wrong_start};
