// What the loss ledger asks beside plain requests: an echo, event streams, the answer of a model and
// WebSockets. test/loss/works.mjs says what each of them is.
package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tick   = 100 * time.Millisecond
	tokens = 60
)

// works is closed when the server begins to shut down; its WebSockets are hijacked, so that nobody
// else tells them or waits for them.
type works struct {
	leaving chan struct{}
	sockets sync.WaitGroup
}

func newestEvent() int64 { return time.Now().UnixMilli() / tick.Milliseconds() }

// addTo registers all paths.
func (w *works) addTo(mux *http.ServeMux) {
	mux.HandleFunc("/readyz", func(answer http.ResponseWriter, _ *http.Request) { io.WriteString(answer, "ok") })
	mux.HandleFunc("/echo", func(answer http.ResponseWriter, request *http.Request) {
		size, err := io.Copy(io.Discard, request.Body)
		if err != nil {
			return
		}
		query := request.URL.Query()
		ms, _ := strconv.Atoi(query.Get("ms"))
		time.Sleep(time.Duration(ms) * time.Millisecond)
		fmt.Fprintf(answer, "%s %d", query.Get("n"), size)
	})
	mux.HandleFunc("/events", w.events)
	mux.HandleFunc("/stream", func(answer http.ResponseWriter, request *http.Request) {
		answer.Header().Set("Content-Type", "text/event-stream")
		for token := 1; token <= tokens; token++ {
			fmt.Fprintf(answer, "data: %d\n\n", token)
			answer.(http.Flusher).Flush()
			time.Sleep(tick)
		}
		io.WriteString(answer, "data: [DONE]\n\n")
	})
	mux.HandleFunc("/ws", w.echoes)
}

func (w *works) events(answer http.ResponseWriter, request *http.Request) {
	last, err := strconv.ParseInt(request.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil {
		last = newestEvent()
	}
	answer.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(answer, ": events\n\n")
	for {
		for last < newestEvent() {
			last++
			fmt.Fprintf(answer, "id: %d\ndata: %d\n\n", last, last)
		}
		answer.(http.Flusher).Flush()
		select {
		case <-w.leaving:
			return
		case <-request.Context().Done():
			return
		case <-time.After(tick):
		}
	}
}

const (
	opText  = 1
	opClose = 8
)

// echoes speaks as much of RFC 6455 as clients with short messages need.
func (w *works) echoes(answer http.ResponseWriter, request *http.Request) {
	connection, buffered, err := answer.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	w.sockets.Add(1)
	defer w.sockets.Done()
	defer connection.Close()
	var writing sync.Mutex
	hasClosed := false
	write := func(op byte, payload []byte) {
		writing.Lock()
		defer writing.Unlock()
		if hasClosed {
			return
		}
		hasClosed = op == opClose
		connection.Write(append([]byte{0x80 | op, byte(len(payload))}, payload...))
	}
	sum := sha1.Sum([]byte(request.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(connection, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-w.leaving:
			write(opClose, binary.BigEndian.AppendUint16(nil, 1001))
		case <-over:
		}
	}()
	for {
		op, payload, err := readFrame(buffered.Reader)
		if err != nil {
			return
		}
		write(op, payload)
		if op == opClose {
			return
		}
	}
}

// readFrame reads a masked frame of less than 126 bytes.
func readFrame(from *bufio.Reader) (byte, []byte, error) {
	var head [6]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, nil, err
	}
	payload := make([]byte, head[1]&0x7f)
	if _, err := io.ReadFull(from, payload); err != nil {
		return 0, nil, err
	}
	for at := range payload {
		payload[at] ^= head[2+at%4]
	}
	op := head[0] & 0x0f
	if op != opText && op != opClose {
		return 0, nil, fmt.Errorf("opcode %d of %s", op, strings.TrimSpace(string(payload)))
	}
	return op, payload, nil
}
