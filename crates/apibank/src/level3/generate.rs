//! Our own tasks: drawn from a seed, in the form of the published ones.
//!
//! A *template* creates a task: it chooses a subject and executes each gold call as it creates it. Later calls take
//! their arguments from the results of earlier ones, so the calls are known to work, and their results are
//! recorded. A draw that leads nowhere (no flight, two hotels at the lowest price) is discarded, and the next one
//! is tried. The first call of each tool is preceded by the search that finds it, as in the published tasks.
//!
//! Requirements are worded so that exactly one list of calls is right: the cheapest of several, an order for a list
//! that needs one. Texts that become arguments contain no quotes or apostrophes, so that the published form of
//! calls can express them.
//!
//! # Module layout
//!
//! Subjects to choose from (`facts.rs`), the calls of a task under construction (`script.rs`), keywords for
//! searches (`keywords.rs`), sentence fragments (`english.rs`), and the templates: journeys (`journeys.rs`), places
//! (`places.rs`), accounts (`accounts.rs`), meetings and organisations (`meetings.rs`), films, posts and salaries
//! (`leisure.rs`).

mod accounts;
mod english;
mod facts;
mod journeys;
mod keywords;
mod leisure;
mod meetings;
mod places;
mod script;
mod words;

use planproof_trace::Draw;

use self::facts::Facts;
use self::script::Script;
use self::words::Words;
use super::data;
use super::task::{TaskOrigin, UserTask};
use crate::world::ApiWorld;

/// Maximum number of draws for one task. About half of the templates succeed at the first draw.
const DRAWS_MAX: u64 = 1000;

type Template = fn(&mut Draw, &Facts, &mut Script) -> Option<Words>;

/// All kinds of tasks.
const TEMPLATES: [(&str, Template); 19] = [
    ("trip", journeys::trip),
    ("stay", journeys::stay_and_eat),
    ("packing", journeys::packing),
    ("outfit", places::outfit),
    ("dinner", places::dinner),
    ("at_home", places::at_home),
    ("dinner_at_home", places::dinner_at_home),
    ("moving", accounts::moving),
    ("two_accounts", accounts::two_accounts),
    ("reminder", meetings::reminder),
    ("travellers", meetings::travellers),
    ("staff_meeting", meetings::staff_meeting),
    ("office_meeting", meetings::office_meeting),
    ("new_films", leisure::new_films),
    ("film_night", leisure::film_night),
    ("likes", leisure::all_likes),
    ("best_post", leisure::best_post),
    ("month_pay", leisure::month_pay),
    ("two_salaries", leisure::two_salaries),
];

/// Creates tasks.
#[derive(Debug)]
pub struct Generator {
    world: ApiWorld,
    facts: Facts,
}

impl Generator {
    /// A generator for our databases and the right tools.
    pub fn new() -> Self {
        let world = data::own();
        let facts = Facts::of(&world);
        Self { world, facts }
    }

    /// All kinds of tasks.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        TEMPLATES.iter().map(|(kind, _)| *kind)
    }

    /// The task with this index in the series of a seed, which never changes. The kinds take turns, in an order
    /// that depends on the seed.
    ///
    /// `None` only if no draw produced a task, which does not happen with our databases.
    pub fn task(&self, seed: u64, index: u64) -> Option<UserTask> {
        let round = index / TEMPLATES.len() as u64;
        let mut order = TEMPLATES;
        // Shuffled anew for each round, in which every kind occurs once.
        Draw::new(seed, round, "apibank sorts").shuffle(&mut order);
        let place = usize::try_from(index % TEMPLATES.len() as u64).ok()?;
        let (kind, template) = *order.get(place)?;
        // One stream for all attempts at a task; otherwise all attempts would be the same.
        let mut draw = Draw::new(seed, index, "apibank task");
        (0..DRAWS_MAX).find_map(|_| {
            // A discarded attempt must leave nothing behind, neither calls nor changes of the world.
            let searches = Draw::new(seed, index, "apibank searches");
            let mut script = Script::new(self.world.clone(), searches);
            let words = template(&mut draw, &self.facts, &mut script)?;
            Some(UserTask {
                id: format!("level3-{seed}-{index}"),
                kind: kind.to_owned(),
                origin: TaskOrigin::Own,
                requirement: words.requirement,
                calls: script.into_calls(),
                reply: words.reply,
                asks: words.asks,
                data: None,
            })
        })
    }
}

impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}
