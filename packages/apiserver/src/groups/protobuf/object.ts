import { badRequest } from '../../status-errors.ts'
import { type Fields, isFields } from '../api-object.ts'
import { type MessageShape, ProtobufError, readMessage } from './read-message.ts'

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'

const MAGIC = Buffer.from('k8s\0')

/** @see kubernetes/apimachinery pkg/runtime/generated.proto Unknown */
const ENVELOPE: MessageShape = { 1: ['type', { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] }], 2: ['raw', 'bytes'] }

/**
 * What clients say in the metadata of an object.
 * @see kubernetes/apimachinery pkg/apis/meta/v1/generated.proto ObjectMeta
 */
export const METADATA: MessageShape = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
  9: ['deletionTimestamp', 'time'],
  10: ['deletionGracePeriodSeconds', 'whole'],
  11: ['labels', 'map'],
  12: ['annotations', 'map'],
  13: [
    'ownerReferences',
    [
      {
        1: ['kind', 'text'],
        3: ['name', 'text'],
        4: ['uid', 'text'],
        5: ['apiVersion', 'text'],
        6: ['controller', 'flag'],
        7: ['blockOwnerDeletion', 'flag'],
      },
    ],
  ],
  14: ['finalizers', 'texts'],
}

/** @see kubernetes/apimachinery pkg/apis/meta/v1/generated.proto DeleteOptions */
export const DELETE_OPTIONS: MessageShape = {
  1: ['gracePeriodSeconds', 'whole'],
  2: ['preconditions', { 1: ['uid', 'text'], 2: ['resourceVersion', 'text'] }],
  3: ['orphanDependents', 'flag'],
  4: ['propagationPolicy', 'text'],
  5: ['dryRun', 'texts'],
}

/**
 * An object as clients of compiled kinds send it.
 * @param shape of its fields; {@link METADATA} is that of its metadata
 * @throws StatusError 400
 */
export function readProtobufObject(body: Buffer, shape: MessageShape): Fields {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  try {
    const { type, raw = Buffer.alloc(0) } = readMessage(body.subarray(MAGIC.length), ENVELOPE)
    return { ...(isFields(type) ? type : {}), ...readMessage(raw as Buffer, shape) }
  } catch (thrown) {
    if (thrown instanceof ProtobufError) throw badRequest(`proto: ${thrown.message}`)
    throw thrown
  }
}
