//! The pages and the server of them, over stores that the tests write.

mod browsing;
mod live;
mod refusals;
mod support;
