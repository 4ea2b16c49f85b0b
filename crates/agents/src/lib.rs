//! Agents under test: in-process loops and external programs.
