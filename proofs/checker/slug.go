package main

// A slug: free -> names one paste -> free, when the sweep has removed the tombstone of this paste.
//
//   - A creation gets the slug only while it is free, and is answered 409 slug_taken only while it is
//     taken: a compare-and-set.
//   - The slug stays with its paste when the paste is deleted (410), until its row is removed.
//   - A move takes it from the paste that it names to another: a compare-and-set, too. A repeated move finds
//     the slug where it wants it.
//   - A creation or a move without an answer may have got the slug.
type slug struct {
	phase string // absent: the slug is free
	code  string // of the paste that has the slug; empty: the answer is unknown
	hash  string
}

var slugModel = model{
	name:    "slug",
	init:    slug{phase: absent},
	keys:    slugKeys,
	step:    stepOf(stepSlug),
	promise: "a slug: names one paste (compare-and-set)",
}

func slugKeys(operations []operation) map[string][]operation {
	keys := map[string][]operation{}
	slugOf := map[string]string{}
	hashOf := map[string]string{}
	for _, o := range creations(operations, "create") {
		if o.Code != "" {
			hashOf[o.Code] = o.Hash
		}
		if o.Slug == "" {
			continue
		}
		keys[o.Slug] = append(keys[o.Slug], o)
		if o.Code != "" {
			slugOf[o.Code] = o.Slug
		}
	}
	for _, o := range operations {
		if o.Op == "move" {
			o.Hash = hashOf[o.Code]
			slugOf[o.Code] = o.Slug
			keys[o.Slug] = append(keys[o.Slug], o)
		}
	}
	for _, o := range operations {
		isRefused := o.Op == "create" && o.Error == "slug_taken"
		switch {
		case isRefused:
			keys[o.Slug] = append(keys[o.Slug], o)
		case o.Op == "read" && len(o.Name) > 0 && o.Name[0] == '~':
			keys[o.Name[1:]] = append(keys[o.Name[1:]], o)
		case o.Op == "delete" && slugOf[o.Name] != "":
			keys[slugOf[o.Name]] = append(keys[slugOf[o.Name]], o)
		case o.Op == "remove" && slugOf[o.Code] != "":
			keys[slugOf[o.Code]] = append(keys[slugOf[o.Code]], o)
		}
	}
	return keys
}

func stepSlug(s slug, o operation) (bool, slug) {
	switch o.Op {
	case "create":
		if o.Event == "fail" {
			return s.phase != absent, s
		}
		if s.phase == absent {
			return true, slug{present, o.Code, o.Hash}
		}
		return o.isUnknown(), s
	case "move":
		isFrom := s.phase == present && s.code == o.From
		isDone := s.phase == present && s.code == o.Code
		switch {
		case isFrom && (o.Event == "ok" || o.isUnknown()):
			return true, slug{present, o.Code, o.Hash}
		case o.Event == "ok":
			return isDone, s
		case o.Error == "slug_moved":
			return s.phase == present && !isFrom && !isDone, s
		}
	case "delete":
		isIts := s.phase == present && s.code == o.Name
		if isIts && (o.Status == 204 || o.isUnknown()) {
			return true, slug{gone, s.code, s.hash}
		}
		return !(isIts && o.Status == 410), s // another paste may have lost the slug by a move
	case "remove":
		if s.phase == gone && s.code == o.Code {
			return true, slug{phase: absent}
		}
		return o.isUnknown(), s
	case "read":
		if o.Status == 200 || o.Status == 304 {
			return s.phase == present && o.Hash == s.hash, s
		}
	}
	return refusalFits(s.phase, o), s
}
