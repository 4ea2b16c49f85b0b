//! Behaviour specifications, their automata, and the decoding monitor.
