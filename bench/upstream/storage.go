package main

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/sample-apiserver/pkg/apis/wardle"
)

// memory keeps flunders in a map, under one revision, as etcd would: it is what stands below upstream's own watch cache here,
// so that neither server waits for a disk or another process.
type memory struct {
	storage.APIObjectVersioner
	mu       sync.Mutex
	revision uint64
	objects  map[string]*wardle.Flunder
	keys     []string // sorted
	history  []change
	watchers map[*watcher]struct{}
}

type change struct {
	key      string
	revision uint64
	event    watch.Event
}

func newMemory() *memory {
	return &memory{revision: 1, objects: map[string]*wardle.Flunder{}, watchers: map[*watcher]struct{}{}}
}

func (m *memory) Versioner() storage.Versioner { return m.APIObjectVersioner }

// put stores an object that nobody else holds. The lock is held.
func (m *memory) put(key string, object *wardle.Flunder) {
	m.revision++
	object.ResourceVersion = fmt.Sprint(m.revision)
	kind := watch.Modified
	if _, exists := m.objects[key]; !exists {
		kind = watch.Added
		at := sort.SearchStrings(m.keys, key)
		m.keys = append(m.keys, "")
		copy(m.keys[at+1:], m.keys[at:])
		m.keys[at] = key
	}
	m.objects[key] = object
	m.tell(key, watch.Event{Type: kind, Object: object})
}

func (m *memory) tell(key string, event watch.Event) {
	one := change{key, m.revision, event}
	if m.history = append(m.history, one); len(m.history) > 20_000 {
		m.history = append([]change(nil), m.history[10_000:]...)
	}
	for watcher := range m.watchers {
		watcher.offer(one)
	}
}

func (m *memory) Create(_ context.Context, key string, object, out runtime.Object, _ uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, exists := m.objects[key]; exists {
		return storage.NewKeyExistsError(key, 0)
	}
	stored := object.DeepCopyObject().(*wardle.Flunder)
	if err := m.PrepareObjectForStorage(stored); err != nil {
		return err
	}
	m.put(key, stored)
	if out != nil {
		*out.(*wardle.Flunder) = *stored
	}
	return nil
}

func (m *memory) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions, validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	object, exists := m.objects[key]
	if !exists {
		return storage.NewKeyNotFoundError(key, 0)
	}
	if err := preconditions.Check(key, object); err != nil {
		return err
	}
	if err := validate(ctx, object); err != nil {
		return err
	}
	m.revision++
	last := object.DeepCopy()
	last.ResourceVersion = fmt.Sprint(m.revision)
	delete(m.objects, key)
	at := sort.SearchStrings(m.keys, key)
	m.keys = append(m.keys[:at], m.keys[at+1:]...)
	m.tell(key, watch.Event{Type: watch.Deleted, Object: last})
	*out.(*wardle.Flunder) = *last
	return nil
}

func (m *memory) Get(_ context.Context, key string, options storage.GetOptions, out runtime.Object) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if object, exists := m.objects[key]; exists {
		*out.(*wardle.Flunder) = *object
		return nil
	}
	if options.IgnoreNotFound {
		return runtime.SetZeroValue(out)
	}
	return storage.NewKeyNotFoundError(key, 0)
}

func (m *memory) GetList(_ context.Context, prefix string, options storage.ListOptions, out runtime.Object) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := out.(*wardle.FlunderList)
	list.Items = make([]wardle.Flunder, 0, len(m.keys))
	for at := sort.SearchStrings(m.keys, prefix); at < len(m.keys) && strings.HasPrefix(m.keys[at], prefix); at++ {
		object := m.objects[m.keys[at]]
		if matches, err := options.Predicate.Matches(object); err != nil {
			return err
		} else if matches {
			list.Items = append(list.Items, *object)
		}
	}
	return m.UpdateList(list, m.revision, "", nil)
}

func (m *memory) GuaranteedUpdate(_ context.Context, key string, out runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object) error {
	for {
		m.mu.Lock()
		object, exists := m.objects[key]
		m.mu.Unlock()
		if !exists && !ignoreNotFound {
			return storage.NewKeyNotFoundError(key, 0)
		}
		current, version := &wardle.Flunder{}, uint64(0)
		if exists {
			current = object.DeepCopy()
			version, _ = m.ObjectResourceVersion(object)
		}
		if err := preconditions.Check(key, current); err != nil {
			return err
		}
		updated, _, err := update(current, storage.ResponseMeta{ResourceVersion: version})
		if err != nil {
			return err
		}
		stored := updated.DeepCopyObject().(*wardle.Flunder)
		m.mu.Lock()
		if m.objects[key] == object {
			m.put(key, stored)
			m.mu.Unlock()
			*out.(*wardle.Flunder) = *stored
			return nil
		}
		m.mu.Unlock()
	}
}

func (m *memory) Stats(context.Context) (storage.Stats, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return storage.Stats{ObjectCount: int64(len(m.keys))}, nil
}
func (m *memory) ReadinessCheck() error                              { return nil }
func (m *memory) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }
func (m *memory) CompactRevision() int64                             { return 0 }
func (m *memory) GetCurrentResourceVersion(context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revision, nil
}
func (m *memory) RequestWatchProgress(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for watcher := range m.watchers {
		watcher.offer(change{revision: m.revision, event: bookmark(m.revision)})
	}
	return nil
}

func bookmark(revision uint64) watch.Event {
	object := &wardle.Flunder{}
	object.ResourceVersion = fmt.Sprint(revision)
	return watch.Event{Type: watch.Bookmark, Object: object}
}

// watcher hands changes on in order, from a queue without a bound: only upstream's watch cache watches here, once.
type watcher struct {
	store  *memory
	prefix string
	result chan watch.Event
	done   chan struct{}
	once   sync.Once
	mu     sync.Mutex
	queue  []watch.Event
	wake   chan struct{}
}

func (m *memory) Watch(ctx context.Context, prefix string, options storage.ListOptions) (watch.Interface, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &watcher{store: m, prefix: prefix, result: make(chan watch.Event, 100), done: make(chan struct{}), wake: make(chan struct{}, 1)}
	after, err := m.ParseResourceVersion(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if options.SendInitialEvents != nil && *options.SendInitialEvents || after == 0 {
		for _, key := range m.keys {
			w.offer(change{key, 0, watch.Event{Type: watch.Added, Object: m.objects[key]}})
		}
		end := bookmark(m.revision)
		if err := storage.AnnotateInitialEventsEndBookmark(end.Object); err != nil {
			return nil, err
		}
		w.offer(change{event: end})
	} else {
		for _, one := range m.history {
			if one.revision > after {
				w.offer(one)
			}
		}
	}
	m.watchers[w] = struct{}{}
	go w.run(ctx)
	return w, nil
}

func (w *watcher) offer(one change) {
	if one.key != "" && !strings.HasPrefix(one.key, w.prefix) {
		return
	}
	w.mu.Lock()
	w.queue = append(w.queue, one.event)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.result)
	defer func() {
		w.store.mu.Lock()
		delete(w.store.watchers, w)
		w.store.mu.Unlock()
	}()
	for {
		w.mu.Lock()
		queue := w.queue
		w.queue = nil
		w.mu.Unlock()
		for _, event := range queue {
			select {
			case w.result <- event:
			case <-w.done:
				return
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-w.wake:
		case <-w.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (w *watcher) Stop()                          { w.once.Do(func() { close(w.done) }) }
func (w *watcher) ResultChan() <-chan watch.Event { return w.result }
