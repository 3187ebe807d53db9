package main

import "sync"

// mpsc: four goroutines send to one by a channel with room for 1,024.
func runMpsc(j job) {
	messages := uint64(5_000_000)
	if j.isQuick() {
		messages = 100_000
	}
	round := j.costPerOp(func(rounds uint64) {
		for range rounds {
			checkSum(mpscRound(messages), 0, messages)
		}
	})
	round.dividedBy(float64(messages)).print()
}

// The sum of what has arrived.
func mpscRound(messages uint64) uint64 {
	const senders = 4
	channel := make(chan uint64, 1_024)
	var group sync.WaitGroup
	group.Add(senders)
	for sender := range uint64(senders) {
		go func() {
			defer group.Done()
			each := messages / senders
			for message := sender * each; message < (sender+1)*each; message++ {
				channel <- message
			}
		}()
	}
	// Whoever sends cannot know that it is the last; this is what Go's own examples do.
	go func() {
		group.Wait()
		close(channel)
	}()
	sum := uint64(0)
	for message := range channel {
		sum += message
	}
	return sum
}
