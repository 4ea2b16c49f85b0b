//! Files that suites bring for agents.

use planproof_travel::suite::ShippedRoles;

/// Files that describe the roles of a team and come with planproof.
pub fn shipped_roles() -> impl Iterator<Item = &'static ShippedRoles> {
    planproof_travel::suite::ROLES.iter().chain(&planproof_apibank::suite::ROLES)
}
