package main

import (
	"fmt"
	"sort"
	"time"
)

// sleep: a goroutine sleeps again and again for up to a millisecond, and reports how much longer
// that took.
func runSleep(j job) {
	times := uint32(1_000)
	if j.target < 100*time.Millisecond {
		times = 50
	}
	over := make([]float64, times)
	for number := range over {
		fraction := uint64(uint32(number) * 0x9E3779B1)
		sleep := time.Duration(fraction * uint64(time.Millisecond) >> 32)
		begun := time.Now()
		time.Sleep(sleep)
		over[number] = float64(time.Since(begun)-sleep) / 1e3
	}
	sort.Float64s(over)
	at := func(part float64) float64 { return over[int(float64(times-1)*part+0.5)] }
	fmt.Printf("over_p50_us %v\nover_p99_us %v\n", at(0.5), at(0.99))
}
