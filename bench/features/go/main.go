// One server of the feature probes: net/http with Shutdown, as its documentation says, with a signal
// and a context that bounds it. It speaks the protocol of ../fixture.mjs: its plan is the last
// argument, and what happens is told on file descriptor 3.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type hook struct {
	Name     string
	Ms       int
	Never    bool
	Throws   bool
	LogBytes int
}

type plan struct {
	GraceMs, TotalMs, DelayMs int
	HTTP2                     bool `json:"http2"`
	Cleanup                   []hook
}

var (
	told   = os.NewFile(3, "told")
	toldMu sync.Mutex
)

func note(event string, more map[string]any) {
	toldMu.Lock()
	defer toldMu.Unlock()
	line := map[string]any{"at": time.Now().UnixMilli(), "event": event}
	for name, value := range more {
		line[name] = value
	}
	_ = json.NewEncoder(told).Encode(line)
}

func serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	switch {
	case r.URL.Path == "/":
		_, _ = io.WriteString(w, "hello")
	case r.URL.Path == "/slow":
		ms, _ := strconv.Atoi(r.URL.Query().Get("ms"))
		note("slow begins", nil)
		time.Sleep(time.Duration(ms) * time.Millisecond)
		note("slow ends", nil)
		_, _ = io.WriteString(w, "done")
	case r.URL.Path == "/body":
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "read")
	case r.URL.Path == "/stream":
		w.Header().Set("Content-Type", "text/event-stream")
		for text := "begin"; ; text = "more" {
			if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	case r.URL.Path == "/do/crash":
		go func() {
			time.Sleep(20 * time.Millisecond)
			panic("a crash")
		}()
	case r.URL.Path == "/do/reject":
		go func() {
			time.Sleep(20 * time.Millisecond)
			panic("a rejection")
		}()
	case strings.HasPrefix(r.URL.Path, "/do/"):
		http.NotFound(w, r)
	default:
		http.NotFound(w, r)
	}
}

func main() {
	var given plan
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &given); err != nil {
		panic(err)
	}
	note("loaded", nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(serve)}
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	go func() {
		var err error
		if given.HTTP2 {
			err = server.ServeTLS(listener, os.Getenv("CERT"), os.Getenv("KEY"))
		} else {
			err = server.Serve(listener)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}()
	note("listening", map[string]any{"port": listener.Addr().(*net.TCPAddr).Port, "controls": []string{}})
	<-stop.Done()
	bounded, done := context.WithTimeout(context.Background(), time.Duration(given.GraceMs)*time.Millisecond)
	defer done()
	code := 0
	if err := server.Shutdown(bounded); err != nil {
		_ = server.Close()
		code = 1
	}
	for _, one := range given.Cleanup {
		note(one.Name+" begins", nil)
		time.Sleep(time.Duration(one.Ms) * time.Millisecond)
		if one.LogBytes > 0 {
			_, _ = os.Stdout.WriteString(strings.Repeat("x", one.LogBytes-1) + "\n")
		}
		if one.Never {
			select {}
		}
		note(one.Name+" ends", nil)
	}
	os.Exit(code)
}
