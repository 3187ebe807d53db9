package main

import "sync"

// condvar: two goroutines pass a flag back and forth under one mutex and one condition variable.
func runCondvar(j job) {
	var mutex sync.Mutex
	condvar := sync.NewCond(&mutex)
	flag := 0
	j.costPerOp(func(n uint64) {
		together(2, func(me int) {
			mutex.Lock()
			defer mutex.Unlock()
			for range n {
				for flag != me {
					condvar.Wait()
				}
				flag = 1 - me
				condvar.Signal()
			}
		})
	}).print()
}
