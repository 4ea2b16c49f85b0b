//! Shapes of orders, against all renamings.

use std::collections::BTreeMap;

use planproof_constraint::{Order, SHAPE_VARIABLES_MAX, Shape, Variable};

/// Every order of so many variables, as the matrix of its closure.
fn all_orders(variables: usize) -> BTreeMap<Vec<bool>, Order> {
    let pairs: Vec<(usize, usize)> = (0..variables)
        .flat_map(|first| {
            (0..variables).filter(move |second| *second != first).map(move |second| (first, second))
        })
        .collect();
    let mut found = BTreeMap::new();
    for chosen in 0..1u32 << pairs.len() {
        let mut order = Order::new(variables).expect("they are few");
        let mut chosen = pairs.iter().enumerate().filter(|(place, _)| chosen >> place & 1 == 1);
        if chosen.all(|(_, (first, second))| {
            order.try_before(Variable::new(*first), Variable::new(*second)).is_ok()
        }) {
            let matrix = pairs
                .iter()
                .map(|(first, second)| order.is_before(Variable::new(*first), Variable::new(*second)));
            found.insert(matrix.collect(), order);
        }
    }
    found
}

/// The number of orders up to renaming is known (OEIS A000112), and so is that of all of them (A001035).
#[test]
fn there_are_as_many_shapes_as_orders_up_to_renaming() {
    for (variables, orders, shapes) in [(1, 1, 1), (2, 3, 2), (3, 19, 5), (4, 219, 16)] {
        let all = all_orders(variables);
        assert_eq!(all.len(), orders);
        let found: std::collections::BTreeSet<Shape> =
            all.values().filter_map(|order| Shape::of(order, &vec![0; variables])).collect();
        assert_eq!(found.len(), shapes, "{variables} variables");
    }
}

#[test]
fn labels_tell_variables_apart() {
    let mut order = Order::new(3).expect("they are few");
    order.try_before(Variable::new(0), Variable::new(1)).expect("there is no cycle");
    let shape = |labels: [u8; 3]| Shape::of(&order, &labels).expect("they are few");
    assert_eq!(shape([0, 0, 0]), shape([0, 0, 0]));
    assert_ne!(shape([1, 2, 0]), shape([2, 1, 0]));
    assert_ne!(shape([1, 2, 0]), shape([1, 0, 2]));
    let mut renamed = Order::new(3).expect("they are few");
    renamed.try_before(Variable::new(2), Variable::new(0)).expect("there is no cycle");
    assert_eq!(Shape::of(&renamed, &[2, 0, 1]), Some(shape([1, 2, 0])));
}

#[test]
fn large_orders_have_none() {
    let order = Order::new(SHAPE_VARIABLES_MAX).expect("they are few");
    assert!(Shape::of(&order, &[0; SHAPE_VARIABLES_MAX]).is_some());
    assert_eq!(Shape::of(&order, &[0]), None);
    let order = Order::new(SHAPE_VARIABLES_MAX + 1).expect("they are few");
    assert_eq!(Shape::of(&order, &[0; SHAPE_VARIABLES_MAX + 1]), None);
}
