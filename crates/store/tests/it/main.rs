//! Tests of the store's public interface, on real files.

mod browsing;
mod crash;
mod damage;
mod delete;
mod derived;
mod files;
mod forged;
mod gathering;
mod history;
mod lessons;
mod matrix;
mod migration;
mod progress;
mod reading;
mod seals;
mod support;
mod writing;
