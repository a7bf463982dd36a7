//! Pagination.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;
use crate::problem::FieldCode;

/// Default number of items.
const USUAL: u32 = 100;
/// Largest number of items.
const MOST: u32 = 1000;

/// Page of a list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Paging {
    /// Items, 1 to 1000; default 100
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page
    pub cursor: Option<String>,
}

/// Page of a list.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Page_for_{T}")]
pub struct Page<T> {
    /// Items.
    pub items: Vec<T>,
    /// Cursor of the next page; null on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
    /// Number of items on all pages.
    pub total: usize,
}

/// `true` for an id as cursors of lists of ids have it.
fn is_id(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// Problem of a cursor that no page has given.
#[must_use]
pub fn invalid_cursor(cursor: &str) -> Problem {
    let message =
        format!("invalid cursor: found {cursor:?}, allowed `next_cursor` of the previous page");
    Problem::field("/cursor", FieldCode::Format, message)
}

impl Paging {
    /// Items of the page.
    ///
    /// # Errors
    /// Outside 1 to 1000.
    pub fn size(&self) -> Result<usize, Problem> {
        let limit = self.limit.unwrap_or(USUAL);
        match (1..=MOST).contains(&limit) {
            true => Ok(limit as usize),
            false => {
                let message = format!("invalid limit: found {limit}, allowed 1 to {MOST}");
                Err(Problem::field("/limit", FieldCode::NotAllowed, message))
            }
        }
    }

    /// Page of `all`, which are sorted by key.
    ///
    /// # Errors
    /// As [`Self::size`], and for a cursor that no item of a list of ids can have.
    pub fn of<I, T>(
        &self,
        all: impl Iterator<Item = (String, I)>,
        mut show: impl FnMut(I) -> T,
    ) -> Result<Page<T>, Problem> {
        let size = self.size()?;
        let mut page = Page { items: Vec::new(), next_cursor: None, total: 0 };
        let mut last = None;
        let cursor = self.cursor.as_deref();
        let has_id_cursor = cursor.is_none_or(is_id);
        for (key, item) in all {
            // Of a list of ids, an invalid cursor would pass for the end.
            if !has_id_cursor && is_id(&key) {
                return Err(invalid_cursor(cursor.unwrap_or_default()));
            }
            page.total += 1;
            if self.cursor.as_ref().is_some_and(|cursor| key <= *cursor) {
                continue;
            }
            if page.items.len() < size {
                page.items.push(show(item));
                last = Some(key);
            } else if page.next_cursor.is_none() {
                page.next_cursor.clone_from(&last);
            }
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_of_a_list_of_ids_is_an_id() {
        let id = "018f2f6e-0000-7000-8000-000000000001";
        let page = |cursor: &str| {
            let paging = Paging { limit: None, cursor: Some(cursor.to_owned()) };
            paging.of([(id.to_owned(), 1)].into_iter(), |number| number)
        };
        for wrong in ["xx", "", &id[..35]] {
            let problem = page(wrong).unwrap_err();
            assert_eq!((problem.status, problem.errors[0].pointer.as_str()), (422, "/cursor"));
            assert!(problem.detail.contains(&format!("{wrong:?}")), "{problem:?}");
        }
        assert_eq!(page(id).unwrap().items, [0; 0]);
    }

    #[test]
    fn pages_are_the_list_in_pieces() {
        let all = || (10..35).map(|number: u32| (number.to_string(), number));
        let mut paging = Paging { limit: Some(10), cursor: None };
        let mut items = Vec::new();
        loop {
            let page = paging.of(all(), |number| number).unwrap();
            assert_eq!(page.total, 25);
            items.extend(page.items);
            paging.cursor = page.next_cursor;
            if paging.cursor.is_none() {
                break;
            }
        }
        assert_eq!(items, (10..35).collect::<Vec<_>>());
        let last = paging.of(all(), |number| number).unwrap();
        let text = serde_json::to_value(&last).unwrap();
        assert!(text.get("next_cursor").is_some());
        paging.limit = Some(0);
        assert_eq!(paging.of(all(), |number| number).unwrap_err().status, 422);
    }
}
