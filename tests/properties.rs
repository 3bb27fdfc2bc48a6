//! What holds for every JSON text, good or bad.

use std::cmp::Ordering;

use mcp_script::json::compare::{Arrays, equal, includes};
use mcp_script::json::{Json, Limits, Number, Pointer, Raw, RemarkKind};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

/// Numbers as JSON writes them, from plain to absurd.
fn number_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,2})?",
        "-?[1-9][0-9]{0,30}(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,50})?",
    ]
}

/// Strings with their quotes, some characters escaped.
fn string_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ./~$:{}\\[\\],]{1,5}",
        1 => Just("\\\"".to_owned()),
        1 => Just("\\\\".to_owned()),
        1 => Just("\\n".to_owned()),
        1 => Just("\\u00e4".to_owned()),
        1 => Just("\\uD83D\\ude00".to_owned()),
        1 => Just("\\ud800".to_owned()),
        1 => "[ä😀\u{7f}\u{2028}]",
    ];
    vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// JSON texts with white space, escapes and duplicate members.
fn json_text() -> impl Strategy<Value = String> {
    let space = "[ \n\t\r]{0,2}";
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        number_text(),
        string_text(),
    ];
    leaf.prop_recursive(5, 60, 20, move |inner| {
        let name = prop_oneof![3 => "\"[ab]\"", 1 => string_text()];
        prop_oneof![
            (vec(inner.clone(), 0..6), space)
                .prop_map(|(parts, space)| format!("[{space}{}{space}]", parts.join(&format!("{space},")))),
            (vec((name, inner), 0..22), space).prop_map(|(parts, space)| {
                let members: Vec<String> =
                    parts.iter().map(|(name, value)| format!("{name}{space}:{space}{value}")).collect();
                format!("{{{space}{}{space}}}", members.join(&format!("{space},{space}")))
            }),
        ]
    })
}

/// All pointers into a value.
fn pointers(value: &Json, at: &Pointer, out: &mut Vec<Pointer>) {
    out.push(at.clone());
    let mut below = |token: String, value: &Json| {
        let mut at = at.clone();
        at.push(&token);
        pointers(value, &at, out);
    };
    match value {
        Json::Array(elements) => elements.iter().enumerate().for_each(|(index, part)| below(index.to_string(), part)),
        Json::Object(members) => members.keys().for_each(|name| {
            if let Some(part) = members.get(name) {
                below(name.to_owned(), part);
            }
        }),
        _ => {}
    }
}

/// Counts duplicate members the slow way.
fn duplicates(value: &Json) -> usize {
    match value {
        Json::Array(elements) => elements.iter().map(duplicates).sum(),
        Json::Object(members) => {
            let names: Vec<&str> = members.keys().collect();
            let own = (0..names.len()).filter(|at| names[..*at].contains(&names[*at])).count();
            own + members.iter().map(|(_, part)| duplicates(part)).sum::<usize>()
        }
        _ => 0,
    }
}

fn number(text: &str) -> Number {
    Number::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
}

