// The generic API server of Kubernetes with what bench/upstream.mjs asks of both servers: a path that answers at once, a resource in memory,
// tokens from a file, an authorizer, and an audit log in batches. Everything else is upstream's default.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/util/compatibility"
	auditbuffered "k8s.io/apiserver/plugin/pkg/audit/buffered"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"
	"k8s.io/client-go/tools/cache"
	"k8s.io/sample-apiserver/pkg/apis/wardle"
	"k8s.io/sample-apiserver/pkg/apis/wardle/v1alpha1"
	"k8s.io/sample-apiserver/pkg/apiserver"
	sampleopenapi "k8s.io/sample-apiserver/pkg/generated/openapi"
	"k8s.io/sample-apiserver/pkg/registry/wardle/flunder"
)

var (
	port      = flag.Int("port", 0, "where it listens")
	cert      = flag.String("cert", "", "certificate, a PEM file")
	key       = flag.String("key", "", "its key, a PEM file")
	tokens    = flag.String("tokens", "", "tokens, a CSV file")
	auditPath = flag.String("audit", "", "where the audit log is written; empty: nothing is audited")
)

func main() {
	flag.Parse()
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(sampleopenapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(sampleopenapi.GetOpenAPIDefinitions, namer)

	serving := options.NewSecureServingOptions().WithLoopback()
	serving.BindAddress, serving.BindPort = net.IPv4(127, 0, 0, 1), *port
	serving.ServerCert.CertKey = options.CertKey{CertFile: *cert, KeyFile: *key}
	if err := serving.ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		return err
	}
	users, err := tokenfile.NewCSV(*tokens)
	if err != nil {
		return err
	}
	config.Authentication.Authenticator = group.NewAuthenticatedGroupAdder(bearertoken.New(users))
	config.Authorization.Authorizer = authorizer.AuthorizerFunc(readersMay)
	if *auditPath != "" {
		if err := auditInBatches(&config.Config); err != nil {
			return err
		}
	}
	server, err := config.Complete().New("bench", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return err
	}
	server.Handler.NonGoRestfulMux.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
		_, _ = w.Write([]byte("hello\n"))
	})
	flunders, err := flunderStore()
	if err != nil {
		return err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(wardle.GroupName, apiserver.Scheme, metav1.ParameterCodec, apiserver.Codecs)
	group.VersionedResourcesStorageMap["v1alpha1"] = map[string]rest.Storage{"flunders": flunders}
	if err := server.InstallAPIGroup(&group); err != nil {
		return err
	}
	stop := genericapiserver.SetupSignalContext()
	return server.PrepareRun().RunWithContext(stop)
}

// readersMay does what one ClusterRole for the group of the benchmark's user would.
func readersMay(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	if slices.Contains(asked.GetUser().GetGroups(), "readers") || slices.Contains(asked.GetUser().GetGroups(), "system:masters") {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// auditInBatches writes two events for each request, without bodies.
func auditInBatches(config *genericapiserver.Config) error {
	file, err := os.OpenFile(*auditPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	config.AuditPolicyRuleEvaluator = policy.NewPolicyRuleEvaluator(&auditinternal.Policy{Rules: []auditinternal.PolicyRule{{Level: auditinternal.LevelMetadata}}})
	config.AuditBackend = auditbuffered.NewBackend(
		auditlog.NewBackend(file, auditlog.FormatJson, auditv1.SchemeGroupVersion),
		auditbuffered.BatchConfig{BufferSize: 10_000, MaxBatchSize: 400, MaxBatchWait: time.Second},
	)
	return nil
}

// flunderStore is upstream's generic registry over upstream's watch cache over a map.
func flunderStore() (*genericregistry.Store, error) {
	strategy := flunder.NewStrategy(apiserver.Scheme)
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &wardle.Flunder{} },
		NewListFunc:               func() runtime.Object { return &wardle.FlunderList{} },
		PredicateFunc:             flunder.MatchFlunder,
		DefaultQualifiedResource:  wardle.Resource("flunders"),
		SingularQualifiedResource: wardle.Resource("flunder"),
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		TableConvertor:            rest.NewDefaultTableConvertor(wardle.Resource("flunders")),
	}
	codec := apiserver.Codecs.LegacyCodec(v1alpha1.SchemeGroupVersion)
	backend := storagebackend.NewDefaultConfig("/registry", codec)
	return store, store.CompleteWithOptions(&generic.StoreOptions{
		AttrFunc: flunder.GetAttrs,
		RESTOptions: generic.RESTOptions{
			StorageConfig:           backend.ForResource(wardle.Resource("flunders")),
			ResourcePrefix:          "/wardle.example.com/flunders",
			DeleteCollectionWorkers: 1,
			Decorator:               overMemory,
		},
	})
}

func overMemory(
	config *storagebackend.ConfigForResource,
	prefix string,
	keyOf func(runtime.Object) (string, error),
	newFunc, newListFunc func() runtime.Object,
	attributes storage.AttrFunc,
	triggers storage.IndexerFuncs,
	indexers *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	memory := newMemory()
	watchCache, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage:             memory,
		Versioner:           storage.APIObjectVersioner{},
		GroupResource:       config.GroupResource,
		EventsHistoryWindow: cacher.DefaultEventFreshDuration,
		ResourcePrefix:      prefix,
		KeyFunc:             keyOf,
		NewFunc:             newFunc,
		NewListFunc:         newListFunc,
		GetAttrsFunc:        attributes,
		IndexerFuncs:        triggers,
		Indexers:            indexers,
		Codec:               config.Codec,
	})
	if err != nil {
		return nil, nil, errors.Join(errors.New("the watch cache could not be made"), err)
	}
	delegator := cacher.NewCacheDelegator(watchCache, memory)
	return delegator, func() { delegator.Stop(); watchCache.Stop() }, nil
}
