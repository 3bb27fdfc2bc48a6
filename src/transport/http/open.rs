//! The requests and streams that are under way.
//!
//! Owns: which task works on which request, and whether its answer came. May use: `rpc`. Must not: wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use crate::rpc::Id;

/// A task's number.
pub(super) type Ticket = u64;

/// All tasks of one connection.
#[derive(Debug, Default)]
pub(super) struct Open(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    next: Ticket,
    over: bool,
    tasks: HashMap<Ticket, Task>,
    /// The newest task of each id; an id can be sent twice on purpose.
    by_id: HashMap<Id, Ticket>,
}

#[derive(Debug)]
struct Task {
    id: Option<Id>,
    settled: bool,
    abort: Option<AbortHandle>,
}

/// Takes its task off the list when the task ends, however it ends.
#[derive(Debug)]
pub(super) struct Entry {
    open: Arc<Open>,
    ticket: Ticket,
}

impl Open {
    /// Enters a task before it is spawned; none once everything was ended.
    pub(super) fn enter(self: &Arc<Self>, id: Option<&Id>) -> Option<Entry> {
        let mut table = self.table();
        if table.over {
            return None;
        }
        let ticket = table.next;
        table.next += 1;
        table.tasks.insert(ticket, Task { id: id.cloned(), settled: false, abort: None });
        if let Some(id) = id {
            table.by_id.insert(id.clone(), ticket);
        }
        Some(Entry { open: Arc::clone(self), ticket })
    }

    /// Says how the task can be ended, once it was spawned.
    pub(super) fn started(&self, ticket: Ticket, abort: AbortHandle) {
        let mut table = self.table();
        if table.over {
            abort.abort();
        } else if let Some(task) = table.tasks.get_mut(&ticket) {
            task.abort = Some(abort);
        }
    }

    /// The answer to `id` came.
    pub(super) fn settle(&self, id: &Id) {
        let mut table = self.table();
        if let Some(ticket) = table.by_id.get(id).copied()
            && let Some(task) = table.tasks.get_mut(&ticket)
        {
            task.settled = true;
        }
    }

    /// Ends the task that works on `id`.
    pub(super) fn abandon(&self, id: &Id) {
        let abort = {
            let table = self.table();
            table.by_id.get(id).and_then(|ticket| table.tasks.get(ticket)).and_then(|task| task.abort.clone())
        };
        if let Some(abort) = abort {
            abort.abort();
        }
    }

    /// Ends all tasks; none can be entered any more. True at the first call.
    pub(super) fn end_all(&self) -> bool {
        let (first, aborts) = {
            let mut table = self.table();
            let first = !std::mem::replace(&mut table.over, true);
            let aborts: Vec<AbortHandle> = table.tasks.values().filter_map(|task| task.abort.clone()).collect();
            (first, aborts)
        };
        for abort in aborts {
            abort.abort();
        }
        first
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    pub(super) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// True once the answer came.
    pub(super) fn is_settled(&self) -> bool {
        self.open.table().tasks.get(&self.ticket).is_some_and(|task| task.settled)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut table = self.open.table();
        if let Some(id) = table.tasks.remove(&self.ticket).and_then(|task| task.id)
            && table.by_id.get(&id) == Some(&self.ticket)
        {
            table.by_id.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Open;
    use crate::rpc::Id;
    use std::sync::Arc;

    #[test]
    fn the_newest_task_of_an_id_is_the_one_meant() {
        let open = Arc::new(Open::default());
        let id = Id::Number(1);
        let first = open.enter(Some(&id)).expect("open");
        let second = open.enter(Some(&id)).expect("open");
        open.settle(&id);
        assert!(!first.is_settled() && second.is_settled());
        drop(first);
        open.settle(&id);
        assert_eq!(open.table().by_id.len(), 1);
        drop(second);
        assert!(open.table().tasks.is_empty() && open.table().by_id.is_empty());
    }

    #[test]
    fn nothing_is_entered_after_the_end() {
        let open = Arc::new(Open::default());
        assert!(open.end_all());
        assert!(!open.end_all());
        assert!(open.enter(None).is_none());
    }
}
