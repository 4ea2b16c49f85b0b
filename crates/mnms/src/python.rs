//! What the published evaluator leaves to Python 3.11, done here as Python does it: how values are written, what is a
//! letter, how source is read and written again.

pub(crate) mod big;
pub(crate) mod characters;
pub(crate) mod fstring;
pub(crate) mod number;
pub(crate) mod quote;
pub(crate) mod source;
pub(crate) mod template;
pub(crate) mod unparse;
