// The server of Go's net/http, to compare with: as server.mjs, ended by Shutdown(). Over HTTP/2 it
// announces its end with the highest number of a stream first, and says the last one a second later.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var given struct {
		Protocol string
		Delay    int
		GraceMs  int
		Port     int
	}
	given.GraceMs = 3000
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		log.Fatal(err)
	}
	works := &works{leaving: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		time.Sleep(5 * time.Millisecond)
		answer.Write([]byte("ok"))
	})
	works.addTo(mux)
	server := &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	server.RegisterOnShutdown(func() { close(works.leaving) })
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", given.Port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	served := make(chan error, 1)
	go func() {
		if given.Protocol == "HTTP/1.1" {
			served <- server.Serve(listener)
			return
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{selfSigned()}}
		if given.Protocol == "HTTPS" {
			server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
		}
		served <- server.ServeTLS(listener, "", "")
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	<-signals
	time.Sleep(time.Duration(given.Delay) * time.Millisecond)
	within, cancel := context.WithTimeout(context.Background(), time.Duration(given.GraceMs)*time.Millisecond)
	defer cancel()
	server.Shutdown(within)
	// Shutdown neither closes nor waits for hijacked connections.
	ended := make(chan struct{})
	go func() {
		works.sockets.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-within.Done():
	}
}

func selfSigned() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "localhost"},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
