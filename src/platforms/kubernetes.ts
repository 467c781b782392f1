import { isSet, type PlatformSpec } from './platform.ts'

export const kubernetes = {
  name: 'kubernetes',
  otherNames: ['k8s', 'k3s', 'kube', 'gke', 'eks', 'aks', 'openshift'],
  where: 'on Kubernetes',
  signs: [isSet('KUBERNETES_SERVICE_HOST')],
  ends: 'SIGTERM',
  kills: { after: '30s', setBy: '`terminationGracePeriodSeconds`' },
  // SIGTERM and the removal from the endpoints race. Elsewhere traffic ends before SIGTERM.
  defaults: { shutdownDelay: '5s', deadline: '25s' },
} as const satisfies PlatformSpec
