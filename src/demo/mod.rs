//! The built-in demo server. Owns the fixture tools; may use rmcp and axum; must not use anything else of this crate.
