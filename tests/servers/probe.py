#!/usr/bin/env python3
"""Asks every installed test server which protocol revisions it speaks, without mcp-tester's help.

    tests/servers/probe.py [DIR] [NAME...]     DIR: where install-servers put them, .servers by default

For each row of `install-servers DIR --list` the server is started and spoken to in plain JSON-RPC: `initialize` at each
revision of the handshake era, `server/discover` for 2026-07-28, then `tools/list` and one call. A revision counts only
if the server answered in it. The table in README.md comes from here.
"""
import http.client
import json
import os
import pathlib
import queue
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
OLD = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
NEW = "2026-07-28"
ME = {"name": "probe", "version": "1"}
CALLS = {"add": {"a": 2, "b": 3}, "echo": {"message": "hi"}, "get_current_time": {"timezone": "UTC"}, "git_status": {"repo_path": "."},
         "list_tables": {}, "read_graph": {}, "list_allowed_directories": {}}


class Refused(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(words, **more):
    """Starts a listed command with its placeholders filled in, as the head of a process group."""
    port, folder = free_port(), tempfile.mkdtemp(prefix="probe-")
    put = lambda text: str(port) if text == "PORT" else text.replace("FOLDER", folder)
    env = dict(os.environ)
    while "=" in words[0]:
        key, value = words[0].split("=", 1)
        env[key], words = put(value), words[1:]
    child = subprocess.Popen([put(w) for w in words], env=env, start_new_session=True, cwd=folder, stderr=subprocess.DEVNULL, **more)
    return child, port


def stop(child):
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, sign)
        except ProcessLookupError:
            return
        try:
            child.wait(2)
        except subprocess.TimeoutExpired:
            pass


class Stdio:
    def __init__(self, words, revision):
        self.child, _ = start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line) for line in self.child.stdout] + [self.lines.put(None)], daemon=True).start()

    def send(self, message):
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()
        while "id" in message:
            line = self.lines.get(timeout=20)
            if line is None:
                raise Refused("the process ended")
            answer = json.loads(line)
            if answer.get("id") == message["id"] and "method" not in answer:
                return answer

    def close(self):
        stop(self.child)


class Web:
    def __init__(self, words, revision, running):
        self.port, self.revision, self.session = running, revision, None

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def send(self, message):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.revision == NEW:
            headers |= {"MCP-Protocol-Version": NEW, "Mcp-Method": message["method"]}
            if "name" in message.get("params", {}):
                headers["Mcp-Name"] = message["params"]["name"]
        elif self.session is not None or message["method"] != "initialize":
            headers["MCP-Protocol-Version"] = self.revision
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        link = self.connect()
        link.request("POST", "/mcp", json.dumps(message), headers)
        reply = link.getresponse()
        self.session = reply.getheader("Mcp-Session-Id") or self.session
        if "event-stream" in (reply.getheader("Content-Type") or ""):
            for line in reply:
                if line.startswith(b"data:") and line[5:].strip():
                    answer = json.loads(line[5:])
                    if answer.get("id") == message.get("id"):
                        link.close()
                        return answer
            raise Refused("the stream ended")
        body = reply.read()
        link.close()
        if "id" in message:
            try:
                return json.loads(body)
            except ValueError:
                raise Refused(f"HTTP {reply.status}") from None

    def close(self):
        pass


class Sse(Web):
    def __init__(self, words, revision, running):
        super().__init__(words, revision, running)
        self.answers, self.stream = queue.Queue(), self.connect()
        self.stream.request("GET", "/sse", headers={"Accept": "text/event-stream"})
        self.events = self.stream.getresponse()
        if self.events.status != 200:
            raise Refused(f"HTTP {self.events.status}")
        threading.Thread(target=self.read, daemon=True).start()
        self.endpoint = self.answers.get(timeout=20)

    def read(self):
        try:
            for line in self.events:
                if line.startswith(b"data:"):
                    self.answers.put(line[5:].strip().decode())
        except (OSError, ValueError, AttributeError):  # closed under us at the end
            pass

    def send(self, message):
        link = self.connect()
        link.request("POST", self.endpoint, json.dumps(message), {"Content-Type": "application/json"})
        status = link.getresponse().status
        link.close()
        if status >= 300:
            raise Refused(f"HTTP {status}")
        while "id" in message:
            answer = json.loads(self.answers.get(timeout=20))
            if answer.get("id") == message["id"] and "method" not in answer:
                return answer


def talk(link, revision):
    """One short conversation; returns how many tools there are and what a call came back with."""
    meta = {}
    if revision == NEW:
        meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": NEW, "io.modelcontextprotocol/clientInfo": ME, "io.modelcontextprotocol/clientCapabilities": {}}}
    number = iter(range(1, 100))

    def ask(method, **params):
        answer = link.send({"jsonrpc": "2.0", "id": next(number), "method": method, "params": params | meta})
        if "error" in answer:
            raise Refused(f"{answer['error']['code']} to {method}")
        return answer["result"]

    if revision == NEW:
        if NEW not in ask("server/discover")["supportedVersions"]:
            raise Refused("not in supportedVersions")
    else:
        spoken = ask("initialize", protocolVersion=revision, capabilities={}, clientInfo=ME)["protocolVersion"]
        if spoken != revision:
            raise Refused(f"answers with {spoken}")
        link.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools = [tool["name"] for tool in ask("tools/list")["tools"]]
    name = next((name for name in CALLS if name in tools), None)
    called = ask("tools/call", name=name, arguments=CALLS[name]) if name else None
    return f"{len(tools)} tools" + (f", {name}: {called['content'][0].get('text', '')[:40]!r}" if called else "")


def probe(name, how, words):
    running, port = None, None
    if how != "stdio":
        running, port = start(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        began = time.monotonic()
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if time.monotonic() - began > 30 or running.poll() is not None:
                    print(f"{name:15} {how:6} did not start", flush=True)
                    return
                time.sleep(0.05)
        note = f"up after {time.monotonic() - began:.2f} s"
    spoken, said, refused = [], "", {}
    for revision in OLD + [NEW]:
        link = None
        try:
            began = time.monotonic()
            link = Stdio(words, revision) if how == "stdio" else {"http": Web, "sse": Sse}[how](words, revision, port)
            said = talk(link, revision)
            spoken.append(revision)
            if how == "stdio":
                note = f"done after {time.monotonic() - began:.2f} s"
        except (Refused, OSError, queue.Empty, KeyError, http.client.HTTPException) as why:
            refused[revision] = str(why) or type(why).__name__
        finally:
            if link:
                link.close()
    if running:
        stop(running)
    print(f"{name:15} {how:6} {' '.join(spoken) or 'nothing':55} {said}; {note if spoken else ''}", flush=True)
    for revision, why in refused.items():
        print(f"{'':22} not {revision}: {why}", flush=True)


def main():
    install = HERE.parent.parent / "scripts" / "install-servers"
    folder = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parent.parent / ".servers")
    for line in subprocess.run([install, folder, "--list"], capture_output=True, text=True, check=True).stdout.splitlines():
        if not line.startswith("#"):
            name, how, *words = shlex.split(line)
            if how != "tool" and (len(sys.argv) < 3 or name in sys.argv[2:]):
                probe(name, how, words)


if __name__ == "__main__":
    main()
