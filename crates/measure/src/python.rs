//! How Python 3.11 classes characters and writes texts and numbers, on which published evaluators rely.

mod characters;
mod number;
mod quote;

pub use characters::{digit, is_printable, is_space, is_word, strip};
pub use number::float;
pub use quote::{QUOTES, push_repr, repr, repr_bytes, with_few_escapes};
