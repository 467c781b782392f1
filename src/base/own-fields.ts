/**
 * The own fields of an object, each read once. What a prototype has is no field: no
 * option comes from a polluted `Object.prototype`, and no getter changes its mind after a check.
 */
export const ownFields = <T extends object>(given: T): T => Object.assign(Object.create(null) as T, given)
