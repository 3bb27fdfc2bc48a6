//! Splits the text after `-c` into a command and its arguments: white space and a script's two kinds of quotes,
//! no comments, heredocs, variables or shell.

/// A quote that is never closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {0} in it is never closed")]
pub struct OpenQuote(char);

/// Splits at spaces, tabs and line ends. In `"…"` the escapes are `\"` and `\\`, in `'…'` there are none; pieces
/// that adjoin are one word.
///
/// # Errors
/// Where a quote is never closed.
pub fn split(text: &str) -> Result<Vec<String>, OpenQuote> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '"' | '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err(OpenQuote(c)),
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => {
                            word.push(chars.next_if(|next| matches!(next, '"' | '\\')).unwrap_or('\\'))
                        }
                        Some(inside) => word.push(inside),
                    }
                }
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::{OpenQuote, split};

    #[test]
    fn quotes_as_in_a_script() {
        for (text, words) in [
            ("npx -y  pkg\t", vec!["npx", "-y", "pkg"]),
            (r#"sh -c 'echo "a b" $HOME'"#, vec!["sh", "-c", r#"echo "a b" $HOME"#]),
            (r#"a"b c"'d e' """#, vec!["ab cd e", ""]),
            (r#""\"\\\n" C:\x '\'"#, vec![r#""\\n"#, r"C:\x", r"\"]),
            ("a#b # c", vec!["a#b", "#", "c"]),
            ("  ", vec![]),
        ] {
            assert_eq!(
                split(text).as_deref(),
                Ok(&words.iter().map(ToString::to_string).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
    }

    #[test]
    fn an_open_quote_is_refused() {
        assert_eq!(split("a 'b"), Err(OpenQuote('\'')));
        assert_eq!(split(r#"a "b\""#), Err(OpenQuote('"')));
    }
}
