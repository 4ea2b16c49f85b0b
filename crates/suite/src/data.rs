//! Data that cases are made from.

/// A file of data, read into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data<'a> {
    /// What is in it.
    pub text: &'a str,
    /// Its name, for errors.
    pub file: &'a str,
}

/// Which cases of some data are taken, and in what order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selection {
    /// Those at the beginning.
    #[default]
    First,
    /// A sample, drawn with this seed. (Ours: not the order in which Python shuffles with the same seed.)
    Shuffled(u64),
    /// Those at these places from 0, in this order, as of a published sample.
    Places(Vec<usize>),
}

/// Finished predictions, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// A verdict for each case, in the order of the cases.
    pub verdicts: Vec<crate::Verdict>,
    /// The ids of the cases without a prediction, which count as failed.
    pub missing: Vec<String>,
}
