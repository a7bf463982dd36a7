//! `#[needs(...)]`: a test is ignored, with its reason, on a machine that lacks what it needs.
//!
//! ```ignore
//! #[needs(terrain, shared("data/srtm"))]
//! #[test]
//! fn a_path_over_real_ground() { ... }
//! ```
//!
//! The test runner counts such a test as ignored, not as passed. What is there is found out when the
//! tests are built (`build.rs` has the table), and again when it changed; a test that finds it gone since
//! then fails. `shared("PATH")` is a file or folder of the full reference data, in
//! `GROUNDWAVE_SHARED` or in `shared` beside the checkout.

use std::path::{Path, PathBuf};

use proc_macro::{Literal, TokenStream, TokenTree};

/// Ignores the test below where one of the needs named is not met.
#[proc_macro_attribute]
pub fn needs(needs: TokenStream, test: TokenStream) -> TokenStream {
    match missing(needs, &test) {
        Ok(None) => test,
        Ok(Some(reason)) => {
            let mut out: TokenStream = format!("#[ignore = {}]", Literal::string(&reason))
                .parse()
                .expect("an attribute with a literal is Rust");
            out.extend(test);
            out
        }
        Err(reason) => format!("::core::compile_error!({});", Literal::string(&reason))
            .parse()
            .expect("a call with a literal is Rust"),
    }
}

/// The first need that is not met, with how to meet it.
fn missing(needs: TokenStream, test: &TokenStream) -> Result<Option<String>, String> {
    // `test`, or a path to one such as `tokio::test`.
    let is_test = |token| matches!(token, TokenTree::Ident(word) if word.to_string() == "test");
    let above = |token: TokenTree| match token {
        TokenTree::Group(group) => group.stream().into_iter().any(is_test),
        _ => false,
    };
    if !test.clone().into_iter().any(above) {
        return Err("#[needs] stands above #[test]".to_owned());
    }
    let mut missing = None;
    let mut tokens = needs.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let word = match token {
            TokenTree::Ident(word) => word.to_string(),
            TokenTree::Punct(comma) if comma.as_char() == ',' => continue,
            other => return Err(format!("invalid need: found {other}")),
        };
        let reason = if word == "shared" {
            let Some(TokenTree::Group(path)) = tokens.next() else {
                return Err("invalid need: shared without a path".to_owned());
            };
            let path = path.stream().to_string();
            let path = shared().join(path.trim_matches('"'));
            (!path.exists()).then(|| format!("needs the reference data {}", path.display()))
        } else {
            let probed = env!("PROBED").split(';').filter_map(|need| need.split_once('='));
            let hint = probed.into_iter().find(|(name, _)| *name == word);
            let (_, hint) = hint.ok_or_else(|| format!("invalid need: {word} is unknown"))?;
            (!hint.is_empty()).then(|| format!("needs {word}: {hint}"))
        };
        missing = missing.or(reason);
    }
    Ok(missing)
}

/// The folder of the full reference data.
fn shared() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    std::env::var_os("GROUNDWAVE_SHARED").map_or_else(usual, PathBuf::from)
}
