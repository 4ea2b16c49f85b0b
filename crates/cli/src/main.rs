//! The program; all of it is in the library beside it.

fn main() {
    planproof::main([]);
}
