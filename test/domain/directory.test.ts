/** The directory holds, per key, the change with the highest version, whatever the order they arrive in. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Directory, type DirectoryChange } from '../../services/domain/directory.ts';
import type { Endpoint } from '../../services/domain/endpoint.ts';
import { subscribes } from '../../services/domain/endpoint.ts';
import { deliveryId, isUuid, requestedDeliveryId, uuidV5 } from '../../services/domain/ids.ts';

function endpoint(uuid: string, merchantId: string, version: number): Endpoint {
  return {
    uuid,
    merchantId,
    url: `https://hooks.merchant.com/${uuid}`,
    subscribedEvents: null,
    status: 'active',
    apiVersion: '2.3.8',
    secret: { keyId: 'k1', ciphertext: '' },
    publicKeySignature: false,
    legacy: false,
    version,
  };
}

const put = (id: string, version: number): DirectoryChange => ({
  kind: 'endpoint',
  id,
  version,
  value: endpoint(id, 'm', version),
});
const remove = (id: string, version: number): DirectoryChange => ({
  kind: 'endpoint',
  id,
  version,
  value: null,
});

describe('the directory', () => {
  it('ignores a change that is not newer, and a late one resurrects nothing', () => {
    const directory = new Directory();
    expect(directory.apply(put('a', 1))).toBe(true);
    expect(directory.apply(remove('a', 3))).toBe(true);
    expect(directory.apply(put('a', 2))).toBe(false);
    expect(directory.apply(put('a', 3))).toBe(false);
    expect(directory.endpoint('a')).toBeUndefined();
    expect([...directory.endpointsOf('m')]).toEqual([]);
  });

  it('counts the keys of the key ring that endpoints need, through changes and deletes', () => {
    const directory = new Directory();
    const sealed = (id: string, version: number, keyId: string): DirectoryChange => ({
      ...{ kind: 'endpoint', id, version },
      value: { ...endpoint(id, 'm', version), secret: { keyId, ciphertext: '' } },
    });
    for (const id of ['a', 'b', 'c']) directory.apply(sealed(id, 1, 'k1'));
    expect([...directory.sealedWith]).toEqual([['k1', 3]]);
    const prepared = (version: number, keyId: string): DirectoryChange => ({
      ...{ kind: 'endpoint', id: 'c', version },
      value: { ...endpoint('c', 'm', version), prepared: { keyId, ciphertext: '' } },
    });
    directory.apply(prepared(2, 'k1'));
    expect([...directory.sealedWith]).toEqual([['k1', 3]]);
    directory.apply(prepared(3, 'k3'));
    expect([...directory.sealedWith]).toEqual([
      ['k1', 3],
      ['k3', 1],
    ]);
    directory.apply(sealed('c', 4, 'k1'));
    directory.apply(sealed('a', 2, 'k2'));
    directory.apply(sealed('a', 1, 'k1'));
    directory.apply(remove('b', 2));
    expect([...directory.sealedWith]).toEqual([
      ['k1', 1],
      ['k2', 1],
    ]);
    directory.apply(sealed('c', 5, 'k2'));
    expect([...directory.sealedWith]).toEqual([['k2', 2]]);
  });

  it('ends with the highest version of each entry, in any order, with repeats', () => {
    const change = fc
      .tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 8 }))
      .map(([id, version]) => (version % 3 === 0 ? remove(id, version) : put(id, version)));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const directory = new Directory();
        for (const one of changes) directory.apply(one);
        for (const id of ['a', 'b', 'c']) {
          const highest = Math.max(0, ...changes.filter((one) => one.id === id).map((one) => one.version));
          const expected = highest === 0 || highest % 3 === 0 ? undefined : highest;
          expect(directory.endpoint(id)?.version).toBe(expected);
        }
        expect([...directory.endpointsOf('m')]).toHaveLength(directory.endpointCount);
      }),
    );
  });

  it('matches the types of a filter, and without a filter all types', () => {
    expect(subscribes({ subscribedEvents: null }, 'AML')).toBe(true);
    expect(subscribes({ subscribedEvents: ['KYC'] }, 'KYC')).toBe(true);
    expect(subscribes({ subscribedEvents: ['KYC'] }, 'KYB')).toBe(false);
  });
});

describe('the ids of deliveries', () => {
  it('are UUIDs of version 5, the same for the same parts, for ever', () => {
    const id = deliveryId('0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7');
    // Written down once: a change of it would send everything that waits a second time.
    expect(id).toBe('30ddd428-9487-5717-b0a8-6497d41e0d57');
    expect(isUuid(id)).toBe(true);
    expect(id[14]).toBe('5');
  });

  it('differ for each event, each endpoint and each request', () => {
    const ids = [
      deliveryId('e', 'a'),
      deliveryId('e', 'b'),
      deliveryId('f', 'a'),
      requestedDeliveryId('r', 'e', 'a'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(uuidV5('x')).not.toBe(uuidV5('y'));
  });
});