proptest! {
    #[test]
    fn navigation_in_the_text_equals_the_tree(text in json_text()) {
        let (raw, remarks) = Raw::check(text.clone(), &Limits::default()).expect("the generator writes JSON");
        let tree = raw.to_json();
        prop_assert_eq!(Raw::from(&tree).to_json(), tree.clone());
        prop_assert_eq!(raw.kind(), tree.kind());
        let mut all = Vec::new();
        pointers(&tree, &Pointer::root(), &mut all);
        for pointer in all {
            let part = pointer.resolve(&raw).map(|part| part.to_json());
            prop_assert_eq!(part.as_ref(), pointer.resolve_json(&tree), "{}", pointer);
            prop_assert_eq!(Pointer::parse(pointer.as_str()), Ok(pointer));
        }
        let found = remarks.iter().filter(|remark| remark.kind == RemarkKind::DuplicateMember).count();
        if remarks.len() < 100 {
            prop_assert_eq!(found, duplicates(&tree));
        }
        for remark in remarks {
            let mark = match remark.kind { RemarkKind::DuplicateMember => "\"", RemarkKind::LoneSurrogate => "\\u" };
            prop_assert!(text[remark.offset..].starts_with(mark));
        }
    }

    #[test]
    fn serde_reads_what_we_write_and_back(text in json_text()) {
        let tree = Json::parse(&text).expect("the generator writes JSON");
        for written in [tree.compact(), tree.pretty()] {
            prop_assert_eq!(Json::parse(&written), Ok(tree.clone()));
        }
        prop_assert_eq!(equal(&Json::from_serde(&tree.to_serde()), &tree), Ok(()));
    }

    #[test]
    fn every_value_equals_and_includes_itself(text in json_text()) {
        let tree = Json::parse(&text).expect("the generator writes JSON");
        prop_assert_eq!(equal(&tree, &tree), Ok(()));
        prop_assert_eq!(includes(&tree, &tree, Arrays::Ordered), Ok(()));
        prop_assert_eq!(includes(&tree, &tree, Arrays::Unordered), Ok(()));
    }

    #[test]
    fn inclusion_survives_additions_and_shuffling(texts in vec(json_text(), 1..8), extra in json_text(), by in 0usize..8) {
        let parts: Vec<Json> = texts.iter().map(|text| Json::parse(text).expect("JSON")).collect();
        let expected = Json::array(parts.clone());
        let mut moved = parts;
        let count = moved.len();
        moved.rotate_left(by % count);
        moved.push(Json::parse(&extra).expect("JSON"));
        prop_assert_eq!(includes(&expected, &Json::array(moved), Arrays::Unordered), Ok(()));
    }

    #[test]
    fn a_difference_points_at_something(one in json_text(), two in json_text()) {
        let (one, two) = (Json::parse(&one).expect("JSON"), Json::parse(&two).expect("JSON"));
        prop_assert_eq!(equal(&one, &two).is_ok(), equal(&two, &one).is_ok());
        if let Err(difference) = equal(&one, &two) {
            prop_assert_eq!(difference.pointer.resolve_json(&one), difference.expected.as_ref());
            prop_assert_eq!(difference.pointer.resolve_json(&two), difference.actual.as_ref());
        }
    }

    #[test]
    fn numbers_are_ordered_totally(texts in prop::array::uniform3(number_text())) {
        let [a, b, c] = texts.each_ref().map(|text| number(text));
        prop_assert_eq!(a.cmp_value(&b), b.cmp_value(&a).reverse());
        prop_assert_eq!(a.cmp_value(&a), Ordering::Equal);
        let mut sorted = [&a, &b, &c];
        sorted.sort_by(|one, two| one.cmp_value(two));
        prop_assert!(sorted[0].cmp_value(sorted[2]) != Ordering::Greater);
        let (floats, exact) = (a.to_f64().partial_cmp(&b.to_f64()), a.cmp_value(&b));
        // Rounding may make different numbers equal, but never turns them round.
        prop_assert!(floats == Some(exact) || floats == Some(Ordering::Equal), "{} {} {:?} {:?}", a, b, floats, exact);
    }

    #[test]
    fn small_numbers_are_ordered_as_floats_are(one in -100_000i32..100_000, two in -100_000i32..100_000, digits in 0i32..4) {
        let text = |value: i32| format!("{:.*}", digits as usize, f64::from(value) / 10f64.powi(digits));
        let (a, b) = (number(&text(one)), number(&text(two)));
        prop_assert_eq!(a.cmp_value(&b), one.cmp(&two));
        prop_assert_eq!(a.is_integer(), one % 10i32.pow(digits as u32) == 0);
        let shifted = number(&format!("{one}e-{digits}"));
        prop_assert!(a.same_value(&shifted), "{} {}", a, shifted);
    }

    #[test]
    fn integers_survive(value in any::<i64>(), positive in any::<u64>(), zeros in 0usize..4) {
        prop_assert_eq!(number(&value.to_string()).as_i64(), Some(value));
        prop_assert_eq!(number(&format!("{positive}.{}", "0".repeat(zeros + 1))).as_u64(), Some(positive));
        prop_assert_eq!(number(&format!("{positive}{}e-{zeros}", "0".repeat(zeros))).as_u64(), Some(positive));
    }

    #[test]
    fn any_bytes_can_be_checked(bytes in vec(any::<u8>(), 0..200)) {
        match Raw::check(bytes.clone(), &Limits::default()) {
            Ok((raw, _)) => prop_assert_eq!(raw.to_json().kind(), raw.kind()),
            Err(error) => {
                prop_assert!(error.offset <= bytes.len());
                prop_assert!(!error.message.contains(char::is_control));
            }
        }
    }

    #[test]
    fn mutated_texts_are_judged_as_serde_judges_them(text in json_text(), at in any::<prop::sample::Index>(), with in "[{}\\[\\],:\"0-9.eE+\\-\\\\ntu \u{1}ä]{0,3}", cut in 0usize..4) {
        let mut start = at.index(text.len() + 1);
        while !text.is_char_boundary(start) { start -= 1; }
        let mut end = (start + cut).min(text.len());
        while !text.is_char_boundary(end) { end += 1; }
        let mutated = format!("{}{with}{}", &text[..start], &text[end..]);
        let ours = Raw::check(mutated.clone(), &Limits::default());
        // An ignored value: serde does not look for half surrogates there, and neither refuses them.
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&mutated);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?} {:?}", mutated, ours, theirs);
    }
}
