// Test server on the official Go SDK. It speaks every revision from 2024-11-05 to 2026-07-28.
//
//	lab-go                        stdio
//	lab-go --http 4113            http://127.0.0.1:4113/mcp   (sessions for old clients, none for new ones)
//	lab-go --http-sessions 4114   same, but sessions only: discovery then names no revision of 2026
//	lab-go --sse 4115             http://127.0.0.1:4115/sse   (legacy HTTP+SSE)
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

type addArgs struct {
	A int `json:"a"`
	B int `json:"b"`
}

type sum struct {
	Sum int `json:"sum"`
}

type textArgs struct {
	Text string `json:"text"`
}

type messageArgs struct {
	Message string `json:"message"`
}

type slowArgs struct {
	Steps   int `json:"steps"`
	DelayMs int `json:"delay_ms"`
}

type logArgs struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

type confirmArgs struct {
	Question string `json:"question"`
}

type promptArgs struct {
	Prompt string `json:"prompt"`
}

type none struct{}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func ask(id string, request mcp.InputRequest, state string) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{id: request}, RequestState: state}
}

// compact is the JSON of a value as the other test servers write it.
func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func add(_ context.Context, _ *mcp.CallToolRequest, in addArgs) (*mcp.CallToolResult, sum, error) {
	return text(strconv.Itoa(in.A + in.B)), sum{in.A + in.B}, nil
}

func echo(_ context.Context, _ *mcp.CallToolRequest, in textArgs) (*mcp.CallToolResult, any, error) {
	return text(in.Text), nil, nil
}

func fail(_ context.Context, _ *mcp.CallToolRequest, in messageArgs) (*mcp.CallToolResult, any, error) {
	return nil, nil, errors.New(in.Message)
}

func image(_ context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	data, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: data, MIMEType: "image/png"}}}, nil, nil
}

func slow(ctx context.Context, req *mcp.CallToolRequest, in slowArgs) (*mcp.CallToolResult, any, error) {
	token := req.Params.GetProgressToken()
	for i := 1; i <= in.Steps; i++ {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(time.Duration(in.DelayMs) * time.Millisecond):
		}
		if token == nil {
			continue
		}
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(i), Total: float64(in.Steps), Message: fmt.Sprintf("step %d", i),
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return text("done"), nil, nil
}

// logTool sends nothing to a client that has set no level: the SDK drops the message.
func logTool(ctx context.Context, req *mcp.CallToolRequest, in logArgs) (*mcp.CallToolResult, any, error) {
	err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: mcp.LoggingLevel(in.Level), Logger: "lab", Data: in.Text})
	return text("logged"), nil, err
}

// confirm, askLLM and showRoots return input requests in both eras. For a client of the handshake era
// the SDK sends them as requests of its own and calls the handler again with the answers.
func confirm(_ context.Context, req *mcp.CallToolRequest, in confirmArgs) (*mcp.CallToolResult, any, error) {
	got, ok := req.Params.InputResponses["ok"].(*mcp.ElicitResult)
	if !ok {
		schema := json.RawMessage(`{"type":"object","properties":{"sure":{"type":"boolean","default":true}},"required":["sure"]}`)
		return ask("ok", &mcp.ElicitParams{Mode: "form", Message: in.Question, RequestedSchema: schema}, "lab-state-1"), nil, nil
	}
	return text(fmt.Sprintf("%s %s state=%s", got.Action, compact(got.Content), req.Params.RequestState)), nil, nil
}

func askLLM(_ context.Context, req *mcp.CallToolRequest, in promptArgs) (*mcp.CallToolResult, any, error) {
	answer := func(model string, content ...mcp.Content) (*mcp.CallToolResult, any, error) {
		reply := compact(content)
		if len(content) == 1 {
			if t, ok := content[0].(*mcp.TextContent); ok {
				reply = t.Text
			}
		}
		return text(fmt.Sprintf("model %s: %s", model, reply)), nil, nil
	}
	switch got := req.Params.InputResponses["llm"].(type) {
	case *mcp.CreateMessageResult:
		return answer(got.Model, got.Content)
	case *mcp.CreateMessageWithToolsResult:
		return answer(got.Model, got.Content...)
	}
	message := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: in.Prompt}}
	return ask("llm", &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{message}, MaxTokens: 50}, ""), nil, nil
}

