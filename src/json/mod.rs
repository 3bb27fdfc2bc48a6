//! JSON as it came: checked text first, trees only for what is touched.
