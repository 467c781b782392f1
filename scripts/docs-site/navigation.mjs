// @ts-check
// What the site calls its pages, by what a reader wants, and in which order: first what is used, last
// what is only for those who work on quiesce itself. test/tidy/docs-site.test.ts holds that each
// document has its place.

/** @typedef {{ readonly group: string, readonly pages: readonly (readonly [document: string, title?: string])[] }} NavigationGroup */

/** Groups that are long, and not for those who use quiesce. */
export const CLOSED = new Set(['How quiesce is made', 'Pictures', 'Decisions'])

/** A page without a title here has that of its document. @type {readonly NavigationGroup[]} */
export const NAVIGATION = [
  {
    group: 'Begin',
    pages: [
      ['docs/start.md', 'Install and go'],
      ['docs/frameworks.md', 'Use your framework'],
      ['docs/health.md', 'Keep your health paths'],
      ['docs/migration.md', 'Come from another library'],
      ['docs/platforms.md', 'Run on Kubernetes and elsewhere'],
      ['README.md', 'Everything on one page'],
    ],
  },
  {
    group: 'Stop well',
    pages: [
      ['docs/watches.md', 'End streams, WebSockets, MCP'],
      ['docs/after-the-response.md', 'Finish work after the response'],
      ['docs/connections.md', 'What becomes of a connection'],
      ['docs/proxies.md', 'Stand behind nginx or HAProxy'],
      ['docs/cluster.md', 'Stop workers of a cluster, PM2'],
      ['docs/systemd.md', 'Run under systemd'],
      ['docs/http2.md', 'Serve HTTP/2'],
      ['docs/tls.md', 'Serve TLS'],
    ],
  },
  {
    group: 'See and test it',
    pages: [
      ['docs/inspector.md', 'Watch a shutdown'],
      ['docs/telemetry.md', 'Log, trace and report it'],
      ['docs/metrics.md', 'Measure it'],
      ['docs/testing.md', 'Test a shutdown'],
      ['docs/model-checking.md', 'Check every order of events'],
      ['packages/model/README.md', 'Check a machine of your own'],
    ],
  },
  {
    group: 'Look it up',
    pages: [
      ['docs/options.md', 'Options'],
      ['docs/errors.md', 'Errors'],
      ['docs/compatibility.md', 'What it works with'],
      ['docs/performance.md', 'What is lost, what it costs'],
      ['CHANGELOG.md', 'What has changed'],
    ],
  },
  {
    group: 'Be an API server',
    pages: [
      ['docs/apiserver.md', 'Serve as Kubernetes does'],
      ['docs/api-groups.md', 'Serve resources to kubectl'],
      ['docs/authentication.md', 'Know who sends a request'],
      ['docs/authorization.md', 'Say what a user may do'],
    ],
  },
  {
    group: 'How quiesce is made',
    pages: [
      ['chart.html', 'Who waits for whom'],
      ['docs/architecture.md', 'Architecture'],
      ['docs/divergences.md', 'Where it differs from Kubernetes'],
      ['CONTRIBUTING.md', 'Contribute'],
      ['docs/mutation.md', 'Mutants of the machines'],
      ['docs/mutation-code.md', 'Mutants of the code'],
    ],
  },
  { group: 'Pictures', pages: [['diagrams/']] },
  { group: 'Decisions', pages: [['docs/decisions/']] },
]

/**
 * Groups with the documents that are there; a place that ends in a slash is a folder.
 * @param {(folder: string) => readonly string[]} markdownIn
 * @returns {{ group: string, document: string, title: string | undefined }[]}
 */
export const navigated = (markdownIn) =>
  NAVIGATION.flatMap(({ group, pages }) =>
    pages.flatMap(([place, title]) => (place.endsWith('/') ? markdownIn(place) : [place]).map((document) => ({ group, document, title }))),
  )
