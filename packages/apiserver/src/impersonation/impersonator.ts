import type { UserInfo } from '../authentication/user.ts'
import { Slot } from '../request/slots.ts'

/** Who acts as the user of a request, if another does. */
export const IMPERSONATOR = new Slot<UserInfo | undefined>(undefined)
