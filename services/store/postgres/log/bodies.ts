/** Kinds of a row of `body`; `owner` and `n` mean: */
export const BODY_KIND = {
  /** event; 0: its data, JSON */
  data: 1,
  /** event; code of the API version */
  event: 2,
  /** delivery; 0: a body that is not among its event's */
  own: 3,
  /** delivery; number of the attempt: the response's */
  response: 4,
} as const;

export interface NewBody {
  readonly owner: number;
  readonly createdAt: number;
  readonly kind: (typeof BODY_KIND)[keyof typeof BODY_KIND];
  readonly n: number;
  /** A text is stored as UTF-8. */
  readonly bytes: Uint8Array | string;
  /** It may be there already: then that one stays. */
  readonly mayExist?: boolean;
}
