import { SecretMask } from '../../../services/sender/http/masking/secret-mask.ts';
import { BODY_BYTES, filledWith, KEYS, ofOneResponse, secretsLike, UNITS } from './costly-responses.ts';

/** A usual answer; repeated, it is as long as the costly bodies. */
const ORDINARY = '{"received":true,"id":"3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11"}\n';
/** Bodies between two readings of the ordinary one, whose time drifts with the machine's speed. */
const BODIES_A_TURN = 20;

export interface MaskingResult {
  readonly bodyBytes: number;
  readonly bodies: number;
  readonly ordinaryMs: number;
  readonly worst: {
    readonly secret: string;
    readonly body: string;
    readonly ms: number;
    readonly ratio: number;
  };
}

/** Measures the processor time of the search for a secret in an ordinary body and in costly ones, in turns. */
export function measureMasking({ tries }: { readonly tries: number }): MaskingResult {
  const ordinary = filledWith(ORDINARY);
  const ordinaryMs = () => searchMs(KEYS[1] as string, ordinary, tries);
  // The first searches compile the code.
  searchMs(KEYS[1] as string, ordinary, 200);
  let ordinaryNow = ordinaryMs();
  let best = ordinaryNow;
  let worst = { secret: '', body: '', ms: 0, ratio: 0 };
  let bodies = 0;
  for (const unit of UNITS) {
    const body = filledWith(unit);
    for (const secret of [...secretsLike(unit), ...KEYS]) {
      if (bodies % BODIES_A_TURN === 0) ordinaryNow = ordinaryMs();
      bodies += 1;
      best = Math.min(best, ordinaryNow);
      const ms = searchMs(secret, body, tries);
      if (ms / ordinaryNow > worst.ratio) worst = { secret, body: unit, ms, ratio: ms / ordinaryNow };
    }
  }
  return { bodyBytes: BODY_BYTES, bodies, ordinaryMs: best, worst };
}

/** The shortest of some searches: other processes take the processor's caches meanwhile. */
function searchMs(secret: string, body: Buffer, tries: number): number {
  const mask = new SecretMask(secret);
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries; i += 1) {
    const before = process.cpuUsage();
    mask.inBody(body, ofOneResponse());
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

export function maskingText({ bodyBytes, bodies, ordinaryMs, worst }: MaskingResult): string {
  const { secret, body, ms, ratio } = worst;
  return [
    `the search for a secret in a response of ${bodyBytes} bytes:`,
    `  an ordinary one: ${ordinaryMs.toFixed(2)} ms of CPU`,
    `  the worst of ${bodies} costly ones: ${ms.toFixed(1)} ms, ${ratio.toFixed(0)} times as much: ` +
      `${JSON.stringify(secret)} in a body of ${JSON.stringify(body)}`,
  ].join('\n');
}
