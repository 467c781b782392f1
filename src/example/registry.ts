/** A service registry in memory: what Consul or a load balancer's target list would be. */
export class ServiceRegistry {
  readonly #instances = new Set<string>()

  get instances(): readonly string[] {
    return [...this.#instances]
  }

  join(instance: string): void {
    this.#instances.add(instance)
  }

  /** Resolves when all who ask it know, which may take a while across a network. */
  leave(instance: string): Promise<void> {
    this.#instances.delete(instance)
    return Promise.resolve()
  }
}
