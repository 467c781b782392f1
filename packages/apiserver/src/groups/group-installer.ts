import { checkArguments, optionError, QuiesceError, show, withFields } from '../engine.ts'
import type { ApiHandler } from '../mux/path-mux.ts'
import { qualifiedName } from '../status-errors.ts'
import type { ApiGroup, ApiVersion } from './api-group.ts'
import { Container, type Route } from './container.ts'
import { apiGroupDocument, apiGroupList, apiResourceList, apiVersions } from './discovery/documents.ts'
import { DISCOVERY_TYPES, discoveryPage, discoveryRoot } from './discovery/pages.ts'
import { GroupStorages, type StorageHost } from './group-storages.ts'
import { openApiPages } from './openapi/pages.ts'
import { openApiV2Page } from './openapi/v2-page.ts'
import { groupVersion, type Resource } from './resource/define-resource.ts'
import { resourceRoutes } from './resource-routes.ts'
import type { RestWorld } from './rest/rest-request.ts'
import type { WriteBarrier } from './write-barrier.ts'

/** Where the group without a name may be. */
const LEGACY_PREFIXES = ['/api']

/** What `apiGroup()` returns. */
const GROUP = withFields('what apiGroup() returned', 'group', 'versions')

const RESOURCE = withFields('what defineResource() returns', 'group', 'plural')

/** What of a server a group needs when it is installed. */
export interface InstallerParts {
  readonly world: Omit<RestWorld, 'collects' | 'barriers'>
  /** Groups of the servers behind this one, which its discovery names, too. */
  readonly delegated: () => readonly ApiGroup[]
  readonly storages: StorageHost
  readonly warn: (message: string) => void
  /** The info of the documents of OpenAPI. */
  readonly info: object
}

/**
 * The groups of one server, the container of their routes, and what is said about them. What is
 * installed is in all of these at once; the next request sees it.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go InstallAPIGroups
 */
export class GroupInstaller {
  readonly #parts: InstallerParts
  readonly #storages: GroupStorages
  readonly #world: RestWorld
  /** Kinds that a garbage collector looks after, by their qualified names. */
  readonly #collected = new Set<string>()
  readonly #barriers: WriteBarrier[] = []
  #groups: readonly ApiGroup[] = []
  #container = new Container([])
  /** `/apis/GROUP`, or `/api`: everything below them is the container's. */
  #roots: ReadonlySet<string> = new Set()

  constructor(parts: InstallerParts) {
    this.#parts = parts
    this.#storages = new GroupStorages(parts.storages)
    this.#world = { ...parts.world, collects: (of) => this.#collected.has(qualifiedName(of)), barriers: this.#barriers }
    this.openApi = openApiPages(
      () => this.allGroups,
      parts.info,
      () => parts.world.clock.wall(),
    )
    this.openApiV2 = openApiV2Page(() => this.allGroups, parts.info)
  }

  /**
   * Installs all of them or none. What is returned takes them back.
   * @throws QuiesceError ERR_OPTION_INVALID, ERR_DUPLICATE
   */
  install(groups: readonly ApiGroup[]): Disposable {
    checkArguments('installApiGroups(...groups)', [groups, GROUP])
    for (const { group, versions } of groups) {
      if (versions.length === 0) throw optionError(`versions of group ${show(group)}`, [], 'one with resources: no version priority')
      if (group === '') throw optionError('group', group, 'a name: empty group, which installLegacyApiGroup() is for')
    }
    return this.#add(groups)
  }

  /**
   * Has a garbage collector look after kinds, from the next deletion on.
   * @throws QuiesceError ERR_OPTION_INVALID
   */
  collect(resources: readonly Resource[]): void {
    checkArguments('enableGarbageCollection(...resources)', [resources, RESOURCE])
    for (const { group, plural } of resources) this.#collected.add(qualifiedName({ group, resource: plural }))
  }

  /** Has writes wait for a barrier, from the next one on. */
  hold(barrier: WriteBarrier): void {
    checkArguments('holdWrites(barrier)', [barrier, 'a function'])
    this.#barriers.push(barrier)
  }

  /** Groups may come later. */
  expect(): void {
    this.#storages.expect()
  }

