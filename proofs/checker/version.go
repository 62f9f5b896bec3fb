package main

// The place of the newer version of a paste: free -> one paste -> free, when this paste is deleted.
//
//   - A creation that supersedes the paste gets the place only while it is free, and is answered 409
//     superseded only while it is taken: a compare-and-set.
//   - The deletion of the newer version frees it at once.
//   - A creation without an answer may have got the place.
type version struct {
	taken bool
	code  string // of the paste that has the place; empty: the answer is unknown
}

var versionModel = model{
	name:    "version",
	init:    version{},
	keys:    versionKeys,
	step:    stepOf(stepVersion),
	promise: "a paste: has one newer version",
}

func versionKeys(operations []operation) map[string][]operation {
	keys := map[string][]operation{}
	olderOf := map[string]string{}
	for _, o := range creations(operations, "create") {
		if o.Older != "" {
			keys[o.Older] = append(keys[o.Older], o)
			olderOf[o.Code] = o.Older
		}
	}
	for _, o := range operations {
		switch {
		case o.Op == "create" && o.Older != "" && o.Error == "superseded":
			keys[o.Older] = append(keys[o.Older], o)
		case o.Op == "delete" && olderOf[o.Name] != "":
			keys[olderOf[o.Name]] = append(keys[olderOf[o.Name]], o)
		}
	}
	return keys
}

func stepVersion(s version, o operation) (bool, version) {
	switch {
	case o.Op == "create" && o.Event == "fail":
		return s.taken, s
	case o.Op == "create" && !s.taken:
		return true, version{true, o.Code}
	case o.Op == "create":
		return o.isUnknown(), s
	case s.taken && s.code == o.Name: // a deletion
		return o.Status != 410, version{taken: o.Status != 204 && !o.isUnknown(), code: s.code}
	}
	return true, s // it was deleted before
}
