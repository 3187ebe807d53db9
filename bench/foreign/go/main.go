// The Go peer: `prog WORKLOAD THREADS [key=value ...]` prints one line `metric value` for each
// metric.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// The workloads. Each is in a file of its own and prints its metrics.
var workloads = map[string]func(job){
	"switch":           runSwitch,
	"create":           runCreate,
	"pool_submit":      runPoolSubmit,
	"pool_yield":       runPoolYield,
	"pool_idle":        runIdle,
	"yield":            runPoolYield,
	"spawn_seq":        runSpawnSeq,
	"spawn_batch_100k": runPoolSubmit,
	"skynet_join":      runSkynetJoin,
	"skynet":           runSkynet,
	"fib":              runFib,
	"parked":           runParked,
	"idle":             runIdle,
	"timers_100k":      runTimers(100_000),
	"timers_1000k":     runTimers(1_000_000),
	"sleep":            runSleep,
	"timer_cancel":     runTimerCancel,
	"lock":             runLock,
	"mutex":            runMutex,
	"mutex_yield":      runMutexYield,
	"condvar":          runCondvar,
	"pingpong":         runPingpong,
	"chan":             runChan,
	"mpsc":             runMpsc,
	"mpmc":             runMpmc,
	"select8":          runSelect8,
	"rwlock":           runRWLock,
	"serve_http":       runServeHTTP,
}

func parse(args []string) (job, error) {
	threads, err := strconv.Atoi(args[0])
	j := job{threads: threads, target: 200 * time.Millisecond}
	for _, setting := range args[1:] {
		key, value, _ := strings.Cut(setting, "=")
		if key != "millis" {
			return j, fmt.Errorf("unknown setting %q", setting)
		}
		var millis int
		millis, err = strconv.Atoi(value)
		j.target = time.Duration(millis) * time.Millisecond
	}
	return j, err
}

func fail(code int, problem any) {
	fmt.Fprintln(os.Stderr, problem)
	os.Exit(code)
}

func main() {
	if len(os.Args) < 3 {
		fail(2, "usage: peer WORKLOAD THREADS [millis=N]")
	}
	run, found := workloads[os.Args[1]]
	if !found {
		fail(2, fmt.Sprintf("the Go peer has no workload %q", os.Args[1]))
	}
	j, err := parse(os.Args[2:])
	if err != nil {
		fail(2, err)
	}
	runtime.GOMAXPROCS(j.threads)
	run(j)
}
