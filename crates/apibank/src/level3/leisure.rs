//! The films that users like and have seen, and their posts.

use super::tables::{
    Outcome, argument, is_original, key_error, lookup, lookup_number, part, single, unknown,
};
use crate::api::ApiFault;
use crate::python::repr;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) fn user_movie_preferences(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let name = argument(&arguments, "user_name");
    let found = part(world, "UserMoviePreferences", "database").and_then(|users| {
        let preferences = lookup(users, name);
        preferences.cloned().ok_or_else(|| unknown(world, "user", name))
    });
    let found = found.map(|preferences| single("preferences", preferences));
    ApiRecord::new(Some("UserMoviePreferences"), arguments, found)
}

pub(super) fn user_watched_movies(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let name = argument(&arguments, "user_name");
    let found = part(world, "UserWatchedMovies", "database").and_then(|users| {
        let movies = lookup(users, name);
        movies.cloned().ok_or_else(|| match is_original(world) {
            true => ApiFault::caught("User not found."),
            false => unknown(world, "user", name),
        })
    });
    let found =
        found.map(|movies| if is_original(world) { movies } else { single("watched_movies", movies) });
    ApiRecord::new(Some("UserWatchedMovies"), arguments, found)
}

pub(super) fn movie_recommendations(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let preferences = argument(&arguments, "preferences");
    let found = part(world, "MovieRecommendations", "database").and_then(|genres| match is_original(world) {
        true => by_characters(preferences, genres),
        false => by_genres(preferences, genres, world),
    });
    let found = found.map(|movies| single("recommended_movies", movies));
    ApiRecord::new(Some("MovieRecommendations"), arguments, found)
}

/// Films of all genres in a list. In a text, each character counts as a genre, and no such genre exists.
fn by_characters(preferences: &PythonValue, genres: &PythonValue) -> Outcome {
    let preferences = match preferences {
        PythonValue::List(items) => items.clone(),
        PythonValue::Text(text) => text.chars().map(|it| PythonValue::Text(it.to_string())).collect(),
        PythonValue::Dict(dict) => dict.keys().map(|it| it.as_str().into()).collect(),
        other => return Err(ApiFault::Caught(format!("'{}' object is not iterable", other.class()))),
    };
    let mut movies = Vec::new();
    for genre in &preferences {
        let found = lookup(genres, genre).ok_or_else(|| key_error(genre))?;
        movies.extend_from_slice(found.as_list().unwrap_or_default());
    }
    Ok(movies.into())
}

/// Films of all genres in a list, without repetitions.
fn by_genres(preferences: &PythonValue, genres: &PythonValue, world: &ApiWorld) -> Outcome {
    let wrong =
        || ApiFault::Caught(format!("`preferences` must be a list of genres, not {}", repr(preferences)));
    let mut movies: Vec<PythonValue> = Vec::new();
    for genre in preferences.as_list().ok_or_else(wrong)? {
        let found = lookup(genres, genre).ok_or_else(|| unknown(world, "genre", genre))?;
        for movie in found.as_list().unwrap_or_default() {
            if !movies.contains(movie) {
                movies.push(movie.clone());
            }
        }
    }
    Ok(movies.into())
}

pub(super) fn user_posts(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let id = argument(&arguments, "user_id");
    let found = part(world, "UserPosts", "database").and_then(|users| {
        let posts = lookup_number(users, id);
        posts.cloned().ok_or_else(|| unknown(world, "user", id))
    });
    let found = found.map(|posts| single("post_ids", posts));
    ApiRecord::new(Some("UserPosts"), arguments, found)
}

pub(super) fn like_count(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let id = argument(&arguments, "post_id");
    let found = part(world, "LikeCount", "database").and_then(|posts| {
        let count = lookup_number(posts, id);
        let unknown = || ApiFault::Caught(format!("Post with ID {} does not exist.", id.to_text()));
        count.cloned().ok_or_else(unknown)
    });
    let found = found.map(|count| single("like_count", count));
    ApiRecord::new(Some("LikeCount"), arguments, found)
}
