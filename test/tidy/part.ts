/**
 * A part of the project and what it may import. The first part whose `files` match a path owns the file.
 * `parts` names other parts (a part may always import itself); `packages` undefined = any npm package and
 * node: module.
 */
export interface Part {
  readonly name: string;
  readonly files: RegExp;
  readonly parts: readonly string[];
  readonly packages?: readonly string[];
  /** Said when the rule is broken: why, and what to do instead. */
  readonly instead: string;
}

/** Parts that compute, and do nothing else. */
export const DOMAIN = ['domain', 'the samples'];
