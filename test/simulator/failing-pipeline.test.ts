/**
 * A pipeline whose receiver fails exits with 1, whatever the failure: `run --expect`, `run --wait`, and `assert` after
 * them. The output names the failure. The failures are those of the scenarios `receiver.*`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BEHAVIOURS } from '../../client/receiver-behaviours.ts';
import { EXIT } from '../../simulator/exit.ts';
import { openAuthority } from '../../simulator/receiver/certificate-authority.ts';
import { startReceiver } from '../../simulator/receiver/receiver.ts';
import { receiverCertificate } from '../../simulator/receiver/receiver-certificate.ts';
import { openPlayGround, type PlayGround } from './support/play-ground.ts';

/** The name of each failure in the output. */
const REASONS: Readonly<Record<string, RegExp>> = {
  down: /connect/,
  '500': /http_/,
  '410': /endpoint_gone/,
  redirect: /http_3xx/,
  hang: /timeout/,
  reset: /connection_reset/,
  drip: /timeout/,
  garbage: /(protocol|response|invalid)/,
  'tls-expired': /(tls|certificate)/,
};

const RUN = ['run', 'wallet.created', '--speed', 'instant'];

let ground: PlayGround;

beforeAll(async () => {
  ground = await openPlayGround({ HOOKRAIL_RETRY_SCALE: '20000', HOOKRAIL_ATTEMPT_TIMEOUT_SECONDS: '1' });
}, 60_000);

afterAll(() => ground?.close());

/** Makes the endpoint's receiver fail; returns a function that ends it. */
async function fail(how: string): Promise<() => Promise<unknown>> {
  if (how === 'down' || how === 'tls-expired') {
    const authority = await openAuthority(ground.folder);
    const { certPem, keyPem } = await receiverCertificate(authority, 'localhost', how);
    const other = await startReceiver({ port: 0, cert: certPem, key: keyPem });
    await ground.items('endpoints', 'update', ground.endpoint, '--url', other.url);
    if (how === 'down') await other.close();
    return () => other.close();
  }
  ground.receiver.setBehaviour(how as (typeof BEHAVIOURS)[number]);
  await ground.items('endpoints', 'update', ground.endpoint, '--url', ground.receiver.url);
  return async () => ground.receiver.setBehaviour('ok');
}

test.each(Object.entries(REASONS))(
  'a pipeline exits 1 when its receiver fails by %s',
  async (how, reason) => {
    const recover = await fail(how);
    const says = (pattern: string) => ({
      code: EXIT.expectation,
      stdout: expect.stringMatching(new RegExp(`${pattern}.*${reason.source}`)),
    });
    try {
      await ground.items('endpoints', 'enable', ground.endpoint);
      expect(await ground.sim(...RUN, '--expect')).toMatchObject(says('✗ expected .* delivered'));
      await ground.items('endpoints', 'enable', ground.endpoint);
      expect(await ground.sim(...RUN, '--wait', '60s')).toMatchObject({ code: EXIT.expectation });
      expect(await ground.sim('assert', 'last')).toMatchObject(says('✗ '));
    } finally {
      await recover();
    }
  },
  120_000,
);

test.each(['slow-body', 'huge-body'])(
  'a pipeline exits 0 when the receiver answers 2xx with a %s',
  async (how) => {
    const recover = await fail(how);
    await ground.items('endpoints', 'enable', ground.endpoint);
    const { code, stderr } = await ground.sim(...RUN, '--expect');
    await recover();
    expect(code, stderr).toBe(EXIT.ok);
  },
);

test('every behaviour of a receiver is tested here', () => {
  expect([...Object.keys(REASONS), 'slow-body', 'huge-body', 'ok'].sort()).toEqual(
    [...BEHAVIOURS, 'down'].sort(),
  );
});
