//! Groups of constraints that cannot hold together, if there is exactly one such conflict.

/// Most groups that are considered together: a set of them is a machine word.
pub const GROUPS_MAX: usize = 64;

/// The conflicts between groups of constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupConflict {
    /// Nothing: all can hold together.
    None,
    /// This set of groups, a bit for each, is the only inclusion-minimal one that cannot hold together: every
    /// conflicting set contains it.
    Sole(u64),
    /// There are several inclusion-minimal sets that cannot hold together.
    Several,
}

/// Whether groups of constraints have exactly one inclusion-minimal conflict. `holds` says whether the groups of a
/// set can hold together, and must be monotonic: it must not accept a set if it rejects a subset.
///
/// A group whose removal makes the others hold is a member of every conflict, and a group that is a member of every
/// conflict makes the others hold by its removal. So these groups are the intersection of all conflicts, and there is
/// exactly one conflict if they are in conflict themselves. That takes two calls of `holds` and one for each group.
///
/// # Errors
/// Those of `holds`.
///
/// # Panics
/// Above [`GROUPS_MAX`] groups.
pub fn sole_conflict<E>(
    groups: usize,
    mut holds: impl FnMut(u64) -> Result<bool, E>,
) -> Result<GroupConflict, E> {
    assert!(groups <= GROUPS_MAX, "{groups} groups do not fit into a machine word");
    let all = crate::variable::first_variables(groups);
    if holds(all)? {
        return Ok(GroupConflict::None);
    }
    let mut common = 0;
    for group in 0..groups {
        if holds(all & !(1 << group))? {
            common |= 1 << group;
        }
    }
    Ok(if holds(common)? { GroupConflict::Several } else { GroupConflict::Sole(common) })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Holds unless it contains one of these sets.
    fn decide(groups: usize, conflicts: &[u64]) -> GroupConflict {
        let holds =
            |set: u64| Ok::<_, Infallible>(conflicts.iter().all(|conflict| set & conflict != *conflict));
        sole_conflict(groups, holds).unwrap_or_else(|never| match never {})
    }

    #[test]
    fn one_conflict_alone_is_told_from_several() {
        assert_eq!(decide(4, &[]), GroupConflict::None);
        assert_eq!(decide(4, &[0b0101]), GroupConflict::Sole(0b0101));
        assert_eq!(decide(4, &[0b0101, 0b1101]), GroupConflict::Sole(0b0101));
        assert_eq!(decide(4, &[0b0101, 0b0110]), GroupConflict::Several);
        assert_eq!(decide(4, &[0b0011, 0b1100]), GroupConflict::Several);
        // An empty set that cannot hold is a conflict without members.
        assert_eq!(decide(4, &[0]), GroupConflict::Sole(0));
        assert_eq!(decide(64, &[1 << 63 | 1]), GroupConflict::Sole(1 << 63 | 1));
        assert_eq!(decide(0, &[]), GroupConflict::None);
    }
}
