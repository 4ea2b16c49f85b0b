//! Campaigns in a browser while they run: pages made from run stores, and a server of them on loopback.
//!
//! The store is the only channel: whoever writes it, in this process or another, need not know that it is watched. It
//! is opened for reading, so a page cannot change it, takes no lock that a writer waits for, and reads a bounded number
//! of rows. No suite is known here: a [`Library`] finds the suite of a campaign.
//!
//! Every page can be read without its script. With it, the changing parts of the page follow the store by server-sent
//! events: each carries the difference between two states, and is named by the state, so that a browser whose
//! connection broke gets the latest state and nothing that it has already.
//!
//! # Module layout
//!
//! - `address.rs`: what an address asks for; `server.rs`: who is answered, and with what headers; `waiting.rs`: whose
//!   connection is closed for want of room.
//! - `site.rs`: reads what a page shows, with the figures of campaigns in `site/figures.rs` and the events of a run in
//!   `site/following.rs`; `rates.rs`: runs per minute.
//! - `pages.rs` and its folder: renders pages from that. `snapshot.rs`: the changing parts of one, and differences.
//! - `live.rs`: watches the stores for the pages that are seen.
//! - `library.rs`: what the caller provides; `limits.rs`: all limits.

mod address;
mod library;
pub mod limits;
mod live;
mod pages;
mod rates;
mod server;
mod site;
mod snapshot;
mod waiting;

pub use library::{KnownCampaign, Library};
pub use server::{ViewConfig, ViewServer};
