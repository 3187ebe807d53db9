package main

import (
	"fmt"
	"sync"
)

// lock: an uncontended mutex is locked and unlocked.
func runLock(j job) {
	ns := j.nsPerOp(func(n uint64) {
		var mutex sync.Mutex
		count := uint64(0)
		for range n {
			mutex.Lock()
			count++
			mutex.Unlock()
		}
		if count != n {
			panic("the count is wrong")
		}
	})
	fmt.Printf("ns %.6f\n", ns)
}
