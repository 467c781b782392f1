// The client of Go's net/http, as scripts/clients.mjs has it: arguments are the address, how many
// requests at a time, the method. It says what node-client.mjs says.
package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const pause = 40 * time.Millisecond

func main() {
	url, method := os.Args[1], os.Args[3]
	lanes, _ := strconv.Atoi(os.Args[2])
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: lanes,
	}}
	var mutex sync.Mutex
	asked, unserved, lost := 0, lanes, map[string]int{}
	ask := func() error {
		var body io.Reader
		if method == "POST" {
			body = bytes.NewReader(make([]byte, 2000))
		}
		request, err := http.NewRequest(method, url, body)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if _, err := io.ReadAll(response.Body); err != nil {
			return err
		}
		if response.StatusCode != 200 {
			return fmt.Errorf("status %d", response.StatusCode)
		}
		return nil
	}
	var all sync.WaitGroup
	for range lanes {
		all.Add(1)
		go func() {
			defer all.Done()
			served := false
			for {
				err := ask()
				if err != nil && strings.Contains(err.Error(), "connection refused") {
					return
				}
				mutex.Lock()
				asked++
				if err != nil {
					text := err.Error()
					lost[text[strings.LastIndex(text, "\": ")+1:]]++
				} else if !served {
					served = true
					unserved--
					if unserved == 0 {
						fmt.Println("serving")
					}
				}
				mutex.Unlock()
				time.Sleep(time.Duration(rand.Int63n(int64(pause))))
			}
		}()
	}
	all.Wait()
	line, _ := json.Marshal(map[string]any{"asked": asked, "lost": lost})
	fmt.Println(string(line))
}
