//! The `mcp-tester` binary.
fn main() {}
