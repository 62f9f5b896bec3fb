package main

import (
	"fmt"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// A sequential specification. `keys` chooses the operations that it judges, key by key.
type model struct {
	name    string
	promise string // in a few words
	init    interface{}
	keys    func([]operation) map[string][]operation
	step    step
}

// Whether an operation with this outcome fits the state, and the state after it.
type step func(state interface{}, o operation) (bool, interface{})

func stepOf[State any](step func(State, operation) (bool, State)) step {
	return func(state interface{}, o operation) (bool, interface{}) {
		fits, next := step(state.(State), o)
		return fits, next
	}
}

// Models in the order in which their verdicts are printed.
var models = []model{contentModel, burnModel, idempotencyModel, slugModel, versionModel, jobModel, requestModel}

// A key has some tens of operations. One that takes longer is not decided, which is no success.
const timeout = time.Minute

type verdict struct {
	keys, operations int
	undecided        []string
	// The key that fails with the fewest operations.
	failed   string
	smallest []operation
	failures int
	took     time.Duration
}

func (m model) judge(operations []operation) verdict {
	started := time.Now()
	var v verdict
	all := m.keys(operations)
	for _, key := range sortedKeys(all) {
		ofKey := prepare(all[key])
		v.keys++
		v.operations += len(ofKey)
		switch m.check(ofKey) {
		case porcupine.Unknown:
			v.undecided = append(v.undecided, key)
		case porcupine.Illegal:
			v.failures++
			if small := m.smallest(ofKey); v.failures == 1 || len(small) < len(v.smallest) {
				v.failed, v.smallest = key, small
			}
		}
	}
	v.took = time.Since(started)
	return v
}

func sortedKeys(all map[string][]operation) []string {
	var keys []string
	for key := range all {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func (m model) check(operations []operation) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(m.porcupine(), asPorcupine(operations), timeout)
}

// The shortest part of a history, from its beginning, that is a violation, without the reads and refusals
// that it does not need. Neither step makes a violation of what is none: an operation that has not ended at
// the end of the part is unknown.
func (m model) smallest(operations []operation) []operation {
	ends := make([]int64, len(operations))
	for i, o := range operations {
		ends[i] = o.ret
	}
	sort.Slice(ends, func(a, b int) bool { return ends[a] < ends[b] })
	at := sort.Search(len(ends), func(i int) bool {
		return m.check(until(operations, ends[i])) == porcupine.Illegal
	})
	small := until(operations, ends[at])
	for i := 0; i < len(small); {
		without := append(append([]operation{}, small[:i]...), small[i+1:]...)
		if small[i].onlyObserves() && m.check(without) == porcupine.Illegal {
			small = without
		} else {
			i++
		}
	}
	return small
}

func until(operations []operation, end int64) []operation {
	var part []operation
	for _, o := range operations {
		if o.call > end {
			continue
		}
		if o.ret > end {
			o.Event, o.Status, o.ret = "unknown", 0, never
		}
		part = append(part, o)
	}
	return prepare(part)
}

func (m model) porcupine() porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return m.init },
		Step: func(state, input, _ interface{}) (bool, interface{}) {
			return m.step(state, input.(operation))
		},
		DescribeOperation: func(input, _ interface{}) string { return input.(operation).String() },
		DescribeState:     func(state interface{}) string { return fmt.Sprintf("%+v", state) },
	}
}

// The picture has a line for each client, on which no two operations overlap.
func asPorcupine(operations []operation) []porcupine.Operation {
	var busyUntil []int64
	converted := make([]porcupine.Operation, len(operations))
	for i, o := range operations {
		client := 0
		for client < len(busyUntil) && busyUntil[client] >= o.call {
			client++
		}
		if client == len(busyUntil) {
			busyUntil = append(busyUntil, 0)
		}
		busyUntil[client] = o.ret
		converted[i] = porcupine.Operation{ClientId: client, Input: o, Call: o.call, Return: o.ret}
	}
	return converted
}
