// One server of the feature probes: the generic API server of Kubernetes, as its documentation and
// its own servers start it, with a path for each thing that the probes ask for. It speaks the
// protocol of ../../features/fixture.mjs: its plan is the last argument, and what happens is told on
// file descriptor 3.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericfilters "k8s.io/apiserver/pkg/endpoints/filters"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/apiserver/pkg/util/notfoundhandler"
	"k8s.io/sample-apiserver/pkg/apiserver"
	sampleopenapi "k8s.io/sample-apiserver/pkg/generated/openapi"
)

type hook struct {
	Name     string
	Ms       int
	Never    bool
	Throws   bool
	Calls    bool
	LogBytes int
}

type plan struct {
	GraceMs, DelayMs, MuxMs        int
	Late, Leak, CheckNever, Misuse bool
	Start, Before, Cleanup         []hook
}

var (
	told   = os.NewFile(3, "told")
	toldMu sync.Mutex
	// What a hook calls; its certificate is the probes' own.
	own    = http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	ownURL string
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

// run does what the plan says of a hook.
func (h hook) run() error {
	note(h.Name+" begins", nil)
	if h.Calls {
		var status any
		if answer, err := own.Get(ownURL); err != nil {
			status = err.Error()
		} else {
			_ = answer.Body.Close()
			status = answer.StatusCode
		}
		note(h.Name+" called", map[string]any{"status": status})
	}
	time.Sleep(time.Duration(h.Ms) * time.Millisecond)
	if h.LogBytes > 0 {
		_, _ = os.Stdout.WriteString(strings.Repeat("x", h.LogBytes-1) + "\n")
	}
	if h.Never {
		select {}
	}
	if h.Throws {
		return errors.New(h.Name + " has failed")
	}
	note(h.Name+" ends", nil)
	return nil
}

func main() {
	var given plan
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &given); err != nil {
		panic(err)
	}
	note("loaded", nil)
	if given.Misuse {
		misuse()
		return
	}
	if err := serve(given); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// misuse tells what the check of upstream's own flags says of one that is wrong.
func misuse() {
	run := options.NewServerRunOptions()
	run.ShutdownDelayDuration = -time.Second
	var said any
	if err := utilerrors.NewAggregate(run.Validate()); err != nil {
		said = err.Error()
	}
	note("misused", map[string]any{"what": "a delay of -1 s", "error": said})
}

func serve(given plan) error {
	ms := func(count int) time.Duration { return time.Duration(count) * time.Millisecond }
	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(sampleopenapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(sampleopenapi.GetOpenAPIDefinitions, namer)
	config.Authentication.Authenticator = anonymous.NewAuthenticator(nil)
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	// Its index would be at the path that the probes ask for.
	config.EnableIndex = false
	config.ShutdownDelayDuration = ms(given.DelayMs)
	config.ShutdownSendRetryAfter = given.Late
	// Nothing but their own time bounds the requests that an end waits for.
	config.RequestTimeout = ms(given.GraceMs)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	ownURL = fmt.Sprintf("https://127.0.0.1:%d/", port)
	serving := options.NewSecureServingOptions().WithLoopback()
	serving.Listener = listener
	serving.ServerCert.CertKey = options.CertKey{CertFile: os.Getenv("CERT"), KeyFile: os.Getenv("KEY")}
	if err := serving.ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		return err
	}
	// The answer to unknown paths that kube-apiserver gives, the last of its chain.
	unknown := notfoundhandler.New(config.Serializer, genericfilters.NoMuxAndDiscoveryIncompleteKey)
	server, err := config.Complete().New("features", genericapiserver.NewEmptyDelegateWithCustomHandler(unknown))
	if err != nil {
		return err
	}
	stop, cancel := context.WithCancel(genericapiserver.SetupSignalContext())
	defer cancel()
	for path, serve := range handlers(cancel) {
		server.Handler.NonGoRestfulMux.HandleFunc(path, serve)
	}
	if err := register(server, given); err != nil {
		return err
	}
	go listening(port)
	return server.PrepareRun().RunWithContext(stop)
}

func register(server *genericapiserver.GenericAPIServer, given plan) error {
	for _, one := range given.Start {
		if err := server.AddPostStartHook(one.Name, func(genericapiserver.PostStartHookContext) error { return one.run() }); err != nil {
			return err
		}
	}
	for _, one := range given.Before {
		if err := server.AddPreShutdownHook(one.Name, one.run); err != nil {
			return err
		}
	}
	for _, one := range given.Cleanup {
		// Upstream's takes no error.
		server.RegisterDestroyFunc(func() { _ = one.run() })
	}
	if given.MuxMs > 0 {
		complete := make(chan struct{})
		time.AfterFunc(time.Duration(given.MuxMs)*time.Millisecond, func() { close(complete) })
		if err := server.RegisterMuxAndDiscoveryCompleteSignal("routes", complete); err != nil {
			return err
		}
	}
	if given.CheckNever {
		if err := server.AddReadyzChecks(healthz.NamedCheck("never", func(*http.Request) error { select {} })); err != nil {
			return err
		}
	}
	if given.Leak {
		return server.AddReadyzChecks(
			healthz.NamedCheck("a", func(*http.Request) error { return errors.New("secretA") }),
			healthz.NamedCheck("b", func(*http.Request) error { return nil }),
		)
	}
	return nil
}

// listening tells when the server takes connections: its listener is open before it does.
func listening(port int) {
	for {
		connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			_ = connection.Close()
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	health := map[string]string{"live": "/livez", "ready": "/readyz", "never": "/readyz", "a": "/readyz/a", "b": "/readyz/b"}
	note("listening", map[string]any{"port": port, "tls": true, "health": health, "controls": []string{"stop"}})
}

func handlers(stop func()) map[string]http.HandlerFunc {
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, body)
		}
	}
	crash := func(message string) http.HandlerFunc {
		return func(http.ResponseWriter, *http.Request) {
			go func() {
				time.Sleep(20 * time.Millisecond)
				panic(message)
			}()
		}
	}
	return map[string]http.HandlerFunc{
		"/": text("hello"),
		"/slow": func(w http.ResponseWriter, r *http.Request) {
			ms, _ := strconv.Atoi(r.URL.Query().Get("ms"))
			note("slow begins", nil)
			time.Sleep(time.Duration(ms) * time.Millisecond)
			note("slow ends", nil)
			text("done")(w, r)
		},
		"/body": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			text("read")(w, r)
		},
		"/do/stop":   func(http.ResponseWriter, *http.Request) { stop() },
		"/do/crash":  crash("a crash"),
		"/do/reject": crash("a rejection"),
	}
}
