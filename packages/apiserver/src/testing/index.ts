export { type AuthorizerFaultsOptions, authorizerFaults } from './authorizer-faults.ts'
export { type AskedRequest, type AuthenticatorAnswer, RecordingAuthenticator } from './recording-authenticator.ts'
export { type AuthorizerAnswer, RecordingAuthorizer } from './recording-authorizer.ts'
