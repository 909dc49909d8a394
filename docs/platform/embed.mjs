// HOOKRAIL_BASE_URL=… HOOKRAIL_PLATFORM_KEY=plk_… node embed.mjs   (Node 20; nothing but HTTP, as openapi.yaml describes it)
// The life of a merchant: made, with a key, an endpoint and a link to the console; on hold; an incident; closed.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

const {
  HOOKRAIL_BASE_URL: base = 'http://127.0.0.1:8080',
  HOOKRAIL_PLATFORM_KEY: platformKey,
  WEBHOOK_URL: url = 'https://hooks.example.com/acme',
  PERSON: person = 'embed.mjs',
} = process.env;
if (!platformKey) throw new Error('HOOKRAIL_PLATFORM_KEY is not set: see docs/guides/embed.md');

async function call(method, path, { key = platformKey, body, idempotencyKey } = {}) {
  const response = await fetch(base + path, {
    method,
    headers: {
      authorization: `API-Key ${key}`,
      ...(key === platformKey && method !== 'GET' ? { 'on-behalf-of': encodeURIComponent(person) } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = text === '' ? null : JSON.parse(text);
  if (response.ok) return answer;
  // The code is stable; the detail says what to do; the request id is for support.
  throw new Error(`${method} ${path}: ${answer.code}: ${answer.detail} (request ${answer.request_id})`);
}

/** Creates something: whatever is lost on the way, a repeated request does nothing twice. */
async function create(path, body, options = {}) {
  const idempotencyKey = randomUUID();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call('POST', path, { ...options, body, idempotencyKey });
    } catch (error) {
      // fetch throws TypeError where no response arrived.
      if (!(error instanceof TypeError) || attempt === 3) throw error;
      await setTimeout(attempt * 1000);
    }
  }
}

const { merchant_id: merchantId } = await create('/platform/merchants', { name: 'Acme' });
const merchant = `/platform/merchants/${merchantId}`;
console.log('merchant', merchantId);

const { key } = await create(`${merchant}/api-keys`, { name: 'backend' });
const spare = await create(`${merchant}/api-keys`, { name: 'spare' });
await call('DELETE', `${merchant}/api-keys/${spare.api_key_uuid}`);
for (const { name, hint, revoked_at } of (await call('GET', `${merchant}/api-keys`)).data)
  console.log('key', name, hint, revoked_at === null ? 'in use' : 'revoked');

const endpoint = await create('/merchant/webhook-endpoints', { url, description: 'All events' }, { key });
console.log('endpoint', endpoint.uuid, endpoint.url);

const link = await create(`${merchant}/portal-sessions`, { person });
console.log('console', link.access, 'until', link.link_expires_at);

for (const [action, reason] of [
  ['pause', 'its servers move'],
  ['resume', 'its servers have moved'],
])
  console.log(action, (await call('POST', `${merchant}/${action}`, { body: { reason } })).state);

const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
const incident = { merchant_id: merchantId, since: hourAgo, only: 'missing' };
const counted = await call('POST', '/platform/replays', { body: { ...incident, dry_run: true } });
let replay = await create('/platform/replays', incident);
while (replay.status === 'running') {
  await setTimeout(200);
  replay = await call('GET', `/platform/replays/${replay.replay_uuid}`);
}
console.log('replay', replay.status, 'counted', counted.count, 'published', replay.published);

console.log(
  'close',
  (await call('POST', `${merchant}/close`, { body: { reason: 'the contract has ended' } })).state,
);
