package main

// select8: one goroutine selects over eight channels with room for one. Another goroutine sends to
// each of them.
func runSelect8(j job) {
	messages := uint64(1_000_000)
	if j.isQuick() {
		messages = 100_000
	}
	costPerMessage(j, messages, select8Round).print()
}

// The sum of what has arrived. No channel is closed, so a select only has to find out which of them
// is ready.
func select8Round(messages uint64) uint64 {
	const senders = 8
	var channels [senders]chan uint64
	each := messages / senders
	for sender := range uint64(senders) {
		channel := make(chan uint64, 1)
		channels[sender] = channel
		go func() {
			for message := sender * each; message < (sender+1)*each; message++ {
				channel <- message
			}
		}()
	}
	sum, message := uint64(0), uint64(0)
	for range messages {
		select {
		case message = <-channels[0]:
		case message = <-channels[1]:
		case message = <-channels[2]:
		case message = <-channels[3]:
		case message = <-channels[4]:
		case message = <-channels[5]:
		case message = <-channels[6]:
		case message = <-channels[7]:
		}
		sum += message
	}
	return sum
}
