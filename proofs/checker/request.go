package main

import (
	"sort"
	"strings"
)

// A request for secrets: absent -> open -> used up, closed or expired.
//
//   - A deposit is accepted only while the request is open and has a place, and takes one for ever. It is
//     refused as used up only when all places are taken, and as closed only after a cancel or the expiry.
//   - From its answer on, a deposit is in the list of the asker, which has no other: neither one too many nor
//     one that was never made. Opened with the key of the request, it is what was deposited.
//   - A cancel of a request that is used up is refused. A repeated cancel finds the request as it wants it.
//   - A deposit or a cancel without an answer may have been executed.
type request struct {
	phase  string
	places int
	// Deposits as `receipt=hash`, whose answers are known, or which were listed and opened.
	known string
	// Receipts that were listed, and belong to some of the hashes in `pool`.
	listed string
	// The hashes of deposits whose receipts are unknown.
	pool      string
	isExpired bool
}

const (
	open   = "open"
	usedUp = "used up"
	closed = "closed"
)

var requestModel = model{
	name:    "request",
	init:    request{phase: absent},
	keys:    requestKeys,
	step:    stepOf(stepRequest),
	promise: "a request: as many deposits as it has places, each kept",
}

func requestKeys(operations []operation) map[string][]operation {
	keys := map[string][]operation{}
	for _, o := range operations {
		if o.Op != "ask" || o.Request == "" {
			continue
		}
		keys[o.Request] = append(keys[o.Request], o)
		if o.Expires > 0 {
			keys[o.Request] = append(keys[o.Request], expiryOf(o))
		}
	}
	uses := creations(operations, "deposit")
	for _, o := range operations {
		if o.Op != "deposit" || o.Event == "fail" {
			uses = append(uses, o)
		}
	}
	for _, o := range uses {
		if _, asked := keys[o.Request]; !asked {
			continue
		}
		switch o.Op {
		case "deposit", "close", "list", "left", "open":
			keys[o.Request] = append(keys[o.Request], o)
		}
	}
	for id, ofKey := range keys {
		keys[id] = withoutImplied(orderByLists(resolve(ofKey)))
	}
	return keys
}

// A deposit without an answer that was opened is known by the first list that has it. One that was not opened
// has no place: each list is opened in the end. Otherwise there would be too many choices to try.
func resolve(ofKey []operation) []operation {
	codeOf := map[string]string{}
	listedAt := map[string]int64{}
	for _, o := range ofKey {
		if o.Op == "open" && o.Event == "ok" {
			codeOf[o.Hash] = o.Code
		}
		if o.Op == "list" && o.Event == "ok" {
			for _, code := range split(o.Receipts) {
				if at, seen := listedAt[code]; !seen || o.ret < at {
					listedAt[code] = o.ret
				}
			}
		}
	}
	var resolved []operation
	for _, o := range ofKey {
		if o.Op == "deposit" && o.isUnknown() {
			code, isOpened := codeOf[o.Hash]
			at, isListed := listedAt[code]
			if !isOpened || !isListed {
				continue
			}
			o.Event, o.Code, o.ret = "ok", code, at
		}
		resolved = append(resolved, o)
	}
	return resolved
}

// A list says of each deposit whether it comes before or after. The earliest moment at which a list fits leaves the most
// to all other operations but `left`, which is asked when nobody deposits.
func orderByLists(ofKey []operation) []operation {
	var lists []int
	for i, o := range ofKey {
		if o.Op == "list" && o.Event == "ok" {
			lists = append(lists, i)
		}
	}
	sort.SliceStable(lists, func(a, b int) bool {
		return len(ofKey[lists[a]].Receipts) < len(ofKey[lists[b]].Receipts)
	})
	var at int64
	for _, i := range lists {
		list := &ofKey[i]
		at = max(at, list.call)
		for _, o := range ofKey {
			if o.Op == "deposit" && o.Event == "ok" && contains(list.Receipts, o.Code) {
				at = max(at, o.call)
			}
		}
		if at+2 > list.ret {
			continue // it does not fit, or is answered at this moment
		}
		list.call, list.ret = at+1, at+1
		for j := range ofKey {
			o := &ofKey[j]
			switch {
			case o.Op != "deposit" || o.Event != "ok":
			case contains(list.Receipts, o.Code):
				o.ret = min(o.ret, at)
			case o.ret > at+2:
				o.call = max(o.call, at+2)
			}
		}
		at += 2
	}
	return ofKey
}

