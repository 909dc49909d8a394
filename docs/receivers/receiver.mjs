// WEBHOOK_SECRET=whsec_… PORT=8000 node receiver.mjs   (Node 20; then: hookrail sim listen --forward-to 8000)
// WEBHOOK_KEYS=https://…/.well-known/webhook-keys as well, or a file of it: the signature v1a must be right, too.
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET = '', WEBHOOK_KEYS: place, PORT: port } = process.env;
const secrets = WEBHOOK_SECRET.split(' ').filter(Boolean); // while a secret is rotated: "whsec_new… whsec_old…"
if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is not set');
const keys = secrets.map((each) => (each.startsWith('whsec_') ? Buffer.from(each.slice(6), 'base64') : each));
const sha256 = (text) => createHash('sha256').update(text).digest();
const equal = (a, b) => timingSafeEqual(sha256(a), sha256(b)); // in constant time, whatever the lengths
const seen = new Set(); // in production: a table with a unique column, which outlives a restart
const latest = new Map(); // the highest sequence of each thing; in production: a column beside its state
let isNoted = false;
let asked = { at: Number.NEGATIVE_INFINITY, keys: Promise.resolve([]) };
async function readKeys() {
  if (!place.startsWith('http')) return JSON.parse(await readFile(place, 'utf8')).keys;
  const response = await fetch(place, { signal: AbortSignal.timeout(5000) });
  if (!response.ok) throw new Error(`${place} answered ${response.status}`);
  return (await response.json()).keys;
}
const publicKeysIn = (all) =>
  all.filter(({ crv }) => crv === 'Ed25519').map((key) => createPublicKey({ key, format: 'jwk' }));
function publicKeys(secondsMax) {
  const [now, before] = [performance.now() / 1000, asked.keys];
  const read = () =>
    readKeys()
      .then(publicKeysIn)
      .catch(() => before); // unreachable: those that are known
  if (now - asked.at > secondsMax) asked = { at: now, keys: read() };
  return asked.keys;
}
async function isOfPlatform(message, sent) {
  const signatures = sent
    .filter((each) => each.startsWith('v1a,'))
    .map((each) => Buffer.from(each.slice(4), 'base64'));
  const isBy = (key) => signatures.some((signature) => verify(null, message, key, signature));
  // None fits: perhaps there is a new one. It is looked for at most once a minute.
  return (await publicKeys(300)).some(isBy) || (await publicKeys(60)).some(isBy);
}
function judged({ 'webhook-id': id, 'webhook-subject-id': subject, 'webhook-sequence': sequence }, type) {
  if (seen.has(id)) return 'repeated'; // a webhook may come more than once
  seen.add(id);
  const about = `${type} ${subject}`;
  if (Number(sequence) < (latest.get(about) ?? 0)) return 'older'; // a newer one came first: do not apply it
  if (sequence !== undefined) latest.set(about, Number(sequence));
  return 'applied';
}
createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray().catch(() => []));
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': header = '' } = request.headers;
  const [message, sent] = [Buffer.concat([Buffer.from(`${id}.${time}.`), body]), header.split(' ')];
  const isSignedBy = (key) => {
    const signature = createHmac('sha256', key).update(message).digest('base64');
    return sent.some((each) => equal(each, `v1,${signature}`));
  };
  const isSigned = keys.some(isSignedBy) && (!place || (await isOfPlatform(message, sent)));
  const isFresh = Math.abs(Date.now() / 1000 - Number(time)) < 300;
  const type = isSigned && isFresh ? JSON.parse(body).type : undefined;
  const result = type === undefined ? 'refused' : judged(request.headers, type);
  response.setHeader('webhook-result', result); // so that the delivery log shows it
  response.writeHead(result === 'refused' ? 401 : 200).end(); // answer first, work afterwards
  if (!isSigned) return console.log('refused', id, 'another secret or key, or a changed body');
  if (!isFresh) return console.log('refused', id, 'too old');
  if (!isNoted && !secrets.some((each) => request.headers.authorization === `API-Key ${each}`)) {
    isNoted = true; // The signature proves more than Authorization, which some servers keep to themselves.
    console.log(
      `${request.headers.authorization ? 'another' : 'no'} Authorization arrived; the signature is enough.`,
    );
    console.log(
      'To get it: Apache "CGIPassAuth On", nginx "proxy_set_header Authorization $http_authorization",',
    );
    console.log('API gateways: forward the header Authorization.');
  }
  if (result === 'applied') console.log('received', id, type);
  if (result === 'older') console.log('older', id, type);
}).listen(port, () => console.log('listening on port', port));
