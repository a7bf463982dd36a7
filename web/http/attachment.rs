//! Names of files that are saved by a browser.

/// Characters that stay as they are beside letters and digits: those of RFC 8187 that every file system takes.
const PLAIN: &[u8] = b"-_.";

/// Value of `Content-Disposition` (RFC 6266) of a file with the name of its subject.
///
/// Characters that no file system takes become hyphens. Older clients read `filename`, in ASCII, others `filename*`, in
/// UTF-8 (RFC 8187). A subject without letters and digits gives `file`.
#[must_use]
pub fn attachment(subject: &str, extension: &str) -> String {
    let stem = file_stem(subject);
    let ascii: String =
        stem.chars().map(|letter| if letter.is_ascii() { letter } else { '_' }).collect();
    if ascii == *stem {
        return format!("attachment; filename=\"{stem}.{extension}\"");
    }
    let encoded: String = stem.bytes().map(octet).collect();
    format!("attachment; filename=\"{ascii}.{extension}\"; filename*=UTF-8''{encoded}.{extension}")
}

/// Stem of the name of a file from a text such as the name of a node.
#[must_use]
pub fn file_stem(subject: &str) -> String {
    let is_kept = |letter: char| {
        letter.is_alphanumeric() || PLAIN.contains(&(letter as u8)) && letter.is_ascii()
    };
    let stem: String =
        subject.chars().map(|letter| if is_kept(letter) { letter } else { '-' }).collect();
    let parts: Vec<_> = stem.split('-').filter(|part| !part.is_empty()).collect();
    let stem = parts.join("-");
    match stem.trim_matches(['.', '-']) {
        "" => "file".to_owned(),
        stem => stem.to_owned(),
    }
}

/// An octet of a name in the form of RFC 8187.
fn octet(byte: u8) -> String {
    match byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::attachment;

    #[test]
    fn subject_gives_a_name_that_file_systems_and_headers_take() {
        for (subject, extension, header) in [
            ("Harbour mesh", "kml", "attachment; filename=\"Harbour-mesh.kml\""),
            ("a/b\\c: \"d\"\r\nX: 1", "csv", "attachment; filename=\"a-b-c-d-X-1.csv\""),
            ("../..", "csv", "attachment; filename=\"file.csv\""),
            ("", "png", "attachment; filename=\"file.png\""),
            (
                "Göteborg",
                "kmz",
                "attachment; filename=\"G_teborg.kmz\"; filename*=UTF-8''G%C3%B6teborg.kmz",
            ),
        ] {
            assert_eq!(attachment(subject, extension), header, "{subject}");
        }
    }
}
