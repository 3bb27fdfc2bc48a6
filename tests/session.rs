//! The session against scripted peers.

use std::sync::Arc;

use mcp_script::session::{ClientDeclares, Endpoint, Session, Target};

/// A server of the handshake eras in a few lines of shell.
const SHELL: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}}';;
    *'"server/discover"'*) echo '{"jsonrpc":"2.0","id":"probe-1","error":{"code":-32601,"message":"Method not found"}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}';;
  esac
done
"#;

#[tokio::test]
async fn a_child_process_is_opened_listed_and_ended() {
    let endpoint = Endpoint::Command {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), SHELL.to_owned()],
        env: Vec::new(),
        env_clear: false,
        env_remove: Vec::new(),
        cwd: None,
    };
    let session = Session::open(&Target::new(endpoint), ClientDeclares::default(), Arc::new(())).await.expect("opens");
    let facts = session.facts();
    assert_eq!((facts.transport, facts.revision.as_str()), ("stdio", "2025-06-18"));
    assert_eq!(facts.server_name.as_deref(), Some("shell"));
    assert!(facts.why.contains("Method not found"), "{}", facts.why);
    let tools = session.tools().await.expect("tools");
    assert_eq!(tools.get("t").map(|tool| tool.name.as_str()), Some("t"));
    let ending = session.close().await;
    assert!(!ending.killed, "{}", ending.how);
}
