//! Which scripts run: files, folders, patterns, stdin and lines of the command line.

use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use crate::diagnostic::{Diagnostic, suggest};

/// How a script's file name ends.
const EXTENSION: &str = "mcp";

/// Where a script comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, there or not.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Lines of the command line.
    Lines(String),
}

impl Input {
    /// The name it is reported under.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) if cfg!(windows) => path.to_string_lossy().replace('\\', "/"),
            Self::File(path) => path.to_string_lossy().into_owned(),
            Self::Stdin => "-".to_owned(),
            Self::Lines(_) => "-e".to_owned(),
        }
    }
}

/// Resolves what the command line names, in its order; folders and patterns give their files sorted by path.
///
/// # Errors
/// A folder or a pattern without a script, and stdin named twice. A file that is not there is found out when it is read.
pub fn gather(paths: &[String], lines: &[String]) -> Result<Vec<Input>, Box<Diagnostic>> {
    let mut inputs = Vec::new();
    for path in paths {
        for input in resolve(path)? {
            if input == Input::Stdin && inputs.contains(&Input::Stdin) {
                return Err(refuse("`-` is given twice, but stdin can be read only once", "give it once"));
            }
            if !inputs.contains(&input) {
                inputs.push(input);
            }
        }
    }
    if !lines.is_empty() {
        inputs.push(Input::Lines(lines.join("\n")));
    }
    Ok(inputs)
}

fn resolve(text: &str) -> Result<Vec<Input>, Box<Diagnostic>> {
    let path = Path::new(text);
    if text == "-" {
        return Ok(vec![Input::Stdin]);
    }
    let found = if path.is_dir() {
        folder(path)
    } else if path.exists() || !is_pattern(text) {
        return Ok(vec![Input::File(path.to_path_buf())]);
    } else {
        pattern(path).map_err(|why| {
            refuse(&format!("`{text}` is no pattern: {why}"), "patterns know *, **, ?, [a-z] and {a,b}")
        })?
    };
    if found.is_empty() {
        let title = if path.is_dir() {
            format!("the folder `{text}` holds no .mcp script")
        } else {
            format!("`{text}` matches no file")
        };
        return Err(refuse(&title, "name a script, a folder of scripts, or a pattern such as 'tests/**/*.mcp'"));
    }
    Ok(found.into_iter().map(Input::File).collect())
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn folder(folder: &Path) -> Vec<PathBuf> {
    let walk = WalkBuilder::new(folder).standard_filters(false).hidden(true).filter_entry(is_ours).build();
    files(walk, true)
}

fn pattern(pattern: &Path) -> Result<Vec<PathBuf>, ignore::Error> {
    let plain = |part: &Component<'_>| !is_pattern(&part.as_os_str().to_string_lossy());
    let base: PathBuf = pattern.components().take_while(plain).collect();
    let rest: PathBuf = pattern.components().skip_while(plain).collect();
    let base = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base };
    let names_a_kind = rest.file_name().is_some_and(|name| name.to_string_lossy().contains('.'));
    let mut globs = OverrideBuilder::new(&base);
    globs.add(&format!("/{}", rest.to_string_lossy()))?;
    let mut walk = WalkBuilder::new(&base);
    walk.standard_filters(false).hidden(true).filter_entry(is_ours).overrides(globs.build()?);
    let found = files(walk.build(), !names_a_kind).into_iter();
    Ok(found.map(|path| path.strip_prefix("./").map(Path::to_path_buf).unwrap_or(path)).collect())
}

/// Installed packages bring scripts of others.
fn is_ours(entry: &ignore::DirEntry) -> bool {
    entry.file_name() != "node_modules"
}

fn files(walk: ignore::Walk, only_scripts: bool) -> Vec<PathBuf> {
    let paths = walk.filter_map(Result::ok).map(ignore::DirEntry::into_path).filter(|path| path.is_file());
    let wanted = |path: &PathBuf| !only_scripts || path.extension().is_some_and(|extension| extension == EXTENSION);
    let mut found: Vec<_> = paths.filter(wanted).collect();
    found.sort();
    found
}

/// A name beside `path` that was probably meant.
pub fn near(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .take(1_000)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".mcp"))
        .collect();
    let name = path.file_name()?.to_str()?;
    suggest(name, names.iter().map(String::as_str)).map(|near| path.with_file_name(near).to_string_lossy().into_owned())
}

fn refuse(title: &str, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("mcp::usage::scripts", title).help(help))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Input, gather, near};

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for file in ["b.mcp", "a.mcp", "sub/c.mcp", "sub/d.txt", "node_modules/x.mcp", ".hidden/y.mcp", "empty/readme"]
        {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "echo 1\n").expect("a file");
        }
        root
    }

    fn names(root: &Path, words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<String> = words
            .iter()
            .map(|word| if *word == "-" { "-".into() } else { format!("{}/{word}", root.display()) })
            .collect();
        let inputs = gather(&words, &[]).map_err(|error| error.title)?;
        let short = |input: Input| input.name().replace(&format!("{}/", root.display()), "");
        Ok(inputs.into_iter().map(short).collect())
    }

    #[test]
    fn files_folders_and_patterns() {
        let tree = tree();
        let root = tree.path();
        for (words, found) in [
            (vec![""], vec!["a.mcp", "b.mcp", "sub/c.mcp"]),
            (vec!["b.mcp", "", "-"], vec!["b.mcp", "a.mcp", "sub/c.mcp", "-"]),
            (vec!["*.mcp"], vec!["a.mcp", "b.mcp"]),
            (vec!["**/*.mcp"], vec!["a.mcp", "b.mcp", "sub/c.mcp"]),
            (vec!["sub/*"], vec!["sub/c.mcp"]),
            (vec!["sub/*.txt"], vec!["sub/d.txt"]),
            (vec!["{a,sub/c}.mcp"], vec!["a.mcp", "sub/c.mcp"]),
            (vec!["nope.mcp"], vec!["nope.mcp"]),
        ] {
            assert_eq!(names(root, &words), Ok(found.iter().map(ToString::to_string).collect()), "{words:?}");
        }
        assert!(names(root, &["empty"]).is_err_and(|why| why.ends_with("holds no .mcp script")));
        assert!(names(root, &["x*.mcp"]).is_err_and(|why| why.ends_with("matches no file")));
        assert!(names(root, &["-", "-"]).is_err());
    }

    #[test]
    fn lines_are_one_script() {
        let inputs = gather(&[], &["ping".into(), "echo 1".into()]).map_err(|error| error.title);
        assert_eq!(inputs, Ok(vec![Input::Lines("ping\necho 1".into())]));
        assert_eq!(Input::File(PathBuf::from("x/y.mcp")).name(), "x/y.mcp");
    }

    #[test]
    fn a_near_name_is_found() {
        let tree = tree();
        let near = near(&tree.path().join("sub/cc.mcp"));
        assert!(near.is_some_and(|near| near.ends_with("sub/c.mcp")));
    }
}
