package main

// A job: absent -> queued -> processing -> completed, partial, failed or cancelled: one end, for ever.
//
//   - The worker moves the job between two looks at it, so that a look may find any later state, and never
//     an earlier one.
//   - A cancel is answered 200 when it ended the job, also when it is repeated, and 409 when the job had
//     ended by itself.
//   - Nothing is written for a job after its end: the number of pastes that it has made stays.
type job struct {
	state string
	made  int
	// Whether `made` was counted after the end.
	isFinal bool
}

// By itself, in a state that nobody has seen yet.
const ended = "ended"

var jobModel = model{
	name:    "job",
	init:    job{state: absent},
	keys:    jobKeys,
	step:    stepOf(stepJob),
	promise: "a job: ends once",
}

func jobKeys(operations []operation) map[string][]operation {
	keys := map[string][]operation{}
	for _, o := range creations(operations, "start") {
		if o.Job != "" {
			keys[o.Job] = append(keys[o.Job], o)
		}
	}
	for _, o := range operations {
		if o.Op == "look" || o.Op == "cancel" || o.Op == "made" {
			keys[o.Job] = append(keys[o.Job], o)
		}
	}
	return keys
}

func stepJob(s job, o operation) (bool, job) {
	isOpen := s.state == "queued" || s.state == "processing"
	to := func(state string) job { return job{state: state, made: s.made, isFinal: s.isFinal} }
	switch o.Op {
	case "start":
		return s.state == absent, to("queued")
	case "cancel":
		switch {
		case o.Status == 200:
			return isOpen || s.state == "cancelled", to("cancelled")
		case o.isUnknown() && isOpen:
			return true, to("cancelled")
		case o.Error == "job_ended" && isOpen:
			return true, to(ended)
		case o.Error == "job_ended":
			return s.state != absent && s.state != "cancelled", s
		}
	case "made":
		if isOpen {
			return o.Count >= s.made, job{state: s.state, made: o.Count}
		}
		return o.Count == s.made || o.Count > s.made && !s.isFinal, job{s.state, o.Count, true}
	case "look":
		if o.Status == 200 {
			return follows(s.state, o.State), to(o.State)
		}
	}
	return o.Status != 404 || s.state == absent, s
}

// Whether a look can find `seen` after `state`.
func follows(state, seen string) bool {
	switch state {
	case "queued":
		return seen != "cancelled"
	case "processing":
		return seen != "queued" && seen != "cancelled"
	case ended:
		return seen == "completed" || seen == "partial" || seen == "failed"
	}
	return state == seen
}
