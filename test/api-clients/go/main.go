// An informer of client-go, or its watch that goes on from the last version; a line for each event.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

var notes = schema.GroupVersionResource{Group: "clients.example", Version: "v1", Resource: "notes"}

func say(kind string, given any) {
	if tombstone, ok := given.(cache.DeletedFinalStateUnknown); ok {
		given = tombstone.Obj
	}
	object := given.(*unstructured.Unstructured)
	number, _, _ := unstructured.NestedInt64(object.Object, "number")
	line, _ := json.Marshal(map[string]any{"type": kind, "name": object.GetName(), "version": object.GetResourceVersion(), "number": number})
	fmt.Println(string(line))
}

func inform(client dynamic.Interface) {
	informer := dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(notes).Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { say("ADDED", object) },
		UpdateFunc: func(_, object any) { say("MODIFIED", object) },
		DeleteFunc: func(object any) { say("DELETED", object) },
	})
	if err != nil {
		panic(err)
	}
	informer.Run(make(chan struct{}))
}

func goOn(client dynamic.Interface) {
	resource := client.Resource(notes).Namespace("default")
	list, err := resource.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		panic(err)
	}
	for i := range list.Items {
		say("ADDED", &list.Items[i])
	}
	watcher, err := toolswatch.NewRetryWatcherWithContext(context.Background(), list.GetResourceVersion(), &cache.ListWatch{
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			return resource.Watch(context.Background(), options)
		},
	})
	if err != nil {
		panic(err)
	}
	for event := range watcher.ResultChan() {
		say(string(event.Type), event.Object)
	}
}

func main() {
	client := dynamic.NewForConfigOrDie(&rest.Config{Host: os.Args[2], Timeout: 0, QPS: 100, Burst: 100})
	if os.Args[1] == "informer" {
		inform(client)
	}
	goOn(client)
	time.Sleep(time.Second)
}