  installLegacy(prefix: string, group: ApiGroup): Disposable {
    checkArguments('installLegacyApiGroup(prefix, group)', [prefix, 'a text'], [group, GROUP])
    if (!LEGACY_PREFIXES.includes(prefix)) throw optionError('prefix', prefix, LEGACY_PREFIXES.join(', '))
    if (group.group !== '') throw optionError('group', group.group, 'the one without a name')
    if (group.versions.length === 0) throw optionError('versions of the group without a name', [], 'one with resources')
    return this.#add([group])
  }

  /** The groups of this server alone. */
  get groups(): readonly ApiGroup[] {
    return this.#groups
  }

  /** Its own and those behind it, each name once. */
  get allGroups(): readonly ApiGroup[] {
    const own = new Set(this.#groups.map(({ group }) => group))
    return [...this.#groups, ...this.#parts.delegated().filter(({ group }) => !own.has(group))]
  }

  get listedPaths(): readonly string[] {
    return this.#groups.flatMap((group) => [rootOf(group), ...group.versions.map((version) => baseOf(group, version))])
  }

  /** Whether a path is the container's, whatever it has there. */
  claims(path: string): boolean {
    if (this.#roots.size === 0 || !path.startsWith('/api')) return false
    const end = path.indexOf('/', path.startsWith('/apis/') ? 6 : 1)
    return this.#roots.has(end < 0 ? path : path.slice(0, end))
  }

  readonly serve: ApiHandler = (request, response) => this.#container.serve(request, response)

  routeOf(path: string): string | undefined {
    return this.claims(path) ? this.#container.routeOf(path)?.template : undefined
  }

  /** `/apis`, which names all groups but the one without a name. */
  readonly root: ApiHandler = discoveryRoot(() => this.allGroups.filter(({ group }) => group !== ''), apiGroupList)

  /** Everything at and below `/openapi/v3`. */
  readonly openApi: ApiHandler

  /** `/openapi/v2` */
  readonly openApiV2: ApiHandler

  #add(groups: readonly ApiGroup[]): Disposable {
    const names = [...this.#groups, ...groups].map(({ group }) => group)
    const twice = names.find((name, index) => names.indexOf(name) < index)
    if (twice !== undefined) throw new QuiesceError('ERR_DUPLICATE', `group ${show(twice)} is installed already`, { name: twice })
    for (const { group, versions } of groups)
      for (const { version, resources } of versions)
        for (const { resource, storage } of resources) this.#storages.add(`${groupVersion(group, version)}/${resource.plural}`, storage)
    for (const { group, skipped = [] } of groups)
      for (const version of skipped) this.#parts.warn(`Skipping API ${groupVersion(group, version)} because it has no resources.`)
    this.#swap([...this.#groups, ...groups])
    return { [Symbol.dispose]: () => this.#swap(this.#groups.filter((group) => !groups.includes(group))) }
  }

  #swap(groups: readonly ApiGroup[]): void {
    this.#container = new Container(groups.flatMap((group) => this.#routesOf(group)))
    this.#roots = new Set(groups.map(rootOf))
    this.#groups = groups
  }

  #routesOf(group: ApiGroup): readonly Route[] {
    const page = (template: string, handler: ApiHandler): Route => ({
      template,
      methods: new Map([['GET', handler]]),
      produces: DISCOVERY_TYPES,
    })
    return [
      group.group === ''
        ? page(
            rootOf(group),
            discoveryRoot(
              () => [group],
              ([only], address) => apiVersions(only ?? group, address),
            ),
          )
        : page(rootOf(group), discoveryPage(apiGroupDocument(group))),
      ...group.versions.flatMap((version) => [
        page(baseOf(group, version), discoveryPage(apiResourceList(group, version))),
        ...version.resources.flatMap((served) => resourceRoutes(baseOf(group, version), served, this.#world)),
      ]),
    ]
  }
}

const rootOf = ({ group }: ApiGroup): string => (group === '' ? '/api' : `/apis/${group}`)

const baseOf = (group: ApiGroup, { version }: ApiVersion): string => `${rootOf(group)}/${version}`
