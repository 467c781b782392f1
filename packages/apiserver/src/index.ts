export { type ApiExchange, apiExchangeOf, userOf } from './api-exchange.ts'
export {
  type ApiServer,
  type ApiServerParts,
  createApiServer,
  type PreparedApiServer,
} from './api-server.ts'
export { apiserverWording } from './apiserver-wording.ts'
export type { AuditCounters } from './audit/auditing.ts'
export type { AuditEvent, AuditLevel, AuditStage } from './audit/event.ts'
export type { AuditLogOptions, AuditWebhookOptions } from './audit/options.ts'
export { type AuditPolicy, type PolicyRule, parseAuditPolicy } from './audit/policy.ts'
export { addAuditAnnotation, auditRequestObject, auditResponseObject } from './audit/request-audit.ts'
export type {
  Authenticated,
  AuthenticationContext,
  AuthenticationResult,
  Authenticator,
  AuthenticatorWorld,
  TokenAuthenticator,
} from './authentication/authenticator.ts'
export { bearerTokenAuthenticator } from './authentication/bearer-token.ts'
export type { Anonymous, OidcOptions } from './authentication/options.ts'
export type { RequestHeaderOptions } from './authentication/request-header-options.ts'
export { unionAuthenticator, unionTokens } from './authentication/union.ts'
export type { UserInfo } from './authentication/user.ts'
export type { AuthenticationWebhookOptions } from './authentication/webhook-options.ts'
export { allowedPaths } from './authorization/allowed-paths.ts'
export { alwaysAllow, alwaysDeny } from './authorization/always.ts'
export type {
  AuthorizationAttributes,
  AuthorizationContext,
  Authorizer,
  AuthorizerWorld,
  Decision,
  NonResourceRule,
  ResourceRule,
  SelectorRequirement,
  UserRules,
} from './authorization/authorizer.ts'
export type { AuthorizationMode } from './authorization/options.ts'
export { privilegedGroups } from './authorization/privileged-groups.ts'
export type {
  ClusterRole,
  ClusterRoleBinding,
  RbacObject,
  RbacRule,
  RbacSubject,
  Role,
  RoleBinding,
  RoleRef,
} from './authorization/rbac/objects.ts'
export { rbac } from './authorization/rbac/rbac.ts'
export { rbacFile } from './authorization/rbac/rbac-file.ts'
export { unionAuthorizer } from './authorization/union.ts'
export { webhookAuthorizer } from './authorization/webhook.ts'
export type { AuthorizationWebhookOptions } from './authorization/webhook-options.ts'
export type { ChainPlace, Filter, UserFilter } from './chain/filter.ts'
export type { Admission, FlowControl, Seat } from './chain/flow-control.ts'
export { CHAIN_ORDER } from './chain/order.ts'
export { ABORT_HANDLER } from './chain/panic-recovery.ts'
export { warn } from './chain/warnings.ts'
export { type LoopbackScope, loopbackResource } from './client/loopback-resource.ts'
export type {
  CallOptions,
  ClientEvent,
  CollectionClient,
  DeleteChoices,
  ListWatch,
  ResourceClient,
  Snapshot,
  UpdateCallOptions,
} from './client/resource-client.ts'
export { type RewriteOptions, rewriteObjects } from './client/rewrite-objects.ts'
export { storageListWatch } from './client/storage-list-watch.ts'
export { type ApiServerConfig, type CompletedConfig, completeConfig } from './config.ts'
export { addGarbageCollector, type GarbageCollectorOptions } from './controllers/garbage-collector.ts'
export { type Delegate, emptyDelegate, notFoundDelegate } from './delegate.ts'
export type { AdmissionOperation, AdmissionPlugin, AdmissionRequest, AdmissionTarget } from './groups/admission/plugin.ts'
export { type ApiGroup, type ApiGroupDefinition, type ApiVersion, apiGroup, type ResourceStorage } from './groups/api-group.ts'
export type { ApiObject, ObjectKey, ObjectMeta, OwnerReference } from './groups/api-object.ts'
export { type FieldError, fieldErrors } from './groups/field-errors.ts'
export type { FieldShape, MessageShape } from './groups/protobuf/read-message.ts'
export type { ScalePaths } from './groups/resource/define-resource.ts'
export {
  type AnySchema,
  type Column,
  type Conversion,
  type Converted,
  type DefinedResource,
  defineResource,
  type ObjectOf,
  type Resource,
  type ResourceDefinition,
  type Schemas,
  type VersionDefinition,
} from './groups/resource/define-resource.ts'
export type { JsonSchema, StandardJsonSchema } from './groups/resource/schema.ts'
export type { GarbageCollectionPolicy, Strategy } from './groups/resource/strategy.ts'
export { selfReviews } from './groups/reviews/self-reviews.ts'
export { type MemoryStorage, type MemoryStorageOptions, memoryStorage } from './groups/storage/memory-storage.ts'
export type { ListQuery, MaybePromise, Page, ReviewContext, Storage, StorageEvent, StorageWatch } from './groups/storage/storage.ts'
export { storageInVersion } from './groups/storage/storage-in-version.ts'
export { type StorageOverOptions, type StorageTuning, type StoreStorage, storageOver } from './groups/storage/storage-over.ts'
export type { AttemptedWrite, WriteBarrier } from './groups/write-barrier.ts'
export { createInformer, type Informer, type InformerEvent, type InformerOptions } from './informer/informer.ts'
export type { Indexer } from './informer/object-cache.ts'
export { type InformerScope, type SharedInformers, type SharedInformersOptions, sharedInformers } from './informer/shared-informers.ts'
export {
  createWorkQueue,
  type Reconcile,
  type Reconciled,
  type WorkQueue,
  type WorkQueueOptions,
  type WorkQueueRun,
} from './informer/work-queue.ts'
export { addLatency, type Layer } from './latency.ts'
export { addIdentityLease, type IdentityLeaseOptions } from './leases/identity-lease.ts'
export { addLeaderElection, createLeaderElector, type LeaderElectionOptions, type LeaderElector } from './leases/leader-election.ts'
export { LEASES, type Lease, type LeaseSpec, leaseGroup } from './leases/lease.ts'
export type { WithLoopback } from './loopback/before-life.ts'
export type { LoopbackClient } from './loopback/loopback.ts'
export type { ApiHandler } from './mux/path-mux.ts'
export { namespaceLifecycle } from './namespaces/lifecycle.ts'
export { NAMESPACES, type Namespace, type NamespaceCondition, type NamespaceStatus, namespaceGroup } from './namespaces/namespace.ts'
export { addNamespaceController, type NamespaceControllerOptions } from './namespaces/namespace-controller.ts'
export { kubernetesLongRunning } from './request/long-running.ts'
export type { RequestMetrics } from './request-metrics.ts'
export type { FetchApp } from './served-paths.ts'
export { conflict, expired, notFound, type QualifiedResource, StatusError, serviceUnavailable } from './status-errors.ts'
export type { StorageProbe, StorageReadiness } from './storage-readiness.ts'
export {
  type ServerStorageVersion,
  STORAGE_VERSIONS,
  type StorageVersion,
  type StorageVersionCondition,
  type StorageVersionStatus,
  storageVersionGroup,
} from './storage-versions/storage-version.ts'
export { addStorageVersions, type StorageVersionOptions } from './storage-versions/storage-version-updater.ts'
export type { EtcdTls } from './store/etcd/etcd-client.ts'
export { type EtcdEngineOptions, etcdEngine } from './store/etcd/etcd-engine.ts'
export { type FileEngineOptions, fileEngine } from './store/file-engine.ts'
export type {
  Deleted,
  DeleteWrite,
  Expectation,
  Got,
  KeyRange,
  KeyValue,
  KeyValueStore,
  NotExpected,
  OpenContext,
  PutWrite,
  Ranged,
  RangeQuery,
  StoreChange,
  StoreCondition,
  StoreEngine,
  StoreWatch,
  StoreWatcher,
  WatchQuery,
  Written,
} from './store/key-value-store.ts'
export { type MemoryEngineOptions, memoryEngine } from './store/memory-engine.ts'
export { createStore, type Store, type StoreState } from './store/store.ts'
export { storeAt } from './store/store-at.ts'
export { StoreError, type StoreErrorReason } from './store/store-error.ts'
