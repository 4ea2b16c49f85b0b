//! What the published evaluator leaves to Python 3.11 beside characters, texts and numbers (which the crate `measure`
//! has): whole numbers of any size, and how source is parsed and written back.

pub(crate) mod big;
pub(crate) mod fstring;
pub(crate) mod source;
pub(crate) mod template;
pub(crate) mod unparse;