func showRoots(_ context.Context, req *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	got, ok := req.Params.InputResponses["roots"].(*mcp.ListRootsResult)
	if !ok {
		return ask("roots", &mcp.ListRootsParams{}, ""), nil, nil
	}
	uris := make([]string, len(got.Roots))
	for i, root := range got.Roots {
		uris[i] = root.URI
	}
	return text(strings.Join(uris, " ")), nil, nil
}

func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	words := []string{"apple", "apricot", "pear"}
	if req.Params.Ref.Type == "ref/prompt" {
		words = []string{"Alice", "Albert", "Bob"}
	}
	found := []string{}
	for _, w := range words {
		if strings.HasPrefix(w, req.Params.Argument.Value) {
			found = append(found, w)
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: found, Total: len(found)}}, nil
}

func contents(uri, mime, body string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: body}}}
}

func build() *mcp.Server {
	accept := func(context.Context, *mcp.SubscribeRequest) error { return nil }
	release := func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
	s := mcp.NewServer(&mcp.Implementation{Name: "lab-go", Version: "1.0.0"}, &mcp.ServerOptions{
		Instructions:       "Lab server for testing a client.",
		CompletionHandler:  complete,
		SubscribeHandler:   accept,
		UnsubscribeHandler: release,
	})
	mcp.AddTool(s, &mcp.Tool{Name: "add", Title: "Add", Description: "Adds two integers", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, add)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Echoes its text"}, echo)
	mcp.AddTool(s, &mcp.Tool{Name: "fail", Description: "Always a tool error"}, fail)
	mcp.AddTool(s, &mcp.Tool{Name: "image", Description: "A 1x1 PNG"}, image)
	mcp.AddTool(s, &mcp.Tool{Name: "slow", Description: "Reports progress, then ends"}, slow)
	mcp.AddTool(s, &mcp.Tool{Name: "log", Description: "Sends one log message"}, logTool)
	mcp.AddTool(s, &mcp.Tool{Name: "confirm", Description: "Asks the user to confirm"}, confirm)
	mcp.AddTool(s, &mcp.Tool{Name: "ask_llm", Description: "Asks the client to sample"}, askLLM)
	mcp.AddTool(s, &mcp.Tool{Name: "show_roots", Description: "Lists the client roots"}, showRoots)
	mcp.AddTool(s, &mcp.Tool{Name: "touch", Description: "Announces that lab://greeting changed"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
			err := s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "lab://greeting"})
			return text("touched"), nil, err
		})
	s.AddResource(&mcp.Resource{Name: "greeting", URI: "lab://greeting", MIMEType: "text/plain", Description: "A greeting"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(req.Params.URI, "text/plain", "hello from the lab"), nil
		})
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "item", URITemplate: "lab://item/{id}", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimPrefix(req.Params.URI, "lab://item/")
			return contents(req.Params.URI, "application/json", compact(map[string]string{"id": id})), nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Description: "Greets somebody", Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			said := &mcp.TextContent{Text: fmt.Sprintf("Hello, %s!", req.Params.Arguments["name"])}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: said}}}, nil
		})
	return s
}

// byEra sends each request to the handler for its era: this SDK serves 2026-07-28 only from a handler without
// sessions, and sends requests to an old client only from one with sessions.
func byEra(sessions, stateless http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("MCP-Protocol-Version") >= "2026-07-28" {
			stateless.ServeHTTP(w, req)
		} else {
			sessions.ServeHTTP(w, req)
		}
	})
}

func main() {
	s := build()
	one := func(*http.Request) *mcp.Server { return s }
	mode, port := "", ""
	if len(os.Args) == 3 {
		mode, port = os.Args[1], os.Args[2]
	}
	mux := http.NewServeMux()
	switch mode {
	case "":
		if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil && !errors.Is(err, context.Canceled) {
			log.Fatal(err)
		}
		return
	case "--http":
		stateless := mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{Stateless: true})
		mux.Handle("/mcp", byEra(mcp.NewStreamableHTTPHandler(one, nil), stateless))
	case "--http-sessions":
		mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(one, nil))
	case "--sse":
		mux.Handle("/sse", mcp.NewSSEHandler(one, nil))
	default:
		log.Fatalf("usage: %s [--http PORT | --http-sessions PORT | --sse PORT]", os.Args[0])
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, mux))
}
