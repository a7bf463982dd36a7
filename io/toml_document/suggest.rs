//! Names near a mistyped one, and lists short enough to read.

/// Names listed before the rest is only counted.
const LISTED_MAX: usize = 16;

/// Longest name, in characters, compared for likeness.
const COMPARED_MAX: usize = 64;

/// List of allowed names, with the nearest one pointed out if one is near.
///
/// `names` are listed in the order given: the first sixteen, then a count.
pub fn one_of<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let mut text = list(&names);
    if let Some(near) = nearest(name, &names) {
        text.push_str(&format!(" (did you mean {near:?}?)"));
    }
    text
}

/// A list of names, cut after the sixteenth.
fn list(names: &[&str]) -> String {
    if names.is_empty() {
        return "nothing, none is defined".to_owned();
    }
    let shown: Vec<&str> = names.iter().take(LISTED_MAX).copied().collect();
    let mut text = shown.join(", ");
    if names.len() > LISTED_MAX {
        text.push_str(&format!(", … ({} in all)", names.len()));
    }
    text
}

/// The name with the fewest edits (Levenshtein, letter case ignored) to `name`, at most a third of its
/// length; the first wins.
pub(crate) fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let letters = |name: &str| -> Vec<char> {
        name.chars().flat_map(char::to_lowercase).take(COMPARED_MAX).collect()
    };
    let typed = letters(name);
    let edits_max = (typed.len() / 3).max(1);
    names
        .iter()
        .map(|name| (strsim::generic_levenshtein(&typed, &letters(name)), *name))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_not() {
        let names = ["wifi_2g4_mesh", "wifi_5g_mesh", "lora_868_eu"];
        assert!(one_of("wifi_5g_mseh", names).ends_with("(did you mean \"wifi_5g_mesh\"?)"));
        assert!(!one_of("tetra", names).contains("did you mean"));
        let many: Vec<String> = (0..40).map(|i| format!("n{i}")).collect();
        assert!(one_of("zzz", many.iter().map(String::as_str)).ends_with("… (40 in all)"));
    }
}
