import { type SecretForms, secretForms } from './secret-forms.ts';
import { BEGINNING_MIN, type SearchAllowance, SecretSearch } from './secret-search.ts';
import type { Range } from './view.ts';

/** Replaces a secret. */
const SECRET_REMOVED = '[secret removed]';
/** Replaces a text in which a secret cannot be searched for. */
export const NOT_KEPT = '[not kept: too costly to search for the secret]';
/** Replaces a text that shows another one than its bytes: a charset that is not theirs turns a secret into other letters. */
const HIDDEN = '[not kept: its charset hides the secret]';

/** Every character of a secret may be written as an escape of about six. */
export const MASKED_BYTES_MAX = 1024;

/**
 * Removes an endpoint's signing secrets, and the keys that they encode, from its receiver's response, however they are
 * written there. Made once per endpoint version.
 */
export class SecretMask {
  readonly #masks: readonly OneMask[];

  /** `secrets`: in plain text. */
  constructor(...secrets: readonly string[]) {
    this.#masks = secrets.map((secret) => new OneMask(secret));
  }

  /** Returns a header's name or value without the secrets. */
  inText(text: string, allowance: SearchAllowance): string {
    return this.#masks.reduce((rest, mask) => mask.inText(rest, allowance), text);
  }

  /** Returns a body without the secrets, and without the beginning of one at the end. */
  inBody(body: Buffer, allowance: SearchAllowance): Buffer {
    return this.#masks.reduce((rest, mask) => mask.inBody(rest, allowance), body);
  }

  /** Returns a text without the secrets, or a note where the bytes that it was decoded from hold one in more places. */
  inDecoded(text: Buffer, bytes: Buffer, allowance: SearchAllowance): Buffer {
    return this.#masks.reduce((rest, mask) => mask.inDecoded(rest, bytes, allowance), text);
  }
}

/** The mask of one secret. */
class OneMask {
  readonly #forms: SecretForms;
  readonly #lengthMin: number;

  /** `secret`: in plain text. */
  constructor(secret: string) {
    this.#forms = secretForms(secret);
    const { exact, kept } = this.#forms;
    this.#lengthMin = Math.min(kept.length, ...exact.map(({ length }) => length));
  }

  inText(text: string, allowance: SearchAllowance): string {
    if (text.length < this.#lengthMin) return text;
    const bytes = Buffer.from(text, 'latin1');
    const ranges = new SecretSearch(this.#forms, allowance).in(bytes, false);
    if (!ranges) return NOT_KEPT;
    return ranges.length === 0 ? text : without(bytes, ranges).toString('latin1');
  }

  inBody(body: Buffer, allowance: SearchAllowance): Buffer {
    if (body.length < BEGINNING_MIN) return body;
    const ranges = new SecretSearch(this.#forms, allowance).in(body, true);
    if (!ranges) return Buffer.from(NOT_KEPT);
    return ranges.length === 0 ? body : without(body, ranges);
  }

  inDecoded(text: Buffer, bytes: Buffer, allowance: SearchAllowance): Buffer {
    const before = new SecretSearch(this.#forms, allowance).in(bytes, true);
    const ranges = new SecretSearch(this.#forms, allowance).in(text, true);
    if (!before || !ranges) return Buffer.from(NOT_KEPT);
    if (before.length > ranges.length) return Buffer.from(HIDDEN);
    return without(text, ranges);
  }
}

function without(bytes: Buffer, ranges: readonly Range[]): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const [first, end] of ranges) {
    parts.push(bytes.subarray(from, first), Buffer.from(SECRET_REMOVED));
    from = end;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}