// A request that is used up or closed stays so: that it is when the first refusal is answered implies all others.
func withoutImplied(ofKey []operation) []operation {
	first := map[string]int64{}
	isOfEnd := func(o operation) bool {
		return o.Op == "deposit" && (o.Error == "request_used_up" || o.Error == "request_closed")
	}
	for _, o := range ofKey {
		if at, seen := first[o.Error]; isOfEnd(o) && (!seen || o.ret < at) {
			first[o.Error] = o.ret
		}
	}
	var kept []operation
	for _, o := range ofKey {
		if !isOfEnd(o) || o.ret == first[o.Error] {
			kept = append(kept, o)
		}
	}
	return kept
}

func stepRequest(s request, o operation) (bool, request) {
	switch o.Op {
	case "ask":
		return s.phase == absent, request{phase: open, places: o.Places}
	case "expire":
		s.isExpired = true
		return true, s
	case "deposit":
		return stepDeposit(s, o)
	case "close":
		return stepClose(s, o)
	case "list":
		return o.Event != "ok" || s.has(o.Receipts), s.with(o.Receipts)
	case "left":
		return o.Event != "ok" || o.Count == s.places-s.taken() && o.State == s.state(), s
	case "open":
		return stepOpen(s, o)
	}
	return true, s
}

func stepDeposit(s request, o operation) (bool, request) {
	takes := s.phase == open && !s.isExpired
	switch {
	case o.Event == "ok":
		s.known = plus(s.known, o.Code+"="+o.Hash)
		return takes, s.afterDeposit()
	case o.isUnknown() && takes:
		s.pool = plus(s.pool, o.Hash)
		return true, s.afterDeposit()
	case o.Error == "request_used_up":
		return s.phase == usedUp, s
	case o.Error == "request_closed":
		return s.phase == closed || s.isExpired, s
	}
	return o.Status != 404 || s.phase == absent, s
}

func (s request) afterDeposit() request {
	if s.taken() == s.places {
		s.phase = usedUp
	}
	return s
}

func stepClose(s request, o operation) (bool, request) {
	isUsedUp := s.phase == usedUp
	switch {
	case o.Error == "request_ended":
		return isUsedUp, s
	case o.Event == "ok" || o.isUnknown() && s.phase == open:
		s.phase = closed
		return !isUsedUp, s
	}
	return true, s
}

func stepOpen(s request, o operation) (bool, request) {
	if o.Event != "ok" {
		return true, s
	}
	entry := o.Code + "=" + o.Hash
	if contains(s.known, entry) {
		return true, s
	}
	fits := contains(s.listed, o.Code) && contains(s.pool, o.Hash)
	s.known, s.listed, s.pool = plus(s.known, entry), minus(s.listed, o.Code), minus(s.pool, o.Hash)
	return fits, s
}

func (s request) taken() int { return len(split(s.known)) + len(split(s.pool)) }

// As the api names it. The expiry is a time, and no state.
func (s request) state() string {
	switch s.phase {
	case usedUp:
		return "USED_UP"
	case closed:
		return "CANCELLED"
	}
	return "OPEN"
}

// Whether the list has each deposit that is known, and one for each other that was made.
func (s request) has(receipts string) bool {
	for _, entry := range split(s.known) {
		if !contains(receipts, receiptOf(entry)) {
			return false
		}
	}
	for _, receipt := range split(s.listed) {
		if !contains(receipts, receipt) {
			return false
		}
	}
	return len(split(receipts)) == s.taken()
}

func (s request) with(receipts string) request {
	s.listed = sorted(split(receipts))
	for _, entry := range split(s.known) {
		s.listed = minus(s.listed, receiptOf(entry))
	}
	return s
}

func receiptOf(entry string) string { return entry[:strings.Index(entry, "=")] }

// A set is a text, because Porcupine compares states.
func split(set string) []string {
	if set == "" {
		return nil
	}
	return strings.Split(set, ",")
}

func sorted(entries []string) string {
	entries = append([]string{}, entries...)
	sort.Strings(entries)
	return strings.Join(entries, ",")
}

func contains(set, entry string) bool {
	for _, each := range split(set) {
		if each == entry {
			return true
		}
	}
	return false
}

func plus(set, entry string) string { return sorted(append(split(set), entry)) }

func minus(set, entry string) string {
	var rest []string
	isRemoved := false
	for _, each := range split(set) {
		if each == entry && !isRemoved {
			isRemoved = true
			continue
		}
		rest = append(rest, each)
	}
	return sorted(rest)
}
