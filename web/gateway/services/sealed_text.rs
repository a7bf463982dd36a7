//! Texts of flows with sealed pieces: what stands between the templates of a text is sealed, the templates
//! stay, because they are filled in before the pieces are opened.

use groundwave_gateway::automation::{SEALED_END, SEALED_PREFIX, SECRET_SHOWN, replace_sealed};

use super::vault::Vault;

/// Part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'t> {
    /// Text as it is.
    Literal(&'t str),
    /// Template with its braces.
    Template(&'t str),
}

impl Part<'_> {
    /// `true` for a literal that may be a secret.
    fn is_secret(self) -> bool {
        matches!(self, Self::Literal(text) if !text.trim().is_empty())
    }
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find("{{") {
        let end = rest[begin..].find("}}").map_or(rest.len(), |at| begin + at + 2);
        parts.push(Part::Literal(&rest[..begin]));
        parts.push(Part::Template(&rest[begin..end]));
        rest = &rest[end..];
    }
    parts.push(Part::Literal(rest));
    parts
}

/// The text with each literal that may be a secret replaced.
fn map_secrets<E>(
    text: &str,
    mut change: impl FnMut(usize, &str) -> Result<String, E>,
) -> Result<String, E> {
    let mut changed = String::new();
    let mut count = 0;
    for part in parts(text) {
        let (Part::Literal(piece) | Part::Template(piece)) = part;
        match part.is_secret() {
            true => {
                changed += &change(count, piece)?;
                count += 1;
            }
            false => changed += piece,
        }
    }
    Ok(changed)
}

fn secrets(text: &str) -> Vec<&str> {
    let secret = parts(text).into_iter().filter(|part| part.is_secret());
    secret.map(|(Part::Literal(piece) | Part::Template(piece))| piece).collect()
}

/// `true` if something of the text may be a secret: templates alone are none.
pub fn has_secret(text: &str) -> bool {
    !secrets(text).is_empty()
}

/// `true` if all that may be a secret is sealed.
pub fn is_sealed(text: &str) -> bool {
    secrets(text).iter().all(|piece| piece.starts_with(SEALED_PREFIX))
}

/// `true` if something of the text has the form of views, which keeps what was there before.
pub fn is_hidden(text: &str) -> bool {
    secrets(text).contains(&SECRET_SHOWN)
}

/// The text with what may be a secret sealed; what is sealed already stays.
///
/// # Errors
/// Without random bytes.
pub fn sealed(text: &str, vault: &Vault) -> Result<String, String> {
    let end = if text.contains("{{") { SEALED_END } else { "" };
    map_secrets(text, |_, piece| match piece.starts_with(SEALED_PREFIX) {
        true => Ok(piece.to_owned()),
        false => Ok(format!("{SEALED_PREFIX}{}{end}", vault.seal(piece.as_bytes())?)),
    })
}

/// The whole text sealed, templates included, so that it can stand beside other text.
///
/// # Errors
/// Without random bytes.
pub fn sealed_whole(text: &str, vault: &Vault) -> Result<String, String> {
    Ok(format!("{SEALED_PREFIX}{}{SEALED_END}", vault.seal(text.as_bytes())?))
}

/// The text as views have it.
pub fn hidden(text: &str) -> String {
    map_secrets(text, |_, _| Ok::<_, ()>(SECRET_SHOWN.to_owned())).unwrap_or_default()
}

/// The text with the pieces in the form of views replaced by those of `before` in their places; `None` where
/// that has none there.
pub fn merged(text: &str, before: &str) -> Option<String> {
    let stored = secrets(before);
    let bare = |piece: &str| piece.trim_end_matches(SEALED_END).to_owned();
    let end = if text.contains("{{") { SEALED_END } else { "" };
    let merged = map_secrets(text, |at, piece| match piece == SECRET_SHOWN {
        true => {
            let piece = stored.get(at).ok_or(())?;
            Ok(match piece.starts_with(SEALED_PREFIX) {
                true => bare(piece) + end,
                false => (*piece).to_owned(),
            })
        }
        false => Ok::<_, ()>(piece.to_owned()),
    });
    merged.ok()
}

/// The text with its sealed pieces opened.
///
/// # Errors
/// When one was sealed under another key.
pub fn opened(text: &str, vault: &Vault) -> Result<String, String> {
    replace_sealed(text, |sealed| {
        String::from_utf8(vault.unseal(sealed)?).map_err(|err| err.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_sealed_and_opened_after_templates_are_filled_in() {
        let vault = Vault::new(&[7; 32]);
        let text = "Bearer CANARY {{/trigger/x}}=ok";
        let closed = sealed(text, &vault).unwrap();
        assert!(!closed.contains("CANARY") && closed.contains("{{/trigger/x}}"), "{closed}");
        assert!(is_sealed(&closed) && !is_sealed(text));
        assert_eq!(sealed(&closed, &vault).unwrap(), closed);
        let filled = closed.replace("{{/trigger/x}}", "AA==");
        assert_eq!(opened(&filled, &vault).unwrap(), "Bearer CANARY AA===ok");
        assert_eq!(hidden(&closed), "(set){{/trigger/x}}(set)");
        assert_eq!(merged(&hidden(&closed), &closed).unwrap(), closed);
        assert_eq!(merged("(set){{/a}}(set){{/b}}(set)", &closed), None);
        assert!(opened(&filled, &Vault::new(&[8; 32])).is_err());
        for plain in ["{{/trigger/x}}", "{{/a}} {{/b}}", ""] {
            assert!(!has_secret(plain), "{plain}");
        }
        // A text that begins like a sealed one is sent as it is.
        assert_eq!(opened("sealed: yes, sealed:abc", &vault).unwrap(), "sealed: yes, sealed:abc");
    }
}
