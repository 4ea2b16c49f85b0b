//! What the published evaluator leaves to Python 3.11, implemented to match Python: how values are written, which
//! characters are letters, and how source is parsed and written back.

pub(crate) mod big;
pub(crate) mod characters;
pub(crate) mod fstring;
pub(crate) mod number;
pub(crate) mod quote;
pub(crate) mod source;
pub(crate) mod template;
pub(crate) mod unparse;
