//! What the demo server remembers. Owns the state shared by all connections.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::task_manager::TaskManager;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::broadcast;

/// Most users kept; the oldest created one goes first, so that a long run cannot fill the memory.
const MAX_USERS: usize = 10_000;
/// Most names that `flaky` counts for.
const MAX_FLAKY: usize = 10_000;
/// Users that exist from the start and are never dropped.
const FOUNDERS: [&str; 3] = ["Ada Lovelace", "Grace Hopper", "Alan Turing"];

/// A user as tools and resources show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct User {
    /// Number given at creation, counting from 1.
    pub id: u64,
    /// Full name.
    pub name: String,
    /// Roles in the order they were assigned.
    pub roles: Vec<String>,
    /// What is known about the user.
    pub profile: Profile,
}

/// The part of a user that is computed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Profile {
    /// Between 1 and 100; depends on the name only.
    #[schemars(range(min = 1, max = 100))]
    pub score: u32,
    /// Whether the user may sign in.
    pub active: bool,
}

/// Something that subscribers may want to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The resource with this URI.
    Updated(String),
}

/// State of the process, shared by all connections.
pub(super) struct Shared {
    users: Mutex<BTreeMap<u64, User>>,
    next_user: AtomicU64,
    flaky: Mutex<BTreeMap<String, u64>>,
    /// Value of the `counter` tool.
    pub counter: AtomicU64,
    /// How often the `touch` tool was used.
    pub touches: AtomicU64,
    /// Work that goes on after its call was answered.
    pub tasks: TaskManager,
    /// Carries changes to whoever subscribed.
    pub changes: broadcast::Sender<Change>,
}

impl Shared {
    /// The state a fresh process starts with.
    pub(super) fn new() -> Self {
        let shared = Self {
            users: Mutex::default(),
            next_user: AtomicU64::new(1),
            flaky: Mutex::default(),
            counter: AtomicU64::new(0),
            touches: AtomicU64::new(0),
            tasks: TaskManager::new(),
            changes: broadcast::channel(256).0,
        };
        for name in FOUNDERS {
            shared.create_user(name);
        }
        shared
    }

    /// Adds a user without roles and returns it.
    pub(super) fn create_user(&self, name: &str) -> User {
        let id = self.next_user.fetch_add(1, Ordering::Relaxed);
        let sum: u32 = name.bytes().map(u32::from).sum();
        let user = User {
            id,
            name: name.to_owned(),
            roles: Vec::new(),
            profile: Profile { score: sum % 100 + 1, active: true },
        };
        let mut users = lock(&self.users);
        if users.len() >= MAX_USERS {
            let oldest = users.keys().copied().nth(FOUNDERS.len());
            oldest.and_then(|id| users.remove(&id));
        }
        users.insert(id, user.clone());
        user
    }

    /// The user with this id, if there is one.
    pub(super) fn user(&self, id: u64) -> Option<User> {
        lock(&self.users).get(&id).cloned()
    }

    /// Adds the roles the user does not have yet.
    pub(super) fn assign_roles(&self, id: u64, roles: &[String]) -> Option<User> {
        let mut users = lock(&self.users);
        let user = users.get_mut(&id)?;
        for role in roles {
            if !user.roles.contains(role) {
                user.roles.push(role.clone());
            }
        }
        Some(user.clone())
    }

    /// All user ids in ascending order.
    pub(super) fn user_ids(&self) -> Vec<u64> {
        lock(&self.users).keys().copied().collect()
    }

    /// Counts one call under `name` and returns how many there were, this one included.
    pub(super) fn count_call(&self, name: &str) -> u64 {
        let mut flaky = lock(&self.flaky);
        if flaky.len() >= MAX_FLAKY && !flaky.contains_key(name) {
            flaky.clear();
        }
        let count = flaky.entry(name.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// Tells subscribers; nobody listening is fine.
    pub(super) fn announce(&self, change: Change) {
        let _nobody_listens = self.changes.send(change);
    }
}

/// A panic elsewhere cannot leave these maps half-written, so a poisoned lock is still good.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
