//! What these agents do with replies that are not in order, and what a person changes in their plans.
