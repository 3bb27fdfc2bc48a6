//! A server that misbehaves on purpose, for tests.
fn main() {}
