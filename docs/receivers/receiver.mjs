// WEBHOOK_SECRET=whsec_… PORT=8000 node receiver.mjs   (Node 20; then: hookrail sim listen --forward-to 8000)
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET: secret = '', PORT: port } = process.env;
const sha256 = (text) => createHash('sha256').update(`${text}`).digest();
const equal = (a, b) => timingSafeEqual(sha256(a), sha256(b)); // in constant time, whatever the lengths
const seen = new Set(); // in production: a table with a unique column, which outlives a restart
createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray().catch(() => []));
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = request.headers;
  const mac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'));
  const isSigned = equal(signature, `v1,${mac.update(`${id}.${time}.`).update(body).digest('base64')}`);
  const isAuthentic = isSigned && equal(request.headers.authorization, `API-Key ${secret}`);
  const isFresh = Math.abs(Date.now() / 1000 - Number(time)) < 300;
  response.writeHead(isAuthentic && isFresh ? 200 : 401).end(); // answer first, work afterwards
  if (!isAuthentic || !isFresh) return console.log('refused', id, isFresh ? 'another secret' : 'too old');
  if (seen.has(id)) return; // a webhook may come more than once
  seen.add(id);
  console.log('received', id, JSON.parse(body).type);
}).listen(port, () => console.log('listening on port', port));
