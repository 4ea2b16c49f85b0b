//! Roles of a team for tasks of level 3, as a team description file.

pub const ROLES_NAME: &str = "apibank";

/// The roles: name, description as TOML, and the files that it refers to, each with its text.
pub type TaskRoles = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The roles that come with planproof for this suite.
pub const ROLES: [TaskRoles; 1] = [(
    ROLES_NAME,
    include_str!("../../data/team/roles.toml"),
    &[("executor.txt", include_str!("../../prompts/executor.txt"))],
)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::ApiCatalogue;
    use crate::level3::SEARCHER;

    #[test]
    fn every_tool_has_an_executor_that_can_look_for_it() {
        let [(_, roles, _)] = ROLES;
        let lists: Vec<&str> = roles.lines().filter_map(|line| line.strip_prefix("tools = ")).collect();
        let names = |list: &str| serde_json::from_str::<Vec<String>>(list).unwrap();
        let mut given: Vec<String> = lists.iter().flat_map(|list| names(list)).collect();
        assert!(lists.iter().all(|list| names(list).iter().any(|name| name == SEARCHER)));
        given.sort();
        given.dedup();
        let known: Vec<&str> = ApiCatalogue::level3().specs().iter().map(|spec| spec.name.as_str()).collect();
        assert!(given.iter().all(|name| known.contains(&name.as_str())), "{given:?}");
        assert_eq!(given.len(), known.len());
    }
}
