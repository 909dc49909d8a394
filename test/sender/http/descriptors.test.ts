/** Guarantee: a lack of file descriptors never counts as a receiver's failure, whatever error the system reports. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOTHING_EXEMPT } from '../../../services/egress/egress.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { type DescriptorWatch, ENOUGH_DESCRIPTORS } from '../../../services/process/descriptors.ts';
import { AddressGuard } from '../../../services/sender/http/address-guard.ts';
import { Connector, secureContext } from '../../../services/sender/http/connector.ts';
import type { Resolve } from '../../../services/sender/http/names/addresses.ts';
import { TlsSessions } from '../../../services/sender/http/tls/tls-session.ts';

const HOST = 'merchant-a.com';
const OWN_FAULT = { facts: { ownFault: 'machine_limit' } };
let asked: string[] = [];
let connector: Connector;

beforeEach(() => {
  asked = [];
});
afterEach(() => connector.close());

const noSuchName: Resolve = async (hostname) => {
  asked.push(hostname);
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
};

function connect(descriptors: DescriptorWatch) {
  const policy = { ports: [443], allow: NOTHING_EXEMPT };
  connector = new Connector({
    clock: systemClock(),
    guard: new AddressGuard(policy, { resolve: noSuchName, resolveExempt: noSuchName }),
    secureContext: secureContext(null),
    connectTimeoutMs: 2000,
    tunnels: null,
    descriptors,
  });
  return connector.connect({ host: HOST, port: 443, sessions: new TlsSessions() });
}

test('a name that could not be looked up for lack of a descriptor does not count as missing', async () => {
  await expect(connect({ isShort: false, isLeft: () => false })).rejects.toMatchObject(OWN_FAULT);
  expect(asked).toEqual([HOST]);
  await expect(connect(ENOUGH_DESCRIPTORS)).rejects.toMatchObject({
    failureCode: 'dns_error',
    facts: { sign: 'no_such_name' },
  });
});

test('nor does one whose failure is seen after another attempt noticed the lack and freed the reserve', async () => {
  const watch = { isShort: false, isLeft: () => true };
  const connecting = connect(watch);
  watch.isShort = true;
  await expect(connecting).rejects.toMatchObject(OWN_FAULT);
  expect(asked).toEqual([HOST]);
});

test('while few descriptors are left no connection is opened: they are for requests to the API', async () => {
  await expect(connect({ isShort: true, isLeft: () => true })).rejects.toMatchObject(OWN_FAULT);
  expect(asked).toEqual([]);
});
