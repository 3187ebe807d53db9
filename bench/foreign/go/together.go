package main

import "sync"

// So many goroutines do it at once, each by its number; returns when all are done.
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
