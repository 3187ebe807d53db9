package main

import (
	"bytes"
	"fmt"
	"net"
)

// The end of a request, and the answer to it.
var (
	end    = []byte("\r\n\r\n")
	answer = []byte("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!")
)

// serve_http: a server that is measured from outside. It prints the port where it listens, and has
// a goroutine for each connection. It does without net/http, like the other servers.
func runServeHTTP(job) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail(1, err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		connection, err := listener.Accept()
		if err != nil {
			fail(1, err)
		}
		go converse(connection)
	}
}

// Answers requests until the client closes the connection or it breaks. Requests that came together
// are answered together.
func converse(connection net.Conn) {
	defer connection.Close()
	buffer := make([]byte, 1024)
	answers := answer
	filled := 0
	for {
		n, err := connection.Read(buffer[filled:])
		if n == 0 || err != nil {
			return
		}
		filled += n
		requests, consumed := complete(buffer[:filled])
		copy(buffer, buffer[consumed:filled])
		filled -= consumed
		if requests == 0 {
			continue
		}
		if len(answers) < requests*len(answer) {
			answers = bytes.Repeat(answer, requests)
		}
		if _, err := connection.Write(answers[:requests*len(answer)]); err != nil {
			return
		}
	}
}

// Returns how many requests are complete, and how many bytes they take.
func complete(received []byte) (requests, consumed int) {
	for {
		at := bytes.Index(received[consumed:], end)
		if at < 0 {
			return
		}
		requests++
		consumed += at + len(end)
	}
}
