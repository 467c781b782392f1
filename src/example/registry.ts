/** A service registry in memory: what Consul or a load balancer's target list would be. */
export class ServiceRegistry {
  readonly #instances = new Set<string>()

  get instances(): readonly string[] {
    return [...this.#instances]
  }

  join(instance: string): void {
    this.#instances.add(instance)
  }

  leave(instance: string): void {
    this.#instances.delete(instance)
  }
}
