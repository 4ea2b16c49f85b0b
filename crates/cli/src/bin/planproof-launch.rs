//! The launcher of programs under test as a program of its own, which starts in a fraction of the time that planproof
//! takes. Where it lies beside planproof it is used in its place.

fn main() -> ! {
    planproof_isolation::only_launcher_main()
}
