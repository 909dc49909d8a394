import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deliveryId, isMadeOfParts, isUuid, uuidV5 } from '../../services/domain/ids.ts';

const NAMESPACE = '6f0d8f5e3c0b4d0e9a3d5b8c7e1f2a64';

/** RFC 9562 §5.5, word for word. */
function byTheBook(name: string): string {
  const digest = createHash('sha1')
    .update(Buffer.from(NAMESPACE, 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16);
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

describe('the ids made of parts', () => {
  it('are UUIDs of version 5, whatever the content and length of the parts', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: 'binary', minLength: 300, maxLength: 1200 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const id = uuidV5(...parts);
        expect(id).toBe(byTheBook(parts.join('/')));
        expect(isUuid(id)).toBe(true);
        expect(isMadeOfParts(id)).toBe(true);
      }),
    );
  });

  it('stay the same from version to version', () => {
    const [event, endpoint] = [
      '0d3c4f6e-1111-4a2b-9c3d-000000000001',
      '0d3c4f6e-2222-4a2b-9c3d-000000000002',
    ];
    expect(deliveryId(event, endpoint)).toBe('034d89b1-5c47-5c1b-b36b-96cb15344dc9');
  });
});
