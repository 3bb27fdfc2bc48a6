//! Follows a list from page to page, within limits.
//!
//! Owns: the walk and the result put together from its pages. May use: `json`. Must not: trust a cursor.

use std::collections::HashSet;
use std::time::Duration;

use super::Session;
use super::call::{Call, Exchange};
use super::error::CallError;
use super::findings::{Finding, LIST_SHAPE, preview};
use super::inventory::ListKind;
use crate::json::{JsonKind, Limits as JsonLimits, Raw};
use crate::rpc::quoted;

/// The pages of a list.
pub(super) struct Pages {
    /// The items of all pages, in order.
    pub items: Vec<Raw>,
    /// How many items each page held.
    pub counts: Vec<usize>,
    /// The whole list as one exchange; where a page was refused, its refusal.
    pub listing: Exchange,
}

impl Session {
    /// All pages of a list. A missing `nextCursor` ends it; an empty one is followed (all revisions, "Pagination").
    pub(super) async fn pages(&self, kind: ListKind, timeout: Option<Duration>) -> Result<Pages, CallError> {
        let method = kind.method();
        let mut walk = Walk { items: Vec::new(), counts: Vec::new(), bytes: 0, cursors: HashSet::new() };
        let mut cursor = None;
        let mut whole: Option<Exchange> = None;
        loop {
            let params = cursor.as_deref().map(|cursor| format!("{{\"cursor\":{}}}", quoted(cursor)));
            let exchange = self.call(Call { params, timeout, ..Call::new(method) }).await?;
            let listing = match whole.take() {
                None => exchange,
                Some(mut before) => {
                    before.notices.extend(exchange.notices);
                    let duration = before.duration + exchange.duration;
                    Exchange { duration, notices: before.notices, ..exchange }
                }
            };
            let Ok(result) = &listing.outcome else {
                return Ok(walk.end(listing, None));
            };
            let page = walk.add(kind, result);
            if let Err(finding) = page {
                self.link.peer.find([finding]);
            }
            if walk.bytes > self.limits.max_message {
                let why = format!("its pages are larger than {} bytes together", self.limits.max_message);
                return Err(walk.endless(method, why));
            }
            let Some(next) = result.get("nextCursor").filter(|next| !next.is_null()) else {
                let joined = walk.joined(kind, result);
                return Ok(walk.end(listing, joined));
            };
            let Some(next) = next.string() else {
                let what = preview(next.as_str(), 100);
                self.link
                    .peer
                    .find([Finding::new(LIST_SHAPE, format!("the nextCursor of {method} is no string: {what}"))]);
                let joined = walk.joined(kind, result);
                return Ok(walk.end(listing, joined));
            };
            let next = next.into_owned();
            if !walk.cursors.insert(next.clone()) {
                let why = format!("the cursor {} came a second time", preview(&quoted(&next), 100));
                return Err(walk.endless(method, why));
            }
            if walk.counts.len() >= self.limits.max_pages {
                return Err(walk.endless(method, "there are still more".to_owned()));
            }
            cursor = Some(next);
            whole = Some(listing);
        }
    }
}

struct Walk {
    items: Vec<Raw>,
    counts: Vec<usize>,
    bytes: usize,
    cursors: HashSet<String>,
}

impl Walk {
    /// Takes the items of a page.
    fn add(&mut self, kind: ListKind, result: &Raw) -> Result<(), Finding> {
        let before = self.items.len();
        let array = result.get(kind.member()).filter(|array| array.kind() == JsonKind::Array);
        self.bytes += result.held();
        if let Some(array) = &array {
            self.items.extend(array.elements());
        }
        self.counts.push(self.items.len() - before);
        let flaw = match &array {
            None => format!("has no array `{}`", kind.member()),
            Some(_) if self.items[before..].iter().any(|item| item.kind() != JsonKind::Object) => {
                format!("holds entries in `{}` that are no objects", kind.member())
            }
            Some(_) => return Ok(()),
        };
        Err(Finding::new(LIST_SHAPE, format!("page {} of {} {flaw}", self.counts.len(), kind.method())))
    }

    /// The last page with the items of all pages in it; none where it is the only page or has no place for them.
    fn joined(&self, kind: ListKind, last: &Raw) -> Option<Raw> {
        if self.counts.len() < 2 {
            return None;
        }
        let array = last.get(kind.member())?;
        let from = array.offset() - last.offset();
        let text = last.as_str();
        let mut out = String::with_capacity(self.bytes + text.len());
        out.push_str(&text[..from]);
        out.push('[');
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(item.as_str());
        }
        out.push(']');
        out.push_str(&text[from + array.as_str().len()..]);
        let limits = JsonLimits { bytes: usize::MAX, ..JsonLimits::default() };
        Raw::check(out, &limits).ok().map(|(raw, _)| raw)
    }

    fn end(self, mut listing: Exchange, joined: Option<Raw>) -> Pages {
        if let Some(joined) = joined {
            listing.outcome = Ok(joined);
        }
        Pages { items: self.items, counts: self.counts, listing }
    }

    fn endless(&self, method: &'static str, why: String) -> CallError {
        CallError::List { method, pages: self.counts.len(), why }
    }
}
