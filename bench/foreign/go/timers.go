package main

import (
	"fmt"
	"sort"
	"sync"
	"time"
)

// timers: goroutines sleep, each for a time of its own up to a second, and report how late they
// were.
func runTimers(timers uint32) func(job) {
	return func(j job) {
		longest := time.Second
		if j.target < 100*time.Millisecond {
			timers, longest = 10_000, 100*time.Millisecond
		}
		late := make([]float64, timers)
		// About what one takes in bytes: whole pages in all.
		held := int(timers) * 2816 / 4096 * 4096
		newReserve(held).release(held)
		begun, cpu := time.Now(), cpuTime()
		var all sync.WaitGroup
		all.Add(int(timers))
		for number := uint32(0); number < timers; number++ {
			fraction := uint64(number * 0x9E3779B1)
			sleep := time.Duration(fraction * uint64(longest) >> 32)
			go func() {
				due := time.Now().Add(sleep)
				time.Sleep(sleep)
				late[number] = float64(time.Since(due)) / 1e6
				all.Done()
			}()
		}
		all.Wait()
		elapsed, used := time.Since(begun), cpuTime()-cpu
		sort.Float64s(late)
		at := func(part float64) float64 { return late[int(float64(timers-1)*part+0.5)] }
		fmt.Printf("late_p99_ms %v\nlate_p50_ms %v\n", at(0.99), at(0.5))
		fmt.Printf("cpu_ms %v\noverrun_ms %v\n", float64(used)/1e6, float64(elapsed-longest)/1e6)
	}
}
