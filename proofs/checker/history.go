package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"
)

// An operation of one client, with the fields of both of its lines in the history. A create sends the hash
// of its content, and a read receives one.
type operation struct {
	ID       int64
	Event    string // ok, fail or unknown
	At       int64
	Op       string
	Key      string // the Idempotency-Key
	Name     string // a short code, or ~ and a slug
	Slug     string
	Older    string `json:"supersedes"` // the short code of the paste that a create supersedes
	Code     string
	From     string // the short code of the paste that a move takes the slug from
	Job      string
	Request  string // for secrets
	Receipts string // of a list of deposits, with commas
	Reader   string
	Form     string
	Hash     string
	Error    string
	State    string
	Title    *string // nil: the answer is the content
	Burn     bool
	Replayed bool
	Expires  int64 `json:"expires_in"` // seconds
	Status   int
	Count    int
	Places   int

	call, ret int64 // ns
	late      bool  // see burn.go
}

const never = math.MaxInt64

// An operation without a known outcome may be executed at any time until the end of the history, or never.
func (o operation) isUnknown() bool { return o.Event == "unknown" }

func (o operation) isWrite() bool {
	switch o.Op {
	case "read", "look", "count", "made", "list", "left", "open":
		return false
	}
	return true
}

// A read, or a write that was refused.
func (o operation) onlyObserves() bool { return !o.isWrite() || o.Event == "fail" }

func (o operation) String() string {
	text := o.Op
	for _, field := range []string{o.Form, o.Name, o.Slug, o.Older, o.From, o.Code, o.Job, o.Request, o.Key, o.Reader, o.Hash, o.Receipts} {
		if field != "" {
			text += " " + field
		}
	}
	switch {
	case o.isUnknown():
		return text + " -> unknown"
	case o.Op == "count" || o.Op == "made" || o.Op == "left" && o.Event == "ok":
		return fmt.Sprintf("%s -> %d %s", text, o.Count, o.State)
	case o.Status == 0:
		return text + " -> " + o.Event
	case o.Replayed:
		return fmt.Sprintf("%s -> %d, replayed", text, o.Status)
	}
	return strings.TrimSpace(fmt.Sprintf("%s -> %d %s%s", text, o.Status, o.Error, o.State))
}

// Reads the lines of a history. The operations are in the order of their calls.
func readHistory(from io.Reader) ([]operation, error) {
	byID := map[int64]int{}
	var operations []operation
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line operation
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("this line is no operation: %s: %w", lines.Text(), err)
		}
		if line.Event == "invoke" {
			line.Event, line.call, line.ret = "unknown", line.At, never
			byID[line.ID] = len(operations)
			operations = append(operations, line)
			continue
		}
		at, known := byID[line.ID]
		if !known {
			return nil, fmt.Errorf("this operation was never invoked: %s", lines.Text())
		}
		begun := &operations[at]
		if err := json.Unmarshal(lines.Bytes(), begun); err != nil {
			return nil, err
		}
		if !begun.isUnknown() {
			begun.ret = line.At
		}
	}
	return operations, lines.Err()
}

// The creations without their repetitions: all requests with one Idempotency-Key are one operation, from
// the first request to the first answer. Without an answer it is unknown what was made.
func creations(operations []operation, op string) []operation {
	var merged []operation
	type answer struct{ key, code, job string }
	firstRequest := map[string]operation{}
	isAnswered := map[string]bool{}
	at := map[answer]int{}
	for _, o := range operations {
		if o.Op != op || o.Event == "fail" {
			continue
		}
		if o.Key == "" {
			merged = append(merged, o)
			continue
		}
		if _, seen := firstRequest[o.Key]; !seen {
			firstRequest[o.Key] = o
		}
		if o.isUnknown() {
			continue
		}
		isAnswered[o.Key] = true
		which := answer{o.Key, o.Code, o.Job}
		if i, seen := at[which]; seen {
			merged[i].ret = min(merged[i].ret, o.ret)
			continue
		}
		at[which] = len(merged)
		o.call = firstRequest[o.Key].call
		merged = append(merged, o)
	}
	for key, request := range firstRequest {
		if !isAnswered[key] {
			merged = append(merged, request)
		}
	}
	return merged
}

// Prepares the operations of one key. Reads without an answer say nothing. Of several writes of one client
// that are equal and unknown, the first one can be executed whenever another one could, and a second
// execution changes nothing. This does not hold for creations without a key, nor for changes: another one may come
// between two.
func prepare(operations []operation) []operation {
	type same struct{ op, key, name, code, reader string }
	seen := map[same]bool{}
	var kept []operation
	for _, o := range operations {
		if o.isUnknown() {
			id := same{o.Op, o.Key, o.Name, o.Code, o.Reader}
			if !o.isWrite() || seen[id] {
				continue
			}
			isCreation := o.Op == "create" || o.Op == "deposit"
			seen[id] = o.Op != "change" && !(isCreation && o.Key == "")
		}
		kept = append(kept, o)
	}
	sort.SliceStable(kept, func(a, b int) bool { return kept[a].call < kept[b].call })
	return kept
}

func min(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}

func max(a, b int64) int64 {
	if a > b {
		return a
	}
	return b
}
