// In a folder with a package.json of its own, because Effect needs a newer Node than this repository.
export * from './effect/adapter.mjs'
