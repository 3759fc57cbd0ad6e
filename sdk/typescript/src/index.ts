// A typed client of Forge: every route and stream of its API, without dependencies.

export { ForgeClient, type ForgeClientOptions, type WebSocketClass } from './client.js';
export { operations } from './operations.js';
export { applyPatch, type Operation } from './patch.js';
export type { SocketLike } from './sockets.js';
export {
  ForgeError,
  type CallOptions, type FollowOptions, type OperationSpec, type RetryOptions, type ServerEvent, type Subscription,
} from './transport.js';
export type * from './types.js';
