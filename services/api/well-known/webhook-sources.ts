import type { RequestHandler } from 'express';
import type { SourceAddress } from '../../config/well-known/source-addresses.ts';
import { type ApiContext, systemNow } from '../context.ts';
import { sendDocument } from './send-document.ts';

/** An hour: what the document announces lies further ahead. */
const MAX_AGE_SECONDS = 3600;

const FIXED =
  'Webhooks come from these addresses only. Open your firewall for an address before its valid_from, and keep it open ' +
  'until its valid_until. An address proves nothing: verify the signature of each webhook.';
const NOT_FIXED =
  'The addresses from which webhooks come are not fixed: do not filter by address. The signature of a webhook proves ' +
  'where it comes from.';

/** GET /.well-known/webhook-sources: the addresses that a merchant's firewall lets in. */
export function webhookSources({ options, clock }: Pick<ApiContext, 'options' | 'clock'>): RequestHandler {
  return (_request, response) => {
    const text = JSON.stringify(documentAt(options.sources, systemNow(clock)));
    sendDocument(response, { type: 'application/json; charset=utf-8', text, maxAgeSeconds: MAX_AGE_SECONDS });
  };
}

/** Lists the addresses that have not ended. Announced ones are included: a firewall needs them before they are used. */
function documentAt(sources: readonly SourceAddress[], now: number): object {
  const shown = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  const present = sources.filter(({ validUntil }) => validUntil === null || validUntil > now);
  return {
    fixed: present.length > 0,
    detail: present.length > 0 ? FIXED : NOT_FIXED,
    sources: present.map(({ cidr, validFrom, validUntil }) => ({
      cidr,
      valid_from: shown(validFrom),
      valid_until: shown(validUntil),
    })),
  };
}
