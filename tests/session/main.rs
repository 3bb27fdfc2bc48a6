//! The session against scripted peers: both eras, the probe and its fallbacks, deadlines, findings, lists.

mod deadlines;
mod eras;
mod lists;
mod peer;
mod requests;
mod stdio;
mod wire;
