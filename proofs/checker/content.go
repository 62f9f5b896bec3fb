package main

// Content of a short code: absent -> present -> gone (or taken down) -> removed. Nothing leads back.
//
//   - From the answer of its creation on, every read gets exactly the bytes that were created.
//   - From the answer of a deletion, the confirmation of a takedown, or the expiry on, no read gets them.
//     The product promises no staleness: clients revalidate their caches (`private, no-cache`), and each
//     read asks Postgres. A read that is under way meanwhile may get either answer.
//   - Deletion happens once: its repetition is answered 410.
//   - A change gives the paste another title while it is present, and never brings it back. Reads of the
//     metadata from its answer on get this title, or that of a later change.
//   - Once the sweep has removed the tombstone, the code is unknown (404) for ever.
type content struct {
	phase string
	hash  string
	title string
}

const (
	absent    = "absent"
	present   = "present"
	gone      = "gone"
	takenDown = "taken down"
	removed   = "removed"
)

// Between the clock of the history and the clock of Postgres, while both run.
const clockSlack = 1e9

var contentModel = model{
	name:    "content",
	init:    content{phase: absent},
	keys:    contentKeys,
	step:    stepOf(stepContent),
	promise: "a code: written once, read as written, gone for ever",
}

func contentKeys(operations []operation) map[string][]operation {
	keys := map[string][]operation{}
	for _, o := range creations(operations, "create") {
		if o.Code == "" || o.Burn {
			continue
		}
		keys[o.Code] = append(keys[o.Code], o)
		if o.Expires > 0 {
			keys[o.Code] = append(keys[o.Code], expiryOf(o))
		}
	}
	return addUses(keys, operations)
}

// The expiry of what this operation has made.
func expiryOf(o operation) operation {
	call, ret := o.call+o.Expires*1e9-clockSlack, o.ret+o.Expires*1e9+clockSlack
	return operation{Op: "expire", Event: "ok", Code: o.Code, Request: o.Request, call: call, ret: ret}
}

// Adds what was done to the pastes that `keys` names by their codes.
func addUses(keys map[string][]operation, operations []operation) map[string][]operation {
	for _, o := range operations {
		code := o.Name
		if o.Op == "takedown" || o.Op == "remove" {
			code = o.Code
		}
		if _, created := keys[code]; created && o.Op != "create" {
			keys[code] = append(keys[code], o)
		}
	}
	return keys
}

func stepContent(s content, o operation) (bool, content) {
	to := func(phase string) content { return content{phase, s.hash, s.title} }
	switch o.Op {
	case "create":
		return s.phase == absent, content{present, o.Hash, o.title()}
	case "expire":
		if s.phase == present {
			return true, to(gone)
		}
		return true, s
	case "takedown":
		if s.phase == present || s.phase == gone {
			return true, to(takenDown)
		}
		return o.isUnknown() || s.phase == takenDown, s
	case "remove":
		if s.phase == gone || s.phase == takenDown {
			return true, to(removed)
		}
		return o.isUnknown(), s
	case "delete":
		if o.Status == 204 {
			return s.phase == present, to(gone)
		}
		if o.isUnknown() && s.phase == present {
			return true, to(gone)
		}
	case "change":
		if o.Status == 200 || (o.isUnknown() && s.phase == present) {
			return s.phase == present, content{s.phase, s.hash, o.title()}
		}
	case "read":
		if o.Status == 200 || o.Status == 304 {
			return s.phase == present && o.Hash == s.hash && (o.Title == nil || o.title() == s.title), s
		}
	}
	return refusalFits(s.phase, o), s
}

func (o operation) title() string {
	if o.Title == nil {
		return ""
	}
	return *o.Title
}

// Whether a refusal says the phase of the paste. Others, such as 429, say nothing.
func refusalFits(phase string, o operation) bool {
	switch o.Status {
	case 404:
		return phase == absent || phase == removed
	case 410:
		return phase == gone
	case 451:
		return phase == takenDown
	}
	return true
}
