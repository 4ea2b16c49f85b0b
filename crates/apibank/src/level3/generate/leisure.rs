//! Tasks about films, posts, salaries and taxes.

use planproof_trace::Draw;

use super::english::{a, amount, and, count};
use super::facts::Facts;
use super::script::{Place, Script};
use super::words::{Words, each, pick, say};
use crate::value::PythonValue;

/// Maximum number of a user's posts whose likes a task asks for one by one.
const POSTS_MAX: usize = 4;

/// Maximum number of films that a reply lists.
const FILMS_MAX: usize = 12;

fn preferences(script: &mut Script, user: &str) -> Option<(Place, Vec<String>)> {
    let place = script.call("UserMoviePreferences", &[("user_name", user.into())], &[])?;
    let genres = script.texts(place, "preferences")?;
    Some((place, genres))
}

fn recommended(script: &mut Script, genres: &[String], from: &[Place]) -> Option<(Place, Vec<String>)> {
    let genres: Vec<PythonValue> = genres.iter().map(|genre| genre.as_str().into()).collect();
    let place = script.call("MovieRecommendations", &[("preferences", genres.into())], from)?;
    let films = script.texts(place, "recommended_movies")?;
    Some((place, films))
}

fn watched(script: &mut Script, user: &str) -> Option<Vec<String>> {
    let place = script.call("UserWatchedMovies", &[("user_name", user.into())], &[])?;
    script.texts(place, "watched_movies")
}

/// Preferences, films, minus those already seen.
pub(super) fn new_films(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let user = pick(draw, &facts.fans)?;
    let (place, genres) = preferences(script, user)?;
    let (_, films) = recommended(script, &genres, &[place])?;
    let seen = watched(script, user)?;
    let new: Vec<&str> = films.iter().filter(|film| !seen.contains(film)).map(String::as_str).collect();
    // An empty list is not a recommendation, and a long one makes an unreadable reply.
    if new.is_empty() || new.len() > FILMS_MAX {
        return None;
    }
    let requirement = say(
        draw,
        [
            format!("Recommend movies that {user} likes but has not watched yet."),
            format!(
                "{user} wants to see something new. Which movies suit the preferences of {user} and are not among \
                 those already watched?"
            ),
            format!("Find movies for the taste of {user}, and leave out those that {user} has watched."),
        ],
    )?;
    let asks = each(&new);
    let (genres, new) = (and(&genres), and(&new));
    let reply = say(
        draw,
        [
            format!("Going by the preferences {genres}, these movies are new to {user}: {new}."),
            format!("{user} has not watched {new} yet."),
        ],
    )?;
    Some(Words { requirement, reply, asks })
}

/// Preferences of two users, films of the genres that both like.
pub(super) fn film_night(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let (one, other) = (pick(draw, &facts.fans)?, pick(draw, &facts.fans)?);
    if one == other {
        return None;
    }
    let (first, liked) = preferences(script, one)?;
    let (second, also) = preferences(script, other)?;
    // In the order of the first user, which the requirement states: arguments that are lists are compared in order.
    let common: Vec<String> = liked.into_iter().filter(|genre| also.contains(genre)).collect();
    if common.is_empty() {
        return None;
    }
    let (_, films) = recommended(script, &common, &[first, second])?;
    let requirement = say(
        draw,
        [
            format!(
                "{one} and {other} want to watch a movie together. Which movies are recommended for the genres \
                 that both of them like? List the genres in the order in which {one} prefers them."
            ),
            format!(
                "Compare the movie preferences of {one} and {other}, keep the genres they share in the order of \
                 {one}, and recommend movies for these."
            ),
        ],
    )?;
    let asks = each(&films);
    let (common, films) = (and(&common), and(&films));
    let reply = say(
        draw,
        [
            format!("Both like {common}. You could watch {films}."),
            format!("For the common taste of {one} and {other}, which is {common}, I recommend {films}."),
        ],
    )?;
    Some(Words { requirement, reply, asks })
}

/// The posts of a user with the likes of each.
fn likes(script: &mut Script, user: i128) -> Option<Vec<(Place, i128, f64)>> {
    let posts = script.call("UserPosts", &[("user_id", PythonValue::Int(user))], &[])?;
    let ids = script.list(posts, "post_ids")?.to_vec();
    // The likes of a single post would leave nothing to add up or compare.
    if !(2..=POSTS_MAX).contains(&ids.len()) {
        return None;
    }
    let mut found = Vec::new();
    for id in ids {
        let PythonValue::Int(number) = id else { return None };
        let place = script.call("LikeCount", &[("post_id", id)], &[posts])?;
        found.push((place, number, script.number(place, "like_count")?));
    }
    Some(found)
}

fn calculate(script: &mut Script, formula: String, from: &[Place]) -> Option<f64> {
    let place = script.call("Calculator", &[("formula", formula.into())], from)?;
    script.bare_number(place)
}

