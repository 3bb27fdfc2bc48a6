//! The workflow of the quick start: create a user, look it up, give it roles.

use rmcp::model::{CallToolResponse, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;

use super::state::User;
use super::tool::{Call, Entry, Reply, failure, structured};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateUser {
    /// Full name.
    #[schemars(length(min = 1, max = 200))]
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetUser {
    /// Number of the user.
    id: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AssignRoles {
    /// Number of the user.
    user_id: u64,
    /// Roles to add.
    #[schemars(length(min = 1, max = 50))]
    roles: Vec<String>,
}

pub(super) fn tools() -> Vec<Entry> {
    vec![
        Entry::typed::<CreateUser>("create_user", "Creates a user and returns it.", create_user)
            .titled("Create user")
            .hints(ToolAnnotations::new().read_only(false).destructive(false).idempotent(false))
            .returns::<User>(),
        Entry::typed::<GetUser>("get_user", "Returns a user by its number.", get_user)
            .titled("Get user")
            .read_only()
            .returns::<User>(),
        Entry::typed::<AssignRoles>("assign_roles", "Gives roles to a user and returns the user.", assign_roles)
            .titled("Assign roles")
            .hints(ToolAnnotations::new().read_only(false).destructive(false).idempotent(true))
            .returns::<User>(),
    ]
}

fn create_user(call: Call) -> Reply {
    let args: CreateUser = call.typed()?;
    let user = call.demo.shared.create_user(&args.name);
    structured(format!("Created user {}: {}", user.id, user.name), &user)
}

fn get_user(call: Call) -> Reply {
    let args: GetUser = call.typed()?;
    match call.demo.shared.user(args.id) {
        Some(user) => structured(describe(&user), &user),
        None => Ok(no_such_user(args.id)),
    }
}

fn assign_roles(call: Call) -> Reply {
    let args: AssignRoles = call.typed()?;
    match call.demo.shared.assign_roles(args.user_id, &args.roles) {
        Some(user) => structured(format!("Roles assigned to {}: {}", user.name, args.roles.join(", ")), &user),
        None => Ok(no_such_user(args.user_id)),
    }
}

fn describe(user: &User) -> String {
    let roles = if user.roles.is_empty() { "none".to_owned() } else { user.roles.join(", ") };
    format!("User {}: {} (score {}, roles: {roles})", user.id, user.name, user.profile.score)
}

fn no_such_user(id: u64) -> CallToolResponse {
    failure(format!("There is no user {id}"))
}
