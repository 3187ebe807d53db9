package main

import "sync"

// mpmc: four goroutines send to four by a channel with room for 128.
func runMpmc(j job) {
	messages := uint64(5_000_000)
	if j.isQuick() {
		messages = 100_000
	}
	costPerMessage(j, messages, mpmcRound).print()
}

// The sum of what has arrived at all of them.
func mpmcRound(messages uint64) uint64 {
	const senders, receivers = 4, 4
	channel := make(chan uint64, 128)
	sendShares(channel, senders, messages)
	sums := make([]uint64, receivers)
	together(receivers, func(number int) {
		sum := uint64(0)
		for message := range channel {
			sum += message
		}
		sums[number] = sum
	})
	total := uint64(0)
	for _, sum := range sums {
		total += sum
	}
	return total
}

// Starts the given number of goroutines, each of which sends an equal share, and closes the channel
// after the last message.
func sendShares(channel chan<- uint64, senders, messages uint64) {
	var group sync.WaitGroup
	group.Add(int(senders))
	each := messages / senders
	for sender := range senders {
		go func() {
			defer group.Done()
			for message := sender * each; message < (sender+1)*each; message++ {
				channel <- message
			}
		}()
	}
	// A sender cannot know that it is the last. This is what Go's own examples do.
	go func() {
		group.Wait()
		close(channel)
	}()
}
