// What etcd's own client costs in Go: creates and reads of values of 1 KB, so many at once, as bench/storage.mjs asks through the engine of quiesce.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Measured is a rate, and the CPU of this process for each.
type Measured struct {
	Rate  float64 `json:"rate"`
	CPUUs float64 `json:"cpuUs"`
}

func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measure does one thing so many times, in lanes.
func measure(lanes, count int, one func(at int)) Measured {
	var next atomic.Int64
	var group sync.WaitGroup
	begun, used := time.Now(), cpu()
	for range lanes {
		group.Add(1)
		go func() {
			defer group.Done()
			for at := next.Add(1) - 1; at < int64(count); at = next.Add(1) - 1 {
				one(int(at))
			}
		}()
	}
	group.Wait()
	took := time.Since(begun)
	return Measured{
		Rate:  float64(count) / took.Seconds(),
		CPUUs: float64((cpu() - used).Microseconds()) / float64(count),
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	endpoint := flag.String("endpoint", "", "where etcd listens")
	lanes := flag.Int("lanes", 64, "how many at once")
	count := flag.Int("count", 10000, "how many creates, and how many reads")
	size := flag.Int("size", 1000, "bytes of a value")
	flag.Parse()
	client := must(clientv3.New(clientv3.Config{Endpoints: []string{*endpoint}, DialTimeout: 10 * time.Second}))
	defer client.Close()
	value := strings.Repeat("x", *size)
	ctx := context.Background()
	key := func(at int) string { return fmt.Sprintf("/bench-go/w-%06d", at) }
	creates := measure(*lanes, *count, func(at int) {
		isFree := clientv3.Compare(clientv3.ModRevision(key(at)), "=", 0)
		answer := must(client.Txn(ctx).If(isFree).Then(clientv3.OpPut(key(at), value)).Else(clientv3.OpGet(key(at))).Commit())
		if !answer.Succeeded {
			panic("a key was taken")
		}
	})
	reads := measure(*lanes, *count, func(at int) {
		if answer := must(client.Get(ctx, key(at))); len(answer.Kvs) != 1 {
			panic("a key is missing")
		}
	})
	if err := json.NewEncoder(os.Stdout).Encode(map[string]Measured{"creates": creates, "reads": reads}); err != nil {
		panic(err)
	}
}
