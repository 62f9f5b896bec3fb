package main

// A paste that is deleted when it is read: absent -> present -> read by one reader, or gone (or taken
// down).
//
//   - Of any number of readers exactly one gets the content. The reader is known by its key, and gets the
//     content again by this key for five minutes, unless the paste is taken down.
//   - All others get 410 from then on. While nobody has read it and nobody has deleted it, no reader gets
//     410.
//   - GET never gets the content.
//   - A reveal without an answer, or with 5xx, may have claimed the paste for its reader.
type burn struct {
	phase  string
	hash   string
	reader string
}

const (
	readOnce    = "read"
	readerHasNs = 5 * 60 * 1e9
)

var burnModel = model{
	name:    "burn",
	init:    burn{phase: absent},
	keys:    burnKeys,
	step:    stepOf(stepBurn),
	promise: "a burned paste: taken by one reader",
}

func burnKeys(operations []operation) map[string][]operation {
	keys := map[string][]operation{}
	for _, o := range creations(operations, "create") {
		if o.Code != "" && o.Burn {
			keys[o.Code] = append(keys[o.Code], o)
		}
	}
	for _, ofKey := range addUses(keys, operations) {
		markLate(ofKey)
	}
	return keys
}

// The five minutes begin when the paste is claimed, which is after the first request of the reader.
func markLate(ofKey []operation) {
	first := map[string]int64{}
	for i, o := range ofKey {
		if o.Op != "reveal" {
			continue
		}
		if _, seen := first[o.Reader]; !seen {
			first[o.Reader] = o.call
		}
		ofKey[i].late = o.ret-first[o.Reader] > readerHasNs
	}
}

func stepBurn(s burn, o operation) (bool, burn) {
	isReader := s.phase == readOnce && s.reader == o.Reader
	switch o.Op {
	case "create":
		return s.phase == absent, burn{phase: present, hash: o.Hash}
	case "reveal":
		isFirst := s.phase == present
		if o.Status == 200 {
			return o.Hash == s.hash && (isFirst || isReader), burn{readOnce, s.hash, o.Reader}
		}
		if o.isUnknown() && isFirst {
			return true, burn{readOnce, s.hash, o.Reader}
		}
		if o.Status == 410 {
			return s.phase == gone || s.phase == readOnce && (!isReader || o.late), s
		}
	case "takedown":
		if s.phase == absent {
			return o.isUnknown(), s
		}
		return true, burn{takenDown, s.hash, ""}
	case "delete":
		if o.Status == 204 {
			return s.phase == present, burn{gone, s.hash, ""}
		}
		if o.isUnknown() && s.phase == present {
			return true, burn{gone, s.hash, ""}
		}
	case "read":
		if o.Status == 304 || o.Status == 200 && o.Form == "content" {
			return false, s
		}
		if o.Status == 200 || o.Status == 403 {
			return s.phase == present, s
		}
	}
	if o.Status == 410 {
		return s.phase == gone || s.phase == readOnce, s
	}
	return refusalFits(s.phase, o), s
}
