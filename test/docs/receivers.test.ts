/**
 * The receivers of docs/receivers are run unchanged: each answers a genuine webhook with 200 and handles it once, and
 * answers 401 to any other. A language whose runtime is not on this machine is skipped.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/free-ports.ts';
import { sign } from '../../services/domain/signature.ts';
import {
  isInstalled,
  RUNTIMES,
  type RunningReceiver,
  startReceiverIn,
} from '../support/receivers/documented-receivers.ts';

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

let running: RunningReceiver | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

function webhook(type: string) {
  const id = randomUUID();
  const body = JSON.stringify({ type, subType: 'SUCCESS', uuid: randomUUID(), data: { name: 'Zoë' } });
  return { id, body, at: Math.floor(Date.now() / 1000), secret: SECRET, sentBody: body };
}

async function post(url: string, hook: ReturnType<typeof webhook>): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `API-Key ${hook.secret}`,
      'webhook-id': hook.id,
      'webhook-timestamp': `${hook.at}`,
      'webhook-signature': sign(SECRET, hook.id, hook.at, hook.body),
    },
    body: hook.sentBody,
  });
  await response.arrayBuffer();
  return response.status;
}

describe.each(RUNTIMES)('the $name receiver', (runtime) => {
  test.skipIf(!isInstalled(runtime.probe))(
    'handles a genuine webhook once and refuses what is not genuine',
    { timeout: 120_000 },
    async () => {
      running = await startReceiverIn(runtime, SECRET, await freePort());
      const { url, handled } = running;
      const first = webhook('fiatToCrypto');
      expect(await post(url, first)).toBe(200);
      expect(await handled(1)).toEqual([`received ${first.id} fiatToCrypto`]);
      expect(await post(url, first), 'a duplicate is acknowledged').toBe(200);

      const other = webhook('KYC');
      const wrong = SECRET.replace('A', 'B');
      expect(await post(url, { ...other, secret: wrong }), 'wrong Authorization').toBe(401);
      expect(await post(url, { ...other, sentBody: other.body.replace('Zoë', 'Zoe') }), 'altered body').toBe(
        401,
      );
      expect(await post(url, { ...other, at: other.at - 3600 }), 'an hour old').toBe(401);
      const bare = await fetch(url, { method: 'POST', body: other.body });
      expect(bare.status, 'no headers').toBe(401);

      // The last one comes after all that must not be handled: when it is there, nothing else will be.
      expect(await post(url, other)).toBe(200);
      expect(await handled(2)).toEqual([`received ${first.id} fiatToCrypto`, `received ${other.id} KYC`]);
    },
  );
});
