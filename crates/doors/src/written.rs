//! Options in their written form, in which those of a recording and those of a command line are compared.

/// An option: the id of its argument, and its value. A switch that is on has an empty value; an absent one has none.
pub type Written = (&'static str, Option<String>);

/// A switch as it is written.
pub fn switch(is_on: bool) -> Option<String> {
    is_on.then(String::new)
}
