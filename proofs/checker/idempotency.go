package main

// An Idempotency-Key: not executed -> executed, which made one paste, deposit or job.
//
//   - The request is executed at most once. The first answer is that of the execution; each later one is
//     the same, and says that it is replayed.
//   - A request without an answer may have been executed: the next answer then is a replay.
//   - Only successes are kept: 409 (another request with the key runs, the slug is taken, or the request for
//     secrets is used up), or 410 of a deposit, says that the key is not executed yet. One that is under way
//     during the execution may be answered before or after.
//   - At the end, the tables have one paste for a key that was executed, and none for another.
type idempotency struct {
	executed bool
	made     string // empty: the answer is unknown
}

var idempotencyModel = model{
	name:    "Idempotency-Key",
	init:    idempotency{},
	keys:    idempotencyKeys,
	step:    stepOf(stepIdempotency),
	promise: "a key: executed once",
}

func idempotencyKeys(operations []operation) map[string][]operation {
	keys := map[string][]operation{}
	for _, o := range operations {
		if o.Key == "" {
			continue
		}
		switch o.Op {
		case "create", "start", "deposit", "count":
			keys[o.Key] = append(keys[o.Key], o)
		}
	}
	return keys
}

func stepIdempotency(s idempotency, o operation) (bool, idempotency) {
	made := o.Code + o.Job
	switch {
	case o.Op == "count":
		return o.Count == 1 && s.executed || o.Count == 0 && !s.executed, s
	case o.isUnknown():
		return true, idempotency{true, s.made}
	case o.Event == "ok" && o.Replayed:
		return s.executed && (s.made == "" || s.made == made), idempotency{true, made}
	case o.Event == "ok":
		return !s.executed, idempotency{true, made}
	case o.Status == 409 || o.Error == "request_closed":
		return !s.executed, s
	}
	return true, s
}
