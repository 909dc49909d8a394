export interface Choice {
  /** Present unless there is a problem. */
  readonly path?: string;
  readonly problem?: string;
}

export function isSupported(version: string): boolean;
export function pinnedName(machine?: { readonly platform: string; readonly arch: string }): string;
export function chooseNode(root: string, running?: string): Choice;
