/**
 * What a stream or a session is ended with. Not node's constants: `node:http2` is loaded by
 * programs that have a server of it, and by no other.
 * @see RFC 9113 section 7
 */
export const NO_ERROR = 0x0
/** Nothing was done about the request: it may be sent again, whatever its method. */
export const REFUSED_STREAM = 0x7
/** Its client asks for too much. */
export const ENHANCE_YOUR_CALM = 0xb
