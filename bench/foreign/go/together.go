package main

import "sync"

// Runs `count` goroutines at once, each with its number, and returns when all have ended.
func together(count int, work func(number int)) {
	var group sync.WaitGroup
	group.Add(count)
	for number := range count {
		go func() {
			defer group.Done()
			work(number)
		}()
	}
	group.Wait()
}
