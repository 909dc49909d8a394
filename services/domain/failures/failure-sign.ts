/** The explanation of a failed attempt for the people who can end it. Plain text, without secrets. */
export interface FailureSign {
  /** One sentence: the cause. */
  readonly says: string;
  /** The change that helps, and where to make it. */
  readonly remedy: string;
}

export type FailureSigns = Readonly<Record<string, FailureSign>>;

/** Gives several codes of the same cause one explanation. */
export function alike(codes: readonly string[], says: string, remedy: string): FailureSigns {
  return Object.fromEntries(codes.map((code) => [code, { says, remedy }]));
}
