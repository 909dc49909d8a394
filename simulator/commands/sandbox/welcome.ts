import { join } from 'node:path';
import type { Hookrail } from '../../../services/main.ts';
import type { Output } from '../../output.ts';
import { layout } from '../../terminal/width.ts';
import { docsLink } from './docs-link.ts';
import type { Access } from './keys.ts';

const INDENT = '  ';

/** Prints the addresses and the keys. */
export function welcome(
  output: Output,
  access: Access,
  { hookrail, consoleLink }: { readonly hookrail: Hookrail; readonly consoleLink: string },
): void {
  const datum = {
    kind: 'ready',
    base_url: access.baseUrl,
    docs_url: `${access.baseUrl}/docs/`,
    docs_link: linkOf(access),
    console_link: consoleLink,
    operations_url: hookrail.operationsUrl,
    api_key: access.apiKey,
    producer_key: access.producerKey,
    merchant: access.merchantId,
    sandbox_file: access.file,
    extra_ca_file: join(access.dataDir, 'ca.crt'),
  };
  output.item(datum, () => {
    const rows = [
      ['API', output.paint('bold', access.baseUrl)],
      ['reference', `${access.baseUrl}/docs`],
      ['operations', `${hookrail.operationsUrl}/readyz, /metrics`],
      ['data', access.dataDir],
      ['API key', access.apiKey],
      ['producer key', access.producerKey],
      ['merchant', access.merchantId],
      ['saved in', access.file],
    ];
    return `${output.paint('bold', 'hookrail sandbox is running')}\n\n${indented(layout.columns(rows, output.width - INDENT.length))}\n`;
  });
  if (access.isMoved) aboutMoved(output, access);
}

/** Says that endpoints and history of an earlier start are in another store, and how to have them again. */
function aboutMoved(output: Output, access: Access): void {
  output.advise({
    says:
      `this store is new: it got merchant and keys of ${access.file}; endpoints and history that were made with ` +
      'another engine or store are still there',
    next: ['to have them again, start with the settings of that time: HOOKRAIL_ENGINE, HOOKRAIL_STORE'],
  });
}

/** Prints suggestions; always, because they are the purpose of `npm start`. */
export function nextSteps(
  output: Output,
  access: Access,
  { receiverUrl, consoleLink }: { readonly receiverUrl: string | undefined; readonly consoleLink: string },
): void {
  const sim = output.asTyped('hookrail sim');
  const rows = [
    [`${sim} listen --forward-to 3000/hook`, 'your own app gets them'],
    [`${sim} run onramp.happy --seed 42`, 'play a flow'],
    [`${sim} trigger KYC/FULL_USER`, 'one event, of any type'],
    [`${sim} receiver --register --fail-first 2`, 'fails twice, then not'],
    [`${sim} deliveries list`, 'what arrived, or why not'],
    [`${sim} docs`, 'the reference, with your keys'],
    [`${sim} --help`, 'everything else'],
  ];
  if (output.format !== 'pretty') return;
  const where = receiverUrl === undefined ? '' : `\nWhat arrives at ${receiverUrl} is shown below.`;
  const table = indented(layout.columns(rows, output.width - INDENT.length));
  // On a line of its own: a terminal of 80 columns shows it whole, and makes a link of it.
  const docs = `\nThe reference, with your keys in its samples (this link works once, within 15 minutes):\n${linkOf(access)}\n`;
  const live = `\nThe console: what is sent, live (this link works once, within 15 minutes):\n${consoleLink}\n`;
  const links = output.prose(docs + live);
  const text = `\nin a second terminal, try:\n\n${table}\n${links}\nCtrl-C stops it.${where}\n`;
  output.result({}, text);
}

function linkOf({ baseUrl, apiKey: merchantKey, producerKey }: Access): string {
  return docsLink(baseUrl, { merchantKey, producerKey });
}

function indented(text: string): string {
  return text.replace(/^/gm, INDENT);
}
