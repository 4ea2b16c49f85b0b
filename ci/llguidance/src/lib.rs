//! Nothing but tests: `cargo test --manifest-path ci/llguidance/Cargo.toml`.
