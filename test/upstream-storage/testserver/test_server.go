// Package testserver takes the place of upstream's package of this name, which starts an etcd in the process of the tests:
// here each test gets a store of ours behind etcd's protocol, from the process whose address is in QUIESCE_FACADE.
package testserver

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

// NewTestConfig is what a test changes of etcd's configuration, of which the interval of progress is taken.
func NewTestConfig(testing.TB) *embed.Config {
	return embed.NewConfig()
}

func ask(t testing.TB, path string, query url.Values) string {
	t.Helper()
	answer, err := http.Post(fmt.Sprintf("http://%s%s?%s", os.Getenv("QUIESCE_FACADE"), path, query.Encode()), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", path, text, err)
	}
	return string(text)
}

// RunEtcd opens a store, which is closed with the test, and connects to it.
func RunEtcd(t testing.TB, cfg *embed.Config) *kubernetes.Client {
	t.Helper()
	progress := 10 * time.Minute
	if cfg != nil {
		progress = cfg.WatchProgressNotifyInterval
	}
	port := ask(t, "/open", url.Values{"progressMs": {fmt.Sprint(progress.Milliseconds())}})
	t.Cleanup(func() { ask(t, "/close", url.Values{"port": {port}}) })
	client, err := kubernetes.New(clientv3.Config{
		Endpoints:   []string{"http://127.0.0.1:" + port},
		DialTimeout: 10 * time.Second,
		Logger:      zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	recorder := storagetesting.NewKubernetesRecorder(client.Kubernetes)
	client.KV = storagetesting.NewKVRecorder(client.KV, recorder)
	client.Kubernetes = recorder
	return client
}
