//! Pictures of docs/gallery.md: those of commands are what the commands beside them write.

use groundwave_needs::needs;

use crate::support::{command, root, stdout};

/// Option of a command that names its picture.
const OPTION: &str = "--plot";

#[needs(terrain)]
#[test]
fn pictures_of_the_gallery_are_those_of_their_commands() {
    let page = std::fs::read_to_string(root().join("docs/gallery.md")).unwrap();
    let lines: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("groundwave ")).collect();
    let folder = tempfile::tempdir().unwrap();
    for line in &lines {
        let mut words: Vec<_> = line.split_whitespace().collect();
        let place = words.iter().position(|word| *word == OPTION).unwrap() + 1;
        let picture = words[place];
        let copy = folder.path().join("copy.svg");
        words[place] = copy.to_str().unwrap();
        stdout(&command(&words).current_dir(root()).output().unwrap());
        let octets = std::fs::read(&copy).unwrap();
        let path = root().join(picture);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &octets).unwrap();
        }
        let expected = std::fs::read(&path).unwrap_or_default();
        assert!(octets == expected, "{picture} is another one: BLESS=1 writes it");
        let link = picture.strip_prefix("docs/").unwrap();
        assert!(page.contains(&format!("]({link})")), "{picture} is not shown");
    }
    assert!(lines.len() >= 3, "{lines:?}");
}