/// Posts, likes, and their sum or mean.
pub(super) fn all_likes(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let user = *pick(draw, &facts.users)?;
    let is_mean = draw.chance(1, 2);
    let likes = likes(script, user)?;
    let places: Vec<Place> = likes.iter().map(|(place, ..)| *place).collect();
    // Any order of the addends is right, because the check of the calculator compares results only.
    let sum = likes.iter().map(|(.., likes)| likes.to_string()).collect::<Vec<_>>().join("+");
    let formula = if is_mean { format!("({sum})/{}", likes.len()) } else { sum };
    let result = calculate(script, formula, &places)?;
    let requirement = match is_mean {
        true => say(
            draw,
            [
                format!("How many likes does a post of the user with the ID {user} have on average?"),
                format!("Look up the likes of every post by user {user} and calculate the average."),
            ],
        ),
        false => say(
            draw,
            [
                format!("How many likes do all posts of the user with the ID {user} have together?"),
                format!(
                    "Look up the likes of every post by user {user} and add them up with the calculator."
                ),
            ],
        ),
    }?;
    let (posts, result) = (count(likes.len(), "post"), amount(result));
    let by_post: Vec<String> = likes.iter().map(|(_, id, likes)| format!("{likes} for post {id}")).collect();
    let what = if is_mean { "on average" } else { "in total" };
    let reply = say(
        draw,
        [
            format!("User {user} has {posts}, with {result} likes {what}."),
            format!("The likes are {}: {result} {what}.", and(&by_post)),
        ],
    )?;
    Some(Words { requirement, reply, asks: each([&result]) })
}

/// Posts, likes, and the post with the most.
pub(super) fn best_post(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let user = *pick(draw, &facts.users)?;
    let likes = likes(script, user)?;
    let (_, id, most) = *likes.iter().max_by(|(.., one), (.., other)| one.total_cmp(other))?;
    // Two posts with the most likes would make two answers right.
    if likes.iter().filter(|(.., likes)| *likes == most).count() > 1 {
        return None;
    }
    let requirement = say(
        draw,
        [
            format!("Which post of the user with the ID {user} has the most likes?"),
            format!("Find the most popular post by user {user}, and say how many likes it has."),
        ],
    )?;
    let posts = count(likes.len(), "post");
    let reply = say(
        draw,
        [
            format!("Of the {posts} by user {user}, post {id} has the most likes: {most}."),
            format!("Post {id} is the most popular one, with {most} likes."),
        ],
    )?;
    let mut asks = each([id]);
    if requirement.contains("how many likes") {
        asks.extend(each([most]));
    }
    Some(Words { requirement, reply, asks })
}

/// The salary of an occupation after tax.
fn after_tax(script: &mut Script, occupation: &str) -> Option<(Place, f64)> {
    let asked = script.call("GetOccupationSalary", &[("occupation", occupation.into())], &[])?;
    let salary = script.output(asked, "salary")?.clone();
    let taxed = script.call("TaxCalculator", &[("salary", salary)], &[asked])?;
    let left = script.number(taxed, "salary_after_tax")?;
    // The calculator accepts whole numbers.
    (left.fract() == 0.0).then_some((taxed, left))
}

/// Salary, tax, and the net salary per month.
pub(super) fn month_pay(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let occupation = pick(draw, &facts.occupations)?;
    let (place, left) = after_tax(script, occupation)?;
    let month = calculate(script, format!("{left}/12"), &[place])?;
    let who = a(occupation);
    let requirement = say(
        draw,
        [
            format!("How much money does {who} keep each month after tax, if the salary is for 12 months?"),
            format!("Look up the yearly salary of {who}, take off the tax, and divide the rest by 12."),
            format!(
                "I am thinking of working as {who}. What would be left of the yearly salary after tax, and how \
                 much is that in each of the 12 months?"
            ),
        ],
    )?;
    let (left, month) = (amount(left), amount(month));
    let reply = say(
        draw,
        [
            format!("After tax, {who} has {left} a year, which is {month} a month."),
            format!("That is {month} a month, a twelfth of {left} after tax."),
        ],
    )?;
    Some(Words { requirement, reply, asks: each([&month]) })
}

/// Two salaries, their taxes, and the difference.
pub(super) fn two_salaries(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let (one, other) = (pick(draw, &facts.occupations)?, pick(draw, &facts.occupations)?);
    if one == other {
        return None;
    }
    let (first, more) = after_tax(script, one)?;
    let (second, less) = after_tax(script, other)?;
    // The wordings say that the first earns more than the second.
    if more <= less {
        return None;
    }
    let difference = calculate(script, format!("{more}-{less}"), &[first, second])?;
    let (one, other) = (a(one), a(other));
    let requirement = say(
        draw,
        [
            format!("How much more does {one} earn in a year than {other}, once both have paid their taxes?"),
            format!(
                "Compare the salaries of {one} and {other} after tax, and calculate by how much the first is \
                 higher than the second."
            ),
        ],
    )?;
    let [more, less, difference] = [more, less, difference].map(amount);
    let reply = say(
        draw,
        [
            format!("After tax, {one} has {more} and {other} has {less}, which is {difference} less."),
            format!("The difference is {difference}: {more} for {one}, {less} for {other}."),
        ],
    )?;
    Some(Words { requirement, reply, asks: each([&difference]) })
}
