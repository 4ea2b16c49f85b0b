//! Roles of a team that plans trips, as team description files.

/// The name of the roles without hints.
pub const ROLES_NAME: &str = "travelplanner";
/// The name of the roles whose deliverer gets the unconventional hints.
pub const ROLES_WITH_HINTS_NAME: &str = "travelplanner-hints";

/// Roles that come with planproof: name, description as TOML, and the files that it refers to, each with its text.
pub type ShippedRoles = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// All roles that come with planproof.
pub const ROLES: [ShippedRoles; 2] = [
    (ROLES_NAME, include_str!("../../data/team/roles.toml"), &[]),
    (
        ROLES_WITH_HINTS_NAME,
        include_str!("../../data/team/roles-hints.toml"),
        &[("deliverer-hints.txt", include_str!("../../prompts/deliverer-hints.txt"))],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_the_only_difference() {
        let [(_, plain, _), (_, with_hints, files)] = ROLES;
        let executors = |text: &str| text[text.find("[[executor]]").expect("executors")..].to_owned();
        assert_eq!(executors(plain), executors(with_hints));
        assert!(files.iter().all(|(_, text)| text.contains(crate::suite::HINTS)));
    }
}
