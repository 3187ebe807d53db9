package main

import "syscall"

// Memory that was touched and is held until it is needed, so that page faults do not wait for a
// host that has taken it back. The Rust peers have the same.
type reserve struct {
	memory []byte
	left   int
}

func newReserve(length int) *reserve {
	flags := syscall.MAP_PRIVATE | syscall.MAP_ANON | syscall.MAP_NORESERVE
	memory, err := syscall.Mmap(-1, 0, length, syscall.PROT_READ|syscall.PROT_WRITE, flags)
	if err != nil {
		fail(1, err)
	}
	if err := syscall.Madvise(memory, syscall.MADV_NOHUGEPAGE); err != nil {
		fail(1, err)
	}
	for offset := 0; offset < length; offset += syscall.Getpagesize() {
		memory[offset] = 1
	}
	return &reserve{memory, length}
}

// Gives the given number of bytes, whole pages, back to the kernel.
func (r *reserve) release(bytes int) {
	if err := syscall.Madvise(r.memory[r.left-bytes:r.left], syscall.MADV_DONTNEED); err != nil {
		fail(1, err)
	}
	r.left -= bytes
}
