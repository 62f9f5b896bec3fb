// Judges a history of `npm run proof -- campaign` with Porcupine, key by key: checker FILE. It first judges
// planted violations, and stops when it calls one of them linearizable.
package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/anishathalye/porcupine"
)

//go:embed planted
var planted embed.FS

func main() {
	if len(os.Args) != 2 {
		fail("usage: checker FILE")
	}
	if err := findPlanted(); err != nil {
		fail(err.Error())
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		fail(err.Error())
	}
	operations, err := readHistory(file)
	if err != nil {
		fail(err.Error())
	}
	isLinearizable := true
	for _, m := range models {
		v := m.judge(operations)
		print(m, v)
		if v.keys == 0 {
			fmt.Printf("  no operation is about this model\n")
		}
		for _, key := range v.undecided {
			fmt.Printf("  not decided within %s: %s\n", timeout, key)
		}
		if v.failures > 0 {
			show(m, v, filepath.Dir(os.Args[1]))
		}
		isLinearizable = isLinearizable && v.isFine()
	}
	if !isLinearizable {
		os.Exit(1)
	}
}

// A model without a key has judged nothing.
func (v verdict) isFine() bool { return v.keys > 0 && v.failures == 0 && len(v.undecided) == 0 }

func print(m model, v verdict) {
	word := "linearizable"
	if v.failures > 0 {
		word = fmt.Sprintf("NOT LINEARIZABLE: %d keys", v.failures)
	} else if !v.isFine() {
		word = "NOT DECIDED"
	}
	const line = "%-16s %7d keys %8d operations  %s (%.1f s)\n"
	fmt.Printf(line, m.name, v.keys, v.operations, word, v.took.Seconds())
}

// Prints the smallest history, and writes Porcupine's picture of it.
func show(m model, v verdict, folder string) {
	fmt.Printf("  %s\n  the smallest history, of %s, in ms from its first operation:\n", m.promise, v.failed)
	start := v.smallest[0].call
	ms := func(at int64) string {
		if at == never {
			return "..."
		}
		return fmt.Sprintf("%.1f", float64(at-start)/1e6)
	}
	for _, o := range v.smallest {
		fmt.Printf("  %10s to %10s  %s\n", ms(o.call), ms(o.ret), o)
	}
	_, info := porcupine.CheckOperationsVerbose(m.porcupine(), asPorcupine(v.smallest), timeout)
	name := strings.NewReplacer("/", "-", "~", "-", " ", "-").Replace(m.name + "-" + v.failed)
	path := filepath.Join(folder, "violation-"+name+".html")
	if err := porcupine.VisualizePath(m.porcupine(), info, path); err != nil {
		fail(err.Error())
	}
	fmt.Printf("  its picture: %s\n", path)
}

// The name of a file in planted/ says which model must refuse it; all models accept good.jsonl.
func findPlanted() error {
	files, err := planted.ReadDir("planted")
	if err != nil {
		return err
	}
	refused := map[string]int{}
	for _, entry := range files {
		file, err := planted.Open("planted/" + entry.Name())
		if err != nil {
			return err
		}
		operations, err := readHistory(file)
		if err != nil {
			return fmt.Errorf("planted/%s: %w", entry.Name(), err)
		}
		for _, m := range models {
			isBad := strings.HasPrefix(entry.Name(), strings.ToLower(m.name)+".")
			if v := m.judge(operations); (v.failures > 0) != isBad {
				const wrong = "the model %q is wrong about planted/%s: %d of its keys fail"
				return fmt.Errorf(wrong, m.name, entry.Name(), v.failures)
			}
			if isBad {
				refused[m.name]++
			}
		}
	}
	for _, m := range models {
		if refused[m.name] == 0 {
			return fmt.Errorf("planted/ has no violation for the model %q", m.name)
		}
	}
	fmt.Printf("planted histories: each of %d was judged as its name says\n", len(files))
	return nil
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "checker: "+message)
	os.Exit(2)
}
