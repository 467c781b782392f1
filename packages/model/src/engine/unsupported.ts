import { ModelError } from '../errors.ts'

/**
 * What the explorer cannot treat exactly is refused by name: a model that silently leaves something
 * out proves nothing.
 */
export const unsupported = (where: string, what: string, instead: string): ModelError =>
  new ModelError('ERR_MODEL_UNSUPPORTED', `${where}: ${what} cannot be explored; ${instead}`, { where, what, instead })
