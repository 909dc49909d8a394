// HOOKRAIL_BASE_URL=… HOOKRAIL_API_KEY=sk_… node reconcile.mjs received.txt   (Node 20)
// received.txt: the webhook-id of everything received, one a line. Prints what is missing, and remembers where it was.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const {
  HOOKRAIL_BASE_URL: url,
  HOOKRAIL_API_KEY: apiKey,
  RECONCILE_STATE: file = 'reconcile.state',
} = process.env;
const received = new Set(readFileSync(process.argv[2], 'utf8').split('\n'));
// The cursor, then the events that were missing so far: one may be on its way, and arrive before the next run.
let [cursor, ...open] = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [''];
for (let more = true; more; ) {
  const query = new URLSearchParams({ order: 'asc', limit: '500', ...(cursor && { cursor }) });
  const answer = await fetch(`${url}/merchant/events?${query}`, {
    headers: { authorization: `API-Key ${apiKey}` },
  });
  const wait = answer.headers.get('retry-after');
  if (wait !== null && (await setTimeout(1000 * wait, true))) continue; // too many requests, or not available now
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  const page = await answer.json();
  if (page.gap) console.log('gap', page.gap); // older events are no longer in the feed
  const sent = page.data.filter(({ endpoints }) => endpoints.some(({ verdict }) => verdict === 'routed'));
  open.push(...sent.map((event) => event.event_uuid));
  [cursor, more] = [page.next_cursor, page.has_more];
  open = open.filter((id) => !received.has(id));
  writeFileSync(`${file}.new`, [cursor, ...open, ''].join('\n'));
  renameSync(`${file}.new`, file); // both at once: a run that is killed is repeated from the page before
}
for (const id of open) console.log('missing', id);
