//! The shape of an order: the order without the names of its variables.

use crate::order::Order;
use crate::variable::Variable;

/// Most variables of an order whose shape is computed. All numberings of similar variables are tried: 40,320 at most.
pub const SHAPE_VARIABLES_MAX: usize = 8;

/// An order with labels on its variables, up to renaming: two orders have the same shape if and only if one becomes
/// the other by renaming variables of the same label.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// The label of each variable, in the canonical numbering.
    labels: Vec<u8>,
    /// The successors of each variable, in the same numbering.
    successors: Vec<u64>,
}

impl Shape {
    /// The shape of an order whose variables have these labels. `None` for more than [`SHAPE_VARIABLES_MAX`]
    /// variables, or if the number of labels differs.
    pub fn of(order: &Order, labels: &[u8]) -> Option<Self> {
        if order.len() > SHAPE_VARIABLES_MAX || labels.len() != order.len() {
            return None;
        }
        // Renaming preserves a variable's label and the numbers of its predecessors and successors, so only variables
        // with equal values can be exchanged.
        let key = |place: usize| {
            let variable = Variable::new(place);
            let counts = [order.predecessors(variable), order.successors(variable)].map(u64::count_ones);
            (labels[place], counts)
        };
        let mut places: Vec<usize> = (0..order.len()).collect();
        places.sort_by_key(|place| key(*place));
        let mut smallest = None;
        each_numbering(&mut places, 0, &|one, other| key(one) == key(other), &mut |places| {
            let of = |place: &usize| {
                let after = |(number, other): (usize, &usize)| {
                    u64::from(order.is_before(Variable::new(*place), Variable::new(*other))) << number
                };
                places.iter().enumerate().map(after).sum()
            };
            // Labels need no comparison: only variables with the same label are exchanged.
            let successors: Vec<u64> = places.iter().map(of).collect();
            if smallest.as_ref().is_none_or(|smallest| successors < *smallest) {
                smallest = Some(successors);
            }
        });
        let labels = places.iter().map(|place| key(*place).0).collect();
        Some(Self { labels, successors: smallest? })
    }
}

/// Visits all permutations of `places` in which those from `from` on are exchanged only with similar ones. Restores
/// the original order.
fn each_numbering(
    places: &mut [usize],
    from: usize,
    are_alike: &impl Fn(usize, usize) -> bool,
    visit: &mut impl FnMut(&[usize]),
) {
    if from == places.len() {
        return visit(places);
    }
    for other in from..places.len() {
        if are_alike(places[from], places[other]) {
            places.swap(from, other);
            each_numbering(places, from + 1, are_alike, visit);
            places.swap(from, other);
        }
    }
}
