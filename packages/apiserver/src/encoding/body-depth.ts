/**
 * How deep a body may be nested, whatever it is written in. The parser of YAML calls itself for
 * each level, and an expression that it compiles when hardly any of the stack is left ends the
 * process.
 */
export const BODY_DEPTH_MAX = 512
